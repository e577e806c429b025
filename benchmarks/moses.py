"""Cost of latent features inside Moses: decoding with the feature function, over the same program without it.

    lscfg moses convert -c cdec.ini -w weights -o moses
    python benchmarks/moses.py moses/moses.ini devtest.ja --program moses_lscfg --model m8.lscfg --model m16.lscfg

The moses.ini is one without latent features; their weights are 0, so that all runs search equally. One thread. Load
times are those of an empty sentence, which looks up the rules in the model. "moses" runs as Moses itself does,
"moses_lscfg" with the memory settings that the program makes for itself. Before a ratio is printed, the run must have
matched every application of a rule.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import runs

from lscfg.kernel import FeatureOptions
from lscfg.moses_bridge.config import escape

PLAIN, PROGRAM = "moses", "moses_lscfg"
"""Rows without latent features."""


def run_command(command: Sequence[object], text: str, plain: bool = False) -> tuple[float, float, str]:
    """User CPU and wall clock of a decoder, in seconds, and what it wrote to stderr."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.perf_counter()
    words = [str(word) for word in command]
    # what the program would set, unless it is set
    env = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.tcache_count=7"} if plain else None
    done = subprocess.run(words, input=text, capture_output=True, text=True, encoding="utf-8", check=True, env=env)
    wall = time.perf_counter() - began
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, wall, done.stderr


def compare(
    run: runs.Run, commands: Sequence[tuple[str, Sequence[object]]], text: str, nothing: str, repeats: int
) -> None:
    """Prints the time of each command to load and to decode, and ratios to the first, which has no latent features.

    Args:
        run: where the figures go.
        commands: names and commands.
        text: what they decode.
        nothing: the input after which a decoder has loaded everything.
        repeats: the least of so many times counts.
    """
    loading, whole = [], []
    for _ in range(repeats):  # all of them in turn, so that other work on the machine slows all equally
        loading.append([run_command(command, nothing, name == PLAIN) for name, command in commands])
        whole.append([run_command(command, text, name == PLAIN) for name, command in commands])
    reference = (0.0, 0.0)
    run.table("Moses", ["model", "load CPU s", "decode CPU s", "ratio", "decode wall s", "wall ratio"])
    for number, (name, _) in enumerate(commands):
        assert name in (PLAIN, PROGRAM) or all(
            re.search(r"\[lscfg\].* 0 unmatched", one[number][2]) for one in whole
        ), name
        load = [min(one[number][k] for one in loading) for k in (0, 1)]
        spent = [min(one[number][k] for one in whole) - load[k] for k in (0, 1)]
        reference = reference if number else (spent[0], spent[1])
        run.row(name, load[0], spent[0], spent[0] / reference[0], spent[1], spent[1] / reference[1])


def first_lines(path: str, count: int) -> str:
    """The beginning of a text."""
    return "".join(Path(path).read_text(encoding="utf-8").splitlines(keepends=True)[:count])


def main() -> None:
    """Prints a line for each configuration."""
    parser = runs.parser(__doc__)
    parser.add_argument("ini")
    parser.add_argument("text")
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True, action="append")
    parser.add_argument("--features", default="paper", help="their names, as of features= (default: %(default)s)")
    parser.add_argument("--lines", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    plain = Path(args.ini).read_text(encoding="utf-8")
    weights = " ".join("0" for _ in FeatureOptions(names=tuple(args.features.split(","))).names)
    added = {PLAIN: "", PROGRAM: ""}
    for model in args.model:
        line = f"LatentSCFG name=Latent features={args.features} model={Path(model).resolve()}"
        added[f"{model} unpacked"] = f"\n[feature]\n{line} pack=none\n[weight]\nLatent= {weights}\n"
        added[model] = f"\n[feature]\n{line}\n[weight]\nLatent= {weights}\n"
    with tempfile.TemporaryDirectory() as folder:
        commands = []
        for number, (name, lines) in enumerate(added.items()):
            ini = Path(folder) / f"{number}.ini"
            ini.write_text(plain + lines, encoding="utf-8")
            commands.append((name, [Path(args.program).resolve(), "-f", ini, "-threads", "1"]))
        run = runs.Run(args)
        compare(run, commands, escape(first_lines(args.text, args.lines)), "\n", args.repeats)
        run.save()


if __name__ == "__main__":
    main()
