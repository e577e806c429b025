"""Raw sentence pairs: every kind of source on good files and on every kind of bad one."""

import gzip
import random
import re
from pathlib import Path

import pytest
from mutations import mutate_text, mutations

from lscfg.errors import InputError
from lscfg.prepare import tmx
from lscfg.prepare.reader import NO_TRANSLATION, TEXT_READERS, language_fit, reader_of, sides_of
from lscfg.prepare.table import FEW_COLUMNS, MANY_COLUMNS
from lscfg.settings import SettingError

TMX = """<?xml version="1.0" encoding="ENCODING"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="de-DE" segtype="sentence"><note>&lt;nothing&gt;</note></header><body>
<tu><tuv xml:lang="de-DE"><seg>ein <bpt i="1">&lt;b <sub>code</sub>&gt;</bpt>Haus<ept>/b</ept> <hi>hier</hi></seg></tuv>
<tuv xml:lang="EN_us"><seg>a house
here</seg></tuv><tuv xml:lang="en-GB"><seg>second</seg></tuv></tu>
<tu><tuv xml:lang="de"><seg>allein</seg></tuv><tuv xml:lang="end"><seg>not English</seg></tuv></tu>
<tu><tuv lang="en"><seg>&#252;ber &amp; out</seg></tuv><tuv lang="de"><seg>ü</seg></tuv></tu>
</body></tmx>
"""


def read(name, *files, languages=("de", "en"), **settings):
    """Pairs that the reader finds: (line, source, target, fault)."""
    reader = TEXT_READERS[name]
    return [pair[1:] for pair in reader.read_pairs(files, languages, reader.Settings(**settings))]


def written(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def refused(name, *files, **settings) -> str:
    with pytest.raises(InputError) as caught:
        read(name, *files, **settings)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---- which kind ----


def test_the_kind_is_that_of_the_names_ending():
    one, two = Path("a/x.TMX.gz"), Path("b.de")
    assert reader_of([Path("x.tmx.gz")]) == reader_of([one.with_name("x.TMX.gz")]) == "tmx"
    assert reader_of([Path("x.tsv")]) == "tsv" and reader_of([Path("x.parquet"), two]) == "parquet"
    assert reader_of([two, Path("b.en.gz")]) == "text" and reader_of([two], "tsv") == "tsv"
    with pytest.raises(InputError, match=r"plain text takes two files.*\.parquet, \.tmx, \.tsv"):
        reader_of([two])
    assert reader_of([Path("x.XLF")]) == "xliff" and reader_of([Path("x.ods")]) == "xlsx"
    assert reader_of([Path("a.json.gz")]) == "jsonl" and reader_of([Path("a.srt"), Path("b.srt")]) == "srt"
    with pytest.raises(InputError, match=r"^\.srt takes two files, a source and its translation"):
        reader_of([Path("a.vtt")])


@pytest.mark.parametrize(
    ("tag", "wanted", "answer"),
    [
        ("en", "en", 2),
        ("en-US", "en", 2),
        ("EN_us", "en", 2),
        ("eng", "en", 2),
        ("end", "en", 0),
        ("en", "en-US", 1),
        ("en-GB", "en-US", 1),
        ("de", "ger-DE", 1),
        ("pt-BR", "pt-br", 2),
        ("zh-Hant", "zh-Hans", 0),
        ("zh-TW", "zh-Hans", 0),
        ("zh-CN", "zh-Hans", 2),
        ("zh", "zh-Hans", 1),
        ("", "en", 0),
        ("", "", 0),
    ],
)
def test_languages_fit_by_their_base(tag, wanted, answer):
    assert language_fit(tag, wanted) == answer


@pytest.mark.parametrize(
    ("tags", "wanted", "sides"),
    [
        (("de", "en"), ("de-DE", "en-US"), (0, 1)),
        (("en-GB", "en-US", "de"), ("de", "en-US"), (2, 1)),
        (("en", "en-US"), ("en-US", "en-GB"), (1, 0)),
        (("en",), ("en-US", "en-GB"), (0, None)),
        (("zh-TW", "zh-CN"), ("zh-Hans", "zh-Hant"), (1, 0)),
        (("de-CH", "fr"), ("fr", "de"), (1, 0)),
        ((), ("de", "en"), (None, None)),
    ],
)
def test_each_side_gets_the_tag_that_fits_best(tags, wanted, sides):
    assert sides_of(tags, wanted) == sides


# ---- plain text ----


@pytest.mark.parametrize("end", ["", ".gz"])
def test_text(tmp_path, end):
    source = written(tmp_path / f"a.de{end}", "eins\r\n\nd\u2028rei\n")
    target = written(tmp_path / f"a.en{end}", "one\ntwo\nthree")
    assert read("text", source, target) == [
        (1, "eins", "one", ""),
        (2, "", "two", ""),
        (3, "d\u2028rei", "three", ""),
    ]


def test_bad_text(tmp_path):
    good, short = written(tmp_path / "a.de", "a\nb\n"), written(tmp_path / "a.en", "a\n")
    assert refused("text", good, short).startswith(f"{short}: 1 line, but {good} has more")
    assert refused("text", short, good).startswith(f"{short}: 1 line, but {good} has more")
    latin = written(tmp_path / "latin", "a\nß\n".encode("latin-1"))
    assert refused("text", latin, good).startswith(f"{latin}:2: not valid UTF-8")
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"a\nb\n" * 1000)[:-20])
    assert "cut off or damaged" in refused("text", cut, good)
    assert "cannot read" in refused("text", tmp_path / "absent", good)
    fake = tmp_path / "fake.gz"
    fake.write_bytes(b"a\nb\n")
    assert read("text", fake, good) == [(1, "a", "a", ""), (2, "b", "b", "")]


