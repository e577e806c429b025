"""Conversion of a cdec.ini into the configuration of Moses, and of feature names and values.

Moses takes the natural logarithm of probabilities in its rule table, cdec stores their -log10. The language model and
the word penalty of Moses are natural logarithms, those of cdec log10. A value of cdec is ``factor`` times that of Moses
plus ``offset``, so a weight of Moses is ``factor`` times that of cdec. Latent features are the same in both.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lscfg import log
from lscfg.decode.parsing import read_grammar
from lscfg.errors import InputError, counted, cut, quote
from lscfg.formats.ini import DecoderConfig, find_file, line_word
from lscfg.formats.kbest import Hypothesis
from lscfg.formats.weights import warn_of_weights
from lscfg.io.folders import make_folder
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.kernel import Grammar, LatentOptions, S
from lscfg.kernel.forest import live_features
from lscfg.moses_bridge.nbest import parse_features
from lscfg.moses_bridge.rule_table import GLUE, GLUE_FILE, LARGEST, ROOT, escape_words

TABLE = "rule-table.gz"
INI = "moses.ini"

UNLIMITED = 100_000
"""max-chart-span of the glue grammar."""

EVERY_RULE = 1_000_000
"""table-limit that no source side reaches. With 0, Moses does not sort the rules of a source side, and cube pruning
would begin with the first rules of the file instead of the best."""

LATENT_OPTIONS = ("model", "features", "log", "floor", "negative", "improper", "unknown", "path", "trace")


@dataclass(frozen=True)
class Convention:
    """Conversion of a value of Moses into that of cdec."""

    moses: str
    factor: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Conventions:
    """The features of a configuration by their names in cdec.

    In Moses ``Name_k`` is the k-th value of the feature ``Name``.
    """

    features: Mapping[str, tuple[Convention, ...]]
    """The values of Moses that add up to each feature: one, or two where rules and Moses itself set it."""
    rule_features: tuple[str, ...]
    """Names of the scores of the rule table, in order."""
    latent: tuple[str, ...]
    """Names of the latent features, in order."""

    @classmethod
    def of(cls, config: DecoderConfig, rule_features: Sequence[str], glue: bool = False) -> Conventions:
        """The conventions of a configuration whose grammar has these features.

        Args:
            config: the configuration.
            rule_features: names of the grammar's features.
            glue: the grammar has its own glue rules; see ``Glue``.

        Raises:
            InputError: two features have the same name, and Moses would not add them up; or Moses lacks a feature
                function.
        """
        config.check_common("Moses")
        config.check_texts("Moses")
        log10 = 1 / math.log(10)
        names = tuple(rule_features) or ("None",)
        found = {name: Convention(moses, -log10) for name, moses in zip(names, _values("TM", len(names)), strict=True)}
        # Moses counts 100 for each unknown word, and <s> and </s> as words.
        others = {"PassThrough": Convention("UnknownWordPenalty0", -0.01)}
        if config.word_penalty:
            others["WordPenalty"] = Convention("WordPenalty0", log10, 2 * log10)
        if config.language_model is not None:
            others[config.language_model_name] = Convention("LM_0", log10)
            others[f"{config.language_model_name}_OOV"] = Convention("LM_1")
        if config.glue or glue:
            # the first [S] of Moses is <s> alone, so Moses applies one more glue rule
            others["Glue"] = Convention("Glue", 1.0, -1.0)
        latent: tuple[str, ...] = ()
        if config.latent is not None:
            latent = LatentOptions.of(config.latent.options.items(), others=True).features.names
            others |= {
                name: Convention(moses) for name, moses in zip(latent, _values("Latent", len(latent)), strict=True)
            }
        shared = found.keys() & others.keys()
        if twice := shared - {"Glue", "PassThrough"}:
            raise InputError(f"{', '.join(sorted(twice))}: a feature of the grammar has the name of a feature function")
        parts = (found, others)
        features = {name: tuple(part[name] for part in parts if name in part) for name in found | others}
        return cls(features, names, latent)

    @classmethod
    def of_grammar(cls, config: DecoderConfig, grammar: Grammar) -> Conventions:
        """``of`` for the configuration's grammar."""
        return cls.of(config, grammar.feature_names, bool(Glue.of(config, grammar).joined))

    def weights_to_moses(self, weights: Mapping[str, float]) -> dict[str, float]:
        """The weights of Moses; missing weights are 0."""
        return {c.moses: c.factor * weights.get(name, 0.0) for name, parts in self.features.items() for c in parts}

    def weights_from_moses(
        self, weights: Mapping[str, float], path: str | os.PathLike[str] | None = None
    ) -> dict[str, float]:
        """The weights of cdec from those of Moses.

        Args:
            path: file of the weights, for the message.

        Raises:
            InputError: a feature has no weight, or two that differ; or a weight has no feature.
        """
        known = [c.moses for parts in self.features.values() for c in parts]
        for names, fault in (
            ([name for name in known if name not in weights], "no weight of"),
            ([name for name in weights if name not in {*known, "Glue"}], "a weight of no feature in cdec.ini:"),
        ):
            if names:
                raise InputError(f"{fault} {', '.join(map(cut, names))}; was it made from another cdec.ini?", path)
        found = {name: [weights[c.moses] / c.factor for c in parts] for name, parts in self.features.items()}
        for name, values in found.items():
            if not all(math.isclose(value, values[0], rel_tol=1e-5, abs_tol=1e-9) for value in values):
                one, other = (c.moses for c in self.features[name])
                raise InputError(
                    f"{one} and {other} both set {name} and need equal weights, as lscfg moses convert writes them; "
                    "tune with one of lscfg's optimisers"
                )
        return {name: values[0] for name, values in found.items()}

    def features_from_moses(self, features: Mapping[str, float]) -> dict[str, float]:
        """The values of cdec for a hypothesis; features that Moses does not print are 0 in Moses."""
        return {
            name: sum(c.factor * features.get(c.moses, 0.0) + c.offset for c in parts)
            for name, parts in self.features.items()
        }

    def hypothesis_from_moses(self, hypothesis: Hypothesis, escaped: bool = True) -> Hypothesis:
        """The hypothesis with the features of cdec, and unescaped words if they were ``escaped`` for Moses."""
        text = unescape(hypothesis.text) if escaped else hypothesis.text
        return Hypothesis(text, self.features_from_moses(hypothesis.features), hypothesis.score)


