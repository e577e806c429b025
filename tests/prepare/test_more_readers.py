"""Raw pairs of spreadsheets, JSON lines, XLIFF, workbooks and subtitles, and text in other encodings than UTF-8."""

import re
from pathlib import Path

import pytest
from workbooks import workbook

from lscfg.errors import InputError
from lscfg.prepare.csv_table import separator_of
from lscfg.prepare.encoded import NOT_DECODED
from lscfg.prepare.guess import Given, guess
from lscfg.prepare.json_lines import NO_OBJECT
from lscfg.prepare.reader import NO_TRANSLATION, TEXT_READERS
from lscfg.prepare.subtitles import parse_cues
from lscfg.prepare.table import FEW_COLUMNS, MANY_COLUMNS, ColumnSettings
from lscfg.prepare.workbook import OTHER_SHEET


def read(name, *files, languages=("de", "en"), **settings):
    """Line, source, target and fault of every pair."""
    reader = TEXT_READERS[name]
    return [pair[1:] for pair in reader.read_pairs(files, languages, reader.Settings(**settings))]


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(name, *files, **settings) -> str:
    with pytest.raises(InputError) as caught:
        read(name, *files, **settings)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---- spreadsheets ----


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_separators_and_quotes(tmp_path, sign, end):
    rows = ["Deutsch,Englisch,Notiz", '"Er sagte: ""ja""","He said ""yes"", twice",', '"zwei', 'Zeilen","two lines",x']
    rows += ["eins,one", "drei,three,,", "vier,four,"]
    text = "\ufeff" + end.join(rows).replace('", twice', '"; twice').replace(",", sign) + end
    assert read("csv", written(tmp_path / "a.csv", text), header=True) == [
        (2, 'Er sagte: "ja"', 'He said "yes"; twice', ""),
        (3, "zwei\nZeilen", "two lines", ""),
        (5, "", "", FEW_COLUMNS),
        (6, "", "", MANY_COLUMNS),
        (7, "vier", "four", ""),
    ]


@pytest.mark.parametrize("sign", [";", "\t"])
def test_a_quote_that_is_never_closed_leaves_the_separator(tmp_path, sign):
    """Else the commas of the sentences would separate columns."""
    rows = [f"der Hund, {n}{sign}the dog, {n}" for n in range(30)]
    stray = [*rows[:9], f'ein Wort{sign}"I am, going.', *rows]
    assert separator_of(stray)[:2] == (sign, 2)
    table = written(tmp_path / "a.txt", "\n".join(stray) + "\n")
    if sign == "\t":
        assert guess([table], Given(languages=("de", "en"))).settings.get("format") == "tsv"
        assert len([pair for pair in read("tsv", table) if not pair[3]]) == 40
    else:
        with pytest.raises(InputError, match=r"a\.txt:10: a quote begins a cell"):
            guess([table], Given(languages=("de", "en")))
    cell = [*rows, f'"zwei{sign}a', *rows[:3]]  # the look ends within a cell
    assert separator_of(cell)[:2] == (sign, 2)


def test_blanks_before_quotes_are_no_text(tmp_path):
    table = written(tmp_path / "a.csv", '"Ja, gut", "Yes, fine"\n"Nein",  "No"\n"a",b\n')
    assert read("csv", table) == [(1, "Ja, gut", "Yes, fine", ""), (2, "Nein", "No", ""), (3, "a", "b", "")]


def test_excel_names_its_separator(tmp_path):
    table = written(tmp_path / "a.csv", "sep=|\na,b|c,d\n")
    assert read("csv", table) == [(2, "a,b", "c,d", "")]


@pytest.mark.parametrize(
    ("lines", "sign", "columns"),
    [
        (["Ja, gut, so.;Yes, fine.", "Nein.;No.", "a, b;c"], ";", 2),
        (["ein Haus\ta house", "a; b\tc"], "\t", 2),
        (['"a, b",c', "d,e"], ",", 2),
        (["kein Trenner", "nirgends"], ",", 1),
        ([], ",", 1),
    ],
)
def test_the_content_decides_the_separator(lines, sign, columns):
    assert separator_of(lines)[:2] == (sign, columns)


@pytest.mark.parametrize("rest", ["x,y\n" * 200, "x" * 200_000])
def test_an_open_quote_is_an_error_and_swallows_nothing(tmp_path, rest):
    table = written(tmp_path / "a.csv", 'a,b\n"c,d\n' + rest)
    assert refused("csv", table).startswith(
        f"{table}:2: a quote begins a cell that no quote ends within 100 lines; close the quote"
    )


