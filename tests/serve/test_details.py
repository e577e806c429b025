"""Details in the service's answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from decoders import WEIGHTS, small_config

from lscfg.bundle.system import TranslationSystem
from lscfg.decode.confidence import Band, Calibration, Confidence
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.terms import Term
from lscfg.serve.description import confidence_facts
from lscfg.serve.translator import TranslationOptions, Translator

BANDS = (0.9, 9), (0.7, 8), (0.5, 5), (0.0, 2)
CONFIDENCE = Confidence(
    "",
    60,
    Calibration(0.5, {"posterior": 0.25, "lm": 1.0}, (), tuple(Band(least, 10, right) for least, right in BANDS)),
    Calibration(-1.0, {"mean": 1.0, "length": -0.5}, (), (Band(0.0, 3, 1),)),
)


def test_details_of_an_answer(tmp_path: Path) -> None:
    translator = Translator(TranslationSystem("small", small_config(tmp_path), WEIGHTS, tmp_path / "weights"))
    plain = translator("otra casa", TranslationOptions(max_words=9)).answer
    answer = translator("otra casa", TranslationOptions(max_words=9, details=True)).answer
    assert {*answer} - {*plain} == {"details"}
    assert json.loads(json.dumps(answer)) == answer  # lists instead of tuples
    details = answer["details"]
    assert {*details} == {"source_words", "source_ranges", "words", "posterior"} and details["source_words"] == [
        "otra",
        "casa",
    ]
    assert answer["unknown"] == plain["unknown"] == ["otra"]
    words = details["words"]
    assert [word["text"] for word in words] == answer["translation"].split()
    assert [(word["links"], word["unknown"]) for word in words] == [([0], True), ([1], False)]
    assert all(0 < word["posterior"] <= 1 for word in words) and 0 < details["posterior"] <= 1


def test_confidence_of_an_answer(tmp_path: Path) -> None:
    """Words and sentence, from the calibration of the system; the page sees how often each band was right."""
    system = TranslationSystem("small", small_config(tmp_path), WEIGHTS, tmp_path / "weights", confidence=CONFIDENCE)
    translator = Translator(system)
    details = translator("otra casa", TranslationOptions(max_words=9, details=True)).answer["details"]
    with EmbeddedDecoder(small_config(tmp_path)) as decoder:
        (found,) = decoder.translate(["otra casa"], WEIGHTS, details=True)
    assert [word["confidence"] for word in details["words"]] == pytest.approx(CONFIDENCE.of_words(found.details))
    assert details["confidence"] == pytest.approx(CONFIDENCE.of_translation(found.details))
    term = TranslationOptions(max_words=9, details=True, terms=(Term("casa", ("home",)),))
    details = translator("otra casa", term).answer["details"]
    assert ["confidence" in word for word in details["words"]] == [True, False] and "confidence" not in details
    assert confidence_facts(CONFIDENCE) == {
        "sentences": 60,
        "words": [{"least": least, "count": 10, "right": right} for least, right in BANDS],
        "translations": [{"least": 0.0, "count": 3, "right": 1}],
    }
