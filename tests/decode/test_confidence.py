"""Confidence in words and translations: its evidence, its file, and faults of the file."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import kenlm
import numpy as np
import pytest
from decoders import ARPA, GRAMMAR, SENTENCES, WEIGHTS, Provider, small_config

from lscfg.api.decoder import Decoder
from lscfg.bundle.system import open_system
from lscfg.cli import main
from lscfg.decode.confidence import BANDS, Band, Calibration, Confidence, weights_hash
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.evidence import log_odds
from lscfg.decode.sentence_rules import ADDED
from lscfg.decode.terms import Term
from lscfg.errors import InputError
from lscfg.formats.ini import write_ini
from lscfg.formats.weights import write_weights
from lscfg.kernel.base import Vocab
from lscfg.kernel.lm import LanguageModel
from lscfg.tuning.corrections import SHARES

MORE = "[X] ||| la casa ||| the building ||| P=1\n[X] ||| casa ||| building ||| P=0.75\n[X] ||| y ||| ||| P=0.75\n"
COUNTS = tuple(Band(least, 10, right) for least, right in zip(BANDS, (9, 8, 5, 2), strict=True))
CONFIDENCE = Confidence(
    weights_hash(WEIGHTS),
    60,
    Calibration(0.5, {"posterior": 0.25, "lm": 1.0}, ((-2.0, 0.1), (0.0, 0.5), (3.0, 0.75)), COUNTS),
    Calibration(-1.0, {"mean": 1.0, "length": -0.5}, (), COUNTS),
)


def translated(folder: Path, sentences: list[str], **options: Any) -> list[Any]:
    config = small_config(folder)
    (folder / "grammar").write_text(GRAMMAR + MORE)
    with EmbeddedDecoder(config, Provider) as decoder:
        return [*decoder.translate(sentences, WEIGHTS, details=True, **options)]


def test_evidence_by_enumeration(tmp_path: Path) -> None:
    for found in translated(tmp_path, [*SENTENCES, "la casa y la casa verde"], k=20000, derivations=True):
        assert 1 <= len(found.hypotheses) < 20000  # all derivations
        shares = np.exp([h.score - found.hypotheses[0].score for h in found.hypotheses])
        shares /= shares.sum()
        target, n_source = found.hypotheses[0].text.split(), len(found.sentence.split())
        rules = {position: rule for rule in found.derivations[0] for position in rule.target_words}
        for position, (word, detail) in enumerate(zip(target, found.details, strict=True)):
            evidence, rule = detail.evidence, rules[position]
            expected = sum(
                share * h.text.split().count(word) for share, h in zip(shares, found.hypotheses, strict=True)
            )
            assert evidence["anywhere"] == pytest.approx(log_odds(expected / target.count(word)), abs=1e-4)
            assert evidence["posterior"] == pytest.approx(log_odds(detail.posterior))
            assert evidence["length"] == pytest.approx(math.log(n_source))
            assert evidence["repeated"] == (target.count(word) > 1)
            assert evidence["passed"] == ("PassThrough" in rule.features)
            assert evidence["arity"] == len(rule.children) and evidence["source words"] == len(rule.source_words)
            values = {name.removeprefix("rule."): value for name, value in evidence.items() if name.startswith("rule.")}
            assert values == pytest.approx(dict(rule.features))


def test_a_passed_word_is_evidence_against_its_neighbours(tmp_path: Path) -> None:
    (found,) = translated(tmp_path, ["otra casa la"])
    assert [word.text for word in found.details] == ["otra", "house", "the"]
    assert [word.evidence["passed"] for word in found.details] == [1, 0, 0]
    assert [word.evidence["next to passed"] for word in found.details] == [0, 1, 0]


@pytest.mark.parametrize("by_kenlm", [False, True])
def test_scores_of_words_are_those_of_kenlm(by_kenlm: bool, tmp_path: Path) -> None:
    (tmp_path / "lm").write_text(ARPA if not by_kenlm else ARPA.replace("-1.5\t<unk>\n", "").replace("1=6", "1=5"))
    model = kenlm.Model(str(tmp_path / "lm"))
    vocab = Vocab()
    words = ["the", "house", "strange", "green", "house"]
    ours = LanguageModel(tmp_path / "lm", vocab)
    ids = vocab.add_line(" ".join(words)).tolist()
    expected = [score for score, _, _ in model.full_scores(" ".join(words), eos=False)]
    assert ours.word_scores(ids)[:, 0] == pytest.approx(expected)
    alone = [next(iter(model.full_scores(word, bos=False, eos=False)))[0] for word in words]
    assert ours.word_scores(ids, in_context=False)[:, 0] == pytest.approx(alone)
    assert ours.word_scores(ids)[2, 1] == 0 and ours.word_scores([]).shape == (0, 2)


def test_words_that_no_rule_of_the_grammar_made_have_no_confidence(tmp_path: Path) -> None:
    plain, termed = translated(tmp_path, ["casa"]) + translated(tmp_path, ["casa"], terms=[Term("casa", ("home",))])
    assert CONFIDENCE.of_words(plain.details)[0] is not None and CONFIDENCE.of_translation(plain.details) is not None
    assert termed.hypotheses[0].text == "home"
    assert CONFIDENCE.of_words(termed.details) == [None] and CONFIDENCE.of_translation(termed.details) is None
    (empty,) = translated(tmp_path, [""])
    assert CONFIDENCE.of_words(empty.details) == [] and CONFIDENCE.of_translation(empty.details) is None


def test_a_probability_comes_from_the_linear_function_or_its_steps() -> None:
    steps, smooth = CONFIDENCE.words, CONFIDENCE.translations
    for value in np.linspace(-5, 5, 41).tolist():
        assert steps.smooth({"lm": value - 0.5}) == pytest.approx(1 / (1 + math.exp(-value)))
        assert steps({"lm": value - 0.5, "unheard of": 9}) == pytest.approx(
            np.interp(value, [-2, 0, 3], [0.1, 0.5, 0.75])
        )
        assert smooth({"mean": value}) == pytest.approx(1 / (1 + math.exp(1 - value)))
    assert replace(smooth, bias=-1e6)({}) == 0 and replace(smooth, bias=1e6)({}) == 1


def test_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    CONFIDENCE.write(tmp_path / "confidence.json")
    assert Confidence.read(tmp_path / "confidence.json") == CONFIDENCE


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", 2, "has format 2, not 1"),
        ("sentences", -1, "sentences must"),
        ("words.bias", "x", "words.bias must be a number"),
        ("words.weights.lm", 1e308, "words.weights.lm must be at most"),
        ("translations.bias", -1e308, "translations.bias must be at least"),
        ("words.weights.lm", None, "words.weights.lm must be a number"),
        ("words.steps", [[0, 0.5], [0, 0.6]], "words.steps must ascend"),
        ("words.steps", [[0, 0.5], [1, 0.4]], "words.steps must ascend"),
        ("words.steps", [[0, 1.5]], "words.steps[0][1] must"),
        ("translations.bands", [], "translations.bands must begin at 0.9, 0.7, 0.5, 0.0"),
        ("translations.bands.0.right", 11, "translations.bands[0].right is larger than its count"),
        ("translations.other", 1, "translations.other is unknown"),
    ],
)
def test_faults_of_the_file_are_named(key: str, value: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "confidence.json"
    CONFIDENCE.write(path)
    found = place = json.loads(path.read_text())
    *parents, last = key.split(".")
    for name in parents:
        place = place[int(name) if name.isdigit() else name]
    place[last] = value
    path.write_text(json.dumps(found))
    with pytest.raises(InputError) as error:
        Confidence.read(path)
    assert str(error.value).startswith(f"{path}: ") and message in str(error.value)
    assert "make the file again with lscfg evaluate confidence" in str(error.value)


def test_confidence_of_other_weights_is_not_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_ini(tmp_path / "cdec.ini", small_config(tmp_path))
    write_weights(tmp_path / "weights", WEIGHTS)
    assert open_system(tmp_path).confidence is None
    CONFIDENCE.write(tmp_path / "confidence.json")
    assert open_system(tmp_path).confidence == CONFIDENCE
    write_weights(tmp_path / "others", WEIGHTS | {"P": 2.0})
    assert open_system(tmp_path, tmp_path / "others").confidence is None
    assert "confidence.json: belongs to other weights" in caplog.text


def test_decode_and_python_give_the_confidence(tmp_path: Path) -> None:
    write_ini(tmp_path / "cdec.ini", small_config(tmp_path))
    own = {name: value for name, value in WEIGHTS.items() if name not in Provider.names}
    write_weights(tmp_path / "weights", own)
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in [*SENTENCES, ""]))
    (tmp_path / "terms").write_text("source\ttarget\ncasa\thome\n")
    files = [str(tmp_path / name) for name in ("cdec.ini", "weights", "text", "terms", "json")]
    command = ["decode", "-c", files[0], "-w", files[1], files[2], "-o", str(tmp_path / "out"), "--derivations"]

    def written(*more: str) -> list[dict[str, Any]]:
        assert main([*command, files[4], *more]) == 0
        return [json.loads(line) for line in Path(files[4]).read_text().splitlines()]

    plain = written()
    assert all(one.keys() == {"id", "words", "parsed", "derivations"} for one in plain)
    confidence = replace(CONFIDENCE, weights_sha256=weights_hash(own))
    confidence.write(tmp_path / "confidence.json")
    for more in [], ["--glossary", files[3]]:
        found = written(*more)
        with Decoder(files[0], files[1], *more[1:]) as decoder:
            explained = decoder.explain([*SENTENCES, ""])
        for one, other in zip(found, explained, strict=True):
            shares, whole = confidence.of_words(other.details), confidence.of_translation(other.details)
            assert ([word.confidence for word in other.details], other.confidence) == (shares, whole)
            assert one.get("word_confidence", []) == pytest.approx([*shares] if any(shares) else [])
            assert one.get("confidence") == (None if whole is None else pytest.approx(whole))
        if not more:
            assert [one["derivations"] for one in found] == [one["derivations"] for one in plain]
            assert 0 < found[0]["confidence"] < 1
        else:
            assert any(None in one.get("word_confidence", []) for one in found)


def test_weights_of_terms_and_corrections_keep_the_confidence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """``lscfg evaluate corrections -o`` and ``lscfg pack --glossary`` add them to the weight file."""
    write_ini(tmp_path / "cdec.ini", small_config(tmp_path))
    CONFIDENCE.write(tmp_path / "confidence.json")
    added = dict.fromkeys((*SHARES, "MemoryScore", "Terminology"), 0.25)
    assert {*added} == {*ADDED}
    write_weights(tmp_path / "weights", WEIGHTS | added)
    assert open_system(tmp_path).confidence == CONFIDENCE
    assert "other weights" not in caplog.text
    write_weights(tmp_path / "weights", WEIGHTS | {"Glue": 0.25})
    assert open_system(tmp_path).confidence is None
