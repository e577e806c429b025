"""CPU time of a consensus of several systems: k-best lists of each system by parts, then the choice among them.

    python benchmarks/agree.py test.ja --system A/cdec.ini A/weights --system B/cdec.ini B/weights --lines 100

One process decodes a text by one system after another, as ``lscfg decode`` does, and then chooses from all lists the
translations with the greatest expected BLEU (Kumar and Byrne 2004). The table shows milliseconds per sentence, minimum
over the rounds. Before it prints, every round must choose the same translations, and each choice must be in a list.
"""

from __future__ import annotations

import time

import runs
from decode import PARTS, watch

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.formats.weights import read_weights
from lscfg.io.read import read_lines
from lscfg.tuning.rescore import agreed


def one_round(
    args: object, lines: list[str], spent: dict[str, float]
) -> tuple[dict[tuple[str, str], float], list[str]]:
    """Seconds by system and part, and the chosen translations."""
    found: dict[tuple[str, str], float] = {}
    lists = []
    for number, (ini, weights) in enumerate(args.system, 1):  # type: ignore[attr-defined]
        with EmbeddedDecoder.from_ini(ini, cached=0) as decoder:
            given = read_weights(weights)
            decoder.decode(lines[:1], given)  # scores of rules are part of the start
            spent.clear()
            begin = time.process_time()
            lists.append(decoder.decode(lines, given, args.k, True))  # type: ignore[attr-defined]
            found[str(number), "all"] = time.process_time() - begin
        found |= {(str(number), part): seconds for part, seconds in spent.items()}
    begin = time.process_time()
    chosen = [agreed([list(one) for one in together], [args.scale])[0] for together in zip(*lists, strict=True)]  # type: ignore[attr-defined]
    found["choice", "all"] = time.process_time() - begin
    found["consensus", "all"] = sum(seconds for (_, part), seconds in found.items() if part == "all")
    for choice, together in zip(chosen, zip(*lists, strict=True), strict=True):
        assert any(choice == one.text for hypotheses in together for one in hypotheses), "a choice is in no list"
    return found, chosen


def main() -> None:
    """Prints a row for each part."""
    parser = runs.parser(__doc__)
    parser.add_argument("text")
    parser.add_argument("--system", nargs=2, action="append", required=True, metavar=("INI", "WEIGHTS"))
    parser.add_argument("--lines", type=int, help="of the text, from its beginning (default: all)")
    parser.add_argument("-k", type=int, default=100, help="length of the lists (default: %(default)s)")
    parser.add_argument("--scale", type=float, default=0.2, help="factor of scores (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    lines = read_lines(args.text)[: args.lines]
    spent: dict[str, float] = {}
    watch(spent, PARTS)
    rounds, choices = zip(*(one_round(args, lines, spent) for _ in range(args.rounds)), strict=True)
    assert all(chosen == choices[0] for chosen in choices), "two rounds differ"
    run = runs.Run(args)
    run.table(f"{len(lines)} sentences, CPU time per sentence", ["system", "part", "ms"])
    for system, part in rounds[0]:
        run.row(system, part, min(1000 * one.get((system, part), 0.0) for one in rounds) / len(lines))
    run.save()


if __name__ == "__main__":
    main()
