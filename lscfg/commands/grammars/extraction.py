"""One extraction of ``lscfg grammar``: its inputs, and its outputs besides the grammar."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lscfg import log
from lscfg.extract.extractor import RuleInputs
from lscfg.extract.trees import check_not_text
from lscfg.grammar.counts import RuleCounts
from lscfg.io.tensors import check_model_output
from lscfg.io.write import write_lines
from lscfg.settings import Declared

NO_LABELS = "--oov needs rules with labels (lscfg derive --labels); other words pass through as [X] anyway"
"""Message where rules have no labels."""


@dataclass(frozen=True)
class Extraction:
    """The inputs: files, settings of the extractor, the folder of checkpoints, and further outputs by content.

    Raises:
        InputError: no reader would accept an output under its name.
    """

    args: argparse.Namespace
    inputs: RuleInputs
    settings: Declared
    checkpoint: Path | None
    outputs: Mapping[str, str]

    def __post_init__(self) -> None:
        if "derivations" in self.outputs:
            check_not_text(self.outputs["derivations"])
        if "boundary" in self.outputs:
            check_model_output(self.outputs["boundary"])


@dataclass(frozen=True)
class Extracted:
    """The rules, and for each content of ``--write`` a function that writes it; None where a lexicon was all."""

    rules: RuleCounts | None
    outputs: Mapping[str, str]
    writers: Mapping[str, Callable[[str], None]]

    def write_others(self) -> None:
        """Writes the outputs of ``--write``."""
        for name, path in self.outputs.items():
            self.writers[name](path)
            log.info(f"wrote {path}")


def is_given(value: object) -> bool:
    """True for the value of an option that the user gave; 0 is one."""
    return value is not None and value is not False and value not in ([], {})


def write_trace(trace: list[dict[str, object]]) -> Callable[[str], None]:
    """A function that writes a JSON line for each record."""
    return lambda path: write_lines(path, [json.dumps(record) for record in trace])