# ---- tables ----


def test_tables(tmp_path):
    table = written(tmp_path / "a.tsv.gz", "id\tenglish\tgerman\n1\tone\teins\nbad\n2\ttwo\t\n")
    found = read("tsv", table, source_column=3, target_column=2, header=True)
    assert found == [(2, "eins", "one", ""), (3, "", "", FEW_COLUMNS), (4, "", "two", "")]
    assert read("tsv", table, table)[0] == (1, "id", "english", "") and len(read("tsv", table, table)) == 8


def test_lines_of_another_number_of_columns_are_faults(tmp_path):
    """A tabulator within a side moves the target's beginning into the source."""
    table = written(tmp_path / "a.tsv", "Der Hund.\tThe dog.\nWeit weg,\tich bin da.\tFar away, I am here.\n")
    assert read("tsv", table) == [(1, "Der Hund.", "The dog.", ""), (2, "", "", MANY_COLUMNS)]
    lines = ["a\tb\tc"] + ["d\te"] * 3 + ["f"]
    written(table, "\n".join(lines))
    faults = [fault for *_, fault in read("tsv", table)]
    assert faults == [MANY_COLUMNS, "", "", "", FEW_COLUMNS]
    written(table, "de\ten\tnote\na\tb\nc\td\t\n")
    assert [fault for *_, fault in read("tsv", table, header=True)] == [FEW_COLUMNS, ""]
    written(table, "de\ten\nid\ta\tb\n")
    assert refused("tsv", table, header=True) == f"{table}: no line has 2 columns separated by tabs"
    written(table, "".join(f"{n}\tde {n}\ten {n}\n" for n in range(2000)) + "2001\tde\ten\tmore\n")
    assert [fault for *_, fault in read("tsv", table, source_column=2, target_column=3)] == [""] * 2000 + [MANY_COLUMNS]


def test_a_table_of_any_ends_of_lines(tmp_path):
    table = written(tmp_path / "a.tsv", b"\xef\xbb\xbfa\tb\r\nc\td\ne\tf\r\r\ng\th\r")
    assert [pair[1:3] for pair in read("tsv", table)] == [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]
    written(table, b"a\tb\rc\td\r")
    assert "lines end in a carriage return alone" in refused("tsv", table)
    written(table, b"a\tb\n" * 3 + b"c\td\re\tf\n")
    assert [fault for *_, fault in read("tsv", table)] == ["", "", "", MANY_COLUMNS]


SENTENCES = [("Der Hund schläft heute im Garten.", "The dog sleeps in the garden today.")] * 9


@pytest.mark.parametrize(
    ("first", "seems"),
    [
        (("Deutsch", "Englisch"), True),
        (("de", "en"), True),
        (("deu", "eng"), True),
        (("source", "target"), True),
        (("translation_de", "translation_en"), True),
        (("Satz", "Übersetzung"), True),
        (("Das ist ein Haus.", "This is a house."), False),
        (("Nein!", "No!"), False),
        (("Englisch ist eine Sprache der Welt", "english"), False),
    ],
)
def test_a_line_that_names_the_columns_is_warned_of(tmp_path, caplog, first, seems):
    table = written(tmp_path / "a.tsv", "".join(f"{f}\t{e}\n" for f, e in [first, *SENTENCES]))
    assert len(read("tsv", table)) == 10
    assert [f"{table}:1: " in record.getMessage() for record in caplog.records] == [True] * seems
    caplog.clear()
    assert len(read("tsv", table, header=True)) == 9 and not caplog.records


