"""What an experiment has where its file says nothing: start weights and systems."""

from __future__ import annotations

from typing import Any

from lscfg import kernel
from lscfg.kinds import DEFAULT_ESTIMATOR

START_WEIGHTS = {
    "LanguageModel": 2.0,
    "LanguageModel_OOV": -1.0,
    "WordPenalty": -2.5,
    "EgivenF": -0.5,
    "FgivenE": -0.7,
    "MaxLexEgivenF": -0.2,
    "MaxLexFgivenE": -0.7,
    "PassThrough": -1.0,
    **kernel.START_WEIGHTS,
}
"""Where tuning begins: the signs that the features ought to have, and a word penalty (less than 0 for every word, so
that a negative weight rewards words) that makes the first translations about as long as the references. Features that
are not named start at 0; a system passes over latent features that it does not have."""

DEFAULT_SYSTEMS: dict[str, dict[str, Any]] = {
    "MIN": {},
    "HIERO": {"grammar": "hiero"},
    "LATENT": {"estimator": DEFAULT_ESTIMATOR},
    "HIERO+LATENT": {"estimator": DEFAULT_ESTIMATOR, "grammar": "both", "start": "LATENT"},
    "SAMPLED+LATENT": {"estimator": DEFAULT_ESTIMATOR, "grammar": "sampled+minimal", "start": "LATENT"},
    "AGREED": {"agree": ["HIERO+LATENT", "SAMPLED+LATENT"]},
}
