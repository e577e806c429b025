"""Glossary files: their errors by line, their preparation, and the report of their use."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from decoders import GRAMMAR, WEIGHTS, small_config

from lscfg import cli, log
from lscfg.api.decoder import Decoder
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.glossary import Glossary, GlossaryReport, prepared_term
from lscfg.decode.terms import Term, TermIndex
from lscfg.errors import InputError
from lscfg.formats.ini import write_ini
from lscfg.prepare.casing import write_forms
from lscfg.prepare.sides import ModelFile, Side, SideRecipe
from lscfg.prepare.tokeniser import TOKENISERS


def glossary(folder: Path, text: str) -> Glossary:
    (folder / "terms.tsv").write_text(text)
    return Glossary.read(folder / "terms.tsv")


def test_cells_in_quotes_of_a_spreadsheet(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = glossary(tmp_path, 'source\ttarget\ncasa\t"home, sweet"\n"""a"" b"\tc\n"ja" sagte\td\n')
    assert [entry.term for entry in found.entries] == [
        Term("casa", ("home, sweet",)),
        Term('"a" b', ("c",)),
        Term('"ja" sagte', ("d",)),
    ]
    assert "cells in the quotes of a spreadsheet, which are read without them (2): line 2, line 3" in caplog.text


def test_a_line_without_the_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"terms\.tsv:2: "):
        glossary(tmp_path, "target\tsource\nHaus\n")


def test_columns_by_name_comments_and_defaults(tmp_path: Path) -> None:
    found = glossary(
        tmp_path,
        "# my terms\n\nMode\ttargets\tsource\tmatch\nsoft\t disc | disk \t Scheibe\tnocase\n"
        "\tbrake  caliper\tBrems sattel\nkeep\t\tOpenOffice\t\t\n",
    )
    assert [(entry.line, entry.term) for entry in found.entries] == [
        (4, Term("Scheibe", ("disc", "disk"), "soft", "nocase")),
        (5, Term("Brems sattel", ("brake  caliper",))),
        (6, Term("OpenOffice", (), "keep")),
    ]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "contains no terms; the first line must name the columns"),
        ("source\ttarget\n", None, "contains no terms; the first line must name the columns"),
        ("casa\thouse\n", 1, "the first line must name the columns"),
        ("source\ttaget\n", 1, r"no column 'taget' \(did you mean target\?\)"),
        ("source\ttarget\ttargets\n", 1, "names the column target twice"),
        ("source\ttarget\n\nx\n", 3, "has no target; give one, or the mode keep"),
        ("source\ttarget\n#\n\ty\n", 3, "the source of a term is empty"),
        ("source\ttarget\na\tb\tsoft\n", 2, "3 columns, but the first line names 2; remove a tab"),
        ("source\ttarget\tmode\na\tb\tfirm\n", 2, "mode 'firm' is unknown; use hard or soft or keep"),
        ("source\ttarget\tmode\na\tb\tkeep\n", 2, "is kept and takes no target"),
        ("source\ttarget\na\t" + "|".join(map(str, range(17))) + "\n", 2, "17 targets; at most 16"),
    ],
)
def test_faults_name_file_line_and_cure(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message) as found:
        glossary(tmp_path, text)
    place = f"{tmp_path / 'terms.tsv'}:{line}: " if line else f"{tmp_path / 'terms.tsv'}: "
    assert str(found.value).startswith(place) and "\n" not in str(found.value)


def test_words_that_a_grammar_cannot_contain_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"terms.tsv:3: '\[X\]' .*; correct the term"):
        glossary(tmp_path, "source\ttarget\na\tb\nb\t[X]\n").prepared()


def side(folder: Path, language: str, forms: dict[str, int], marked: bool) -> Side:
    write_forms(folder / f"case.{language}", forms)
    case = ModelFile.of(folder / f"case.{language}")
    settings = TOKENISERS["moses"].Settings()
    return Side(SideRecipe(language, "NFC", "true", "moses", settings, case, None, None, marked))


def test_terms_are_prepared_as_text_within_and_at_the_beginning(tmp_path: Path) -> None:
    source = side(tmp_path, "de", {"apple": 9, "Apple": 3, "Haus": 5, "it": 3}, marked=False)
    target = side(tmp_path, "en", {"house": 5, "it": 9, "IT": 2}, marked=True)
    sides = source, target
    one = prepared_term(Term("Apple", ("House (big)",)), sides)
    assert [term.source for term in one] == ["Apple", "apple"]  # both are forms of sentences
    assert one[0].targets == one[1].targets == (" ".join(target.encode("x House (big)").split()[1:]),)
    (two,) = prepared_term(Term("Haus", ("IT",)), sides)
    assert (two.source, two.targets, two.mode) == ("Haus", ("IT",), "hard")
    (kept,) = prepared_term(Term("C-3PO", (), "keep"), sides)
    assert kept.mode == "hard" and target.decode(kept.targets[0]) == "C-3PO"
    (free,) = prepared_term(Term("Haus", (), "keep", "nocase"), sides)
    assert free == Term("Haus", (), "keep", "nocase")
    for text, message in (("\u200b", "source of a term is empty|leaves nothing"), ("\u00ad", "leaves nothing")):
        with pytest.raises(InputError, match=message):
            prepared_term(Term(text, ("x",)), sides)


