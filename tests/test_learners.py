"""Every learner has a plain version in its tests: a few lines of dictionaries or dense arrays that give its numbers."""

import re
from pathlib import Path

import pytest

from lscfg.context.learner import CONTEXT_MODELS
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.extract.extractor import EXTRACTORS
from lscfg.tuning.optimisers import OPTIMISERS

TESTS = Path(__file__).resolve().parent

PLAIN = {
    # estimators of latent grammars
    "mle": "estimate/test_estimate.py::test_mle_is_relative_frequency",
    "spectral": "estimate/test_estimate.py::test_spectral_is_the_formula_of_the_paper",
    "spectral, smoothed": "estimate/test_estimate.py::test_smoothing_is_the_formula_of_cohen_et_al",
    "spectral over forests": "estimate/test_forest_moments.py::test_moments_are_those_of_all_derivations",
    "em": "estimate/test_plain_estimators.py::test_em",
    "em, states enumerated": "estimate/test_em.py::test_expected_counts_are_those_of_enumeration",
    "em over forests": "estimate/test_forests.py::test_expected_counts_are_those_of_enumeration",
    "em-features": "estimate/test_features_em.py::test_indicators_of_rules_without_prior_give_the_m_step_of_em",
    "em-features, gradient": "estimate/test_features_em.py::test_fishers_identity",
    "shrinkage": "estimate/test_em.py::test_shrinkage_is_its_formula",
    "clusters": "estimate/test_plain_estimators.py::test_k_means",
    "clusters, embedding": "estimate/test_plain_estimators.py::test_the_embedding",
    "neural": "estimate/test_neural.py::test_ten_steps_are_those_of_numpy",
    "neural, affiliation": "estimate/test_neural.py::test_random_rules_are_affiliated_as_in_plain_python",
    "neural, features": "estimate/test_neural.py::test_features_are_those_of_the_definition",
    "orientation": "estimate/test_orientation.py::test_weights_are_at_the_optimum_and_probabilities_sum_to_1",
    "orientation, blocks": "estimate/test_orientation.py::test_blocks_are_those_of_brute_force",
    "orientation, features": "estimate/test_orientation.py::test_features_are_those_of_the_definition",
    # context models
    "loglinear": "context/test_loglinear.py::test_learning_is_what_the_method_says",
    "joint": "context/test_loglinear.py::test_learning_with_dense_values",
    "ls": "context/test_low_dimensional.py::test_least_squares_is_the_augmented_system",
    "cca": "context/test_plain_learners.py::test_cca",
    "cca, views": "context/test_cca.py::test_exact_is_the_generalised_eigenvalue_problem",
    "cca-mm": "context/test_plain_learners.py::test_cca_mm",
    "ls-online": "context/test_plain_learners.py::test_squared_losses",
    "mlp": "context/test_plain_learners.py::test_squared_losses",
    "mlr": "context/test_plain_learners.py::test_mlr",
    "sg": "context/test_plain_learners.py::test_skip_grams",
    "softmax": "context/test_plain_learners.py::test_softmax",
    "residual": "context/test_plain_learners.py::test_residual",
    "calibration": "estimate/test_choice.py::test_weights_have_the_largest_likelihood",
    # tuning
    "mira": "tuning/test_mira.py::test_mira_against_a_plain_one",
    "mert": "tuning/test_mert.py::test_line_search_against_every_interval",
    "forest-mert": "tuning/test_mert.py::test_envelope_of_a_hypergraph_against_all_derivations",
    "forest-risk": "tuning/test_forest_risk.py::test_statistics_are_those_of_all_derivations",
    "pro": "tuning/test_pro.py::test_regression_is_at_its_optimum",
    "pro, pairs": "tuning/test_pro.py::test_pairs_are_those_of_the_paper",
    "risk": "tuning/test_risk.py::test_value_is_that_of_all_choices",
    "margin": "tuning/test_margin_plain.py::test_the_average_is_that_of_a_plain_learner",
    "mbr": "tuning/test_mbr_plain.py::test_expected_utilities",
    # rules and text
    "sampled": "induce/test_sampler.py::test_samples_have_the_exact_distribution",
    "biparsed": "kernel/test_biparse.py::test_sums_and_gradient_are_those_of_all_derivations",
    "biparsed, counts": "kernel/test_biparse.py::test_counts_are_those_of_all_derivations",
    "biparsed, lexicon": "induce/test_biparse.py::test_the_lexicon_joins_links_and_model_1",
    "propagation": "induce/test_propagation.py::test_a_step_is_that_of_triple_loops",
    "propagation, sweeps": "induce/test_propagation.py::test_sweeps_are_those_of_loops",
    "language model": "lm/test_lm.py::test_agrees_with_slow_twin",
}
"""By learner the test that compares it with a plain version."""

NOTHING_LEARNED = {"minimal", "hiero", "phrases"}
"""Extractors that only count."""


@pytest.mark.parametrize("learner", PLAIN)
def test_the_plain_version_is_there(learner):
    file, _, name = PLAIN[learner].partition("::")
    assert re.search(rf"^def {name}\(", (TESTS / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_no_learner_is_missing():
    known = {*ESTIMATORS, *CONTEXT_MODELS, *OPTIMISERS, *EXTRACTORS}
    assert known - NOTHING_LEARNED <= {*PLAIN}, known - NOTHING_LEARNED - {*PLAIN}
