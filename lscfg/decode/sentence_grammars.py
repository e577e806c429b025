"""Grammars for single sentences with the latent features on their rules, for a plain cdec.

A grammar is the forest of the sentence: each rule application is a rule, each node a separate category with the span in
its name, as in ``[X_0_3] ||| [X_0_2,1] の ||| of [1] ||| ...``. All categories below the goal have a span and therefore
a fixed yield, so grammar and forest have the same derivations.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from lscfg.corpus.parallel import check_words
from lscfg.decode.analysis import BLOCK, Analyser, Analysis
from lscfg.decode.latent import LatentFeatures
from lscfg.decode.recalled import NOTHING
from lscfg.decode.request import Sentence
from lscfg.decode.sentence import SentenceDecoder, constrained
from lscfg.decode.sentence_rules import ADDED, TERMINOLOGY
from lscfg.decode.terms import FoundTerms, TermIndex
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig, write_ini
from lscfg.formats.segments import check_segments, grammar_path, write_segments
from lscfg.io.write import write_blocks
from lscfg.kernel import REST, Forest, Grammar
from lscfg.kernel.extra_rules import layer_begin
from lscfg.kernel.text import Strings, number_strings, print_rows

# Each category is named by its span, so a plain decoder builds the same forest: the yield of a category is fixed, and
# below a root over all words nothing can lie elsewhere.

DIGITS = 12
"""Significant digits of feature values."""

MAX_SPAN = 100_000
"""Span limit of the decoder: the forests already respect the limit of the configuration."""


class SentenceGrammars:
    """Writes ``grammar.N.gz``, ``segments.sgm`` and ``cdec.ini`` into a folder.

    Args:
        folder: created if missing; ``segments.sgm`` names the grammars by this path.
        analyser: made from a configuration (``Analyser.from_ini``).
        sentences: all sentences.
        terms: glossary that the grammars obey.

    Raises:
        InputError: the analyser has no configuration, the grammar already has features with names of latent features,
            or a sentence or the folder's name cannot be written into cdec's input.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        analyser: Analyser,
        sentences: Sequence[str],
        terms: TermIndex | None = None,
    ):
        if analyser.config is None:
            raise InputError("grammars for single sentences need the configuration of the decoder; name a cdec.ini")
        analyser.config.check_common("a grammar for a single sentence, whose categories differ,")
        check_segments(folder, sentences)
        self._folder, self._analyser, self._sentences = Path(folder), analyser, sentences
        self._config: DecoderConfig = analyser.config
        grammar, names = analyser.grammar, analyser.grammar.feature_names
        twice = {*names} & {*analyser.feature_names}
        if twice:
            raise InputError(f"the grammar already has a feature {min(twice)}; remove it from the grammar")
        indptr, indices, values = grammar.features()
        items = [f"{names[k]}={value:.{DIGITS}g}" for k, value in zip(indices.tolist(), values.tolist(), strict=True)]
        self._rule_features = [
            " ".join(items[begin:end]) for begin, end in zip(indptr.tolist(), indptr[1:].tolist(), strict=False)
        ] + ["", "Glue=1", "PassThrough=1"]
        self._templates: dict[int, tuple[str, bytes]] = {}
        labels = [f"{' ' if k else ''}{name}=" for k, name in enumerate(analyser.feature_names)]
        self._labels = Strings.of([*map(str.encode, labels), b"\n"])
        self._terms, self._decoder = terms, None
        if terms is not None:
            config = self._config.with_models(lambda path: None)
            provider = None if config.latent is None else partial(_latent_features, self._config)
            self._decoder = SentenceDecoder(config, provider, 0)

    def write(self, number: int, analysis: Analysis) -> None:
        """Writes the grammar of a sentence. Several threads may call it at the same time.

        Raises:
            InputError: a word cannot be part of a grammar, or the file cannot be written.
        """
        if not analysis.words:
            return
        check_words(analysis.words)
        write_blocks(grammar_path(self._folder, number), self._blocks(analysis), level=1)  # read once

    def write_obeying(self, number: int) -> FoundTerms:
        """Writes the grammar of a sentence with its terms, which are returned. Only one thread may call it."""
        assert self._terms is not None and self._decoder is not None
        line = self._sentences[number]
        words = [word for word in line.split(" ") if word]
        found = self._terms.find(words)
        if not found.occurrences:
            self.write(number, self._analyser(line, number))
            return found
        check_words(words)
        sentence = constrained(self._decoder, number, line, found.occurrences, NOTHING)
        features = None if sentence.extra is None else sentence.extra[:]
        if features is None and sentence.forest is not None and not self._analyser.feature_names:
            features = np.empty((sentence.forest.n_apps, 0))
        analysis = Analysis(words, sentence.forest, None, features)
        write_blocks(grammar_path(self._folder, number), self._blocks(analysis, sentence), level=1)
        return found

    def finish(self) -> None:
        """Writes the input and the configuration of cdec."""
        write_segments(self._folder, self._sentences)
        config = replace(
            self._config.with_models(Path.resolve),
            grammars=(),
            latent=None,
            max_span=MAX_SPAN,
            pass_through=False,
            glue=False,
            weights=None if self._config.weights is None else self._config.weights.resolve(),
        )
        write_ini(self._folder / "cdec.ini", config)

    def rules(self, analysis: Analysis) -> list[str]:
        """The rules of a sentence's grammar; without a parse, one rule that copies the words."""
        return b"".join(block() for block in self._blocks(analysis)).decode().splitlines()

    def _blocks(self, analysis: Analysis, obeying: Sentence | None = None) -> Iterator[Callable[[], bytes]]:
        goal, forest, grammar = self._config.goal, analysis.forest, self._analyser.grammar
        if forest is None or analysis.features is None:
            words = " ".join(analysis.words)
            passed = words if obeying is None else obeying.text
            yield f"[{goal}] ||| {words} ||| {passed} |||\n".encode
            return
        names = [
            f"{grammar.category_name(category)}_{i}_{j}" if category != REST else ""
            for category, (i, j) in zip(forest.node_cat.tolist(), forest.node_span.tolist(), strict=True)
        ]
        names[-1] = goal  # the root, which is not an edge's tail
        has_rests = bool((forest.node_cat == REST).any())
        for first in range(0, forest.n_apps, BLOCK):
            apps = np.arange(first, min(first + BLOCK, forest.n_apps))
            apps = apps[~forest.is_rest[apps]] if has_rests else apps
            yield partial(self._lines, forest, analysis.features, analysis.words, names, apps, obeying)

    def _lines(
        self,
        forest: Forest,
        features: np.ndarray,
        words: list[str],
        names: list[str],
        apps: np.ndarray,
        obeying: Sentence | None = None,
    ) -> bytes:
        """The rules of some applications: parts of the edge, parts of the rule, and latent features."""
        edges, rules, n = forest.app_edge[apps], forest.app_rule[apps], len(self._analyser.grammar)
        layer = layer_begin(self._analyser.grammar)
        begins = np.flatnonzero(np.diff(edges, prepend=-1))
        heads = forest.edge_head[edges[begins]].tolist()
        tails = [forest.tails(edge) for edge in edges[begins].tolist()]
        opened = []
        for rule, head, below in zip(rules[begins].tolist(), heads, tails, strict=True):
            if rule >= layer and obeying is not None:
                template = self._sides(obeying.grammar, rule)[0]
            else:
                template = self._template(rule, words, int(forest.node_span[head, 0]))[0]
            filled = template % tuple(names[tail] for tail in below)
            opened.append(f"[{names[head]}] ||| {filled}".encode())
        opens = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(rules)))
        targets, target = number_strings(np.minimum(rules, n), n + 1, lambda rule: self._target(rule, words))
        soft = _soft_terms(obeying)
        for place in np.flatnonzero((rules >= n) | np.isin(apps, [*soft])).tolist():
            word = int(forest.node_span[forest.edge_head[edges[place]], 0])
            target[place] = len(targets)
            if rules[place] >= layer and obeying is not None:
                made = self._of_term(obeying, int(apps[place]))
            else:
                made = self._template(int(rules[place]), words, word)[1]
            targets.append(made + soft.get(int(apps[place]), b""))
        both = Strings.of(opened), Strings.of(targets)
        return print_rows(*both, (opens, target), self._labels, features[apps], DIGITS)

    def _template(self, rule: int, words: list[str], word: int) -> tuple[str, bytes]:
        """Source side with a slot for the name of each tail; target side and features of the rule."""
        grammar = self._analyser.grammar
        extra = rule - len(grammar)
        if extra >= 0:
            text = words[word]
            source, target = (("[%s,1]", "[1]"), ("[%s,1] [%s,2]", "[1] [2]"), (text.replace("%", "%%"), text))[extra]
            return source, self._after(rule, target)
        known = self._templates.get(rule)
        if known is None:
            source, target = self._sides(grammar, rule)
            known = self._templates[rule] = source, self._after(rule, target)
        return known

    @staticmethod
    def _sides(grammar: Grammar, rule: int) -> tuple[str, str]:
        """Source side with a slot for the name of each tail, and target side."""
        word_of, k, src = grammar.vocab.word, 0, []
        for symbol in grammar.src(rule):
            k += symbol < 0
            src.append(word_of(symbol).replace("%", "%%") if symbol >= 0 else f"[%s,{k}]")
        return " ".join(src), " ".join(word_of(one) if one >= 0 else f"[{-one}]" for one in grammar.tgt(rule))

    def _target(self, rule: int, words: list[str]) -> bytes:
        """Target side and features of a rule of the grammar; empty for other rules."""
        return self._template(rule, words, 0)[1] if rule < len(self._analyser.grammar) else b""

    def _of_term(self, sentence: Sentence, app: int) -> bytes:
        """Target side and features of a term's rule; see ``Sentence``."""
        assert sentence.forest is not None
        grammar, row = sentence.grammar, int(sentence.rows[app])
        features = self._rule_features[row].split(" ") if row < len(self._analyser.grammar) else []
        target = self._sides(grammar, int(sentence.forest.app_rule[app]))[1]
        shown = " ".join(filter(None, features))
        return f" ||| {target} ||| {shown}{' ' if shown else ''}".encode()

    def _after(self, rule: int, target: str) -> bytes:
        features = self._rule_features[rule]
        return f" ||| {target} ||| {features}{' ' if features else ''}".encode()


def _soft_terms(sentence: Sentence | None) -> dict[int, bytes]:
    """The feature of soft terms as text, by application."""
    if sentence is None or sentence.added is None:
        return {}
    counts = zip(sentence.added.apps.tolist(), sentence.added.values[:, TERMINOLOGY].tolist(), strict=True)
    return {app: f"{ADDED[TERMINOLOGY]}={count:g} ".encode() for app, count in counts if count}


def _latent_features(config: DecoderConfig, grammar: Grammar) -> LatentFeatures:
    assert config.latent is not None and config.path is not None
    return LatentFeatures.from_ini(config.latent, grammar, config.path, marginals=False)