def test_sources_that_become_equal_are_warned_of_once(tmp_path: Path) -> None:
    found = glossary(
        tmp_path, "source\ttarget\tmode\tmatch\na\tx\nA\ty\n\na\tz\nB\tq\thard\tnocase\nb\tr\thard\tnocase\n"
    )
    with log.held_back() as warnings:
        prepared = found.prepared()
    assert [entry.line for entry in prepared.entries] == [2, 3, 6]
    assert warnings == [
        f"{tmp_path / 'terms.tsv'}: terms without effect, because an earlier term has the same source (2): "
        "line 5 (line 2), line 7 (line 6)"
    ]


def test_the_report_names_overlaps_and_absent_terms(tmp_path: Path) -> None:
    terms = glossary(
        tmp_path, "source\ttarget\tmode\ncasa\thome\nla casa\tthe home\nq\tr\nverde\tlime\tsoft\n"
    ).prepared()
    report = GlossaryReport(terms)
    with EmbeddedDecoder(small_config(tmp_path)) as decoder, log.held_back() as warnings:
        for number, one in enumerate(decoder.translate(["la casa verde", "casa"], WEIGHTS, terms=report.index)):
            report.add(one.found, {used.source for used in one.terms}, bool(one.unparsed), number)
            assert set(one.hypotheses[0].text.split()) >= {"home"}
        report.finish()
    path = tmp_path / "terms.tsv"
    assert warnings == [
        f"{path}: terms without effect where they overlap a longer term, or an equally long one to the left (1): "
        "line 2 'casa' (1 time, first in sentence 1)",
        f"{path}: terms that do not occur in the text (1): line 4 'q'",
    ]


def test_an_index_before_another_wins(tmp_path: Path) -> None:
    first = TermIndex([Term("A", ("1",), match="nocase"), Term("b c", ("2",))])
    both = first.before(TermIndex([Term("a", ("3",)), Term("c d e", ("4",)), Term("e", ("5",))]))
    found = both.find(["a", "b", "c", "d", "e"])
    assert found.numbers == (0, 3) and [both.terms[n].targets for n in found.numbers] == [("1",), ("4",)]
    assert [(one.term, one.span) for one in found.overlaps] == [(1, (1, 3)), (4, (4, 5))]


def test_the_command_and_python_obey_a_glossary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = small_config(tmp_path)
    (tmp_path / "grammar").write_text(GRAMMAR)
    write_ini(tmp_path / "cdec.ini", config)
    (tmp_path / "weights").write_text(
        "".join(f"{name} {value}\n" for name, value in WEIGHTS.items() if name != "Latent")
    )
    (tmp_path / "terms.tsv").write_text("source\ttarget\ncasa\tmy home\n")
    (tmp_path / "text").write_text("la casa verde\nverde\n")
    arguments = ["decode", "-c", str(tmp_path / "cdec.ini"), "-w", str(tmp_path / "weights"), str(tmp_path / "text")]
    outputs = []
    for jobs in ("1", "2"):
        assert cli.main([*arguments, "--jobs", jobs, "--glossary", str(tmp_path / "terms.tsv")]) == 0
        outputs.append(capsys.readouterr().out)
    lines = outputs[0].splitlines()
    assert outputs[0] == outputs[1] and "my home" in lines[0] and lines[1] == "green"
    with Decoder(tmp_path / "cdec.ini", tmp_path / "weights", tmp_path / "terms.tsv") as decoder:
        assert decoder.translate(["la casa verde", "verde"]) == lines
    for given in ({"casa": "my home"}, [{"source": "casa", "target": ["my home"]}]):
        with Decoder(tmp_path / "cdec.ini", tmp_path / "weights", given) as decoder:
            assert decoder.translate(["la casa verde", "verde"]) == lines
            with pickle.loads(pickle.dumps(decoder)) as copy:
                assert copy.translate(["la casa verde", "verde"]) == lines
    for entry, message in (
        ({"source": "casa", "target": "a", "mode": "hrd"}, "mode 'hrd' is unknown"),
        ({"sorce": "casa"}, "no key 'sorce' \\(did you mean source\\?\\)"),
        ({"source": "casa", "target": "a ||| b"}, "'a ||| b' the word '|||' is reserved".replace("|", "\\|")),
        ({"source": "casa", "target": "a", "match": "stem"}, "match stem needs the language of the source"),
    ):
        with pytest.raises(InputError, match=f"^glossary\\[1\\]: {message}"):
            Decoder(tmp_path / "cdec.ini", tmp_path / "weights", [("la", "the"), entry])
    with pytest.raises(TypeError, match="glossary"):
        Decoder(tmp_path / "cdec.ini", tmp_path / "weights", 3)  # type: ignore[arg-type]