def test_an_open_quote_at_the_end_is_an_error(tmp_path):
    table = written(tmp_path / "a.csv", 'a,b\nc,"d\ne,f\n')
    assert refused("csv", table).startswith(f"{table}:2: a quote begins a cell that no quote ends")


def test_quotes_inside_cells_are_text_and_swallow_no_rows(tmp_path, caplog):
    rows = [('"Ja" sagte er', '"Yes" he said'), *((f"Satz {n}", f"sentence {n}") for n in range(40)), ('"wie', '"as')]
    whole = [("ein; zwei", 'one "two"\nthree')]
    lines = [";".join(row) for row in rows] + ['"ein; zwei";"one ""two""', 'three"']
    found = read("csv", written(tmp_path / "a.csv", "\n".join(lines) + "\n"))
    assert [pair[1:3] for pair in found] == [*rows, *whole]
    assert "a.csv:1: quotes do not enclose whole cells (2 rows, the first here)" in caplog.text


def test_carriage_returns_and_long_cells_in_tables(tmp_path):
    assert read("csv", written(tmp_path / "a.csv", 'a\rb,c\n"d\re",f\n')) == [(1, "a b", "c", ""), (2, "d e", "f", "")]
    long = "x" * 140_000
    assert read("csv", written(tmp_path / "b.csv", f"{long},c\n")) == [(1, long, "c", "")]
    quoted = written(tmp_path / "c.csv", f'a,b\n"{long}",c\n')
    assert refused("csv", quoted) == f"{quoted}:2: a cell has more than 131,072 characters; split it"


# ---- rows above the header ----


@pytest.mark.parametrize("kind", ["csv", "tsv", "xlsx"])
@pytest.mark.parametrize("above", [[["My words", ""]], [[]], [["My words"], ["", ""]], [["", "2020"], []]])
def test_rows_above_the_header_are_no_header(tmp_path, caplog, kind, above):
    rows = [*above, ["de", "en"], *([f"ein altes Haus {row}", f"an old house {row}"] for row in range(20))]
    sign = {"csv": ";", "tsv": "\t"}.get(kind)
    content = "".join(sign.join(row) + "\n" for row in rows) if sign else workbook(rows)
    table = written(tmp_path / f"a.{kind}", content)
    found = guess([table], Given())
    assert (found.settings["header"], found.settings["source_language"], found.pairs) == (True, "de", 20)
    pairs = read(kind, table, header=True)
    assert [pair[1:3] for pair in pairs if not pair[3] and all(pair[1:3])] == [tuple(row) for row in rows[-20:]]
    assert pairs[-1][0] == len(rows) and not caplog.records
    assert len(read(kind, table)) == len(pairs) + 1
    [message] = [record.getMessage() for record in caplog.records]
    assert message.startswith(f"{table}:{len(above) + 1}: 'de' and 'en' look like column names")


# ---- encodings ----


@pytest.mark.parametrize(
    ("encoding", "word"),
    [("cp1252", "„Größe“"), ("utf-16", "größe"), ("utf-16-le", "größe"), ("cp932", "大きさ"), ("koi8-r", "размер")],
)
@pytest.mark.parametrize("name", ["tsv", "csv", "text", "jsonl"])
def test_encodings(tmp_path, name, encoding, word):
    lines = {"jsonl": f'{{"de": "{word}", "en": "size"}}\n', "text": f"{word}\n"}.get(name, f"{word}\tsize\n")
    files = [written(tmp_path / "a", lines.encode(encoding))]
    if name == "text":
        files.append(written(tmp_path / "b", "size\n".encode(encoding)))
    assert read(name, *files, encoding=encoding) == [(1, word, "size", "")]


def test_bytes_that_an_encoding_does_not_have(tmp_path):
    table = written(tmp_path / "a.tsv", "größe\tsize\n".encode() + b"gr\xf6\xdfer\tlarger\n")
    assert read("tsv", table, encoding="utf-8") == [(1, "größe", "size", ""), (2, "gr��er", "larger", NOT_DECODED)]
    assert f"{table}:2: not valid UTF-8" in refused("tsv", table)


# ---- JSON lines ----

