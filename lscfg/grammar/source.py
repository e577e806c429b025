"""Sources of rules: what makes the rules of a grammar, where a corpus has them, and how a decoder takes them.

A source is a module, see ``RuleSource``. Grammars of several sources are joined: ``hiero+minimal``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from lscfg.errors import InputError, quote
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.tokens import RuleTokens
from lscfg.kinds import RULE_SOURCES, kind, kinds
from lscfg.settings import Declared

EXTRACT, SELECT, DECODE = "", "select", "decode"
"""Parts of the work that a source's settings may be for: rules and their places, those that are written, decoding."""


LEARNED = "learned "
"""What the name of a folder begins with among the files of ``RuleInputs``; the table of its source is behind."""


@dataclass(frozen=True)
class RuleInputs:
    """What rules may be taken from; a source names those it needs.

    Attributes:
        source, target: text, one sentence a line; alignments: files of Pharaoh links, each of all pairs.
        derivations: minimal derivation trees of the same pairs, once for each alignment.
        wanted: sentences to be translated; a source may leave out rules that match no part of them. None: all rules.
        learned: by the table of a source, the folder of what it has learned of the same text with the same settings.
    """

    source: Path
    target: Path
    alignments: tuple[Path, ...] = ()
    derivations: Path | None = None
    wanted: Sequence[str] | None = None
    learned: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Mapping[str, Path]) -> RuleInputs:
        """The inverse of ``files``."""
        alignments = [files[name] for name in sorted(files) if name.startswith("alignments")]
        source, target = (files.get(name, Path()) for name in ("source", "target"))
        learned = {name.removeprefix(LEARNED): path for name, path in files.items() if name.startswith(LEARNED)}
        return cls(source, target, tuple(alignments), files.get("derivations"), learned=learned)

    def absolute(self) -> RuleInputs:
        """The same files, for workers with another working directory."""
        source, target, *alignments = (Path(path).absolute() for path in (self.source, self.target, *self.alignments))
        derivations = Path(self.derivations).absolute() if self.derivations else None
        return dataclasses.replace(
            self, source=source, target=target, alignments=tuple(alignments), derivations=derivations
        )

    def files(self, needs: Sequence[str]) -> dict[str, Path]:
        """Files by name.

        Args:
            needs: of ``"text"``, which is source, target and alignments, and ``"derivations"``.
        """
        found: dict[str, Path] = {}
        if "text" in needs:
            found = {"source": self.source, "target": self.target}
            found |= {f"alignments {number:03}": path for number, path in enumerate(self.alignments, 1)}
        if "derivations" in needs and self.derivations:
            found["derivations"] = self.derivations
        return found