def test_short_pairs_are_no_names_of_columns(tmp_path, caplog):
    written(table := tmp_path / "a.tsv", "".join(f"wort{n}\tword{n}\n" for n in range(9)))
    assert len(read("tsv", table)) == 9 and not caplog.records


@pytest.mark.parametrize(
    ("line", "warned"),
    [
        ('"ein Hund {}"\t"a dog"', ["1 are in quotes", "2 are in quotes"]),
        ("ein Hund\t{}", ["column 2 has no letters on 20 of 20 lines; target_column in [prepare]"]),
        ("{}\tein Hund", ["column 1 has no letters on 20 of 20 lines; source_column in [prepare]"]),
        ('ein "Hund" {}\t"a" dog', []),
    ],
)
def test_columns_without_running_text_are_warned_of(tmp_path, caplog, line, warned):
    table = tmp_path / "t.tsv"
    table.write_text("".join(line.format(number) + "\n" for number in range(20)))
    assert len(read("tsv", table)) == 20
    assert len(caplog.messages) == len(warned)
    assert all(part in message for part, message in zip(warned, caplog.messages, strict=True))


def test_quotes_of_a_spreadsheet_are_warned_of(tmp_path, caplog):
    written(table := tmp_path / "a.tsv", 'a\tb\n"Er sagt ""ja"""\tb\n"so"\t"so"\n')
    assert read("tsv", table)[1:] == [(2, '"Er sagt ""ja"""', "b", ""), (3, '"so"', '"so"', "")]
    [warned] = [record.getMessage() for record in caplog.records]
    assert warned.startswith(f"{table}:2: 1 lines have fields in quotes with doubled quotes inside")


def test_bad_tables(tmp_path):
    table = written(tmp_path / "a.tsv", "one two\nthree\n")
    assert refused("tsv", table) == f"{table}: no line has 2 columns separated by tabs"
    with pytest.raises(SettingError, match="target_column must be another column"):
        read("tsv", table, source_column=2)
    latin = written(tmp_path / "l.tsv", "a\tb\nß\tb\n".encode("latin-1"))
    assert refused("tsv", latin).startswith(f"{latin}:2: not valid UTF-8")


# ---- translation memories ----

UNITS = [(4, "ein Haus hier", "a house\nhere", ""), (7, "allein", "", NO_TRANSLATION), (8, "ü", "über & out", "")]


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16", "ISO-8859-1"])
@pytest.mark.parametrize("end", ["", ".gz"])
def test_translation_memory(tmp_path, encoding, end):
    path = written(tmp_path / f"a.tmx{end}", TMX.replace("ENCODING", encoding).encode(encoding))
    assert read("tmx", path) == UNITS
    assert [pair[:3] for pair in read("tmx", path, languages=("en-US", "de"))[:1]] == [(4, *UNITS[0][2:0:-1])]


def test_a_memory_of_any_size_is_read_unit_by_unit(tmp_path, monkeypatch):
    """Not a line of the file has an end; at no time more than a chunk's units are held."""
    unit = '<tu><tuv xml:lang="de"><seg>eins</seg></tuv><tuv xml:lang="en"><seg>one</seg></tuv></tu>'
    path = written(tmp_path / "a.tmx", f"<tmx>{unit * 20000}</tmx>")
    reader = TEXT_READERS["tmx"]
    pairs, largest = reader.read_pairs([path], ("de", "en"), reader.Settings()), 0
    feed = tmx._Units.feed

    def measured(units, *args, **keywords):
        nonlocal largest
        found = feed(units, *args, **keywords)
        largest = max(largest, len(found))
        return found

    monkeypatch.setattr(tmx._Units, "feed", measured)
    assert sum(1 for _ in pairs) == 20000 and largest < 1000


def memory(*units):
    """Translation units of (language, segment) in a file."""
    made = "".join(
        "<tu>" + "".join(f'<tuv xml:lang="{tag}"><seg>{text}</seg></tuv>' for tag, text in unit) + "</tu>"
        for unit in units
    )
    return f'<tmx version="1.4"><header/><body>{made}</body></tmx>'