_ESCAPES = {"|": "&#124;", "[": "&#91;", "]": "&#93;"}


def escape(text: str) -> str:
    """The text with ``|``, ``[`` and ``]`` escaped as in the rule tables of Moses."""
    for character, name in _ESCAPES.items():
        text = text.replace(character, name)
    return text


def unescape(text: str) -> str:
    """The inverse of ``escape``."""
    for character, name in _ESCAPES.items():
        text = text.replace(name, character)
    return text


def write_moses(
    folder: str | os.PathLike[str],
    config: DecoderConfig,
    weights: Mapping[str, float] | None = None,
    ini: str | os.PathLike[str] = "",
) -> Path:
    """Writes rule table, glue grammar and moses.ini of a configuration; returns the path of moses.ini.

    Args:
        folder: created if missing.
        config: the configuration.
        weights: of cdec.
        ini: file of the configuration.

    Raises:
        InputError: Moses does not support the configuration, or a file cannot be read.
    """
    place = make_folder(folder).resolve()
    grammar = read_grammar(config)
    glue = Glue.of(config, grammar)
    conventions = Conventions.of(config, grammar.feature_names, bool(glue.joined))
    if weights:
        idle = {*grammar.feature_names} - {*live_features(grammar)}
        warn_of_weights(weights, conventions.features, [name for name in conventions.features if name not in idle], ini)
    write_lines(place / TABLE, _table_lines(config, grammar))
    write_lines(place / GLUE_FILE, glue.lines)
    write_moses_ini(place / INI, config, conventions, weights or {}, ini)
    return place / INI