@dataclass(frozen=True)
class Decoding:
    """How a decoder takes the rules.

    Attributes:
        glue: with its own glue rules [S].
        max_span: words that a rule other than glue may cover; None: as many as the decoder is told.
        model_rules: the rules are those of the latent model.
        unknown: what rules that the latent model does not know are to it, as its option says; empty: the usual.
    """

    glue: bool = False
    max_span: int | None = None
    model_rules: bool = False
    unknown: str = ""

    @classmethod
    def joined(cls, parts: Sequence[Decoding]) -> Decoding:
        """That of one grammar with the rules of several sources.

        The minimal rules bring glue of their own. Where the model's rules are beside others, these are not composed of
        them: a derivation of the model would count once more for each way to do so.
        """
        if len(parts) == 1:
            return parts[0]
        spans = [part.max_span for part in parts]
        model = any(part.model_rules for part in parts)
        return cls(
            all(part.glue for part in parts),
            None if None in spans else max(span for span in spans if span is not None),
            model,
            "zero" if model else "",
        )

    def facts(self) -> dict[str, Any]:
        """What differs from the decoder's own settings."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value not in (None, False, "")}


class RuleSource(Protocol):
    """What the module of a source of rules has; its row is in the entry-point group ``lscfg.rule_sources``.

    Attributes:
        NEEDS: of ``"text"`` and ``"derivations"``.
        FILTERED: whether the rules are so many that a grammar has only those of use for the text to be translated.
        TABLE: the table of experiment files that has its settings.
        ALIGNMENTS: names of the alignments that it makes, if it makes some.
    """

    HELP: str
    VERSION: int
    NEEDS: tuple[str, ...]
    FILTERED: bool
    TABLE: str
    ALIGNMENTS: tuple[str, ...]
    Settings: type[Declared]

    def rules(self, inputs: RuleInputs, settings: Any) -> RuleCounts:
        """The rules and how often they occur, their features those among all rules."""

    def tokens(self, inputs: RuleInputs, settings: Any) -> RuleTokens:
        """Where the corpus has them, in the sentence pairs of ``inputs``."""

    def decoding(self, settings: Any) -> Decoding:
        """How a decoder takes them."""

    def trees(self, inputs: RuleInputs, settings: Any) -> Any:
        """Derivation trees of the corpus with these rules (``lscfg.extract.derive``); some sources have none."""

    def boundary(self, inputs: RuleInputs, settings: Any) -> Any:
        """Weights of the words at borders of source spans (``lscfg.model.boundary``); most sources have none."""

    def alignments(self, inputs: RuleInputs, settings: Any) -> dict[str, list[str]]:
        """Links of the words of each pair, by the names in ``ALIGNMENTS``, best first; most sources have neither."""

    def learning(self, settings: Any) -> dict[str, Any]:
        """What ``learn`` depends on, as JSON has it; empty where it has nothing to do, most sources lack both."""

    def learn(self, inputs: RuleInputs, settings: Any, folder: Path, jobs: int) -> None:
        """Learns once, into a folder, what all of the above begin with; they take it from ``inputs.learned``."""


ALIASES = {"both": "hiero+minimal"}
"""Shorter names of grammars."""


def source_names(grammar: str) -> tuple[str, ...]:
    """The sources of a grammar, the first of which gives features to the rules of several.

    Raises:
        InputError: one is unknown, or named twice.
    """
    names = ALIASES.get(grammar, grammar).split("+")
    known = kinds(RULE_SOURCES)
    if unknown := [name for name in names if name not in known]:
        also = f", {', '.join(ALIASES)}" if ALIASES else ""
        raise InputError(
            f"no grammar {quote(unknown[0])}; there are {', '.join(known)}{also}, and joined ones such as A+B"
        )
    if len(set(names)) < len(names):
        raise InputError(f"a source of rules is twice in the grammar {quote(grammar)}")
    return tuple(names)


TREES = "minimal"
"""The trees that a model comes of unless told otherwise, the minimal ones of alignments."""


def tree_sources() -> tuple[str, ...]:
    """The sources of rules that have trees."""
    return tuple(name for name in kinds(RULE_SOURCES) if hasattr(rule_source(name), "trees"))


def alignment_sources() -> tuple[str, ...]:
    """The sources of rules that link words."""
    return tuple(name for name in kinds(RULE_SOURCES) if hasattr(rule_source(name), "alignments"))


def alignment_fault(name: str, others: Sequence[str]) -> str:
    """What is wrong with a source whose links other rules are to come of; empty if nothing is.

    Args:
        others: sources of these rules. Those of ``name`` itself are found by other links.
    """
    found = alignment_sources()
    if name and name not in found:
        return f"must be one of {', '.join(found)}, or left out for the links of [alignment]"
    return f"is not for rules and trees of {name}, which have these links already" if name and name in others else ""


def boundary_source(names: Sequence[str]) -> str:
    """The first of these sources that learns weights of spans, empty if there is none."""
    return next((name for name in names if hasattr(rule_source(name), "boundary")), "")


def rule_source(name: str) -> RuleSource:
    """The source of that name.

    Raises:
        InputError: there is none.
    """
    found: RuleSource = kind(RULE_SOURCES, name)
    return found