def test_a_memory_is_read_by_base_language(tmp_path, caplog):
    path = written(tmp_path / "a.tmx", memory([("de", "Der Hund."), ("en", "The dog.")]))
    assert read("tmx", path, languages=("de-DE", "eng_US")) == [(1, "Der Hund.", "The dog.", "")]
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: no segment is in de-DE; segments in de are used",
        f"{path}: no segment is in eng_US; segments in en are used",
    ]
    written(
        path, memory([("en-GB", "colour"), ("en-US", "color"), ("de", "Farbe")], [("en-GB", "lift"), ("de", "Lift")])
    )
    assert [pair[1:3] for pair in read("tmx", path, languages=("de", "en-US"))] == [
        ("Farbe", "color"),
        ("Lift", "lift"),
    ]
    assert [pair[2] for pair in read("tmx", path)] == ["colour", "lift"]


def test_languages_of_a_memory_are_listed_if_none_fits(tmp_path):
    path = written(tmp_path / "a.tmx", memory([("de", "a"), ("en", "b")], [("de", "c"), ("", "d")]))
    assert refused("tmx", path, languages=("fr", "en")) == (
        f"{path}: no unit contains segments in both fr and en; languages: de (2), en (1), no code (1)"
    )
    written(path, memory([("d&#10;e", "a")]))
    assert refused("tmx", path).endswith("languages: d e (1)")
    written(path, '<tmx><tu><tuv xml:lang="de">a</tuv></tu></tmx>')
    assert refused("tmx", path).endswith("no unit contains segments in both de and en; languages: none")


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ('eins<ph x="1">&lt;br/&gt;</ph>zwei', "eins zwei"),
        ("eins<ph>\\n</ph>zwei", "eins zwei"),
        ("eins<it>&lt;/w:p&gt;</it>zwei", "eins zwei"),
        ("eins<ut>&lt;w:tab/&gt;</ut>zwei", "eins zwei"),
        ('eins<ph type="lb"/>zwei', "eins zwei"),
        ('eins<x type="x-tab"/>zwei', "eins zwei"),
        ("eins<ph>\n</ph>zwei", "eins zwei"),
        ("eins<hi><ph>&lt;BR&gt;</ph></hi>zwei", "eins zwei"),
        ("ein<bpt>&lt;br/&gt;</bpt>s<ept>&lt;/b&gt;</ept>", "eins"),
        ("ein<ph>&lt;b&gt;</ph>s", "eins"),
        ('ein<ph type="fnote"><sub>Fuß</sub></ph>s', "eins"),
        ('eins<ph type="lb">x</ph>zw<ph>x</ph>ei', "eins zwei"),
        ("ein<ph/>s", "eins"),
        ("ein<ph>&lt;brand/&gt;</ph>s", "eins"),
        (r"ein<ph>\textbf{</ph>s", "eins"),
        ("eins<x ctype='x-br'/>zwei", "eins zwei"),
    ],
)
def test_a_code_that_means_white_space_becomes_a_blank(tmp_path, segment, text):
    path = written(tmp_path / "a.tmx", memory([("de", segment), ("en", segment)]))
    assert read("tmx", path) == [(1, text, text, "")]


def test_the_depth_of_a_memory_is_limited(tmp_path):
    for depth, good in ((90, True), (200, False), (100_000, False)):
        segment = "<hi>" * depth + "a" + "</hi>" * depth
        path = written(tmp_path / "a.tmx", memory([("de", segment), ("en", "b")]))
        if good:
            assert read("tmx", path) == [(1, "a", "b", "")]
        else:
            assert refused("tmx", path) == f"{path}:1: elements are nested more than 100 deep, which no TMX needs"


