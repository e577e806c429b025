"""Messy files of sentence pairs, as people and programs export them, from text written here."""

import itertools
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import pyarrow
import pyarrow.parquet
from workbooks import workbook

Pairs = Sequence[tuple[str, str]]


def _combined(subjects: Pairs, verbs: Pairs, places: Pairs, join: str = " ") -> list[tuple[str, str]]:
    found = []
    for (f1, e1), (f2, e2), (f3, e3) in itertools.product(subjects, verbs, places):
        found.append((f"{f1}{join}{f2}{join}{f3}.", f"{e1} {e2} {e3}."))
    return found


GERMAN = _combined(
    [
        ("Der Hund", "The dog"),
        ("Die junge Frau", "The young woman"),
        ("Ein Mann mit Hut", "A man with a hat"),
        ("Das kleine Mädchen", "The little girl"),
        ("Mein größter Bruder", "My tallest brother"),
        ("Wir", "We"),
        ("Der müde Bäcker", "The tired baker"),
        ("Niemand", "Nobody"),
    ],
    [
        ("schläft", "sleeps"),
        ("liest heute ein Buch", "reads a book today"),
        ("wartet seit fünf Uhr", "waits since five"),
        ("isst süße Äpfel", "eats sweet apples"),
        ("singt", "sings"),
        ("sucht den Schlüssel", "looks for the key"),
    ],
    [
        ("im Garten", "in the garden"),
        ("auf der Straße vor dem Haus", "on the street in front of the house"),
        ("bei den Nachbarn", "at the neighbours' place"),
        ("in der Küche", "in the kitchen"),
        ("am Fluss", "by the river"),
        ("unter einem alten Baum", "under an old tree"),
        ("hier", "here"),
        ("am Bahnhof", "at the station"),
    ],
)
JAPANESE = [
    (f.replace(".", "。"), e)
    for f, e in _combined(
        [
            ("私の犬は", "My dog"),
            ("若い女の人は", "The young woman"),
            ("先生は", "The teacher"),
            ("彼は", "He"),
            ("小さい子供は", "The small child"),
            ("父は", "My father"),
            ("だれも", "Nobody"),
            ("兄は", "My brother"),
        ],
        [
            ("庭で", "in the garden"),
            ("駅の前で", "in front of the station"),
            ("家で", "at home"),
            ("川の近くで", "near the river"),
            ("学校で", "at school"),
            ("店で", "in the shop"),
            ("ここで", "here"),
            ("台所で", "in the kitchen"),
        ],
        [
            ("本を読みます", "reads a book"),
            ("待っています", "is waiting"),
            ("歌を歌います", "sings a song"),
            ("りんごを食べます", "eats an apple"),
            ("寝ています", "is sleeping"),
            ("話します", "talks"),
        ],
        join="",
    )
]
HEBREW = _combined(
    [
        ("הכלב", "The dog"),
        ("האישה הצעירה", "The young woman"),
        ("המורה שלי", "My teacher"),
        ("הילד הקטן", "The small boy"),
    ],
    [
        ("ישן", "sleeps"),
        ("קורא ספר", "reads a book"),
        ("מחכה", "waits"),
        ("אוכל תפוח", "eats an apple"),
        ("שר", "sings"),
    ],
    [
        ("בגינה", "in the garden"),
        ("ליד הבית", "near the house"),
        ("ברחוב", "in the street"),
        ("כאן", "here"),
        ("בבית הספר", "at school"),
        ("במטבח", "in the kitchen"),
        ("ליד הנהר", "by the river"),
        ("בתחנה", "at the station"),
    ],
)
SPANISH = _combined(
    [
        ("El perro", "The dog"),
        ("La niña pequeña", "The little girl"),
        ("Mi hermano", "My brother"),
        ("Nadie", "Nobody"),
    ],
    [("duerme", "sleeps"), ("lee un libro", "reads a book"), ("come una manzana", "eats an apple"), ("canta", "sings")],
    [
        ("en el jardín", "in the garden"),
        ("en la calle", "in the street"),
        ("aquí", "here"),
        ("en casa", "at home"),
        ("en la cocina", "in the kitchen"),
        ("bajo un árbol", "under a tree"),
        ("mañana", "tomorrow"),
        ("ahora", "now"),
    ],
)


