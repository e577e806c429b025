"""One way from derivations to a whole model: an estimator, and a context model of some rules beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lscfg.estimate.estimator import ESTIMATORS
from lscfg.extract.extractor import RuleExtractor, RuleInputs
from lscfg.grammar.tokens import LEFT_OUT, RuleTokens
from lscfg.io.text import read_lines
from lscfg.kinds import CONTEXT_MODELS, DEFAULT_CONTEXT_MODEL, kind
from lscfg.settings import Declared

if TYPE_CHECKING:
    from lscfg.extract.derive import Derivations
    from lscfg.model.parameters import Estimate, Parameters


@dataclass(frozen=True)
class ContextInputs:
    """What a context model is learned from.

    Attributes:
        model: its kind, or empty where there is a scorer alone; settings: of it.
        text: the source side of the corpus.
        inputs: what the sources take their rules from; sources: each with its settings.
        left_out: random share of the tokens that it is not learned from.
        add_scorer: gives a model a scorer beside it, from tokens, source text, threads and further text; None: there is
            none.
        views_texts: further source text, from which those whose settings take it learn what words have in common.
    """

    model: str
    settings: Declared
    text: Path
    inputs: RuleInputs
    sources: tuple[tuple[RuleExtractor[Any], Declared], ...]
    left_out: float = 0.0
    add_scorer: Callable[[Any, RuleTokens, list[str], int, Sequence[str]], Any] | None = None
    views_texts: Sequence[Path] = ()

    def tokens(self) -> RuleTokens:
        """Where the corpus has the rules of all sources, without those left out."""
        found = [source.tokens(self.inputs, settings) for source, settings in self.sources]
        tokens = reduce(RuleTokens.with_those_of, found)
        return tokens.without(self.left_out) if self.left_out else tokens


def estimate_model(
    derivations: Derivations,
    name: str,
    settings: Declared,
    threads: int = 1,
    folder: Path | None = None,
    resume: bool = False,
    context: ContextInputs | None = None,
) -> Parameters | Estimate:
    """The model of an estimator by its name; see ``lscfg.estimate.Estimator``.

    Raises:
        InputError: a file cannot be read or does not fit the others, or the text is too little for what is asked.
    """
    found = ESTIMATORS[name]
    learner: Any = kind(CONTEXT_MODELS, context.model or DEFAULT_CONTEXT_MODEL) if context else None
    # before what may take hours: a fault of these files would come too late behind it
    source = learner.read_source(context.text, derivations) if context else []
    more = [line for path in context.views_texts for line in read_lines(path)] if context else []
    tokens = context.tokens() if context else None
    if tokens and more:
        tokens = tokens.with_words(more)
    model = found.estimate(derivations, settings, threads, folder, resume)
    if context:
        if context.model:
            text = {"more": more} if learner.Settings.takes_text else {}
            model = learner.add_context(model, tokens, source, context.settings, threads, **text)
        if context.add_scorer and tokens:
            model = context.add_scorer(model, tokens, source, threads, more)
        if context.left_out:
            model.about[LEFT_OUT] = context.left_out
    return model
