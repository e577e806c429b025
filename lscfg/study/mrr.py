"""Measures of scores that choose the translation of a source phrase in its sentence (thesis, section 4.2).

The thesis measures the mean reciprocal rank (MRR). It does not show the value of a score in a decoder, which already
uses a language model, lengths and relative frequencies. ``adds`` does: the reduction in loss of a conditional logit
model of the right option when the score joins all of these.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lscfg.decode.parsing import has_categories
from lscfg.errors import InputError
from lscfg.estimate.choice import Choices, fit_choices
from lscfg.grammar.tokens import LEFT_OUT, LEFT_OUT_OF
from lscfg.io import tensors
from lscfg.io.columns import align_columns
from lscfg.kernel import Binding, FeatureOptions, Grammar, Model, ParseOptions, X
from lscfg.kernel.lm import PhraseScorer
from lscfg.log import progress
from lscfg.study.diagnose import OTHER_CATEGORIES
from lscfg.study.disambiguation import Questions
from lscfg.study.gains import mean_gain

P_OF_TARGET, P_OF_SOURCE = "P(e|f)", "P(f|e)"
LM = "LM"

FAMILIES = (
    ("context", ("ContextTarget0",), True),
    ("score", ("SenseScore",), False),
    ("sense", ("SenseTarget0",), True),
)
"""Scores of a model: name, summed features, and True for ratios to relative frequencies."""


@dataclass(frozen=True)
class Candidate:
    """A score of the options."""

    name: str
    values: np.ndarray
    """float64 [options]."""
    ranking: np.ndarray
    """Scores for the ranks, if they differ."""
    joins: bool = True
    """True if the score may join the base."""


@dataclass(frozen=True)
class ScoreEvaluator:
    """Evaluates scores on questions."""

    questions: Questions
    """The questions."""
    language: np.ndarray | None = None
    """float64 [options, 2], see ``Questions.language_scores``; None without a language model."""
    trivial: int = 0
    """Number of tokens with a single option that count as correct."""
    left_out: float = 0.0
    """Share of the training tokens that models must leave out."""

    @classmethod
    def of(
        cls,
        questions: Questions,
        lm: str | os.PathLike[str] | None = None,
        trivial: bool = False,
        left_out: float = 0.0,
    ) -> ScoreEvaluator:
        """An evaluator with the language model of a file.

        Raises:
            InputError: the file is not a language model.
        """
        language = questions.language_scores(PhraseScorer(lm)) if lm else None
        return cls(questions, language, questions.trivial if trivial else 0, left_out)

    @property
    def choices(self) -> Choices:
        """The options and the right ones."""
        return self.questions.choices

    def base(self) -> dict[str, np.ndarray]:
        """float64 [options] by name, the base of ``adds``: features of a decoder; LM only with a language model."""
        inventory, rule = self.questions.inventory, self.questions.rule
        found = {} if self.language is None else {LM: self.language[:, 0]}
        return found | {
            "length": self.questions.target_lengths(),
            P_OF_TARGET: inventory.forward[rule],
            P_OF_SOURCE: inventory.backward[rule],
        }

    def references(self) -> list[Candidate]:
        """Scores without a model (thesis, Table 4.7)."""
        base = self.base()
        scores = {name: base[name] for name in (P_OF_TARGET, P_OF_SOURCE)}
        if self.language is not None:
            each = self.language[:, 0] / self.language[:, 1]
            scores[f"{LM} per word"] = each
            for name in (P_OF_SOURCE, P_OF_TARGET):
                scores[f"{LM} per word + {name}"] = each + base[name] / math.log(10)
        return [Candidate(name, values, values, False) for name, values in scores.items()]

    def candidates(self, path: str | os.PathLike[str]) -> list[Candidate]:
        """The scores of a model file.

        Raises:
            InputError: the file cannot be read, has no scores or several categories, or was learned from tokens in
                question.
        """
        model, name = Model(path), os.path.basename(os.fspath(path))
        if has_categories(model.grammar()):
            raise InputError(OTHER_CATEGORIES, path)
        about = tensors.metadata_json(tensors.load(path, "model", [])[1], "about", {})
        if about.get(LEFT_OUT, 0) != self.left_out:
            raise InputError(_other_tokens(about.get(LEFT_OUT, 0), self.left_out), path)
        if self.left_out and (every := about.get(LEFT_OUT_OF, self.questions.tokens)) != self.questions.tokens:
            raise InputError(
                f"the context model left out a share of {every} tokens, not of the {self.questions.tokens} tested; "
                "learn it with --rules phrases and the max_words of the questions",
                path,
            )
        plain, found = self.base()[P_OF_TARGET], []
        for family, features, ratios in FAMILIES:
            options = FeatureOptions(names=features)
            try:
                model.check_features(options)
            except InputError:
                continue
            values = self.features(model, options, f"{name} {family}").sum(axis=1)
            ranking = plain + values if ratios else values
            found.append(Candidate(f"{name} {family}", values, ranking))
            if ratios:
                ranks = _reciprocal_ranks(self.choices, ranking)
                found.append(Candidate(f"{name} {family}, reciprocal rank", ranks, ranks))
        if not found:
            raise InputError("the model has no context model; add one with lscfg context", path)
        return found

    def features(self, model: Model, options: FeatureOptions, name: str) -> np.ndarray:
        """float64 [options, features], as in a decoder; ``name`` is for the progress bar."""
        questions = self.questions
        kept = questions.inventory.kept
        grammar = Grammar()
        grammar.read_text(questions.inventory.rules.kernel.text(kept, (), np.empty((len(kept), 0))).decode("utf-8"))
        grammar.read_text("[X] ||| [X,1] [X,2] ||| [X,1] [X,2]\n")
        grammar.finish()
        position = np.full(len(questions.inventory.rules), -1)
        position[kept] = np.arange(len(kept))
        binding, found = Binding(model, grammar), np.zeros((len(questions.rule), len(options.names)))
        for sentence, asked in progress(questions.by_sentence(), name, len(np.unique(questions.sentence))):
            ids = grammar.vocab.add_line(questions.source[sentence])
            forest = grammar.parse(ids, ParseOptions(len(ids), False, 1, X))
            assert forest is not None  # words pass through, one after the other
            values = binding.features(forest, None, options)
            words = (forest.edge_tail[:, 0] < 0) & (forest.node_cat[forest.edge_head] == X)
            span = forest.node_span[forest.edge_head]
            for k in asked:
                begin, end = self.choices.begin[k : k + 2].tolist()
                edges = np.nonzero(words & (span == questions.span[k, :2]).all(axis=1))[0]
                apps = np.concatenate([np.arange(*forest.edge_apps[edge : edge + 2]) for edge in edges])
                apps = apps[forest.app_rule[apps] < len(kept)]
                numbers = position[questions.rule[begin:end]]
                order = apps[np.argsort(forest.app_rule[apps])]
                found[begin:end] = values[order[np.searchsorted(forest.app_rule[order], numbers)]]
        return found

    # ---- measures ----

    def mean_rank(self, scores: np.ndarray) -> tuple[float, float]:
        """Mean reciprocal rank of the right options, and the share of them that is first."""
        ranks = self.choices.ranks(scores)
        n = len(ranks) + self.trivial
        return float(((1 / ranks).sum() + self.trivial) / n), float(((ranks == 1).sum() + self.trivial) / n)

    def losses(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        """float64 [questions], losses of a conditional logit fitted to even pairs for odd ones, and vice versa.

        Raises:
            InputError: one of the halves has no question.
        """
        features = np.column_stack(columns)
        even = self.questions.pair % 2 == 0
        found = np.empty(len(even))
        if even.all() or not even.any():
            raise InputError("the held-out text has questions only in even or only in odd sentences; use a longer text")
        for half in (even, ~even):
            seen, of_seen = self.choices.select(~half)
            asked, of_asked = self.choices.select(half)
            found[half] = asked.losses(features[of_asked] @ fit_choices(seen, features[of_seen]))
        return found

    def measure(self, candidate: Candidate, base: np.ndarray | None) -> dict[str, object]:
        """The figures of a score for JSON (docs/reference/formats.md).

        Args:
            base: losses of the base, for ``adds``; None: no ``adds``.
        """
        rank, first = self.mean_rank(candidate.ranking)
        found: dict[str, object] = {"name": candidate.name, "mrr": rank, "first": first}
        found["loss"] = float(self.losses([self.base()[P_OF_TARGET], candidate.ranking]).mean())
        if base is not None and candidate.joins:
            gains = base - self.losses([*self.base().values(), candidate.values])
            pair = self.questions.pair
            mean, error = mean_gain(np.bincount(pair, gains), np.bincount(pair))
            found |= {"adds": mean, "error": error}
        return found


def _other_tokens(model: float, wanted: float) -> str:
    cure = f"--leave-out {wanted:g}" if wanted else "no --leave-out"
    return (
        f"the context model was learned without {100 * model:g} % of the tokens, not {100 * wanted:g} %; learn it with "
        f"{cure}"
    )


def _reciprocal_ranks(choices: Choices, scores: np.ndarray) -> np.ndarray:
    """float64 [options], 1 for the best of each question, 1/2 for the next; ties are broken by order."""
    question = np.repeat(np.arange(len(choices)), choices.sizes)
    order = np.lexsort((-scores, question))
    ranks = np.empty(len(scores))
    ranks[order] = 1 / (1 + np.arange(len(scores)) - np.repeat(choices.begin[:-1], choices.sizes))
    return ranks


def measure_scores(evaluator: ScoreEvaluator, models: Sequence[str | os.PathLike[str]]) -> dict[str, object]:
    """All figures of the references and of the models, for JSON (docs/reference/formats.md).

    Raises:
        InputError: a model cannot be read or has no scores, or the held-out text is too short.
    """
    candidates = evaluator.references()
    for path in models:
        candidates += evaluator.candidates(path)
    base = evaluator.base()
    losses = evaluator.losses([*base.values()])
    n = len(evaluator.choices)
    return {
        "questions": n,
        "trivial": evaluator.trivial,
        "options": float(evaluator.choices.sizes.mean()),
        "chance": evaluator.mean_rank(np.zeros(len(evaluator.questions.rule)))[0],
        "base": {
            "features": [*base],
            "loss": float(losses.mean()),
            "mrr": evaluator.mean_rank(np.column_stack([*base.values()]) @ _weights(evaluator, base))[0],
        },
        "scores": [evaluator.measure(candidate, losses) for candidate in candidates],
    }


def _weights(evaluator: ScoreEvaluator, base: dict[str, np.ndarray]) -> np.ndarray:
    return fit_choices(evaluator.choices, np.column_stack([*base.values()]))


def format_scores(content: dict[str, Any]) -> str:
    """The figures as a table."""
    base = content["base"]
    lines = [
        f"{content['questions']:,} questions of {content['options']:.1f} options, by chance {content['chance']:.3f}"
        + (f"; {content['trivial']:,} tokens with one option count as first" if content["trivial"] else ""),
        f"base ({', '.join(base['features'])}): loss {base['loss']:.4f}, MRR {base['mrr']:.3f}",
        "",
    ]
    rows = [["score", "MRR", "first", "loss", "adds"]]
    for score in content["scores"]:
        adds = f"{score['adds']:+.4f} ± {score['error']:.4f}" if "adds" in score else "-"
        rows.append(
            [score["name"], f"{score['mrr']:.3f}", f"{100 * score['first']:.1f} %", f"{score['loss']:.4f}", adds]
        )
    return "\n".join([*lines, *align_columns(rows)])
