"""Arguments of a pipeline: a wrong one raises an error that names the argument and the cure."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from lscfg.api.arguments import brief, check_lines, check_number, check_path, check_text
from lscfg.api.terms import terms_of_values
from lscfg.decode.glossary import Glossary
from lscfg.decode.terms import Term
from lscfg.errors import InputError, counted, quote
from lscfg.extract.extractor import EXTRACTORS, extractor_names
from lscfg.prepare.languages import equal_codes, is_unspaced
from lscfg.prepare.reader import TEXT
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.sides import Side
from lscfg.tuning.experiment.schema import Tuning
from lscfg.tuning.experiment.system import SystemRules
from lscfg.tuning.experiment.template import held_out_size
from lscfg.tuning.pipeline.training import TrainingSettings

UNCHANGED = "none"
"""Tokeniser of text whose words are separated by blanks already."""

MOST_TERMS = 10_000
"""Maximum number of terms of a translation; each sentence looks for all of them."""


def check_side(value: Any, name: str) -> list[str]:
    """Lines without further ends of lines.

    Raises:
        InputError: there is no text, or a line contains the end of another.
        TypeError: the value is not a list of strings.
    """
    if value is None:
        raise InputError(f"{name} is missing; give lines to Pipeline(source, target, ...) or to fit(source, target)")
    lines = check_lines(value, name)
    for number, line in enumerate(lines):
        if "\n" in line:
            raise InputError(f"{name}[{number}] contains several lines ({quote(line)}); give one sentence a line")
    return lines


def check_pairs(source: Any, target: Any) -> dict[str, list[str]]:
    """Lines of both sides, at least one, by the names of the arguments.

    Raises:
        InputError: a side is missing or empty, the sides differ in length, or a line contains the end of another.
        TypeError: a side is not a list of strings.
    """
    texts = {"source": check_side(source, "source"), "target": check_side(target, "target")}
    lengths = [len(lines) for lines in texts.values()]
    if lengths[0] != lengths[1]:
        raise InputError(f"target has {counted(lengths[1], 'line')}, but source has {lengths[0]}; give pairs")
    if not lengths[0]:
        raise InputError("source must contain one line or more; the list is empty")
    return texts


def check_language_pair(value: Any) -> tuple[str, str]:
    """Two codes of languages.

    Raises:
        InputError: the codes are missing, equal or malformed.
        TypeError: the value is not two strings.
    """
    if value is None:
        raise InputError("languages is missing; give the codes of both languages, as in languages=('de', 'en')")
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise TypeError(f"languages must be two codes, such as ('de', 'en'), not {brief(value)}")
    source, target = check_text(value[0], "languages[0]"), check_text(value[1], "languages[1]")
    PrepareSettings(source, target)
    if not source or not target or equal_codes(source, target):
        raise InputError(f"languages must be two different codes, not {quote(source)} and {quote(target)}")
    return source, target


def check_training(arguments: Mapping[str, Any], pairs: int) -> TrainingSettings:
    """The settings of the training.

    Args:
        arguments: arguments of a pipeline.
        pairs: number of sentence pairs.

    Raises:
        InputError: an argument is out of its range.
        TypeError: an argument has another type.
    """
    if not isinstance(arguments["verbose"], bool):
        raise TypeError(f"verbose must be True or False, not {brief(arguments['verbose'])}")
    for extractor in extractor_names(check_text(arguments["grammar"], "grammar")):
        if EXTRACTORS[extractor].FILTERED:
            kinds = ", ".join(name for name in EXTRACTORS.names() if not EXTRACTORS[name].FILTERED)
            raise InputError(
                f"grammar must not contain {extractor}, whose rules are kept for known sentences only; use {kinds}"
            )
    dev = held_out_size(pairs) if arguments["dev"] is None else int(check_number(arguments["dev"], "dev", 1))
    languages = check_language_pair(arguments["languages"])
    seed = int(check_number(arguments["seed"], "seed", 0))
    if arguments["tokeniser"] is None:
        tokeniser = "spm" if any(map(is_unspaced, languages)) else "moses"
    else:
        tokeniser = check_text(arguments["tokeniser"], "tokeniser")
    casing = "none" if tokeniser == UNCHANGED else PrepareSettings.casing
    prepare = PrepareSettings(*languages, format=TEXT, tokeniser=tokeniser, casing=casing, dev=dev, seed=seed)
    iterations = int(check_number(arguments["iterations"], "iterations", 1))
    return TrainingSettings(
        prepare,
        SystemRules(arguments["grammar"]),
        int(check_number(arguments["states"], "states", 0)),
        Tuning(iterations=iterations, seed=seed),
    )


def check_glossary(value: Any, sides: tuple[Side, Side]) -> tuple[Term, ...]:
    """The terms of a glossary: the name of a file, targets by source, or entries.

    Args:
        sides: of the preparation.

    Raises:
        InputError: the file cannot be read, a term is faulty, or the terms are too many.
        TypeError: the value or a part of it has another type.
    """
    if value is None:
        return ()
    if isinstance(value, (str, os.PathLike)):
        found = Glossary.read(check_path(value, "glossary"))
        found.prepared(sides)
        terms = tuple(entry.term for entry in found.entries)
    else:
        terms = tuple(terms_of_values(value))
        Glossary.of(terms).prepared(sides)
    if len(terms) > MOST_TERMS:
        raise InputError(f"glossary has {len(terms):,} terms; at most {MOST_TERMS:,} are used")
    return terms