HOUSE = {
    "struct": '{"id": "1", "translation": {"de": "Haus", "en": "house"}}',
    "fields": '{"en": "house", "de": "Haus", "score": 1.5}',
    "list": '{"translation": [{"language": "en", "text": "house"}, {"language": "de", "text": "Haus"}]}',
    "lists": '{"translation": {"language": ["en", "de"], "translation": ["house", "Haus"]}}',
}


@pytest.mark.parametrize("row", HOUSE.values(), ids=HOUSE)
def test_layouts_of_objects(tmp_path, row):
    for text in (f"{row}\n\n{row}\n", f"[{row},\n{row}]"):
        found = read("jsonl", written(tmp_path / "a.jsonl", text))
        assert [pair[1:] for pair in found] == [("Haus", "house", "")] * 2


def test_named_fields_and_faults(tmp_path):
    rows = ['{"src": "a", "out": {"best": "b"}}', '{"src": "a"}', "{", "[1]", '{"src": 1, "out": {"best": "b"}}']
    file = written(tmp_path / "a.jsonl", "\n".join(rows))
    for target in ("best", "out.best"):
        faults = [pair[3] for pair in read("jsonl", file, source_field="src", target_field=target)]
        assert faults == ["", NO_TRANSLATION, NO_OBJECT, NO_OBJECT, NO_TRANSLATION]
    assert (
        refused("jsonl", file)
        == f"{file}: no object contains text in both de and en; fields of text: src (2), out.best (2)"
    )
    assert "not JSON, or cut off" in refused("jsonl", written(tmp_path / "b", "[{}"))


# ---- XLIFF ----

XLIFF = {
    "1.2": """<?xml version="1.0"?><xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file source-language="de-DE" target-language="en-US" original="a"><body>
<trans-unit id="1"><source>ein <g id="1">gro<bpt>&lt;b&gt;</bpt>ßes</g><x ctype="lb"/>Haus</source>
<seg-source><mrk>not this</mrk></seg-source><target>a large house</target>
<alt-trans><source>old</source><target>nor this</target></alt-trans></trans-unit>
<trans-unit id="2"><source>allein</source></trans-unit>
<trans-unit id="3"><source>neu</source><target state="new">neu</target></trans-unit></body></file></xliff>""",
    "2.0": """<xliff version="2.0" srcLang="de" trgLang="en"><file id="f"><unit id="1">
<segment><source>ein <pc id="1">großes</pc><ph id="2" subType="xlf:lb"/>Haus</source>
<target>a large house</target></segment>
<ignorable><source> </source></ignorable>
<segment state="initial"><source>allein</source><target>alone</target></segment>
<segment><source>neu</source></segment></unit></file></xliff>""",
}


@pytest.mark.parametrize("version", XLIFF)
@pytest.mark.parametrize("prefix", ["", "x:"])
def test_xliff(tmp_path, version, prefix):
    content = re.sub(r"(</?)(?=[\w-])", rf"\1{prefix}", XLIFF[version])
    content = content.replace("a large house", "a <y:target>large</y:target> house")
    file = written(tmp_path / "a.xlf", content)
    found = read("xliff", file)
    assert [pair[1:] for pair in found[:1]] == [("ein großes Haus", "a large house", "")]
    assert [pair[3] for pair in found[1:]] == [NO_TRANSLATION] * 2
    assert read("xliff", file, languages=("en", "de"))[0][1:3] == ("a large house", "ein großes Haus")
    with pytest.raises(InputError, match=r"no unit has a translation between fr and en; languages: de"):
        read("xliff", file, languages=("fr", "en"))


