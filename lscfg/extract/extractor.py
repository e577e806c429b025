"""Rule extractors: the rules of a grammar, their positions in the corpus, and settings of a decoder for them.

The rules of several extractors can be joined in one grammar: ``hiero+minimal``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lscfg.errors import InputError, quote
from lscfg.extract.derive import Derivations
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.select import MAX_TARGETS
from lscfg.grammar.tokens import RuleTokens
from lscfg.io.sides import SIDES
from lscfg.kinds import Kind, Registry, SettingsT
from lscfg.model.boundary import BoundaryModel
from lscfg.settings import Declared, setting

EXTRACT, SELECT, DECODE = "", "select", "decode"
"""Uses of an extractor's settings: rules and their positions, rules to write, decoding."""

LEARNED = "learned "
"""Prefix for folders in the names of ``RuleInputs`` files; the name of the extractor follows."""


@dataclass(frozen=True)
class ExtractorSettings(Declared):
    """Settings of all grammars."""

    max_targets: int = setting(MAX_TARGETS, "most frequent target sides kept of each source side", least=1, part=SELECT)


@dataclass(frozen=True)
class GluedSettings(ExtractorSettings):
    """Settings of grammars whose rules the decoder's glue joins."""

    max_span: int = setting(
        15, "maximum words that a rule other than glue covers; replaces the decoder's limit", least=1, part=DECODE
    )


@dataclass(frozen=True)
class RuleInputs:
    """Files from which rules are extracted; an extractor names those that it needs.

    Attributes:
        source, target: text, one sentence per line; None if the extractor needs only derivations.
        alignments: files of Pharaoh links, each for all pairs.
        derivations: minimal derivation trees of the same pairs, once for each alignment.
        wanted: sentences to be translated; an extractor may omit rules that match no part of them. None: all rules.
        learned: folder of each extractor that learned from the same text with the same settings.
    """

    source: Path | None = None
    target: Path | None = None
    alignments: tuple[Path, ...] = ()
    derivations: Path | None = None
    wanted: Sequence[str] | None = None
    learned: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Mapping[str, Path]) -> RuleInputs:
        """The inverse of ``files``."""
        alignments = [files[name] for name in sorted(files) if name.startswith("alignments")]
        learned = {name.removeprefix(LEARNED): path for name, path in files.items() if name.startswith(LEARNED)}
        return cls(
            files.get("source"), files.get("target"), tuple(alignments), files.get("derivations"), learned=learned
        )

    @property
    def parallel(self) -> tuple[Path, Path]:
        """Both sides of the parallel text.

        Raises:
            InputError: a side is missing.
        """
        if self.source is None or self.target is None:
            raise InputError("these rules need both sides of the parallel text, not only derivations")
        return self.source, self.target

    def absolute(self) -> RuleInputs:
        """Makes the paths absolute, for workers with another working directory."""
        source, target, derivations = (
            path and Path(path).absolute() for path in (self.source, self.target, self.derivations)
        )
        alignments = tuple(Path(path).absolute() for path in self.alignments)
        return dataclasses.replace(self, source=source, target=target, derivations=derivations, alignments=alignments)

    def files(self, needs: Sequence[str]) -> dict[str, Path]:
        """Files by name.

        Args:
            needs: some of ``"text"`` (source, target and alignments) and ``"derivations"``.
        """
        found: dict[str, Path] = {}
        if "text" in needs:
            found = dict(zip(SIDES, self.parallel, strict=True))
            found |= {f"alignments {number:03}": path for number, path in enumerate(self.alignments, 1)}
        if "derivations" in needs and self.derivations:
            found["derivations"] = self.derivations
        return found


@dataclass(frozen=True)
class Decoding:
    """Settings of a decoder for the rules of an extractor.

    Attributes:
        glue: True to use the decoder's glue rules [S].
        max_span: words that a rule other than glue may cover; None: the decoder's own limit.
        model_rules: the rules are those of the latent model.
        unknown: treatment of rules that the latent model does not contain, as in its option; empty: the default.
    """

    glue: bool = False
    max_span: int | None = None
    model_rules: bool = False
    unknown: str = ""

    @classmethod
    def joined(cls, parts: Sequence[Decoding]) -> Decoding:
        """Settings for one grammar with the rules of several extractors.

        Minimal rules replace glue. If the grammar contains the model's rules, other rules are not composed of them:
        each composition would count a derivation of the model again.
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

    def facts(self) -> dict[str, object]:
        """The fields that differ from the decoder's defaults."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value not in (None, False, "")}


