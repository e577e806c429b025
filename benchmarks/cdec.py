"""What latent features cost inside cdec: user CPU of decoding with the feature function, over cdec without it.

    python benchmarks/cdec.py cdec.ini weights devtest.ja --cdec-root ~/cdec --library liblscfg_cdec.so --model m8.lscfg

The ini is one without latent features. The same line with one feature instead of three runs beside each model: cdec's
feature vectors are slower above seven entries, whoever makes them. Load times are those of an empty input. Before a
ratio is printed, the run must have matched every edge.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from cdec_bridge.decoder import program_below


def run(command: Sequence[object], text: str) -> tuple[float, float, str]:
    """User CPU and wall clock of a decoder, in seconds, and what it wrote to stderr."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.perf_counter()
    words = [str(word) for word in command]
    done = subprocess.run(words, input=text, capture_output=True, text=True, encoding="utf-8", check=True)
    wall = time.perf_counter() - began
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, wall, done.stderr


def compare(runs: Iterable[tuple[str, Sequence[object]]], text: str, nothing: str, repeats: int) -> None:
    """Prints what each command takes to load and to decode, over the first one, which has no latent features.

    Args:
        runs: names and commands.
        text: what they decode.
        nothing: the input after which a decoder has loaded everything.
        repeats: the least of so many times counts.
    """
    commands = list(runs)
    loading, whole = [], []
    for _ in range(repeats):  # all of them in turn, so that whatever else the machine does falls on all alike
        loading.append([run(command, nothing) for _, command in commands])
        whole.append([run(command, text) for _, command in commands])
    reference = (0.0, 0.0)
    print(f"{'':40} {'load s':>8} {'decode s':>9} {'ratio':>6} {'wall s':>8} {'ratio':>6}")
    for number, (name, _) in enumerate(commands):
        assert not number or all(re.search(r"\[lscfg\].* 0 unmatched", one[number][2]) for one in whole), name
        load = [min(one[number][k] for one in loading) for k in (0, 1)]
        spent = [min(one[number][k] for one in whole) - load[k] for k in (0, 1)]
        reference = reference if number else (spent[0], spent[1])
        user, wall = (f"{own:8.2f} {own / other:6.2f}" for own, other in zip(spent, reference, strict=True))
        print(f"{name[-40:]:40} {load[0]:8.2f}  {user} {wall}")


def first_lines(path: str, count: int) -> str:
    """The beginning of a text."""
    return "".join(Path(path).read_text(encoding="utf-8").splitlines(keepends=True)[:count])


def main() -> None:
    """Prints a line for each configuration."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ini")
    parser.add_argument("weights")
    parser.add_argument("text")
    parser.add_argument("--cdec-root", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--model", required=True, action="append")
    parser.add_argument("--lines", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    program = program_below(args.cdec_root)
    if program is None:
        parser.error(f"no cdec below {args.cdec_root}")
    plain = Path(args.ini).read_text(encoding="utf-8")
    library = Path(args.library).resolve()
    lines = {"cdec": ""}
    for model in args.model:
        line = f"feature_function=External {library} model={Path(model).resolve()}"
        lines |= {f"{model}, one feature": f"{line} features=LatentMarginal\n", model: f"{line}\n"}
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for number, (name, line) in enumerate(lines.items()):
            ini = Path(folder) / f"{number}.ini"
            ini.write_text(f"{plain.rstrip()}\n{line}", encoding="utf-8")
            runs.append((name, [program, "-c", ini, "-w", args.weights]))
        compare(runs, first_lines(args.text, args.lines), "", args.repeats)


if __name__ == "__main__":
    main()
