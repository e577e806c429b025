"""Estimators as tests call them: settings by name, and all parameters in memory."""

from pathlib import Path

from lscfg.context.learner import CONTEXT_MODELS
from lscfg.context.loglinear import LoglinearSettings
from lscfg.context.low_dimensional import LowDimensionalLearner
from lscfg.estimate import clusters, em, mle, spectral
from lscfg.extract.derive import Derivations
from lscfg.extract.extractor import RuleInputs
from lscfg.extract.hiero import Hiero, HieroSettings
from lscfg.grammar.tokens import RuleTokens
from lscfg.model.parameters import Parameters


def estimate_mle(derivations: Derivations, max_targets: int = 0) -> Parameters:
    """Relative frequencies."""
    return mle.RelativeFrequencies().estimate(derivations, mle.MLESettings(max_targets))


def estimate_spectral(derivations: Derivations, settings: spectral.SpectralSettings, threads: int = 1) -> Parameters:
    """The spectral estimate, with the tensors that are otherwise made when they are asked for."""
    return spectral.MethodOfMoments().estimate(derivations, settings, threads).parameters()


def estimate_iterated(derivations: Derivations, settings: em.Iterations, *arguments, **options) -> Parameters:
    """EM from clusters, if the settings are of these, else from random numbers."""
    of_clusters = isinstance(settings, clusters.ClusterSettings)
    found = clusters.SpectralClusters() if of_clusters else em.ExpectationMaximisation()
    return found.estimate(derivations, settings, *arguments, **options).parameters()


def hiero_tokens(src: Path, tgt: Path, alignments: list[Path]) -> RuleTokens:
    """Sites of Hiero's rules in a corpus, within the usual limits."""
    return Hiero().tokens(RuleInputs(src, tgt, tuple(alignments)), HieroSettings())


LOW_DIMENSIONAL = tuple(name for name in CONTEXT_MODELS if isinstance(CONTEXT_MODELS[name], LowDimensionalLearner))
"""Names of the low-dimensional context models."""


def add_context_model(name, settings, model, tokens, source, threads=1, more=()):
    """The model with a context model of the kind ``name``."""
    return CONTEXT_MODELS[name].add(model, tokens, source, settings, threads, more)


def add_loglinear(model, tokens, source, settings=None, threads=1):
    """The model with a log-linear context model."""
    return CONTEXT_MODELS["loglinear"].add(model, tokens, source, settings or LoglinearSettings(), threads)