class Messy(NamedTuple):
    """A messy file, or two, and what a guess should find.

    Attributes:
        settings: keys of [prepare]; pairs: pairs with two sides.
    """

    files: list[Path]
    settings: dict[str, object]
    pairs: int


def _mixed(pairs: Pairs) -> list[tuple[str, str]]:
    return random.Random(1).sample(list(pairs), len(pairs))


def _table(pairs: Pairs, source: int = 1, target: int = 2, header: bool = False) -> dict[str, object]:
    return {"source_column": source, "target_column": target, "header": header}


def _languages(source: str, target: str) -> dict[str, object]:
    return {"source_language": source, "target_language": target}


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


def spreadsheet(folder: Path, pairs: Pairs = GERMAN) -> Messy:
    """Excel in Germany: semicolons, a byte order mark, CRLF, quotes, numbers, an almost empty column, missing cells."""
    rows = ["Nr.;Deutsch;Englisch;Notiz"]
    for number, (f, e) in enumerate(_mixed(pairs), 1):
        cells = _quoted(f.replace(".", '; sagte er "leise".')) if number % 9 == 0 else f
        rows.append(f"{number};{cells};{e if number % 40 else ''};{'prüfen!' if number % 50 == 0 else ''}")
    file = folder / "Wörter & Sätze (final).csv"
    file.write_bytes("".join(row + "\r\n" for row in rows).encode("utf-8-sig"))
    settings = {"format": "csv"} | _table(pairs, 2, 3, True) | _languages("de", "en")
    return Messy([file], settings, len(pairs) - len(pairs) // 40)


def memory(folder: Path, pairs: Pairs = GERMAN) -> Messy:
    """OPUS: a memory without a source language, with document names."""
    units = "".join(
        f'<tu><tuv xml:lang="de"><seg>{escape(f)}</seg></tuv><tuv xml:lang="en"><seg>{escape(e)}</seg></tuv></tu>\n'
        for f, e in _mixed(pairs)
    )
    head = '<?xml version="1.0" encoding="UTF-8" ?>\n<tmx version="1.4">\n<header creationdate="x" srclang="de"/>\n'
    (folder / "de-en.tmx").write_text(f"{head}<body>\n{units}</body></tmx>\n", "utf-8")
    return Messy([folder / "de-en.tmx"], {"format": "tmx"} | _languages("de", "en"), len(pairs))


def tatoeba(folder: Path, pairs: Pairs = GERMAN) -> Messy:
    """Tatoeba: numbers next to both sentences, quotations without quoting, no header."""
    rows = [f"{k * 7}\t{f}\t{k * 9}\t{e}" for k, (f, e) in enumerate(_mixed(pairs), 1)]
    rows[5] = '5\t"Ja", sagte er.\t6\t"Yes", he said.'
    (folder / "Sentence pairs.tsv").write_text("\ufeff" + "\n".join(rows) + "\n", "utf-8")
    return Messy(
        [folder / "Sentence pairs.tsv"], {"format": "tsv"} | _table(pairs, 2, 4) | _languages("de", "en"), len(pairs)
    )


def xliff(folder: Path, pairs: Pairs = SPANISH) -> Messy:
    """A translation tool: units with markup, of which some are not translated."""
    units = "".join(
        f'<trans-unit id="{k}"><source>{escape(f)}<x id="1"/></source>'
        + (f"<target>{escape(e)}</target>" if k % 10 else "")
        + "</trans-unit>\n"
        for k, (f, e) in enumerate(_mixed(pairs), 1)
    )
    head = '<xliff version="1.2"><file source-language="es-ES" target-language="en-GB" original="a.docx"><body>\n'
    (folder / "job.xlf").write_text(f"{head}{units}</body></file></xliff>", "utf-8")
    settings = {"format": "xliff"} | _languages("es-ES", "en-GB")
    return Messy([folder / "job.xlf"], settings, len(pairs) - len(pairs) // 10)


def subtitles(folder: Path, pairs: Pairs = GERMAN) -> Messy:
    """A film: the German file is in Windows-1252, the other one begins each subtitle later."""
    files = []
    for side, (name, encoding, shift) in enumerate((("de", "cp1252", 0), ("en", "ascii", 200))):
        cues = []
        for k, pair in enumerate(_mixed(pairs)):
            times = [
                f"{k // 900:02}:{k // 15 % 60:02}:{k * 4 % 60 + s:02},{shift + m:03}" for s, m in ((0, 0), (3, 500))
            ]
            cues.append(f"{k + 1}\r\n{' --> '.join(times)}\r\n<i>{pair[side]}</i>\r\n\r\n")
        files.append(folder / f"film.{name}.srt")
        files[-1].write_bytes("".join(cues).encode(encoding))
    return Messy(files, {"format": "srt", "encoding": "cp1252"} | _languages("de", "en"), len(pairs))


def objects(folder: Path, pairs: Pairs = GERMAN) -> Messy:
    """Hugging Face: a line for each pair, with its languages."""
    rows = (json.dumps({"id": str(k), "translation": {"en": e, "de": f}}) for k, (f, e) in enumerate(_mixed(pairs)))
    (folder / "train.json").write_text("\n".join(rows) + "\n", "utf-8")
    return Messy([folder / "train.json"], {"format": "jsonl"} | _languages("en", "de"), len(pairs))


def parquet(folder: Path, pairs: Pairs = SPANISH) -> Messy:
    """Parquet with columns that name roles, not languages."""
    f, e = zip(*_mixed(pairs), strict=True)
    table = pyarrow.table({"id": range(len(f)), "split": ["train"] * len(f), "target": e, "source": f})
    pyarrow.parquet.write_table(table, folder / "0000.parquet")
    fields = {"source_field": "source", "target_field": "target"}
    return Messy([folder / "0000.parquet"], {"format": "parquet"} | fields | _languages("es", "en"), len(pairs))


def legacy(folder: Path, pairs: Pairs = JAPANESE) -> Messy:
    """Two texts of Shift-JIS and ASCII, whose names do not end in languages."""
    files = []
    for side, encoding in enumerate(("cp932", "ascii")):
        files.append(folder / ("日本語.txt", "translation.txt")[side])
        files[-1].write_bytes("".join(pair[side] + "\n" for pair in _mixed(pairs)).encode(encoding))
    settings = {"format": "text", "encoding": "cp932", "tokeniser": "spm"} | _languages("ja", "en")
    return Messy(files, settings, len(pairs))


def wrong_header(folder: Path, pairs: Pairs = GERMAN) -> Messy:
    """Unicode text of Excel (UTF-16, tabs) whose header names the languages the wrong way round."""
    rows = ["English\tGerman", *(f"{f}\t{e}" for f, e in _mixed(pairs))]
    (folder / "Mappe1.txt").write_bytes("".join(row + "\r\n" for row in rows).encode("utf-16"))
    settings = {"format": "tsv", "encoding": "utf-16"} | _table(pairs, 1, 2, True) | _languages("de", "en")
    return Messy([folder / "Mappe1.txt"], settings, len(pairs))


def right_to_left(folder: Path, pairs: Pairs = HEBREW) -> Messy:
    """A workbook from right to left: English first, an index, no header."""
    rows = [(str(k), e, f) for k, (f, e) in enumerate(_mixed(pairs), 1)]
    (folder / "Book 1.xlsx").write_bytes(workbook(rows))
    settings = {"format": "xlsx", "tokeniser": "words"} | _table(pairs, 2, 3) | _languages("en", "he")
    return Messy([folder / "Book 1.xlsx"], settings, len(pairs))


def unspaced(folder: Path, pairs: Pairs = JAPANESE) -> Messy:
    """A table of commas in EUC-JP, a language without blanks, a source that is not named, and an attribution."""
    rows = [
        f"{_quoted(f)},{_quoted(e)},{_quoted('CC-BY 2.0, tatoeba.org #' + str(k))}" for k, (f, e) in enumerate(pairs)
    ]
    (folder / "export").write_bytes("".join(row + "\n" for row in rows).encode("euc-jp"))
    settings = {"format": "csv", "encoding": "euc-jp", "tokeniser": "spm"} | _table(pairs) | _languages("ja", "en")
    return Messy([folder / "export"], settings, len(pairs))


KINDS = (
    *(spreadsheet, memory, tatoeba, xliff, subtitles, objects, parquet, legacy, wrong_header, right_to_left),
    unspaced,
)
"""Makers of messy files; each takes a folder."""
