"""Raw sentence pairs: every kind of source on good files and on every kind of bad one."""

import gzip
import re
from pathlib import Path

import pytest

from lscfg.errors import InputError
from lscfg.prepare import tmx
from lscfg.prepare.reader import NO_TRANSLATION, TEXT_READERS, language_matches, reader_of
from lscfg.prepare.tsv import FEW_COLUMNS
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
    """What the kind of source finds: (line, source, target, fault)."""
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


@pytest.mark.parametrize(
    ("tag", "wanted", "answer"),
    [
        ("en", "en", True),
        ("en-US", "en", True),
        ("EN_us", "en", True),
        ("end", "en", False),
        ("en", "en-US", False),
        ("pt-BR", "pt-br", True),
        ("", "en", False),
    ],
)
def test_languages_match_by_their_first_parts(tag, wanted, answer):
    assert language_matches(tag, wanted) is answer


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
    assert refused("text", good, short).startswith(f"{short}: 1 lines, but {good} has more")
    assert refused("text", short, good).startswith(f"{short}: 1 lines, but {good} has more")
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


def test_bad_tables(tmp_path):
    table = written(tmp_path / "a.tsv", "one two\nthree\n")
    assert refused("tsv", table) == f"{table}: no line has 2 columns separated by tabulators"
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


def test_parquet_of_columns(table):
    path = table(de=["eins", None], en_US=["one", "two"], english=["1", "2"])
    assert read("parquet", path) == ROWS[:2]
    assert read("parquet", path, target_field="english")[0] == (1, "eins", "1", "")


def test_bad_parquet(table, tmp_path):
    other = table(text=["a"], number=[1])
    assert refused("parquet", other) == f"{other}: no column of text 'de'; columns of text: text"
    assert "no column of text 'number'" in refused("parquet", other, source_field="number")
    assert "are the same column" in refused("parquet", other, source_field="text", target_field="text")
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
