"""Tables of a long-lived decoder stay bounded by their limits, and translations are those of a new decoder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from decoders import ARPA, WEIGHTS, small_config

from lscfg._kernel import lib
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.sentence import SentenceDecoder
from lscfg.formats.ini import DecoderConfig, NamedModel
from lscfg.functions.function import FunctionLine
from lscfg.kernel.lm import Automaton

LIMIT, FEW = 64, 12
LIMITS = (
    "lscfg.kernel.lm.MOST_ANSWERS",
    "lscfg.kernel.lm.MOST_STATES",
    "lscfg.decode.target_words.MOST_KNOWN",
    "lscfg.decode.unknown.MOST_FOUND",
    "lscfg.decode.sentence._MOST_KEPT",
)
MORE = {"Other": 0.5, "Other_OOV": -0.25, "U:the": 0.3, "B:the_house": -0.4, "SubstituteForm": 1.0}


def sentence(n: int) -> str:
    """Known words, and two words that no other sentence has."""
    code = "".join("bcdfghjklm"[int(digit)] for digit in str(n))
    return f"la casa{code} verde casa {code}q"


def configuration(kind: str, folder: Path) -> DecoderConfig:
    config = small_config(folder)
    (folder / "other").write_text(ARPA.replace("-0.25\t<s> the", "-0.125\t<s> the"))
    (folder / "classes").write_text("the the -0.5\nhouse house -0.25\n")
    other = NamedModel("Other", folder / "other")
    if kind == "two":
        return replace(config, further_models=(other,))
    if kind == "classes":
        return replace(config, language_model=None, further_models=(other._replace(classes=folder / "classes"),))
    if kind == "functions":
        return replace(config, functions=(FunctionLine("NgramFeatures", ("-o", "3")),))
    return replace(config, substitutes=True) if kind == "substitutes" else config


def sizes(decoder: EmbeddedDecoder) -> list[int]:
    """Numbers of entries of all tables, in a fixed order."""
    here = decoder._opened.here
    assert isinstance(here, SentenceDecoder)
    joined = here._model._joined
    models = [*here.models, *(() if joined is None else (joined, *joined._all))]
    found = [int(lib.lscfg_lm_size(model._pointer)) for model in models]
    found += [len(model._states) for model in models if isinstance(model, Automaton)]
    unknown = {} if here.unknown is None else here.unknown._found
    return [*found, len(here._target._known), here._word.cache_info().currsize, len(unknown)]


@pytest.mark.parametrize("by_kenlm", [False, True])
@pytest.mark.parametrize("kind", ["one", "two", "classes", "functions", "substitutes"])
def test_tables_stay_bounded(kind: str, by_kenlm: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if by_kenlm:  # through Python, which keeps the states
        monkeypatch.setattr("lscfg.kernel.lm._ngrams", lambda *_: None)
    config, weights = configuration(kind, tmp_path), WEIGHTS | MORE
    texts = [sentence(n) for n in range(11 * FEW)]
    with EmbeddedDecoder(config, cached=0) as free:
        wanted = [free.decode([texts[0]], weights, 5)]
        one = sizes(free)
        wanted += [free.decode([text], weights, 5) for text in texts[1:]]
        grown = sizes(free)
    with monkeypatch.context() as limits:
        for limit in LIMITS:
            limits.setattr(limit, LIMIT)
        with EmbeddedDecoder(config, cached=0) as bounded:
            found, most = [], [0] * len(one)
            for text in texts:
                found.append(bounded.decode([text], weights, 5))
                most = [*map(max, most, sizes(bounded))]
            bounds = [LIMIT + 2 * size + 20 for size in one]  # sentences differ a little
            assert all(size <= bound for size, bound in zip(most, bounds, strict=True)), (most, bounds)
            assert any(size > bound for size, bound in zip(grown, bounds, strict=True))  # without limits
        for n in (0, FEW, 11 * FEW - 1):
            with EmbeddedDecoder(config, cached=0) as new:
                assert new.decode([texts[n]], weights, 5) == found[n]
    assert found == wanted