def write_moses_ini(
    path: Path,
    config: DecoderConfig,
    conventions: Conventions,
    weights: Mapping[str, float],
    ini: str | os.PathLike[str],
) -> None:
    """Writes a moses.ini for the rule table and glue grammar in the same folder.

    Raises:
        InputError: the model is missing.
    """
    features = ["UnknownWordPenalty tuneable=true"]  # else missing in n-best lists
    if config.word_penalty:
        features.append("WordPenalty")
    table = "PhraseDictionaryMemory name={} num-features={} path={} input-factor=0 output-factor=0 table-limit={}"
    features.append(table.format("TM", len(conventions.rule_features), line_word(path.parent / TABLE), EVERY_RULE))
    features.append(table.format("Glue", 1, line_word(path.parent / GLUE_FILE), EVERY_RULE))
    if config.language_model is not None:
        features.append(f"KENLM name=LM factor=0 path={line_word(config.language_model.resolve())} oov-feature=1")
    if config.latent is not None:
        options = {key: value for key, value in config.latent.options.items() if key in LATENT_OPTIONS}
        model = find_file(options["model"], ini)
        if model is None:
            raise InputError(f"no model file {quote(options['model'])}", ini)
        if LatentOptions.of(config.latent.options.items(), others=True).prune:
            raise InputError("only lscfg's own decoder can prune; remove prune= from the line of LSCFG", ini)
        pairs = (options | {"model": str(model.resolve())}).items()
        features.append("LatentSCFG name=Latent " + " ".join(f"{key}={line_word(value)}" for key, value in pairs))
    values: dict[str, list[float]] = {}
    for name, value in conventions.weights_to_moses(weights).items():
        values.setdefault(name.partition("_")[0], []).append(value)
    values.setdefault("Glue", [0.0])
    sections = {
        "input-factors": ["0"],
        "mapping": ["0 T 0", "1 T 1"],
        "non-terminals": ["X"],
        "search-algorithm": ["3"],
        "max-chart-span": [str(config.max_span), str(UNLIMITED)],
        "cube-pruning-pop-limit": [str(config.pop_limit)],
        # as in cdec, only the pop limit prunes
        "stack": ["0"],
        "beam-threshold": ["0"],
        "always-create-direct-transopt": [str(config.pass_through).lower()],
        "feature": features,
        "weight": [f"{name}= " + " ".join(f"{value:.9g}" for value in of) for name, of in values.items()],
    }
    write_lines(path, [line for name, lines in sections.items() for line in (f"[{name}]", *lines, "")])


def read_moses_weights(path: str | os.PathLike[str]) -> dict[str, float]:
    """The weights of a moses.ini, a feature of several values as ``Name_0``, ``Name_1`` and so on.

    Raises:
        InputError: a malformed line, no section [weight], a section [weight-file], or a last line without newline.
    """
    weights: dict[str, float] = {}
    section = ""
    for number, line in enumerate(read_lines(path, closed=True), 1):
        text = line.split("#", 1)[0].strip()
        if text.startswith("["):
            section = text
        elif text and section == "[weight-file]":
            raise InputError("weights in another file have no counterpart in cdec; remove the section", path, number)
        elif text and section == "[weight]":
            try:
                found = parse_features(text)
            except ValueError as error:
                raise InputError(f"not a line of weights ({error})", path, number) from error
            if twice := next((name for name in found if name in weights), None):
                raise InputError(f"weight {cut(twice)} is given twice", path, number)
            weights |= found
    if not weights:
        raise InputError("no weights; expected a section [weight] with lines 'Name= value'", path)
    return weights


def _values(name: str, n: int) -> list[str]:
    return [name] if n == 1 else [f"{name}_{k}" for k in range(n)]


def has_escapes(grammar: Grammar) -> bool:
    """True if the corpus was escaped before extraction, as by Moses' tokenizer.perl without -no-escape."""
    return any(name in grammar.vocab.word(k) for k in range(len(grammar.vocab)) for name in _ESCAPES.values())


