"""Time is linear in the length of a line, the number of elements and the depth of a file, for nasty text too.

Each case is so large that quadratic work on it would not end within the limit.
"""

from collections.abc import Callable
from contextlib import suppress

import pytest
from limits import TooLong, time_limit

from lscfg.errors import InputError
from lscfg.io.json_files import parse_json
from lscfg.prepare.casing import count_forms, raise_starts
from lscfg.prepare.clean import clean, protect_words, restore_words
from lscfg.prepare.health import Health
from lscfg.prepare.near import near_form
from lscfg.prepare.reader import TEXT_READERS
from lscfg.prepare.sides import SideRecipe
from lscfg.prepare.tokeniser import TOKENISERS

LENGTH = 600_000
"""Characters of a line."""

ELEMENTS = 400_000
"""Elements of a file."""

# fmt: off
UNITS = [
    ". ", ".", "!", "! ", "?!", "…", "。", "。 ", "।", "' ", "'", '"', '" ', "”", "« ", "(", "( ", ")", "[", "] ",
    "[X] ", "|||", "||| ", "&", "&amp;", "&vert; ", "<seg", "<", "> ", "-", "- ", "a-", "a'", "a' ", "'s ", "a.", "A. ",
    "Mr. ", "1,", ", ", "1.1", "\u200d", "\u200c ", "e\u0301", "\u0301\u0323", "👨\u200d", "🇩", "日", "日 ", "İ",
    "Σ", "￭", "￭ ", "▁", "_", "%", "% ", "/", "http://", "@", ":", "DOTMULTI", "\t", " ", "\u00a0\u200b", "a", "a ",
    "A", "ij ", "’n ", "=", "\r", "&#1", "<a ", '<a b="', "Ã", "\ufffd", "·",
]
# fmt: on


@pytest.fixture(autouse=True)
def lines_of_any_length(monkeypatch):
    monkeypatch.setattr("lscfg.prepare.limits.MOST_CHARACTERS", LENGTH)


