"""Lines with their own grammars, against configurations that name the same grammars."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from decoders import GRAMMAR, WEIGHTS, small_config

import lscfg
from lscfg.cli import main
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.host import DECODER_HOSTS
from lscfg.decode.terms import Term
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig, write_ini
from lscfg.formats.segments import SPARE_IDS, StreamIds, read_segment, sentence_id
from lscfg.parallel.choose import in_processes

OWN = WEIGHTS | {"Own": 0.25}


@pytest.fixture
def config(tmp_path: Path) -> DecoderConfig:
    """The little grammar's rules in three files: a base, and two for single lines."""
    config, lines = small_config(tmp_path), GRAMMAR.splitlines(True)
    (tmp_path / "base").write_text("".join(lines[:2]))
    (tmp_path / "one").write_text("".join(lines[2:]).replace("P=0.25", "Own=2 P=0.25"))
    (tmp_path / "two").write_text("[X] ||| otra ||| another ||| New=1\n")
    return replace(config, grammars=(tmp_path / "base",), path=tmp_path / "cdec.ini")


@pytest.mark.parametrize("names", [["one"], ["one", "two"], ["two"], []])
def test_a_line_with_grammars_equals_a_configuration_with_them(config: DecoderConfig, names: list[str]) -> None:
    folder = config.grammars[0].parent
    given = "".join(f' grammar{number or ""}="{name}"' for number, name in enumerate(names))
    sentences = ["la casa verde", "otra casa", "((('otra',0.5,1),('la',1)),(('casa',1)))"]
    wanted = replace(config, grammars=config.grammars + tuple(folder / name for name in names))
    with EmbeddedDecoder(config) as decoder, EmbeddedDecoder(wanted) as other:
        for weights in (OWN, WEIGHTS | {"New": 3.0, "P": -1.0}):
            found = decoder.decode([f"<seg{given} id='4'>{line}</seg>" for line in sentences], weights, k=50)
            for a, b in zip(found, other.decode(sentences, weights, k=50), strict=True):
                assert [h.text for h in a] == [h.text for h in b]
                assert [h.score for h in a] == pytest.approx([h.score for h in b])
                assert [dict(h.features) for h in a] == [pytest.approx(dict(h.features)) for h in b]


@pytest.mark.parametrize("names", [("one",), ("one", "two"), ()])
def test_rules_of_a_request_equal_a_file(config: DecoderConfig, names: tuple[str, ...]) -> None:
    """Also with a grammar in the line, in processes, and for a configuration without grammars."""
    folder = config.grammars[0].parent
    rules = [line for name in names for line in (folder / name).read_text().splitlines()]
    lines = ["casa verde", '<seg grammar="two">otra casa</seg>', "((('casa',1),),(('verde',0.5,1),))"]
    for base in (config, replace(config, grammars=())):
        if not (base.grammars or names):
            continue
        wanted = replace(config, grammars=base.grammars + tuple(folder / name for name in names))
        with EmbeddedDecoder(wanted) as other:
            expected = [[(h.text, h.score) for h in found] for found in other.decode(lines[::2], OWN, k=20)]
        with EmbeddedDecoder(base, needed=False) as decoder, in_processes(2) as engine:
            for made in (decoder, EmbeddedDecoder(base, engine=engine, needed=False)):
                found = [one.hypotheses for one in made.translate(lines, OWN, 20, rules=rules)]
                assert [[(h.text, h.score) for h in one] for one in found[::2]] == expected
                assert found[1][0].text.split()[0] == "another"


def test_lines_do_not_share_their_grammars(config: DecoderConfig) -> None:
    lines = ['<seg grammar="one">casa verde</seg>', '<seg grammar="two">otra casa</seg>', "otra verde", ""]
    texts = [["green house"], ["another house"], ["otra verde"], [""]]
    for cached in (0, 1 << 20):
        with EmbeddedDecoder(config, cached=cached) as decoder:
            for _ in range(2):
                assert [[h.text for h in found] for found in decoder.decode(lines, OWN)] == texts
            assert decoder._opened.here is not None and len(decoder._opened.here.segment_decoders) == (
                2 if cached else 1
            )
    with in_processes(2) as engine, EmbeddedDecoder(config, engine=engine) as many:
        assert [[h.text for h in found] for found in many.decode(lines, OWN)] == texts


def test_terms_and_derivations_are_those_of_the_words(config: DecoderConfig) -> None:
    line = '<seg grammar="one">casa verde</seg>'
    with EmbeddedDecoder(config) as decoder:
        found = next(decoder.translate([line], OWN, derivations=True, details=True, terms=[Term("casa", ("home",))]))
        assert found.hypotheses[0].text == "home green" and found.terms[0].form == "home"
        assert {rule.source for rule in found.derivations[0]} >= {"casa"}
        _, graphs = decoder.decode_graphs([line], OWN, 3, False, 50)
        assert graphs[0] is not None and "Own" in graphs[0].names


# ---- command and library ----


