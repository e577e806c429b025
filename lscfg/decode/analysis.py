"""Analyses of sentences under a model: forest, marginals and features, and their JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np

from lscfg.decode.derivations import rule_sides
from lscfg.decode.latent import LatentFeatures
from lscfg.decode.parsing import model_grammar, parse_options, read_grammar
from lscfg.errors import InputError, TooLargeError
from lscfg.formats.forests import StoredForest
from lscfg.formats.ini import DecoderConfig, read_ini
from lscfg.kernel import PAPER_FEATURES, REST, FeatureOptions, Forest, Grammar, Inference, Model, ParseOptions, S, X
from lscfg.kernel.extra_rules import PASS, extra_sides
from lscfg.kernel.text import Shown, Strings, print_applications, quote_sides
from lscfg.log import warning

BLOCK = 1 << 16
"""Applications whose JSON is written at a time."""

DIGITS = 9
"""Significant digits of numbers in JSON."""


@dataclass(frozen=True)
class Cut:
    """Selection of the applications that are written. Their values do not depend on the others.

    Raises:
        InputError: a limit is out of its range.
    """

    top: int | None = None
    """Number of applications of each node with the largest absolute marginals; None: all."""
    least: float = 0.0
    """Smallest absolute marginal."""

    def __post_init__(self) -> None:
        if self.top is not None and self.top < 1:
            raise InputError(f"--top must be at least 1, not {self.top}")
        if not 0 <= self.least < np.inf:
            raise InputError(f"--min-marginal must be a finite number of at least 0, not {self.least}")

    @property
    def is_none(self) -> bool:
        """True if all applications are written."""
        return self.top is None and not self.least

    def kept(self, forest: Forest, marginals: np.ndarray) -> np.ndarray:
        """The applications that are written, bool [n_apps]."""
        size = np.abs(marginals)
        keep: np.ndarray = size >= self.least
        if self.top is not None:
            heads = forest.edge_head[forest.app_edge]
            order = np.lexsort((-size, heads))  # stable
            firsts = np.searchsorted(heads[order], heads[order])
            keep[order[np.arange(len(order)) - firsts >= self.top]] = False
        return keep


NO_CUT = Cut()


@dataclass(frozen=True, eq=False)
class Analysis:
    """One sentence; without a parse, forest, inference and features are None."""

    words: list[str]
    """Empty if the forest is that of a lattice."""
    forest: Forest | None = None
    inference: Inference | None = None
    features: np.ndarray | None = None
    """float64 [n_apps, features]."""
    sides: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    """Source and target side, by application, if they do not follow from ``words``."""

    def chart(self) -> dict[tuple[int, int], float]:
        """The marginal of each span with a node of the forest, besides [S] and a root of another category than [X].

        A span may have several nodes, of one category or of several; nodes one above the other count once.
        """
        if self.forest is None or self.inference is None:
            return {}
        forest, marginals = self.forest, self.inference
        inner = (forest.node_cat != S) & (forest.node_cat != REST)
        inner[-1] &= forest.node_cat[-1] == X
        heads, tails = forest.edge_head, forest.edge_tail[:, 0]
        joined = (tails >= 0) & inner[heads] & inner[tails]
        joined &= (forest.node_span[heads] == forest.node_span[tails]).all(axis=1)
        apps = np.flatnonzero(joined[forest.app_edge])
        spans = np.concatenate([forest.node_span[inner], forest.node_span[heads[forest.app_edge[apps]]]])
        found: dict[tuple[int, int], float] = {}
        for (i, j), value in zip(
            spans.tolist(), [*marginals.nodes[inner].tolist(), *(-marginals.apps[apps]).tolist()], strict=True
        ):
            found[i, j] = found.get((i, j), 0.0) + value
        return found


class Analyser:
    """Parses sentences and infers marginals and features. Several threads may call it at the same time.

    Args:
        grammar: the grammar of ``latent``.
        latent: None: forests get neither marginals nor latent features.
        options: ways to parse a sentence with a given number of words; the first that yields a forest counts.
        config: the decoder's configuration, if there is one.
    """

    def __init__(
        self,
        grammar: Grammar,
        latent: LatentFeatures | None,
        options: Callable[[int], Sequence[ParseOptions]],
        config: DecoderConfig | None = None,
    ):
        self.grammar, self.latent, self.config = grammar, latent, config
        self._options = options

    @classmethod
    def from_model(
        cls, path: str | os.PathLike[str], options: FeatureOptions | None = None, grammar: Grammar | None = None
    ) -> Self:
        """Analyses with the rules of the model, or of a grammar, over whole sentences; unknown words take the OOV rule.

        With a grammar, only ``stored`` forests of several categories can be analysed.

        Args:
            options: features and their form; those of the paper if None.

        Raises:
            InputError: the model cannot be read, or lacks the features.
        """
        model = Model(path)
        goal = X
        if grammar is None:
            grammar, goal = model_grammar(model)
        latent = LatentFeatures(model, grammar, options or FeatureOptions(names=PAPER_FEATURES))
        passed = latent.binding.passed
        return cls(grammar, latent, lambda n: [ParseOptions(max(n, 1), False, 2, goal, passed=passed)])

    @classmethod
    def from_ini(cls, path: str | os.PathLike[str], grammar: Grammar | None = None, needed: bool = True) -> Self:
        """Analyses with the forests and features of a decoder with an LSCFG line; ``grammar`` replaces its own grammar.

        Args:
            needed: refuse a configuration without an LSCFG line.

        Raises:
            InputError: the ini or a file that it names cannot be read or is malformed.
        """
        config = read_ini(path)
        if config.latent is None and needed:
            raise InputError("no feature_function=LSCFG, so no model to analyse", path)
        grammar = grammar or read_grammar(config)
        latent = None if config.latent is None else LatentFeatures.from_ini(config.latent, grammar, path)
        options = parse_options(config, grammar, None if latent is None else latent.binding)
        return cls(grammar, latent, lambda _: options, config)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the latent features."""
        return () if self.latent is None else self.latent.names

    def report(self) -> None:
        """Warns, once for all forests since the last report, of values that are not probabilities."""
        if self.latent is not None:
            self.latent.report()

    def _inferred(self, forest: Forest) -> tuple[Inference | None, np.ndarray]:
        return (None, np.empty((forest.n_apps, 0))) if self.latent is None else self.latent.infer(forest)

    def __call__(self, line: str, number: int = 0) -> Analysis:
        """The analysis of a sentence of words separated by blanks; its number, from 0, is for a warning."""
        words = [word for word in line.split(" ") if word]
        try:
            forest = self.parse(words)
        except TooLargeError as error:
            forest = None
            warning(f"sentence {number + 1} of {len(words)} words has {error}; it counts as unparsed")
        return Analysis(words) if forest is None else Analysis(words, forest, *self._inferred(forest))

    def stored(self, stored: StoredForest) -> Analysis:
        """The analysis of a forest of the grammar that was read from a file."""
        words = stored.words or []
        if stored.forest is None:
            return Analysis(words)
        return Analysis(words, stored.forest, *self._inferred(stored.forest), stored.sides)

    def parse(self, words: list[str]) -> Forest | None:
        """The forest of a sentence, None where it has no derivation.

        Raises:
            TooLargeError: it would have more applications than the parser's options allow.
        """
        # looked up, not added: the vocabulary must not grow while other threads read it
        ids = np.array([self.grammar.vocab.find(word) for word in words], np.int32)
        for options in self._options(len(words)) if words else ():
            forest = self.grammar.parse(ids, options)
            if forest is not None:
                return forest
        return None

    def sides(self, rule: int) -> tuple[str, str]:
        """Both sides of a grammar's rule; see ``rule_sides``."""
        return rule_sides(self.grammar, rule)

    def json(self, number: int, analysis: Analysis, cut: Cut = NO_CUT) -> str:
        """JSON object of a sentence without a newline; numbers have nine digits (docs/reference/formats.md)."""
        return b"".join(self.json_parts(number, analysis, cut)).decode()

    def json_parts(self, number: int, analysis: Analysis, cut: Cut = NO_CUT) -> Iterator[bytes]:
        """The JSON object in parts, as UTF-8, since the text of a large forest takes more memory than the forest.

        Raises:
            InputError: a marginal or a value of a feature is not finite, which JSON cannot hold.
        """
        head = {"id": number, "words": analysis.words, "parsed": analysis.forest is not None}
        if analysis.forest is None or analysis.inference is None or analysis.features is None:
            yield json.dumps(head, ensure_ascii=False).encode()
            return
        forest, inference = analysis.forest, analysis.inference
        head |= {
            "words": analysis.words or None,
            "sign": inference.sign,
            "log_g": inference.log_g if inference.sign else None,
            "negative_mass": inference.negative_mass,
            "features": list(self.feature_names),
        }
        listed = ~forest.is_rest
        keep = None if listed.all() else listed
        if not cut.is_none:
            keep = cut.kept(forest, inference.apps) & listed
            limits = {"top": cut.top, "min_marginal": cut.least}
            head["cut"] = {**limits, "kept": int(keep.sum()), "of": int(listed.sum())}
        names = {
            c: json.dumps(self.grammar.category_name(c), ensure_ascii=False)
            for c in {*forest.node_cat.tolist()} - {REST}
        }
        numbers: np.ndarray = np.cumsum(forest.node_cat != REST) - 1
        if not all(np.isfinite(values).all() for values in (inference.apps, inference.nodes, analysis.features)):
            raise InputError(f"sentence {number + 1} has values that are not finite, which JSON cannot hold")
        nodes = ",".join(
            f"[{names[category]},{i},{j},{value:.9g}]"
            for category, (i, j), value in zip(
                forest.node_cat.tolist(), forest.node_span.tolist(), inference.nodes.tolist(), strict=True
            )
            if category != REST
        )
        yield f'{json.dumps(head, ensure_ascii=False, allow_nan=False)[:-1]}, "nodes": [{nodes}], "edges": ['.encode()
        shown, before = Shown(numbers, self._sides, inference.apps, analysis.features, DIGITS), -1
        for first in range(0, forest.n_apps, BLOCK):
            apps = np.arange(first, min(first + BLOCK, forest.n_apps))
            if keep is not None:
                apps = apps[keep[apps]]
            if len(apps):
                yield print_applications(forest, shown, apps, self._others(analysis, apps), before)
                before = int(forest.app_edge[apps[-1]])
        yield b"]}" if before < 0 else b"]}]}"

    @cached_property
    def _sides(self) -> tuple[Strings, Strings]:
        """Both sides of the grammar's rules as JSON."""
        return quote_sides(self.grammar)

    def _others(self, analysis: Analysis, apps: np.ndarray) -> tuple[Strings, Strings]:
        """Both sides, as JSON, of applications of rules outside the grammar; the source has the word that passes."""
        forest, sources, targets = analysis.forest, [], []
        assert forest is not None
        for app in apps[forest.app_rule[apps] >= len(self.grammar)].tolist():
            kind = int(forest.app_rule[app]) - len(self.grammar)
            word = int(forest.node_span[forest.edge_head[forest.app_edge[app]], 0])
            texts = analysis.sides.get(app) or extra_sides(kind, analysis.words[word])
            source, target = (json.dumps(text, ensure_ascii=False).encode() for text in texts)
            sources.append(source + (b',"pass":true' if kind >= PASS else b""))
            targets.append(target)
        return Strings.of(sources), Strings.of(targets)