BOMB = """<?xml version="1.0"?><!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<tmx><tu><tuv xml:lang="de"><seg>&b;</seg></tuv></tu></tmx>"""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BOMB, ":1: declares the entity 'a'; entities could unfold to any size"),
        (BOMB.replace('"ha"', 'SYSTEM "file:///etc/passwd"'), ":1: declares the entity 'a'"),
        (BOMB.replace("<!ENTITY a", "<!ENTITY % a"), ":1: declares the entity 'a'"),
        (TMX.replace("ENCODING", "UTF-8")[:-40], "not well-formed XML, or cut off"),
        (TMX.replace("ENCODING", "UTF-8").replace("</seg></tuv></tu>", "</seg></tu>"), ":6: not well-formed XML"),
        (TMX.replace("ENCODING", "UTF-8").replace("allein", "a&nbsp;b"), ":7: the entity &nbsp; is not defined"),
        (TMX.replace("ENCODING", "no-such"), ":1: cannot read this encoding: unknown encoding: no-such"),
        (TMX.replace("ENCODING", "shift_jis"), ":1: cannot read this encoding: multi-byte encodings"),
        (TMX.replace("ENCODING", "UTF-8").encode("latin-1"), "not well-formed XML, or cut off: not well-formed"),
        (memory([("de", "lost <ph><seg>in</seg></ph> text")]), ":1: <seg> within <seg>"),
        ("<tmx><seg>a</seg></tmx>", ":1: <seg> outside <tuv>"),
        ("<tmx><tuv><seg>a</seg></tuv></tmx>", ":1: <tuv> outside <tu>"),
        ("<tmx><tu><tu/></tu></tmx>", ":1: <tu> within <tu>"),
        ("<html></html>", ":1: not TMX: the root is 'html', not 'tmx'"),
        ("", "not well-formed XML, or cut off: no element found"),
        (b"\x89PNG\r\n\x1a\n\0\0", "not well-formed XML"),
    ],
)
def test_bad_translation_memories(tmp_path, content, message):
    path = written(tmp_path / "bad.tmx", content)
    assert message in refused("tmx", path)


def test_memory_that_is_cut_in_its_compression(tmp_path):
    path = tmp_path / "a.tmx.gz"
    path.write_bytes(gzip.compress(TMX.replace("ENCODING", "UTF-8").encode())[:-30])
    assert refused("tmx", path) == f"{path}: compressed file is cut off or damaged; make it again"


# ---- Parquet ----


