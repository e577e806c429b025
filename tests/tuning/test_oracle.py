"""The best BLEU that a grammar can reach: figures by hand, against all translations, and by the command."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

import pytest

from lscfg.cli import main
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.formats.ini import DecoderConfig
from lscfg.kernel.search import OracleOptions
from lscfg.tuning.bleu import corpus_bleu, corpus_stats
from lscfg.tuning.oracle import find_oracle
from lscfg.tuning.pool import Pool

RULES = """\
[X] ||| x ||| a b ||| F=1
[X] ||| x ||| a c ||| F=1
[X] ||| y ||| c d ||| F=1
[X] ||| y ||| d c e ||| F=1
[X] ||| z ||| e f ||| F=1
[X] ||| z ||| e ||| F=1
[X] ||| [X,1] y [X,2] ||| [2] d [1] ||| F=1
[X] ||| [X,1] [X,2] ||| [1] [2] ||| F=1
[X] ||| [X,1] [X,2] ||| [2] [1] ||| F=1
"""
SOURCES = ["x y z", "y z", "x z"]
REFERENCES = ["e f c d a b", "c d e f g", "a c e e"]


@pytest.fixture
def grammar(tmp_path: Path) -> Path:
    path = tmp_path / "grammar"
    path.write_text(RULES)
    return path


def write(folder: Path, name: str, lines: list[str]) -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def all_translations(grammar: Path) -> list[list[str]]:
    with EmbeddedDecoder(DecoderConfig(grammars=(grammar,), pass_through=True)) as decoder:
        return [found.texts for found in decoder.decode_arrays(SOURCES, {}, 2000, True)]


@pytest.mark.slow
def test_no_choice_of_all_translations_is_better(grammar: Path) -> None:
    """With three sentences, every choice can be tried."""
    best = 0.0
    lists = all_translations(grammar)
    for choice in itertools.product(*lists):
        best = max(best, corpus_bleu(corpus_stats(choice, [REFERENCES]).sum(axis=0)))
    found = find_oracle("G", grammar, SOURCES, [REFERENCES], OracleOptions(10**6, 10**6))
    assert found.bleu == pytest.approx(best)
    assert found.sentence_bleu <= found.bleu
    assert found.bleu == pytest.approx(corpus_bleu(corpus_stats(found.translations, [REFERENCES]).sum(axis=0)))
    assert all(text in of for text, of in zip(found.translations, lists, strict=True))
    assert (found.rules, found.exact, found.unparsed) == (9, 1, 0)


def test_lists_of_the_decoder_are_not_better(grammar: Path) -> None:
    with EmbeddedDecoder(DecoderConfig(grammars=(grammar,), pass_through=True)) as decoder:
        pool = Pool([REFERENCES])
        for weight in (-1.0, 0.0, 1.0):
            pool.add(decoder.decode(SOURCES, {"F": weight}, 50))
    assert find_oracle("G", grammar, SOURCES, [REFERENCES], OracleOptions()).bleu >= pool.oracle_bleu()


def test_several_references_and_threads(grammar: Path) -> None:
    others = ["a b d e f", "d c e e f", "q"]
    one = find_oracle("G", grammar, SOURCES, [REFERENCES], OracleOptions())
    both = [find_oracle("G", grammar, SOURCES, [REFERENCES, others], OracleOptions(), threads) for threads in (1, 3)]
    assert both[0] == both[1]
    assert both[0].exact == 2
    assert both[0].bleu > one.bleu


def test_command(grammar: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A grammar, an ini and a folder of grammars of sentences give the same where they have the same rules."""
    source, reference = write(tmp_path, "f", SOURCES), write(tmp_path, "e", REFERENCES)
    ini = write(tmp_path, "cdec.ini", ["formalism=scfg", "grammar=grammar", "add_pass_through_rules=true"])
    folder = tmp_path / "folder"
    folder.mkdir()
    write(folder, "cdec.ini", ["formalism=scfg", "add_pass_through_rules=true"])
    for number in range(3):
        with gzip.open(folder / f"grammar.{number}.gz", "wt") as file:
            file.write(RULES)
    out = tmp_path / "out.json"
    names = [f"A={grammar}", f"B={ini}", f"C={folder}"]
    assert (
        main(
            ["evaluate", "oracle", *names, "-s", str(source), "--reference", str(reference), "-o", str(out), "-j", "1"]
        )
        == 0
    )
    head, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert head[:4] == ["grammar", "rules", "BLEU", "sentence-BLEU"] and len(head) == 11
    assert [row[:2] for row in rows] == [["A", "9"], ["B", "9"], ["C", "27"]]
    assert rows[0][2:] == rows[1][2:] == rows[2][2:]
    record = json.loads(out.read_text())
    assert record["grammars"][0]["translations"][0] == REFERENCES[0]
    assert f"{record['grammars'][1]['bleu']:.2f}" == rows[1][2]


def test_sentences_without_a_parse(grammar: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, reference = write(tmp_path, "f", ["x y", "", "x w"]), write(tmp_path, "e", ["a b", "", "a w"])
    ini = write(tmp_path, "cdec.ini", ["formalism=scfg", "grammar=grammar"])
    assert main(["evaluate", "oracle", f"A={ini}", "-s", str(source), "--reference", str(reference), "-j", "1"]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[1].split("\t")[-1] == "1"
    assert "sentence 3 has no parse" in shown.err and "sentence 2" not in shown.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["G"], "expected NAME=GRAMMAR, found 'G'"),
        (["A=G", "A=G"], "'A' names two grammars"),
        (["A=G", "--pops", "0"], "--pops must be 1 to"),
        (["A=G", "--keep", "-1"], "--keep must be 1 to"),
        (["A=missing"], "missing: cannot read: No such file"),
        (["A=G", "--reference", "short"], "short: 1 line, but f has 3"),
        (["A=G", "--reference", "many"], "more than 255 times"),
    ],
)
def test_bad_input(
    grammar: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "f", SOURCES), write(tmp_path, "e", REFERENCES), write(tmp_path, "short", ["a"])
    write(tmp_path, "many", ["a " * 300, "b", "c"])
    grammar.rename(tmp_path / "G")
    assert main(["evaluate", "oracle", *words, "-s", "f", "--reference", "e", "-j", "1"]) == 1
    shown = capsys.readouterr().err
    assert said in shown and "Traceback" not in shown
