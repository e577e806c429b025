"""Feature functions with state: exact in every derivation, alone and next to language models."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import ClassVar

import kenlm
import numpy as np
import pytest
from decoders import SENTENCES, WEIGHTS, small_config
from searches import EVERYTHING, Case, quiet, random_arpa

import lscfg
from lscfg.bundle.pack import pack
from lscfg.bundle.system import open_bundle
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.target_words import TargetWords
from lscfg.errors import InputError
from lscfg.formats.ini import read_ini, write_ini
from lscfg.functions.function import BEGIN, END, FEATURE_FUNCTIONS, FunctionLine, WordFunction
from lscfg.kernel.lm import JoinedModels, LanguageModel
from lscfg.kernel.search import SearchOptions, search
from lscfg.parallel.choose import in_processes
from lscfg.settings import Declared


def ngrams(words: Sequence[str], order: int) -> Mapping[str, float]:
    """Counts by cdec's rules, over the whole translation."""
    line = [*([BEGIN] if order == 2 else []), *words, END]
    found: Counter[str] = Counter()
    for n, head in zip(range(1, order + 1), "UBT45", strict=False):
        for k in range(len(line) - n + 1):
            if line[k + n - 1] != BEGIN:
                found[f"{head}:{'_'.join(line[k : k + n])}"] += 1
    return found


@pytest.mark.parametrize("seed", range(10))
def test_scores_are_those_of_all_derivations(seed: int, tmp_path: Path) -> None:
    """With none, one or two language models of other orders; each derivation is scored on its whole string."""
    rng, order = random.Random(seed), 1 + seed % 5
    case = Case(seed, 3, tmp_path)
    paths = [[], [case.path], [case.path, random_arpa(tmp_path / "more", 2, rng)]][seed % 3]
    texts = [case.text(words).split() for words, _ in case.all]
    known = sorted({name for words in texts for name in ngrams(words, order)})
    weights = {name: rng.uniform(-1, 1) for name in known if rng.random() < 0.7}
    lm_weights = np.array([[rng.uniform(0, 1), rng.uniform(-2, 1)] for _ in paths]).reshape(-1, 2)
    models = [kenlm.Model(str(path), quiet()) for path in paths]
    wanted = []
    for words, (_, apps) in zip(texts, case.all, strict=True):
        score = case.app_scores[apps].sum() + sum(weights.get(n, 0) * v for n, v in ngrams(words, order).items())
        for model, (p_weight, oov_weight) in zip(models, lm_weights, strict=True):
            for p, _, oov in model.full_scores(" ".join(words), bos=True, eos=True):
                score += p_weight * p + oov_weight * oov
        wanted.append(score)
    target = TargetWords([FunctionLine("NgramFeatures", ("-o", str(order)))], case.grammar.vocab)
    joined = JoinedModels(
        [LanguageModel(path, case.grammar.vocab) for path in paths], lm_weights, target.weighted(weights)
    )
    found = search(case.forest, case.grammar, joined, case.app_scores, SearchOptions(EVERYTHING, 10**6, False, 1.0, 0))
    assert np.array(found.score) == pytest.approx(sorted(wanted, reverse=True), abs=1e-5)
    for words, sums in zip(found.word_lists(), target.sums(found.words, found.word_offsets), strict=True):
        assert sums == ngrams(case.text(words).split(), order)


def test_a_bigram_function_equals_its_language_model(tmp_path: Path) -> None:
    """Log probabilities as a function give the lists of the same model read from its file, derivation by derivation."""
    config = small_config(tmp_path)
    line = FunctionLine("Bigrams")
    weights = WEIGHTS | {"Bigrams": 0.9}
    with pytest.MonkeyPatch.context() as patch:
        of_package(patch, Bigrams)
        functions = replace(config, language_model=None, functions=(line,))
        with EmbeddedDecoder(config) as one, EmbeddedDecoder(functions) as other:
            lists = (decoder.decode(SENTENCES, weights, 20) for decoder in (one, other))
            for a, b in zip(*lists, strict=True):
                assert [h.score for h in a] == pytest.approx([h.score for h in b], abs=1e-5)
                assert a[0].features.get("LanguageModel") == pytest.approx(b[0].features.get("Bigrams"))