@pytest.fixture
def table(tmp_path):
    """Writes a table of columns."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

    def write(**columns):
        path = tmp_path / "a.parquet"
        parquet.write_table(pyarrow.table(columns), path)
        return path

    return write


PAIRS = [{"de": "eins", "en": "one"}, {"de": None, "en": "two"}, {"de": "", "en": "three"}, None]
ROWS = [(1, "eins", "one", ""), (2, "", "two", NO_TRANSLATION), (3, "", "three", ""), (4, "", "", NO_TRANSLATION)]


def test_parquet_of_translations(table):
    assert read("parquet", table(id=[1, 2, 3, 4], translation=PAIRS)) == ROWS


def test_parquet_with_a_column_twice(table, tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    joined = pyarrow.Table.from_arrays([pyarrow.array([word]) for word in ("eins", "one", "uno")], ["de", "en", "en"])
    parquet.write_table(joined, tmp_path / "b.parquet")
    with pytest.raises(InputError, match="two columns are called 'en'; rename or remove one"):
        read("parquet", tmp_path / "b.parquet")


def test_parquet_of_columns(table):
    path = table(de=["eins", None], en_US=["one", "two"], english=["1", "2"])
    assert read("parquet", path) == ROWS[:2]
    assert read("parquet", path, target_field="english")[0] == (1, "eins", "1", "")


def test_every_type_of_text_in_parquet(table):
    import pyarrow

    texts = pyarrow.array(["eins", None, "drei", "eins"])
    kinds = [pyarrow.string(), pyarrow.large_string(), pyarrow.dictionary(pyarrow.int32(), pyarrow.large_string())]
    kinds += [pyarrow.string_view()] if hasattr(pyarrow, "string_view") else []
    for kind in kinds:
        try:
            column = texts.cast(kind)
        except pyarrow.ArrowNotImplementedError:
            column = pyarrow.array(texts.to_pylist(), kind)
        found = read("parquet", table(de=column, en=["one", "two", "three", "one"]))
        assert [pair[1] for pair in found] == ["eins", "", "drei", "eins"], kind
        assert [pair[3] for pair in found] == ["", NO_TRANSLATION, "", ""]
        rows = pyarrow.StructArray.from_arrays([column, texts], ["de", "en"])
        assert [pair[1] for pair in read("parquet", table(translation=rows))] == ["eins", "", "drei", "eins"], kind


def test_categories_of_pandas(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"de": ["eins", "zwei"], "en": ["one", "two"]}).astype("category")
    frame.to_parquet(tmp_path / "a.parquet")
    assert read("parquet", tmp_path / "a.parquet") == [(1, "eins", "one", ""), (2, "zwei", "two", "")]


@pytest.mark.parametrize("layout", ["structs", "lists", "words"])
def test_parquet_that_lists_languages(table, layout):
    rows = [[("de", "eins"), ("en", "one"), ("fr", "un")], [("en", "two"), ("de_DE", "zwei")], [("en", "three")], None]
    names = ("lang", "text") if layout == "words" else ("language", "translation" if layout == "lists" else "text")
    if layout == "lists":
        made = [row and {name: [pair[k] for pair in row] for k, name in enumerate(names)} for row in rows]
    else:
        made = [row and [dict(zip(names, pair, strict=True)) for pair in row] for row in rows]
    path = table(id=[1, 2, 3, 4], **{"translations" if layout == "words" else "translation": made})
    assert read("parquet", path) == [
        (1, "eins", "one", ""),
        (2, "zwei", "two", ""),
        (3, "", "three", NO_TRANSLATION),
        (4, "", "", NO_TRANSLATION),
    ]
    assert refused("parquet", path, languages=("it", "en")) == (
        f"{path}: no row contains text in both it and en; languages: en (3), de (1), fr (1), de_DE (1)"
    )


def test_columns_of_parquet_by_base_language(table, caplog):
    path = table(de=["eins"], en_GB=["one"])
    assert read("parquet", path, languages=("ger-AT", "en")) == [(1, "eins", "one", "")]
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: no column is in ger-AT; column 'de' is used"
    ]


def test_bad_parquet(table, tmp_path):
    other = table(text=["a"], number=[1])
    assert refused("parquet", other) == (
        f"{other}: no column of text 'de'; columns of text: text; others: number (int64)"
    )
    assert "no column of text 'number'" in refused("parquet", other, source_field="number")
    assert "are the same column" in refused("parquet", other, source_field="text", target_field="text")
    assert "columns of text: t r" in refused("parquet", table(**{"t\nr": ["a"]}))
    assert "columns of text: none" in refused("parquet", table(number=[1]))
    good = table(translation=PAIRS * 100)
    data = good.read_bytes()
    for bad in (data[: len(data) // 2], b"PAR1", b"", b"de\ten\n" * 10, b"PAR1" + data[4:-8] + b"\xff" * 4 + b"PAR1"):
        assert "not a Parquet file, or cut off" in refused("parquet", written(tmp_path / "bad.parquet", bad))
    assert "cannot read" in refused("parquet", tmp_path / "absent.parquet")


def test_parquet_with_a_damaged_page(table, tmp_path):
    """Whatever byte is wrong: rows, or an error of one line."""
    data = bytearray(table(translation=[{"de": f"wort {n}", "en": f"word {n}"} for n in range(200)]).read_bytes())
    for place in range(4, len(data), 97):
        damaged = bytes(data[:place]) + bytes([data[place] ^ 0xFF]) + bytes(data[place + 1 :])
        path = written(tmp_path / "bad.parquet", damaged)
        try:
            assert len(read("parquet", path)) <= 200
        except InputError as error:
            assert re.match(rf"{re.escape(str(path))}: ", str(error)) and "\n" not in str(error)  # noqa: PT017


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'lscfg[parquet]'" in refused("parquet", tmp_path / "a.parquet")


# ---- any bytes ----

SEEDS = {
    "tsv": 'de\ten\tnote\nHund.\tThe dog.\tx\r\n"Er ""sagt"""\tHe &quot;says&quot;\ty\n\nПривет\t日本\tz\n'.encode(),
    "tmx": TMX.replace("ENCODING", "UTF-8").encode(),
    "text": "\ufeffeins\r\nzwei\rdrei\nTür\n".encode(),
}


@pytest.mark.parametrize("name", SEEDS)
@pytest.mark.parametrize("change", [mutations, mutate_text])
def test_damaged_bytes_are_read_or_refused_in_one_line(tmp_path, name, change):
    rng, path = random.Random(name), tmp_path / "a"
    for _ in range(300):
        path.write_bytes(change(SEEDS[name], rng))
        try:
            for pair in read(name, *[path] * (2 if name == "text" else 1)):
                assert pair[0] > 0 and isinstance(pair[1], str) and isinstance(pair[2], str)
        except InputError as error:
            assert re.match(rf"{re.escape(str(path))}(:\d+)?: ", str(error)) and "\n" not in str(error)  # noqa: PT017
