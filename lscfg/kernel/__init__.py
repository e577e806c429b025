"""The C kernel for Python, by the kernel's own floors; the only package that holds its pointers.

Arrays that a wrapper returns are views of kernel memory, read-only, and keep their owner alive.
"""

from lscfg.kernel.base import (
    LineError,
    Vocab,
    words_fault,
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
from lscfg.kernel.forest import (
    EPSILON,
    PASS,
    PASS_KNOWN,
    Forest,
    ForestBuilder,
    Grammar,
    ParseOptions,
    S,
    X,
)
from lscfg.kernel.inference import (
    CONTEXT_FEATURES,
    CONTEXT_LENGTHS,
    CONTEXT_SHAPES,
    CONTEXT_WORD_KINDS,
    LATENT_FEATURES,
    RULE_KINDS,
    START_WEIGHTS,
    Binding,
    BindingOptions,
    FeatureOptions,
    Inference,
    Model,
    feature_names,
)
from lscfg.kernel.options import (
    ImproperCounts,
    LatentOptions,
    option_pairs,
)

__all__ = [
    "BRACKETINGS",
    "CONTEXT_FEATURES",
    "CONTEXT_LENGTHS",
    "CONTEXT_SHAPES",
    "CONTEXT_WORD_KINDS",
    "DROP_REASONS",
    "EPSILON",
    "LATENT_FEATURES",
    "PASS",
    "PASS_KNOWN",
    "RULE_KINDS",
    "START_WEIGHTS",
    "Binding",
    "BindingOptions",
    "ContextTrainer",
    "DeriveCounts",
    "DeriveOptions",
    "DerivedNodes",
    "Deriver",
    "FeatureOptions",
    "Forest",
    "ForestBuilder",
    "Grammar",
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
    "TreeOptions",
    "Trees",
    "Vocab",
    "X",
    "add_moments",
    "feature_names",
    "option_pairs",
    "words_fault",
]