class RuleExtractor(Kind[SettingsT]):
    """Extracts rules from a word-aligned corpus or from its derivations."""

    NEEDS: tuple[str, ...] = ("text",)
    """Names of the inputs: ``"text"``, ``"derivations"`` or both."""
    FILTERED: bool = False
    """True if a grammar contains only rules that match the text to be translated, because there are so many."""
    ALIGNMENTS: tuple[str, ...] = ()
    """Names of the word alignments that ``alignments`` returns."""

    def rules(self, inputs: RuleInputs, settings: SettingsT) -> RuleCounts:
        """Extracts the rules with their counts; features are relative to all rules."""
        raise NotImplementedError

    def tokens(self, inputs: RuleInputs, settings: SettingsT) -> RuleTokens:
        """Finds the positions of the rules in the sentence pairs of ``inputs``."""
        raise NotImplementedError

    def decoding(self, settings: SettingsT) -> Decoding:
        """Describes how a decoder takes the rules."""
        raise NotImplementedError

    def trees(self, inputs: RuleInputs, settings: SettingsT) -> Derivations | None:
        """Derives the corpus with the extracted rules."""
        return None

    def boundary(self, inputs: RuleInputs, settings: SettingsT) -> BoundaryModel | None:
        """Learns weights of the words at the boundaries of source spans."""
        return None

    def alignments(self, inputs: RuleInputs, settings: SettingsT) -> dict[str, list[str]] | None:
        """Aligns the words of each pair; the alignments are named as in ``ALIGNMENTS``, best first."""
        return None

    def learning(self, settings: SettingsT) -> dict[str, object]:
        """Settings that ``learn`` depends on, as JSON; empty if the extractor learns nothing."""
        return {}

    def learn(self, inputs: RuleInputs, settings: SettingsT, folder: Path, jobs: int) -> None:
        """Learns into a folder, once; the other methods read the results from ``inputs.learned``."""
        return None


EXTRACTORS: Registry[RuleExtractor[Declared]] = Registry("lscfg.extractors", RuleExtractor, "rule extractor")

ALIASES = {"both": "hiero+minimal"}
"""Short names of grammars."""

TREES = "minimal"
"""Default trees of a model: the minimal ones of word alignments."""


def extractor_names(grammar: str) -> tuple[str, ...]:
    """Names of the extractors of a grammar; a rule that several extract has the features of the first.

    Raises:
        InputError: a name is unknown, or occurs twice.
    """
    names = ALIASES.get(grammar, grammar).split("+")
    known = EXTRACTORS.names()
    if unknown := [name for name in names if name not in known]:
        also = f", {', '.join(ALIASES)}" if ALIASES else ""
        raise InputError(
            f"unknown grammar {quote(unknown[0])}; choose from {', '.join(known)}{also}, and joined ones such as A+B"
        )
    if len(set(names)) < len(names):
        raise InputError(f"the grammar {quote(grammar)} names a rule extractor twice")
    return tuple(names)


def with_trees() -> tuple[str, ...]:
    """Names of the extractors that derive the corpus."""
    return EXTRACTORS.overriding("trees")


def alignment_fault(name: str, others: Sequence[str]) -> str:
    """Describes why some rules cannot use an extractor's word alignment; empty if they can.

    Args:
        others: extractors of these rules. An extractor cannot use its own alignment.
    """
    found = EXTRACTORS.overriding("alignments")
    if name and name not in found:
        return f"must be one of {', '.join(found)}, or left out for the links of [alignment]"
    return (
        f"does not go with rules and trees of {name}, which contain these links already"
        if name and name in others
        else ""
    )


def with_boundary(names: Sequence[str]) -> str:
    """Name of the first extractor that learns weights of span boundaries; empty if none does."""
    found = EXTRACTORS.overriding("boundary")
    return next((name for name in names if name in found), "")
