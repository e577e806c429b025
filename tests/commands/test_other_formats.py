"""Files in another format than a command expects: one error instead of scores and rules of the wrong words."""

import pytest

from lscfg.cli import main
from lscfg.corpus.parallel import check_plain_sentences, check_sentences, read_scored_lines
from lscfg.errors import InputError
from lscfg.formats.segments import is_segment, read_segment

SEGMENT = '<seg id="1" grammar="own">a b</seg>'
LATTICE = "((('a',0,1)),(('b',0,1)))"


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A grammar, its configuration and weights, in the working directory."""
    monkeypatch.chdir(tmp_path)
    files = {
        "g": "[X] ||| a ||| x ||| F=1\n[X] ||| b ||| y ||| F=2\n",
        "own": "[X] ||| a b ||| z ||| F=9 Own=2\n",
        "cdec.ini": "formalism=scfg\ngrammar=g\nfeature_function=WordPenalty\nadd_pass_through_rules=true\n",
        "weights": "F 1\nWordPenalty -0.5\nPassThrough -1\n",
        "text": "a b\n",
        "segments": f"{SEGMENT}\n",
        "references": "x y\n",
        "links": "0-0 1-1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


OTHER_SOURCES = {
    SEGMENT: "a segment of cdec's, not words",
    f" {SEGMENT}": "a segment of cdec's, not words",
    LATTICE: "a lattice of cdec's, not words",
    '<srcset setid="x" srclang="any">': "<srcset> of an SGML set, not words; keep the words of its segments",
    '<doc docid="1">': "<doc> of an SGML set",
}


@pytest.mark.parametrize(("line", "message"), OTHER_SOURCES.items())
def test_sentences(line, message, system, capsys):
    with pytest.raises(InputError, match="FILE:2: ") as caught:
        check_plain_sentences(["a b", line], "FILE")
    assert message in str(caught.value)
    (system / "other").write_text(f"a b\n{line}\n", encoding="utf-8")
    assert main(["grammar", "hiero", "text", "references", "links", "--filter", "other", "-o", "out"]) == 1
    assert f"other:2: {message}" in capsys.readouterr().err and not (system / "out").exists()


@pytest.mark.parametrize(
    "line", ["( ( 'a' ) )", "< seg >", "<p>", "a <seg>", "<segment>", "<docs>", "<doc> is a tag", "<doc id=1> a"]
)
def test_sentences_that_look_alike(line):
    check_plain_sentences([line], "FILE")


@pytest.mark.parametrize("line", ["<seg> x", "((('", "<doc>"])
def test_training_text_may_contain_any_words(line):
    check_sentences([line], "FILE")


OTHER_TRANSLATIONS = {
    "0 ||| x y ||| F=1 ||| -1": "|||, as in k-best lists; keep one translation a line",
    "x y ||| z": "|||, as in k-best lists",
    '<seg id="1">x y</seg>': "a segment of cdec's, not words; keep its words alone",
    '<refset setid="x">': "<refset> of an SGML set",
}


@pytest.mark.parametrize(("line", "message"), OTHER_TRANSLATIONS.items())
def test_translations_and_references(line, message, system, capsys):
    (system / "other").write_text(f"{line}\n", encoding="utf-8")
    tune = ["-c", "cdec.ini", "-w", "weights", "-s", "text", "-o", "tuned", "--reference"]
    for words in (
        ["evaluate", "scores", "--reference", "other", "A=references"],
        ["evaluate", "scores", "--reference", "references", "A=other"],
        ["evaluate", "oracle", "-s", "text", "--reference", "other", "A=g"],
        ["tune", "weights", *tune, "other"],
    ):
        assert main(words) == 1, words
        assert f"other:1: {message}" in capsys.readouterr().err, words


def test_columns(system):
    (system / "other").write_text("x\ty\nz\tz\n", encoding="utf-8")
    with pytest.raises(InputError, match="other:1: columns between tabs, not translations; write each column"):
        read_scored_lines("other")


@pytest.mark.parametrize("text", ["x\ty\nz\n", "x\ty\n", "x\t\ty\nz\tz\n", "a ||| b\nc\n", "<seg> is a tag\n"])
def test_raw_text_may_contain_tabs_and_bars(text, system):
    (system / "other").write_text(text, encoding="utf-8")
    assert read_scored_lines("other", text.count("\n")) == text.splitlines()


def test_a_segment_after_a_blank_is_a_segment(system, capsys):
    assert is_segment(f" {SEGMENT}") and read_segment(f" {SEGMENT}") == read_segment(SEGMENT)
    (system / "segments").write_text(f" {SEGMENT}\n", encoding="utf-8")
    assert main(["decode", "-c", "cdec.ini", "-w", "weights", "segments", "--quiet"]) == 0
    assert capsys.readouterr().out == "z\n"


def test_features_of_grammars_of_segments_need_weights(system, caplog):
    assert main(["decode", "-c", "cdec.ini", "-w", "weights", "segments"]) == 0
    assert "weights: features of the decoder without a weight, which count as 0: Own" in caplog.text


def test_an_output_that_a_segment_names(system, capsys):
    before = (system / "own").read_bytes()
    assert main(["decode", "-c", "cdec.ini", "-w", "weights", "segments", "-o", "own"]) == 1
    assert "own: is also an input and would be overwritten" in capsys.readouterr().err
    assert (system / "own").read_bytes() == before


def test_unique_without_lists_is_refused(system, capsys):
    assert main(["decode", "-c", "cdec.ini", "-w", "weights", "text", "-r"]) == 1
    assert "-r has no effect without -k" in capsys.readouterr().err


def test_lines_without_a_reference_are_reported(system, caplog):
    for name, text in (("two", "x y\n\n"), ("own-output", "x y\nx\n")):
        (system / name).write_text(text, encoding="utf-8")
    assert main(["evaluate", "scores", "--reference", "two", "A=own-output"]) == 0
    assert "1 of 2 lines have no reference (first line 2), so every translation there counts as wrong" in caplog.text
