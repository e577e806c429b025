"""Details in the service's answers."""

from __future__ import annotations

import json
from pathlib import Path

from decoders import WEIGHTS, small_config

from lscfg.bundle.system import TranslationSystem
from lscfg.serve.translator import TranslationOptions, Translator


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