def of_package(patch: pytest.MonkeyPatch, *functions: type[WordFunction[Declared]]) -> None:
    """Adds functions."""
    kinds = {one.__name__: one for one in functions}
    rows = [EntryPoint(name, f"{one.__module__}:{name}", FEATURE_FUNCTIONS.group) for name, one in kinds.items()]
    load = EntryPoint.load
    patch.setattr(EntryPoint, "load", lambda self: kinds[self.name] if self.name in kinds else load(self))
    patch.setattr(FEATURE_FUNCTIONS, "_group", lambda: rows)


class Bigrams(WordFunction[Declared]):
    """The model of tests/support/decoders.py without its unknown words."""

    HELP = "log10 p of bigrams"
    Settings = Declared
    ONE: ClassVar = {
        "the": (-1, -0.5),
        "house": (-1.25, -0.125),
        "green": (-1.125, -0.0625),
        END: (-0.75, 0),
        BEGIN: (0, -0.25),
    }
    TWO: ClassVar = {(BEGIN, "the"): -0.25, ("the", "house"): -0.5, ("green", "house"): -0.375}

    def names(self, settings: Declared) -> tuple[str, ...]:
        return ("Bigrams",)

    def order(self, settings: Declared) -> int:
        return 2

    def of_word(self, before: Sequence[str], word: str, settings: Declared) -> Mapping[str, float]:
        back_off = self.ONE.get(before[-1], (0, 0))[1] if before else 0
        return {"Bigrams": self.TWO.get((*before, word), self.ONE.get(word, (-1.5, 0))[0] + back_off)}


class Repeated(WordFunction[Declared]):
    """Words that equal one of the three before."""

    HELP = "repeated words"
    Settings = Declared

    def names(self, settings: Declared) -> tuple[str, ...]:
        return ("Repeated",)

    def order(self, settings: Declared) -> int:
        return 4

    def of_word(self, before: Sequence[str], word: str, settings: Declared) -> Mapping[str, float]:
        return {"Repeated": 1.0} if word in before else {}


PACKAGE = """
from lscfg.functions.function import WordFunction
from lscfg.settings import Declared


class Repeated(WordFunction):
    HELP = "words that equal one of the three before"
    Settings = Declared

    def names(self, settings):
        return ("Repeated",)

    def order(self, settings):
        return 4

    def of_word(self, before, word, settings):
        return {"Repeated": 1.0} if word in before else {}
"""


