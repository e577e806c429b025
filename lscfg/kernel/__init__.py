"""Python wrappers of the C kernel, one module for each of its layers; the only package that holds kernel pointers.

Returned arrays are read-only views of kernel memory and keep their owner alive. Layers that no decoder needs are
imported at their first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from lscfg.kernel.base import (
    LineError,
    Vocab,
    refused_characters,
    words_fault,
)
from lscfg.kernel.extra_rules import EXTRA_RULES, PASS, PASS_KNOWN
from lscfg.kernel.forest import (
    EPSILON,
    REST,
    Forest,
    ForestBuilder,
    Grammar,
    GrammarLayer,
    ParseOptions,
    S,
    X,
)
from lscfg.kernel.inference import (
    BOUNDARY_FEATURES,
    CONTEXT_BEGIN,
    CONTEXT_END,
    CONTEXT_EXTRA_WORDS,
    CONTEXT_FEATURES,
    CONTEXT_LENGTHS,
    CONTEXT_SHAPES,
    CONTEXT_UNKNOWN,
    CONTEXT_WORD_KINDS,
    DEFAULT_FEATURES,
    FEATURE_FAMILIES,
    FEATURES,
    LATENT_FEATURES,
    PAPER_FEATURES,
    RULE_KINDS,
    SCORE_FUNCTIONS,
    SENSE_FEATURES,
    START_WEIGHTS,
    Binding,
    BindingOptions,
    Feature,
    FeatureOptions,
    FeaturePass,
    Inference,
    Model,
    feature_names,
)
from lscfg.kernel.options import (
    ImproperCounts,
    LatentOptions,
    option_pairs,
)

if TYPE_CHECKING:
    from lscfg.kernel.demand import (
        AlignedText,
        SuffixIndex,
    )
    from lscfg.kernel.estimate import (
        ContextTrainer,
        add_moments,
    )
    from lscfg.kernel.extract import (
        BRACKETINGS,
        DROP_REASONS,
        DeriveCounts,
        DerivedNodes,
        DeriveOptions,
        Deriver,
        HieroExtractor,
        Matcher,
        Rules,
        TreeOptions,
        Trees,
    )

__all__ = [
    "BOUNDARY_FEATURES",
    "BRACKETINGS",
    "CONTEXT_BEGIN",
    "CONTEXT_END",
    "CONTEXT_EXTRA_WORDS",
    "CONTEXT_FEATURES",
    "CONTEXT_LENGTHS",
    "CONTEXT_SHAPES",
    "CONTEXT_UNKNOWN",
    "CONTEXT_WORD_KINDS",
    "DEFAULT_FEATURES",
    "DROP_REASONS",
    "EPSILON",
    "EXTRA_RULES",
    "FEATURES",
    "FEATURE_FAMILIES",
    "LATENT_FEATURES",
    "PAPER_FEATURES",
    "PASS",
    "PASS_KNOWN",
    "REST",
    "RULE_KINDS",
    "SCORE_FUNCTIONS",
    "SENSE_FEATURES",
    "START_WEIGHTS",
    "AlignedText",
    "Binding",
    "BindingOptions",
    "ContextTrainer",
    "DeriveCounts",
    "DeriveOptions",
    "DerivedNodes",
    "Deriver",
    "Feature",
    "FeatureOptions",
    "FeaturePass",
    "Forest",
    "ForestBuilder",
    "Grammar",
    "GrammarLayer",
    "HieroExtractor",
    "ImproperCounts",
    "Inference",
    "LatentOptions",
    "LineError",
    "Matcher",
    "Model",
    "ParseOptions",
    "Rules",
    "S",
    "SuffixIndex",
    "TreeOptions",
    "Trees",
    "Vocab",
    "X",
    "add_moments",
    "feature_names",
    "option_pairs",
    "refused_characters",
    "words_fault",
]

_PLACES = {
    "demand": (
        "AlignedText",
        "SuffixIndex",
    ),
    "estimate": (
        "ContextTrainer",
        "add_moments",
    ),
    "extract": (
        "BRACKETINGS",
        "DROP_REASONS",
        "DeriveCounts",
        "DerivedNodes",
        "DeriveOptions",
        "Deriver",
        "HieroExtractor",
        "Matcher",
        "Rules",
        "TreeOptions",
        "Trees",
    ),
}


def __getattr__(name: str) -> object:
    """Imports a name of a layer that no decoder needs."""
    for module, names in _PLACES.items():
        if name in names:
            globals()[name] = value = getattr(import_module(f"lscfg.kernel.{module}"), name)
            return value
    raise AttributeError(f"module 'lscfg.kernel' has no attribute {name!r}")