def line_of(unit: str) -> str:
    """A line that repeats a text after a word."""
    return ("Wow " + unit * (LENGTH // len(unit) + 1))[:LENGTH]


def check(work: Callable[[str], object], text: str) -> None:
    """The work on a text ends; a refusal is a failure."""
    with time_limit(50):
        work(text)


def parse_or_refuse(line: str) -> None:
    """Parses text that is no JSON."""
    with suppress(ValueError):
        parse_json(line)


def test_no_error_that_work_catches_hides_the_limit():
    with pytest.raises(TooLong), time_limit(0.01):
        while True:
            with suppress(Exception):
                clean("a b")


def side_work(tokeniser: str, language: str, casing: str) -> dict[str, Callable[[str], object]]:
    """Tokenising, and restoring what may be words."""
    side = SideRecipe(language, "nfkc", casing, tokeniser, TOKENISERS[tokeniser].Settings()).side()
    return {f"{tokeniser} {language} {casing} encode": side.encode, f"{tokeniser} {language} decode": side.decode}


def text_work() -> dict[str, Callable[[str], object]]:
    """All work on a line of text."""
    work: dict[str, Callable[[str], object]] = {
        "clean": clean,
        "protect": lambda line: restore_words(protect_words(line)),
        "near": lambda line: near_form((clean(line),)),
        "sentences": lambda line: raise_starts(line, False),
        "forms": lambda line: count_forms([line], True),
        "JSON": parse_or_refuse,
        "health": lambda line: Health().repaired("a", 1, (line, line)),
    }
    for language in ("en", "uk"):
        work |= side_work("moses", language, "none")
    return work | side_work("none", "tr", "lower") | side_work("none", "nl", "lower")


@pytest.mark.nightly
@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_work_on_a_line_is_linear(unit):
    pytest.importorskip("sacremoses")
    for work in text_work().values():
        check(work, line_of(unit))


@pytest.mark.parametrize("unit", ["! ", ". ", "!", "x. ", "\u0301\u0323", "' "])
def test_work_on_the_worst_lines_is_linear(unit):
    """Text for which this work was quadratic once."""
    pytest.importorskip("sacremoses")
    work = text_work()
    for name in ("clean", "sentences", "moses en none encode", "none nl lower encode", "none nl decode"):
        check(work[name], line_of(unit))


def memory(inner: Callable[[int], str]) -> Callable[[int], str]:
    """TMX with a unit."""
    unit = (
        "<tmx><header/><body><tu><tuv lang='de'><seg>{}</seg></tuv><tuv lang='en'><seg>a</seg></tuv></tu></body></tmx>"
    )
    return lambda size: unit.format(inner(size))


FILES = {
    "text": {
        "words": lambda size: "a b\n" * size,
        "a line": lambda size: "a " * (4 * size),
        "empty lines": lambda size: "\n" * (4 * size),
        "returns": lambda size: "a\r" * (4 * size),
    },
    "tsv": {
        "rows": lambda size: "a\tb\n" * size,
        "columns": lambda size: "a\t" * (4 * size) + "\n",
        "short rows": lambda size: "a\n" * size + "a\tb\n",
        "quotes": lambda size: '"' * (4 * size) + "\tb\n",
        "open quotes": lambda size: '"a\tb\n' * size,
        "double quotes": lambda size: 'a\t"b""\n' * size,
    },
    "tmx": {
        "depth": lambda size: "<tmx>" + "<x>" * size + "<y>t</y>" * size,
        "depth of a segment": memory(lambda size: "<hi>" * size + "t" + "</hi>" * size),
        "texts at a depth": memory(lambda size: "<hi>" * 50 + "<x/>t" * size + "</hi>" * 50),
        "codes": memory(lambda size: "a<ph/>" * size),
        "deep codes": memory(lambda size: "<ph>" * size + "t" + "</ph>" * size),
        "codes with text": memory(lambda size: "a<ph>&lt;br/&gt;</ph>" * size),
        "text of a code": memory(lambda size: "<ph>" + "&lt;" * size + "</ph>"),
        "blanks of a code": memory(lambda size: "<ph>" + " " * (4 * size) + "x</ph>"),
        "references": memory(lambda size: "&amp;" * size),
        "comments": memory(lambda size: "a<!-- -->" * size),
        "sections": memory(lambda size: "<![CDATA[a]]>" * size),
        "a long text": memory(lambda size: "a " * (8 * size)),
        "lines": memory(lambda size: "\n" * (8 * size)),
        "units": lambda size: "<tmx>" + "<tu><tuv lang='de'><seg>a</seg></tuv></tu>" * size + "</tmx>",
        "variants": lambda size: "<tmx><tu>" + "<tuv lang='de'><seg>a</seg></tuv>" * size + "</tu></tmx>",
        "languages": lambda size: (
            "<tmx><tu>" + "".join(f"<tuv lang='de-x-{k}'><seg>a</seg></tuv>" for k in range(size)) + "</tu></tmx>"
        ),
        "units of languages": lambda size: (
            "<tmx>" + "".join(f"<tu><tuv lang='de-x-{k}'><seg>a</seg></tuv></tu>" for k in range(size)) + "</tmx>"
        ),
        "attributes": lambda size: "<tmx " + " ".join(f"a{k}=''" for k in range(size)) + "></tmx>",
        "a value": lambda size: f"<tmx a='{'b' * 8 * size}'></tmx>",
        "segments": lambda size: "<tmx><tu><tuv lang='de'>" + "<seg>a</seg>" * size + "</tuv></tu></tmx>",
        "properties": lambda size: "<tmx><header>" + "<prop>a</prop>" * size + "</header></tmx>",
        "cut off": lambda size: "<tmx>" + "<" * size,
    },
}
"""Nasty files by reader."""


@pytest.mark.nightly
@pytest.mark.parametrize(("reader", "name"), [(reader, name) for reader, files in FILES.items() for name in files])
def test_readers_are_linear(tmp_path, reader, name):
    kind = TEXT_READERS[reader]

    def work(text: str) -> None:
        paths = [tmp_path / f"a{number}.{reader}" for number in range(2 if reader == "text" else 1)]
        for path in paths:
            path.write_text(text, encoding="utf-8", newline="")
        with suppress(InputError):  # refuses some of the files
            for _ in kind.read_pairs(paths, ("de", "en"), kind.Settings()):
                pass

    check(work, FILES[reader][name](ELEMENTS))


def test_deep_memories_are_read_at_once(tmp_path):
    path = tmp_path / "a.tmx"
    path.write_text("<tmx>" + "<x>" * 200_000 + "<y>t</y>" * 200_000)
    with time_limit(), pytest.raises(InputError, match=r"a\.tmx:1: "):
        list(TEXT_READERS["tmx"].read_pairs([path], ("de", "en"), TEXT_READERS["tmx"].Settings()))