@pytest.fixture
def ini(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system with a function of another package."""
    (tmp_path / "repeated_words.py").write_text(PACKAGE)
    (tmp_path / "repeated_words-1.dist-info").mkdir()
    (tmp_path / "repeated_words-1.dist-info" / "METADATA").write_text("Name: repeated-words\nVersion: 1\n")
    (tmp_path / "repeated_words-1.dist-info" / "entry_points.txt").write_text(
        "[lscfg.feature_functions]\nRepeated = repeated_words:Repeated\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    config = replace(small_config(tmp_path), functions=(FunctionLine("Repeated"),))
    with open(tmp_path / "grammar", "a") as grammar:
        grammar.write("[X] ||| verde casa ||| the the ||| P=1.5\n")
    write_ini(tmp_path / "cdec.ini", config)
    return tmp_path / "cdec.ini"


def test_another_package_adds_one_by_a_row(ini: Path, tmp_path: Path) -> None:
    """Decoding by one or more processes, explanations, bundles and tuning all use the function."""
    weights, liked = WEIGHTS | {"Repeated": -20.0}, WEIGHTS | {"Repeated": 9.0}
    with EmbeddedDecoder.from_ini(ini) as decoder:
        assert decoder.decode(["verde casa"], liked)[0][0].text == "the the"
        best = decoder.decode(["verde casa", "la casa verde la la"], weights, k=30)
        assert best[0][0].text == "green house"
        for one in itertools.chain(*best):
            words = one.text.split()
            repeated = sum(word in words[max(k - 3, 0) : k] for k, word in enumerate(words))
            assert one.features.get("Repeated", 0) == repeated
            assert one.score == pytest.approx(sum(weights.get(n, 0) * v for n, v in one.features.items()), abs=1e-5)
        assert ("Repeated", -20.0) in decoder.why_not("verde casa", "the the", weights).features
        found = next(decoder.translate(["verde casa"], weights, details=True))
        assert [word.text for word in found.details] == ["green", "house"]
        with pytest.raises(InputError, match="no features of Repeated; tune with another optimiser"):
            decoder.decode_graphs(["casa"], weights, 1, False, 10)
    with in_processes(2) as engine, EmbeddedDecoder.from_ini(ini, engine) as many, EmbeddedDecoder.from_ini(ini) as one:
        assert many.decode(SENTENCES, weights, k=5) == one.decode(SENTENCES, weights, k=5)
    (tmp_path / "weights").write_text("".join(f"{name} {value}\n" for name, value in weights.items()))
    pack(ini, tmp_path / "bundle", tmp_path / "weights")
    opened = open_bundle(tmp_path / "bundle")
    with opened.decoder() as decoder:
        assert decoder.decode(["verde casa"], opened.weights)[0][0].text == "green house"
    line = "la casa verde casa verde"
    with EmbeddedDecoder.from_ini(ini) as decoder:
        (wanted,), (start,) = decoder.decode([line], weights), decoder.decode([line], liked)
    assert start[0].features["Repeated"] > wanted[0].features.get("Repeated", 0)
    tuned = lscfg.tune(ini, [line] * 4, [wanted[0].text] * 4, liked, iterations=3, kbest=50)
    assert tuned["Repeated"] / tuned["P"] < 9


def test_sparse_features_are_learnt_and_named(tmp_path: Path) -> None:
    config = replace(small_config(tmp_path), functions=(FunctionLine("NgramFeatures", ("-o", "2")),))
    write_ini(tmp_path / "cdec.ini", config)
    assert read_ini(tmp_path / "cdec.ini").functions == config.functions
    weights = WEIGHTS | {"B:house_green": 30.0, "U:never": 1.0}
    with EmbeddedDecoder(config) as decoder:
        assert not any(name.startswith("U:") for name in decoder.feature_names)
        best = decoder.decode(["casa verde"], weights)[0][0]
        assert best.text == "house green"
        assert {n: v for n, v in best.features.items() if n[:2] in ("U:", "B:")} == ngrams(["house", "green"], 2)
        assert ("B:house_green", -30.0) in decoder.why_not("casa verde", "green house", weights).features


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("NgramFeatures -o 6", "NgramFeatures: order must be at most 5"),
        ("NgramFeatures -o", "NgramFeatures: -o lacks its value"),
        ("NgramFeatures -c clusters", "NgramFeatures takes -o, -n, -S, -U, -B, -T, -4, -5; found '-c'"),
        ("Wide", "Wide has the order 14; it must be 1 to 13"),
    ],
)
def test_bad_lines_are_refused(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "cdec.ini").write_text(f"formalism=scfg\nfeature_function={line}\n")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(InputError, match=re.escape(message)):
        if line == "Wide":
            of_package(patch, Wide)
        read_ini(tmp_path / "cdec.ini")


def test_faults_of_a_function_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_package(monkeypatch, Endless, Second, Repeated)
    for names, message in (
        (["Endless"], "Endless returned a value that is not"),
        (["Repeated", "Second"], "Repeated comes"),
    ):
        config = replace(small_config(tmp_path), functions=tuple(map(FunctionLine, names)))
        with pytest.raises(InputError, match=message), EmbeddedDecoder(config) as decoder:
            decoder.decode(["casa"], WEIGHTS)


class Wide(Repeated):
    """Sees more words than the search keeps apart."""

    def order(self, settings: Declared) -> int:
        return 14


class Endless(Repeated):
    """Gives no number."""

    def of_word(self, before: Sequence[str], word: str, settings: Declared) -> Mapping[str, float]:
        return {"Repeated": math.nan}


class Second(Repeated):
    """Has the feature of another function."""