@pytest.fixture
def ini(config: DecoderConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration without a grammar."""
    (tmp_path / "whole").write_text(GRAMMAR)
    (tmp_path / "weights").write_text("P 1\nLanguageModel 0.9\nPassThrough -2\nOwn 1\n")
    write_ini(tmp_path / "cdec.ini", replace(config, grammars=()))
    monkeypatch.chdir(tmp_path.parent)
    return tmp_path / "cdec.ini"


def run(ini: Path, text: str, *more: str) -> int:
    (ini.parent / "text").write_text(text)
    return main(["decode", "-c", str(ini), "-w", str(ini.parent / "weights"), str(ini.parent / "text"), *more])


def test_the_command_takes_ids_and_grammars_from_lines(
    ini: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    text = '<seg id="7" grammar="whole">la casa</seg>\n<seg grammar="whole" id="3">casa verde</seg>\n\n'
    assert run(ini, text, "-k", "1") == 0
    rows = [line.split(" ||| ")[:2] for line in capsys.readouterr().out.splitlines()]
    assert rows == [["7", "the house"], ["3", "green house"], ["2", ""]]
    assert "no feature of the decoder" not in caplog.text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("casa", '2: no grammar; name one in the line, <seg grammar="FILE">words</seg>, or in the configuration'),
        ('<seg id="1">casa</seg>', "2: no grammar; name one"),
        ('<seg grammar="none">casa</seg>', "2: no grammar 'none'"),
        ('<seg grammar="whole">casa', "2: a segment that does not end with </seg>"),
        ('<seg grammar="whole" grammar="two">casa</seg>', "2: a segment with a second grammar="),
        (
            '<seg grammar="whole" grammar2="two">x</seg>',
            "2: a segment with grammar, grammar2; name its grammars gra",
        ),
        ('<seg grammar0="whole">casa</seg>', "2: a segment with grammar0; name its grammars grammar"),
        ('<seg grammar="whole">casa ||| house</seg>', "2: "),
        ("<seg grammar=\"whole\">((('casa'</seg>", "2: lattice, column 10"),
    ],
)
def test_bad_lines_are_named(ini: Path, line: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ini, f'<seg grammar="whole">casa</seg>\n{line}\n') == 1
    assert f"{ini.parent / 'text'}:{message}" in capsys.readouterr().err


@pytest.mark.parametrize("lines", ['<seg id="3">a</seg>\n<seg id="3">b</seg>\n', '<seg id="1">a</seg>\nb\n'])
def test_lists_of_two_lines_keep_apart(ini: Path, lines: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = lines.replace("<seg", '<seg grammar="whole"').replace("\nb\n", '\n<seg grammar="whole">b</seg>\n')
    assert run(ini, lines) == 0  # without ids in the output
    assert run(ini, lines, "-k", "2") == 1
    assert "text:2: has the id " in capsys.readouterr().err


def test_lists_of_two_lines_of_a_stream_keep_apart(caplog: pytest.LogCaptureFixture) -> None:
    lines = ['<seg id="1">a</seg>', "b", '<seg id="7">c</seg>', '<seg id="7">d</seg>', "", '<seg id="2">e</seg>', "f"]
    ids = StreamIds()
    found = [ids.next(line) for line in lines]
    assert [label for label, _ in found] == [1, SPARE_IDS + 1, 7, SPARE_IDS + 2, 4, 2, 6]
    assert [warning for _, warning in found if warning] == [
        "has the id 1 of line 1; its translations get the id 1000000001; give all lines ids",
        "has the id 7 of line 3; its translations get the id 1000000002; give all lines ids",
    ]


def test_an_id_that_is_no_number_of_usual_length_is_that_of_the_line() -> None:
    assert [sentence_id(f'<seg id="{own}">a</seg>', 7) for own in ("5", "x", "-1", "9" * 5000)] == [5, 7, 7, 7]


def test_the_library_takes_lines_with_grammars(ini: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    line = '<seg grammar="whole" grammar1="two">otra casa verde</seg>'
    with lscfg.Decoder(ini, tmp_path / "weights") as decoder:
        assert "no feature of the decoder" not in caplog.text  # its grammars come later
        assert decoder.translate([line]) == ["another green house"]
        with pytest.raises(InputError, match="lines:1: no grammar; name one"):
            decoder.translate(["casa"])
    long = line.replace("casa", "casa verde")
    start = {"P": 0.1, "LanguageModel": 0.5, "PassThrough": -1.0, "New": -2.0}
    weights = lscfg.tune(ini, [long] * 3, ["another green green house"] * 3, start, iterations=3, kbest=500)
    assert weights["New"] > -2


def test_a_tuning_depends_on_the_grammars_of_its_lines(ini: Path, tmp_path: Path) -> None:
    lines = ['<seg grammar="whole">casa</seg>', '<seg grammar="two" grammar1="one">casa</seg>', "casa"]
    found = DECODER_HOSTS["embedded"].sentence_files(ini, lines)
    assert sorted(path.name for path in found) == ["one", "two", "whole"]


def test_attributes_in_any_quotes_and_order() -> None:
    found = read_segment("<SEG ID=5 other='x' grammar = 'a b' > casa <b> </SEG>")
    assert found == ("5", ("a b",), "casa <b>")
    assert read_segment("casa <seg>") is None