@dataclass(frozen=True)
class Glue:
    """Rules of [S]: Hiero's glue, glue for the labels of a grammar, or a root rule for each label."""

    joined: tuple[str, ...]
    """Labels C with ``[S] -> [C,1]`` and ``[S] -> [S,1] [C,2]``."""
    whole: tuple[str, ...]
    """Labels C with ``[S] -> [C,1]``, if ``joined`` is empty."""

    @classmethod
    def of(cls, config: DecoderConfig, grammar: Grammar) -> Glue:
        """The glue of a configuration.

        Raises:
            InputError: Moses has no counterpart of a rule of [S], or no rule makes a sentence.
        """
        names = grammar.categories()
        whole, joined = ({"X"}, {"X"}) if config.glue else (set[str](), set[str]())
        indptr, indices, values = grammar.features()
        for rule in np.flatnonzero([grammar.lhs(rule) == S for rule in range(len(grammar))]).tolist():
            src, tgt, cells = grammar.src(rule), grammar.tgt(rule), slice(indptr[rule], indptr[rule + 1])
            features = {
                grammar.feature_names[k]: v
                for k, v in zip(indices[cells].tolist(), values[cells].tolist(), strict=True)
            }
            label = names[-1 - src[-1]] if src[-1] < 0 else "S"
            if label != "S" and src[:-1] == [] and tgt == [-1] and not any(features.values()):
                whole.add(label)
            elif label != "S" and src[:-1] == [-1 - S] and tgt == [-1, -2] and features == {"Glue": 1}:
                joined.add(label)
            else:
                raise InputError(
                    f"the rule {' '.join(_text(grammar, rule))} of [S] has no counterpart in Moses; convertible are "
                    "'[S] ||| [X,1] ||| [1]' and '[S] ||| [S,1] [X,2] ||| [1] [2] ||| Glue=1', with any label as X"
                )
        if not whole:
            raise InputError("no glue rules and no rule '[S] ||| [X,1] ||| [1]', so no [X] can become a sentence")
        if joined and joined != whole:
            label = min(joined ^ whole)
            raise InputError(
                f"glue rules of only some labels: [{label}] needs both '[S] ||| [{label},1] ||| [1]' and the glue "
                "rule, or no label may have a glue rule"
            )
        return cls(tuple(sorted(joined)), () if joined else tuple(sorted(whole)))

    @property
    def lines(self) -> list[str]:
        """The glue grammar."""
        of_x = (GLUE[:-1], GLUE[-1]) if self.joined else (ROOT[:-1], ROOT[-1])
        return [*of_x[0], *(of_x[1].replace("[X][X]", f"[X][{label}]") for label in self.joined or self.whole)]


def _text(grammar: Grammar, rule: int) -> list[str]:
    """The source side of a rule, nonterminals by their labels."""
    return [grammar.vocab.word(s) if s >= 0 else f"[{grammar.category_name(-1 - s)}]" for s in grammar.src(rule)]


def _warn_of_cut(values: np.ndarray, indices: np.ndarray, names: Sequence[str]) -> None:
    """Warns of features whose values a rule table cannot hold as probabilities."""
    beyond = indices[np.abs(values) > LARGEST]
    for feature, count in zip(*np.unique(beyond, return_counts=True), strict=True):
        log.warning(
            f"{names[feature]}: {counted(int(count), 'value')} beyond {LARGEST:g} or -{LARGEST:g}, which Moses' rule "
            "table cannot hold, became that number; scale the feature"
        )


def _table_lines(config: DecoderConfig, grammar: Grammar) -> list[str]:
    if config.latent is not None and has_escapes(grammar):
        raise InputError(
            "the grammar has words like &#91;, escaped as Moses' tokenizer.perl does; latent features need a corpus "
            "without escapes (-no-escape, or deescape-special-chars.perl); the conversion escapes words for Moses"
        )
    words = escape_words([grammar.vocab.word(k) for k in range(len(grammar.vocab))])
    labels = grammar.categories()
    indptr, indices, values = grammar.features()
    size = max(1, len(grammar.feature_names))
    _warn_of_cut(values, indices, grammar.feature_names)
    lines = []
    for rule in range(len(grammar)):
        src, tgt, lhs = grammar.src(rule), grammar.tgt(rule), grammar.lhs(rule)
        if lhs == S:
            continue
        gaps = [place for place, symbol in enumerate(src) if symbol < 0]
        if any(src[place] == -1 - S for place in gaps):
            raise InputError(
                f"the rule {' '.join(_text(grammar, rule))} of [{labels[lhs]}] contains [S], which Moses keeps for glue"
            )
        scores = ["1"] * size
        for k in range(indptr[rule], indptr[rule + 1]):
            scores[indices[k]] = f"{10 ** -min(max(values[k], -LARGEST), LARGEST):.9g}"
        of_gap = [f"[X][{labels[-1 - src[place]]}]" for place in gaps]
        left = [words[s] if s >= 0 else of_gap[gaps.index(k)] for k, s in enumerate(src)]
        right = [words[s] if s >= 0 else of_gap[-1 - s] for s in tgt]
        links = " ".join(f"{place}-{tgt.index(-1 - k)}" for k, place in enumerate(gaps))
        sides = f"{' '.join(left)} [X] ||| {' '.join(right)} [{labels[lhs]}]"
        lines.append(f"{sides} ||| {' '.join(scores)} ||| {links} ||| ||| |||")
    return sorted(lines)
