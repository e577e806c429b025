"""Share of lines that come back from tokenising: restored text against real text, for each language.

    python benchmarks/restore.py texts/ --lines 200

The folder holds raw text, one file a language, each named by the language's code: ``de.txt``, ``pt_BR.txt``. Lines are
cleaned as ``lscfg prepare`` cleans them, and each different line counts once. Columns: ``exact``, the share of lines
that ``restore`` returns as they were, without a change of casing; ``unmarked``, the share of lines whose blanks are all
guessed right, so that no word carries a mark; ``marks``, marked words in a hundred; ``lower`` and ``true``, shares of
lines that come back with these casings, counted for ``true`` by the forms of the same lines.
"""

from __future__ import annotations

import random
from pathlib import Path

import runs

from lscfg.errors import InputError
from lscfg.prepare.casing import count_forms, open_caser
from lscfg.prepare.clean import clean
from lscfg.prepare.spacing import MARKS
from lscfg.prepare.tokeniser import TOKENISERS, Splitter


def chosen_lines(path: Path, count: int) -> list[str]:
    """Different clean lines of a file, drawn at random by a fixed seed."""
    lines = sorted({line for raw in path.read_text(encoding="utf-8").splitlines() if (line := clean(raw))})
    return random.Random(1).sample(lines, min(count, len(lines)))


def shares(lines: list[str], splitter: Splitter, language: str) -> list[float]:
    """The columns of a language."""
    words = [splitter.encode(line) for line in lines]
    exact = [splitter.decode(one) == line for one, line in zip(words, lines, strict=True)]
    marked = [sum(word[0] in MARKS or word[-1] in MARKS for word in one) for one in words]
    texts = [" ".join(one) for one in words]
    figures = [sum(exact) / len(lines), marked.count(0) / len(lines), 100 * sum(marked) / sum(map(len, words))]
    for casing in ("lower", "true"):
        caser = open_caser(casing, count_forms(texts, True, language), True, language)
        back = (splitter.decode(caser.decode(caser.encode(text)).split()) for text in texts)
        figures.append(sum(one == line for one, line in zip(back, lines, strict=True)) / len(lines))
    return figures


def main() -> None:
    """Prints the shares and keeps them."""
    parser = runs.parser(__doc__)
    parser.add_argument("texts", type=Path, help="folder of raw text, one file a language")
    parser.add_argument("--lines", type=int, default=200, help="most lines of a language (default: %(default)s)")
    parser.add_argument("--tokeniser", default="moses", choices=("moses", "none"), help="default: %(default)s")
    parser.add_argument("--show", action="store_true", help="print the lines that do not come back")
    args = parser.parse_args()
    tokeniser = TOKENISERS[args.tokeniser]
    run = runs.Run(args)
    run.table("shares of lines", ["language", "lines", "exact", "unmarked", "marks of 100 words", "lower", "true"])
    for path in sorted(args.texts.iterdir()):
        language = path.name.partition(".")[0]
        lines = chosen_lines(path, args.lines)
        try:
            splitter = tokeniser.open(language, tokeniser.Settings(), None)
        except InputError:  # a language without blanks between words
            run.row(language, len(lines), None, None, None, None, None)
            continue
        run.row(language, len(lines), *shares(lines, splitter, language))
        if args.show:
            for line in lines:
                if splitter.decode(splitter.encode(line)) != line:
                    print(repr(line), splitter.encode(line))
    run.save()


if __name__ == "__main__":
    main()
