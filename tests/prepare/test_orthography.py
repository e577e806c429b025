"""Rewrites of the spelling of the target side, against spellings by hand."""

import random
import re
import unicodedata

import pytest

from lscfg.errors import InputError
from lscfg.io.read import read_lines
from lscfg.prepare.corpus import RawFiles, prepare_corpus
from lscfg.prepare.orthography import Orthography, Rewrite, read_orthography
from lscfg.prepare.settings import PrepareSettings

SHIPIBO = [
    Rewrite("qu", "k", "", "eiéí"),
    Rewrite("hu", "w", "", "aeio"),
    Rewrite("c", "k", "", "!h"),
    Rewrite("á", "a"),
]


@pytest.mark.parametrize(
    ("rewrites", "line", "new"),
    [
        (SHIPIBO, "Quesca riqui chichóra huetsa", "Keska riki chichóra wetsa"),
        (SHIPIBO, "QUE Cá HUETSA", "KE Ka WETSA"),
        (SHIPIBO, "cac ch", "kak ch"),
        ([Rewrite("ŋ", "ng")], "ŊANGA TAŊA Ŋaŋa Ŋ", "NGANGA TANGA Nganga Ng"),
        ([Rewrite("ß", "ss")], "STRAßE Straße", "STRASSE Strasse"),
        ([Rewrite("yn", "in", "_")], "yn ayn Yn-yn", "in ayn In-in"),
        ([Rewrite("y", "i", "", "!aeio_")], "ynic yamo y ay", "inic yamo y ay"),
        ([Rewrite("s", "z", "_a")], "sas isi", "zaz isi"),
        ([Rewrite("s", "z", "!_a")], "sas isi", "sas izi"),
        ([Rewrite("’", "'")], "jach’a ’a", "jach'a 'a"),
        ([Rewrite("a", "b"), Rewrite("b", "c")], "ab", "cc"),
        ([Rewrite("g\u0303", "ĝ")], "g\u0303 G\u0303a g", "ĝ Ĝa g"),
        ([Rewrite("g", "k")], "g\u0303 g", "g\u0303 k"),
        ([Rewrite("x", "")], "axa X", "aa "),
    ],
)
def test_rewrites_follow_their_contexts(rewrites, line, new):
    assert Orthography(rewrites).apply(line) == new


def test_a_rewrite_without_context_equals_a_replacement_in_random_text():
    random.seed(3)
    for _ in range(200):
        line = "".join(random.choices("abcé .", k=30)).strip()
        old, new = "".join(random.choices("abc", k=random.randint(1, 2))), random.choice(["x", "xy", ""])
        assert Orthography([Rewrite(old, new)]).apply(line) == unicodedata.normalize("NFC", line.replace(old, new))
        expected = re.sub(f"(?<=b){old}(?=[ac])", new, line)
        assert Orthography([Rewrite(old, new, "b", "ac")]).apply(line) == expected


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("a", "2: has 1 column; give old letters, new letters, letters before, letters after with tabs between them"),
        ("a\tb\tc\td\te", "2: has 5 columns"),
        ("\tb", "2: names no letters to replace in its first column"),
        ("A\tb", "2: has capitals in old letters, 'A'; write small letters"),
        ("a\tb\tc d", "2: has a blank in letters before, 'c d'; _ means the edge of a word"),
        ("#", "contains no rewrite"),
    ],
)
def test_bad_tables_are_refused_with_their_line(tmp_path, line, fault):
    table = tmp_path / "table.tsv"
    table.write_text(f"# spelling\n{line}\n")
    with pytest.raises(InputError) as error:
        read_orthography(table)
    assert str(error.value).startswith(f"{table}:") and fault in str(error.value)


@pytest.mark.parametrize("line", ["İ quesca", "İqué", "QU\u0303"])
def test_no_line_is_left_out_for_its_letters(line):
    apply = Orthography([Rewrite("qu", "k"), Rewrite("é", "e"), Rewrite("kũ", "ko")]).apply
    for form in ("NFC", "NFD"):
        assert "qu" not in apply(unicodedata.normalize(form, line)).lower()
        assert "é" not in apply(unicodedata.normalize(form, line))


def test_words_that_the_source_contains_stay():
    """Names and loans of both sides; contexts at their edges are edges of words, and short words count for nothing."""
    spelling = Orthography([Rewrite("qu", "k", "", "eiéí"), Rewrite("c", "k"), Rewrite("k", "g", "_")])
    source = "Oscar QUITO vive en Quito con mi científico, ca é"
    assert spelling.apply("quesca Oscar quito con científicobo ca (Científico)", source) == (
        "geska Oscar quito con gientífikobo ga (Científico)"
    )
    assert spelling.apply("quesca ca", source) == spelling.apply("quesca ca") == "geska ga"
    assert spelling.apply("Oscarnin Oscar", "OSCAR") == "Oskarnin Oscar"
    composed = spelling.apply("cafe\u0301 ca", "café")
    assert composed == "café ga"


def test_only_the_target_side_of_the_training_text_changes(tmp_path):
    (tmp_path / "table.tsv").write_text("qu\tk\t\tei\n")
    texts = {"train.es": "que casa\notra que\n", "train.shp": "quesca xobo\nriqui xobo\n", "dev.es": "que xobo\n"}
    for name, text in {**texts, "dev.shp": "que quesca\n"}.items():
        (tmp_path / name).write_text(text)
    settings = PrepareSettings(tokeniser="none", casing="none", orthography=tmp_path / "table.tsv")
    pairs = [tuple(tmp_path / f"{name}.{language}" for language in ("es", "shp")) for name in ("train", "dev")]
    files = RawFiles(*pairs)
    (tmp_path / "out").mkdir()
    prepare_corpus(files, settings, tmp_path / "out")
    assert read_lines(tmp_path / "out/train.shp") == ["kesca xobo", "riki xobo"]
    assert read_lines(tmp_path / "out/train.es") == ["que casa", "otra que"]
    assert read_lines(tmp_path / "out/dev.shp") == ["que quesca"]
