"""Cost of latent features inside cdec: user CPU of decoding with the feature function, over cdec without it.

    python benchmarks/cdec.py cdec.ini weights devtest.ja --cdec-root ~/cdec --library liblscfg_cdec.so --model m8.lscfg

The ini contains no latent features; it runs as it is, and packed (lscfg cdec pack --library). "line" is a model's line,
which packs if cdec writes only translations, "plain" the same with pack=none. The packed form (lscfg cdec pack) also
runs, with and without the pass that unpacks, as does the line alone with pack=latent, or above the language model with
pack=all. "constant" adds as many features that cost nothing to compute: cdec's vectors are slower above seven entries.
Of several rounds the least time counts; load times are those of an empty input. Before a ratio is printed, the run must
have matched every edge, and packed ones must have given the lists of the plain line: the same translations in order,
the same scores up to 1e-6, unpacked ones the same features, too. "line" and "plain"
must give the same translations without lists, since cdec does not pack lists.
"""

from __future__ import annotations

import os
import re
import resource
import shlex
import subprocess
import tempfile
from pathlib import Path

import runs

from lscfg.cdec_bridge.decoder import program_below
from lscfg.cdec_bridge.library import CdecTree
from lscfg.cdec_bridge.packing import pack_ini
from lscfg.formats.kbest import Hypothesis, parse_hypothesis
from lscfg.formats.weights import read_weights, write_weights
from lscfg.kernel import feature_names

LINES = ("line", "plain")
"""Forms with the same translations."""


def user_seconds(program: Path, ini: Path, weights: Path, text: str, *options: str) -> tuple[float, str, str]:
    """User CPU of one run, and what it wrote to stdout and stderr."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        [str(program), "-c", str(ini), "-w", str(weights), *options],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, done.stdout, done.stderr


def constant_features(tree: CdecTree, folder: Path) -> Path:
    """The library of the features that cost nothing to compute."""
    source, library = Path(__file__).with_name("constant_features.cc"), folder / "constant.so"
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    options = [
        "-std=c++14",
        "-O2",
        "-fPIC",
        "-shared",
        "-Wl,-z,nodelete",
        "-include",
        "boost/serialization/split_member.hpp",
    ]
    subprocess.run([*compiler, *options, *tree.compiler_options, str(source), "-o", str(library)], check=True)
    return library


def lists(output: str) -> list[Hypothesis]:
    """All hypotheses of a run."""
    return [parse_hypothesis(line, "cdec")[1] for line in output.splitlines()]


def assert_same(packed: list[Hypothesis], plain: list[Hypothesis], features: bool) -> None:
    """Refuses lists that are others than those of the plain line."""
    assert [h.text for h in packed] == [h.text for h in plain]
    for a, b in zip(packed, plain, strict=True):
        assert abs(a.score - b.score) < 1e-6 * max(1, abs(b.score))
        if features:  # as printed, with six digits
            assert a.features.keys() == b.features.keys()
            assert all(abs(a.features[name] - value) <= 1e-5 * max(1, abs(value)) for name, value in b.features.items())


def above_language_model(ini: str, line: str) -> str:
    """The configuration with the line in it, at the end if there is no language model."""
    lines = ini.splitlines()
    place = next((n for n, other in enumerate(lines) if "KLanguageModel" in other), len(lines))
    return "\n".join([*lines[:place], line, *lines[place:], ""])


def main() -> None:
    """Prints a line for each configuration."""
    parser = runs.parser(__doc__)
    parser.add_argument("ini")
    parser.add_argument("weights")
    parser.add_argument("text")
    parser.add_argument("--cdec-root", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--model", action="append", default=[], help="may be given several times, or not at all")
    parser.add_argument("--features", default="paper", help="of the line (default: %(default)s)")
    parser.add_argument("--options", default="", help="further ones of the line, such as unknown=zero")
    parser.add_argument("--lines", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    program = program_below(args.cdec_root)
    if program is None:
        parser.error(f"no cdec below {args.cdec_root}")
    text = "".join(Path(args.text).read_text(encoding="utf-8").splitlines(keepends=True)[: args.lines])
    plain = Path(args.ini).read_text(encoding="utf-8").rstrip()
    names = feature_names(args.features.split(","))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        weights = folder / "weights"
        tuned = dict.fromkeys(names, 0.1) | read_weights(args.weights)
        write_weights(weights, {**tuned, "Packed": 1.0})
        library = folder / "liblscfg_cdec.so"
        library.symlink_to(Path(args.library).resolve())
        constant = constant_features(CdecTree.at(args.cdec_root), folder)
        constant_line = f"feature_function=External {constant} {len(names)}"
        inis = {"cdec": folder / "0.ini", f"{len(names)} constant": folder / "1.ini"}
        inis["cdec"].write_text(plain + "\n", encoding="utf-8")
        inis[f"{len(names)} constant"].write_text(f"{plain}\n{constant_line}\n", encoding="utf-8")
        original = {f"cdec {form}": "cdec" for form in ("packed", "unpacked")}
        for number, model in enumerate(args.model):
            of_line = f"model={Path(model).resolve()} features={args.features} {args.options}".rstrip()
            line = f"feature_function=External {library} {of_line}"
            for form, ending in (("line", ""), ("plain", " pack=none"), ("latent", " pack=latent")):
                inis[f"{model} {form}"] = folder / f"{form}{number}.ini"
                inis[f"{model} {form}"].write_text(f"{plain}\n{line}{ending}\n", encoding="utf-8")
            inis[f"{model} all"] = folder / f"all{number}.ini"
            inis[f"{model} all"].write_text(above_language_model(plain, f"{line} pack=all"), encoding="utf-8")
            original |= {f"{model} {form}": f"{model} plain" for form in ("latent", "all", "packed", "unpacked")}
        for number, (key, form) in enumerate(original.items()):
            if key not in inis:
                inis[key] = folder / f"packed{number}.ini"
                line_form = inis[form if form == "cdec" else form.removesuffix("plain") + "line"]
                lines = pack_ini(line_form, unpack=key.endswith(" unpacked"), library=library).lines
                inis[key].write_text("\n".join([*lines, ""]), encoding="utf-8")
        found = {}
        for key in dict.fromkeys([*original.values(), *original]):
            _, output, stderr = user_seconds(program, inis[key], weights, text, "-k", "50")
            assert key.startswith("cdec") or re.search(r"\[lscfg\].* 0 unmatched", stderr), stderr[-500:]
            found[key] = lists(output)
        for key, form in original.items():
            assert_same(found[key], found[form], key.endswith(" unpacked"))
        for number in range(len(args.model)):
            outputs = [user_seconds(program, folder / f"{form}{number}.ini", weights, text)[1] for form in LINES]
            assert outputs[0] == outputs[1]
        load = {key: user_seconds(program, ini, weights, "")[0] for key, ini in inis.items()}
        rounds = [
            {key: user_seconds(program, ini, weights, text)[0] - load[key] for key, ini in inis.items()}
            for _ in range(args.rounds)
        ]
        decode = {key: min(seconds[key] for seconds in rounds) for key in inis}
        run = runs.Run(args)
        run.table("cdec", ["configuration", "load s", "decode s", "ratio to cdec"])
        for key, seconds in decode.items():
            run.row(key, load[key], seconds, seconds / decode["cdec"])
        run.save()


if __name__ == "__main__":
    main()
