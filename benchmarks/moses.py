"""What latent features cost inside Moses: decoding with the feature function, over the same program without it.

    lscfg moses convert -c cdec.ini -w weights -o moses
    python benchmarks/moses.py moses/moses.ini devtest.ja --program moses_lscfg --model m8.lscfg --model m16.lscfg

The moses.ini is one without latent features; their weights are 0, so that all runs search alike. One thread. Load times
are those of an empty sentence, with which the rules are looked up in the model. Before a ratio is printed, the run must
have matched every application of a rule.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from cdec import compare, first_lines

from lscfg.kernel import FeatureOptions
from moses_bridge.config import escape


def main() -> None:
    """Prints a line for each configuration."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
    added = {"moses": ""}
    for model in args.model:
        line = f"LatentSCFG name=Latent features={args.features} model={Path(model).resolve()}"
        added[model] = f"\n[feature]\n{line}\n[weight]\nLatent= {weights}\n"
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for number, (name, lines) in enumerate(added.items()):
            ini = Path(folder) / f"{number}.ini"
            ini.write_text(plain + lines, encoding="utf-8")
            runs.append((name, [Path(args.program).resolve(), "-f", ini, "-threads", "1"]))
        compare(runs, escape(first_lines(args.text, args.lines)), "\n", args.repeats)


if __name__ == "__main__":
    main()
