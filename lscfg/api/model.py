"""Models in programs: analyses of sentences, and descriptions of hidden states."""

from __future__ import annotations

import os
import threading
from dataclasses import asdict, dataclass
from functools import cached_property
from html import escape
from typing import Any

from lscfg.api.arguments import check_number, check_path, check_text
from lscfg.api.opened import OpenedFiles, absolute, files_of_config, reopened
from lscfg.api.records import Records
from lscfg.corpus.parallel import check_plain_sentences
from lscfg.study.explain import SEEN, Explainer, Explanation
from lscfg.study.show import explanations_html, explanations_text
from lscfg.turns import in_turn


@dataclass(frozen=True)
class SentenceAnalysis:
    """The analysis of a sentence under a model; a notebook shows it as a table of spans.

    Attributes:
        explanation: the whole analysis, as ``lscfg inspect sentence`` shows it.
    """

    explanation: Explanation

    @property
    def translation(self) -> str | None:
        """Target side of the best derivation; None without a parse."""
        return self.explanation.translation

    @property
    def log_g(self) -> float:
        """Natural logarithm of the sum over all derivations; -inf where there is none."""
        return self.explanation.log_g

    def best(self) -> Records:
        """The rules of the best derivation, each before its children: spans, sides, ``children`` by number."""
        rows = [vars(rule) for rule in self.explanation.best]
        return Records.of({key: value for key, value in row.items() if key != "features"} for row in rows)

    def spans(self) -> Records:
        """Spans with their words, marginal and depth in the best derivation (None for spans outside it)."""
        return Records.of(
            {"span": one.span, "words": one.words, "marginal": one.marginal, "depth": one.depth, "of": one.n_choices}
            for one in self.explanation.spans
        )

    def rules(self) -> Records:
        """The rules that compete for the spans, the best of a span first; keys as in ``lscfg.study.explain.Choice``."""
        return Records.of(
            {"span": one.span} | asdict(choice) | {"tails": choice.spans}
            for one in self.explanation.spans
            for choice in one.choices
        )

    def states(self) -> Records:
        """Posteriors of hidden states of spans, the most probable first; empty for models with signed parameters."""
        return Records.of(
            {"span": one.span, "words": one.words} | asdict(state)
            for one in self.explanation.spans
            for state in one.states
        )

    def __str__(self) -> str:
        return explanations_text([self.explanation])

    @property
    def unknown(self) -> tuple[str, ...]:
        """Words of the sentence that the model does not know, in their order."""
        return self.explanation.unknown

    def __repr__(self) -> str:
        said = "no parse" if self.translation is None else f"{self.translation!r}, log_g={self.log_g:.4f}"
        unknown = f", {len(self.unknown)} of them unknown" if self.unknown else ""
        return f"<SentenceAnalysis of {len(self.explanation.words)} words{unknown}: {said}>"

    def _repr_html_(self) -> str:
        return explanations_html([self.explanation])


class LatentModel:
    """An L-SCFG, opened by ``lscfg.load``.

    Args:
        path: a model, which parses with its own rules, or a ``cdec.ini`` with an LSCFG line, which sets grammar and
            options.

    Raises:
        InputError: a file cannot be read, or is of another kind.
        TypeError: the path is not the name of a file.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self._turn = threading.RLock()
        self.path = absolute(check_path(path, "path"))  # the program may change its working directory
        self._files = OpenedFiles(files_of_config(self.path) if self.path.endswith(".ini") else [self.path])
        self._explainer = Explainer(path)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy opens the same files again."""
        return reopened, (type(self), self._files.contents(), self.path)

    @property
    def rank(self) -> int:
        """m, the number of hidden states."""
        return self._explainer.model.rank

    def __len__(self) -> int:
        """The number of its rules."""
        return len(self._explainer.model)

    @in_turn
    def analyse(self, sentence: str, top: int = 10, least: float = SEEN) -> SentenceAnalysis:
        """Analyses a sentence of words that blanks separate.

        Args:
            top: largest number of rules, and of states, for each span.
            least: smallest marginal of spans outside the best derivation; 0 for all.

        Raises:
            InputError: ``top`` or ``least`` is out of its range, or the sentence contains a forbidden word.
            TooLargeError: the forest would exceed its limit.
            TypeError: an argument has another type.
        """
        check_text(sentence, "sentence")
        check_plain_sentences([sentence], "sentence")
        check_number(top, "top", 1)
        check_number(least, "least", 0, 1, whole=False)
        return SentenceAnalysis(self._explainer(sentence, top, least))

    @cached_property
    def states(self) -> Records:
        """The hidden states, the most used first: share of nodes, entropy of the rules in bits, typical words."""
        found = self._explainer.states
        if found is None:
            return Records()
        return Records.of(
            {"state": h, "share": float(found.share[h]), "entropy": float(found.entropy[h]), "name": found.name(h)}
            for h in found.order
        )

    def _repr_html_(self) -> str:
        name = escape(os.path.basename(self.path))
        return f"<p>{name}: {len(self):,} rules, m={self.rank}</p>{self.states._repr_html_()}"

    def __repr__(self) -> str:
        return f"<LatentModel {os.path.basename(self.path)}: {len(self):,} rules, m={self.rank}>"


def load_model(path: str | os.PathLike[str]) -> LatentModel:
    """Opens a model; see ``LatentModel``."""
    return LatentModel(path)
