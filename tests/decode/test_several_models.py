"""Several language models in one search: every derivation is counted, and copies of one model equal the model."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import kenlm
import numpy as np
import pytest
from decoders import SENTENCES, WEIGHTS, small_config
from searches import EVERYTHING, Case, quiet, random_arpa

from lscfg.bundle.pack import pack
from lscfg.bundle.system import open_bundle
from lscfg.decode.columns import FeatureColumns
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.parsing import read_grammar
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig, NamedModel, write_ini
from lscfg.functions.function import FunctionLine
from lscfg.kernel.lm import JoinedModels, LanguageModel
from lscfg.kernel.search import KBest, SearchOptions, search
from lscfg.parallel.choose import in_processes

JOINED = SearchOptions(EVERYTHING, 10**6, False, 1.0, 0.0)


def found_by(case: Case, paths: list[Path], weights: np.ndarray) -> tuple[KBest, JoinedModels]:
    models = JoinedModels([LanguageModel(path, case.grammar.vocab) for path in paths], weights)
    return search(case.forest, case.grammar, models, case.app_scores, JOINED), models


@pytest.mark.parametrize("seed", range(12))
def test_scores_are_those_of_all_derivations(seed: int, tmp_path: Path) -> None:
    """Models of different orders and words, with weights of any sign; KenLM scores whole strings."""
    rng = random.Random(seed)
    case = Case(seed, 2 + seed % 3, tmp_path)
    paths = [case.path] + [random_arpa(tmp_path / f"more{n}", 2 + (seed + n) % 4, rng) for n in range(seed % 3 + 1)]
    weights = np.array([[rng.uniform(-0.3, 1), rng.uniform(-2, 1)] for _ in paths])
    wanted, sums = [], []
    models = [kenlm.Model(str(path), quiet()) for path in paths]
    for words, apps in case.all:
        scored = [list(model.full_scores(case.text(words), bos=True, eos=True)) for model in models]
        sums.append([(sum(p for p, _, _ in scores), sum(oov for _, _, oov in scores)) for scores in scored])
        wanted.append(case.app_scores[apps].sum() + (np.array(sums[-1]) * weights).sum())
    found, joined = found_by(case, paths, weights)
    assert np.array(found.score) == pytest.approx(sorted(wanted, reverse=True), abs=1e-5)
    own = joined.sums(found.words, found.word_offsets)
    best = [sums[n] for n in np.argsort(-np.array(wanted), kind="stable")]
    assert sorted(map(str, np.round(own, 4).tolist())) == sorted(map(str, np.round(best, 4).tolist()))


@pytest.mark.parametrize("seed", range(6))
def test_copies_with_parts_of_the_weight_equal_one_model(seed: int, tmp_path: Path) -> None:
    case = Case(seed, 3, tmp_path)
    whole = case.search(EVERYTHING)
    parts = np.array([[0.35, -0.65], [0.175, -0.325], [0.175, -0.325]])
    found, _ = found_by(case, [case.path] * 3, parts)
    assert np.array(found.score) == pytest.approx(np.array(whole.score), abs=1e-5)
    assert found.word_lists()[0] == whole.word_lists()[0]


def two_models(folder: Path) -> DecoderConfig:
    config = small_config(folder)
    (folder / "other").write_text((folder / "lm").read_text().replace("-0.25\t<s> the", "-0.125\t<s> the"))
    return replace(config, further_models=(NamedModel("Other", folder / "other"),))


def test_each_model_has_its_feature_and_weight(tmp_path: Path) -> None:
    config = two_models(tmp_path)
    weights = WEIGHTS | {"Other": 0.5, "Other_OOV": -0.25, "LanguageModel_OOV": 0.125}
    with EmbeddedDecoder(config) as decoder, EmbeddedDecoder(small_config(tmp_path)) as one:
        assert decoder.feature_names[-4:] == ("LanguageModel", "LanguageModel_OOV", "Other", "Other_OOV")
        for given in (weights, weights | {"Other": -0.5}, weights):  # other weights, and the first again
            for list_ in decoder.decode(SENTENCES, given, k=50):
                assert [h.score for h in list_] == sorted((h.score for h in list_), reverse=True)
                for h in list_:
                    assert h.score == pytest.approx(sum(given.get(n, 0) * v for n, v in h.features.items()), abs=1e-5)
        alone = weights | {"Other": 0.0, "Other_OOV": 0.0}
        for several, single in zip(decoder.decode(SENTENCES, alone), one.decode(SENTENCES, alone), strict=True):
            assert several[0].text == single[0].text
            assert several[0].score == pytest.approx(single[0].score, abs=1e-5)
        translated = next(decoder.translate(["la casa verde"], weights, details=True))
        assert len(translated.details) == 3
        with pytest.raises(InputError, match="one language model; tune with another optimiser"):
            decoder.decode_graphs(SENTENCES, weights, 1, False, 10)
    with in_processes(2) as engine, EmbeddedDecoder(config, engine=engine) as many, EmbeddedDecoder(config) as one:
        assert many.decode(SENTENCES, weights, k=5) == one.decode(SENTENCES, weights, k=5)


def test_a_bundle_contains_all_models(tmp_path: Path) -> None:
    config = two_models(tmp_path)
    write_ini(tmp_path / "cdec.ini", config)
    (tmp_path / "weights").write_text("LanguageModel 1\nOther 1\n")
    pack(tmp_path / "cdec.ini", tmp_path / "bundle", tmp_path / "weights")
    found = open_bundle(tmp_path / "bundle")
    assert [model.name for model in found.config.models] == ["LanguageModel", "Other"]
    with found.decoder() as decoder:
        assert decoder.decode(["casa"], found.weights)[0][0].text == "house"


def test_hosts_with_one_model_refuse_several(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Moses takes one language model; keep one of 2 lines"):
        two_models(tmp_path).check_common("Moses")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"language_model_name": "P"},
            "the feature P comes from the grammar and from the language model P; rename one",
        ),
        ({"language_model_name": "Glue"}, "Glue comes from the grammar and from the language model Glue"),
        ({"language_model_name": "PassThrough"}, "PassThrough comes from the grammar"),
        ({"language_model_name": "WordPenalty"}, "WordPenalty comes from feature_function=WordPenalty and from"),
        (
            {"language_model_name": "Shape_S1", "functions": ("RuleShape",)},
            "Shape_S1 comes from the language model Shape_S1 and from feature_function=RuleShape",
        ),
        (
            {"language_model_name": "Letters", "functions": ("Letters",)},
            "Letters comes from the language model Letters and from feature_function=Letters",
        ),
        (
            {"language_model_name": "SubstituteForm", "substitutes": True},
            "model SubstituteForm and from unknown_words=similar",
        ),
        ({"language_model_name": "Latent"}, "model Latent and from the latent features"),
    ],
)
def test_two_sources_never_share_a_feature(change: dict[str, object], message: str, tmp_path: Path) -> None:
    """Equal names added up silently; of a grammar only those of glue and pass-through rules may."""
    if "functions" in change:
        change = change | {"functions": tuple(map(FunctionLine, change["functions"]))}  # type: ignore[call-overload]
    config = replace(small_config(tmp_path), **change)  # type: ignore[arg-type]
    columns = partial(FeatureColumns, config, read_grammar(config), [config.language_model_name])
    with pytest.raises(InputError, match=re.escape(message)):
        columns(["Latent"])


@pytest.mark.parametrize("line", ["((('casa',{'P':1},1),),)", "((('casa',{'T:house':1},1),),)"])
def test_an_arc_shares_no_feature(line: str, tmp_path: Path) -> None:
    config = replace(small_config(tmp_path), functions=(FunctionLine("OutputIndicator"),))
    with EmbeddedDecoder(config) as decoder, pytest.raises(InputError, match="a lattice gives the feature"):
        decoder.decode([line], WEIGHTS)
