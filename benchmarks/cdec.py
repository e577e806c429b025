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
from pathlib import Path

from cdec_bridge.decoder import program_below


def user_seconds(program: Path, ini: Path, weights: str, text: str) -> tuple[float, str]:
    """User CPU of one run, and what it wrote to stderr."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        [str(program), "-c", str(ini), "-w", weights], input=text, capture_output=True, text=True, check=True
    )
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, done.stderr


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
    args = parser.parse_args()
    program = program_below(args.cdec_root)
    if program is None:
        parser.error(f"no cdec below {args.cdec_root}")
    text = "".join(Path(args.text).read_text(encoding="utf-8").splitlines(keepends=True)[: args.lines])
    plain = Path(args.ini).read_text(encoding="utf-8")
    library = Path(args.library).resolve()
    lines = {"cdec": ""}
    for model in args.model:
        line = f"feature_function=External {library} model={Path(model).resolve()}"
        lines |= {f"{model}, one feature": f"{line} features=LatentMarginal\n", model: f"{line}\n"}
    reference = 0.0
    print(f"{'':40} {'load s':>8} {'decode s':>9} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        ini = Path(folder) / "cdec.ini"
        for name, line in lines.items():
            ini.write_text(f"{plain.rstrip()}\n{line}", encoding="utf-8")
            load, _ = user_seconds(program, ini, args.weights, "")
            whole, stderr = user_seconds(program, ini, args.weights, text)
            if line:
                assert re.search(r"\[lscfg\].* 0 unmatched", stderr), stderr[-500:]
            reference = reference or whole - load
            print(f"{name[-40:]:40} {load:8.2f} {whole - load:9.2f} {(whole - load) / reference:6.2f}")


if __name__ == "__main__":
    main()