@pytest.mark.parametrize(
    ("target", "pairs"),
    [
        ("<mrk mtype='seg' mid='1'>a</mrk> <mrk mtype='seg' mid='2'>b</mrk>", [("eins", "a", ""), ("zwei", "b", "")]),
        ("<mrk mtype='seg' mid='2'>b</mrk>", [("eins zwei", "b", "")]),
        (
            "<mrk mtype='seg' mid='1'/> <mrk mtype='seg' mid='2'>b</mrk>",
            [("eins", "", NO_TRANSLATION), ("zwei", "b", "")],
        ),
        ("<mrk mtype='seg' mid='1'>a</mrk> c <mrk mtype='seg' mid='2'>b</mrk>", [("eins zwei", "a c b", "")]),
        ("<mrk mtype='seg' mid='1'>a</mrk> <mrk mtype='seg' mid='1'>b</mrk>", [("eins zwei", "a b", "")]),
        (
            "<mrk mtype='seg' mid='1'/><mrk mtype='seg' mid='2'>b</mrk>",
            [("eins", "", NO_TRANSLATION), ("zwei", "b", "")],
        ),
        ("<mrk mtype='seg' mid='9'>b</mrk>", [("eins zwei", "b", "")]),
        ("a <mrk mtype='term'>b</mrk>", [("eins zwei", "a b", "")]),
    ],
)
def test_marked_segments_of_xliff_1_are_pairs(tmp_path, target, pairs):
    marked = "<mrk mtype='seg' mid='1'>ei<mrk mtype='x'>ns</mrk></mrk> <mrk mtype='seg' mid='2'>zwei</mrk>"
    unit = f"<source>eins zwei</source><seg-source>{marked}</seg-source><target>{target}</target>"
    head = "<xliff version='1.2'><file source-language='de' target-language='en'>"
    broken = (
        "<trans-unit><source>a<mrk mtype='seg' mid='1'>b<trans-unit/></mrk></source><target>c</target></trans-unit>"
    )
    broken += "<trans-unit><source>a<mrk mtype='seg' mid='1'>b<source/>c</mrk></source><target>d</target></trans-unit>"
    other = f"{broken}<trans-unit><source>c</source><target>d</target></trans-unit>"
    file = written(tmp_path / "a.xlf", f"{head}<trans-unit>{unit}</trans-unit>{other}</file></xliff>")
    assert [tuple(pair[1:]) for pair in read("xliff", file)] == [
        *pairs,
        ("ab", "c", ""),
        ("ab", "d", ""),
        ("c", "d", ""),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<tmx/>", "not XLIFF: the root is 'tmx', not 'xliff'"),
        ("<xliff><file>", "not well-formed XML, or cut off"),
        ("<xliff>" + "<g>" * 200, "elements are nested more than 100 deep, which no XLIFF needs"),
        ('<!DOCTYPE xliff [<!ENTITY a "b">]><xliff/>', "declares the entity 'a'"),
    ],
)
def test_bad_xliff(tmp_path, text, message):
    assert message in refused("xliff", written(tmp_path / "a.xlf", text))


def test_every_file_of_xliff_has_its_own_languages(tmp_path):
    unit = "<trans-unit><source>ein Haus</source><target>a house</target></trans-unit>"
    heads = ("source-language='de' target-language='en'", "source-language='de'", "source-language='fr'")
    text = "".join(f"<file {head}>{unit}</file>" for head in heads)
    file = written(tmp_path / "a.xlf", f"<xliff version='1.2'>{text}</xliff>")
    assert [pair[3] for pair in read("xliff", file)] == ["", NO_TRANSLATION, NO_TRANSLATION]


# ---- workbooks ----


def test_workbooks(tmp_path):
    pytest.importorskip("python_calamine")
    book = written(tmp_path / "a.xlsx", workbook([["Nr", "Deutsch", "Englisch"], ["1", "ein Haus", "a house"]]))
    assert read("xlsx", book, source_column=2, target_column=3, header=True) == [(2, "ein Haus", "a house", "")]
    assert refused("xlsx", written(tmp_path / "b.xlsx", b"PK\3\4 no archive")).startswith(
        f"{tmp_path / 'b.xlsx'}: not a workbook, protected, or damaged"
    )
    assert "no sheet has two columns" in refused("xlsx", written(tmp_path / "c.xlsx", workbook([["a"]])))


COVER = [["Title", "My words"], ["Author", "Me"]]
ROWS = [[f"ein Haus {number}", f"a house {number}"] for number in range(9)]


@pytest.mark.parametrize(
    ("sheets", "header", "others"),
    [
        ([[["de", "en"], *ROWS[:3]], [["de", "en"], *ROWS[3:]]], True, []),
        ([COVER, [["de", "en"], *ROWS]], True, ["A"]),
        ([[["de", "en"], *ROWS], [["word", "count"], ["Haus", "9"]], [["Notes"]], []], True, ["B", "C"]),
        ([ROWS[:3], ROWS[3:]], False, []),
        ([[["Nr", "1", "a"]] * 3, ROWS], False, ["A"]),
        ([ROWS, [["en", "de"], *COVER]], False, ["B"]),
    ],
)
def test_sheets_of_one_layout_are_read(tmp_path, sheets, header, others):
    pytest.importorskip("python_calamine")
    book = written(tmp_path / "a.xlsx", workbook(*sheets))
    pairs = list(TEXT_READERS["xlsx"].read_pairs([book], ("de", "en"), ColumnSettings(header=header)))
    assert [[pair.source, pair.target] for pair in pairs if not pair.fault] == ROWS
    assert {pair.path.removeprefix(f"{book}:") for pair in pairs if pair.fault == OTHER_SHEET} == {*others}
    assert len({pair[:2] for pair in pairs}) == len(pairs)
    found = guess([book], Given(languages=("de", "en")))
    assert (found.settings["header"], found.pairs) == (header, len(ROWS))
    [shown] = [str(one) for one in found.findings if one.what == "sheets"]
    assert ("left out: another layout" in shown) == bool(others)


def test_workbooks_need_a_package(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "python_calamine", None)
    assert r"pip install 'lscfg[xlsx]'" in refused("xlsx", tmp_path / "a.xlsx")


# ---- subtitles ----


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"de": "a, b", "en": "c, d"},\n' * 9, r"line 1 is not JSON \(Extra data"),
        ('{"data": [\n' + '{"de": "a, b", "en": "c, d"},\n' * 9, r"line 1 is not JSON \("),
    ],
)
def test_json_that_is_none_is_no_table(tmp_path, text, fault):
    for name in ("a.jsonl", "a.txt"):
        table = written(tmp_path / name, text)
        with pytest.raises(
            InputError, match=rf"^{table}: looks like JSON, but {fault}.*; give one object per line, or"
        ):
            guess([table], Given(languages=("de", "en")))


def test_numbers_of_other_programs_are_no_fault(tmp_path):
    """Python's json writes NaN; the values are not used. Empty lines count."""
    text = '\n\n{"de": "a", "en": "b", "score": NaN}\n[1]\n{"de": "c", "en": "d", "score": -Infinity}\n'
    table = written(tmp_path / "a.jsonl", text)
    assert guess([table], Given(languages=("de", "en"))).settings.get("format") in (None, "jsonl")
    assert read("jsonl", table) == [(3, "a", "b", ""), (4, "", "", NO_OBJECT), (5, "c", "d", "")]


def test_an_empty_line_ends_no_cue_of_subrip():
    cues = "1\n00:00:01,000 --> 00:00:02,000\nHello\n\nthere\n\n2\n00:00:03,000 --> 00:00:04,000\n42\n\n"
    cues += "00:00:05,000 --> 00:00:06,000\nEnd\n"
    assert [cue.text for cue in parse_cues(cues.split("\n"))] == ["Hello there", "42", "End"]
    web = cues.replace("there", "NOTE no text")
    assert [cue.text for cue in parse_cues(["WEBVTT", "", *web.split("\n")])] == ["Hello", "42", "End"]


GERMAN = """\ufeff1
00:00:01,000 --> 00:00:03,000
<i>Guten Tag,</i>
Frau Weber.

2
00:00:04,000 --> 00:00:05,000
Ja?

3
00:00:06,000 --> 00:00:08,000
Das ist
4
00:00:08,100 --> 00:00:10,000
mein Haus.

5
00:01:00,000 --> 00:01:01,000
Allein.
"""
ENGLISH = """WEBVTT

00:01.100 --> 00:02.900 align:start
Good day, Mrs Weber.

00:04.200 --> 00:05.100
{\\an8}Yes?

00:06.000 --> 00:10.000
This is my house.
"""


def test_subtitles(tmp_path):
    files = written(tmp_path / "a.de.srt", GERMAN), written(tmp_path / "a.en.vtt", ENGLISH)
    assert read("srt", *files) == [
        (2, "Guten Tag, Frau Weber.", "Good day, Mrs Weber.", ""),
        (7, "Ja?", "Yes?", ""),
        (11, "Das ist mein Haus.", "This is my house.", ""),
        (18, "Allein.", "", NO_TRANSLATION),
    ]
    assert [pair[1:3] for pair in read("srt", *reversed(files))][:2] == [
        ("Good day, Mrs Weber.", "Guten Tag, Frau Weber."),
        ("Yes?", "Ja?"),
    ]
    assert "has no times such as" in refused("srt", files[0], written(tmp_path / "c", "text\n"))
