"""``lscfg grammar sampled FORESTS``: fragments of given forests."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import cast

from lscfg import log
from lscfg.commands.grammars.extraction import is_given, write_trace
from lscfg.errors import InputError
from lscfg.induce.sampled.fragments import sample_fragments
from lscfg.induce.sampled.rules import SamplingSettings
from lscfg.io.write import write_lines
from lscfg.options import further_outputs
from lscfg.settings import Declared

OUTPUTS = {"fragments": "trees of a file of forests", "trace": "a JSON line for each sweep"}
"""Contents of ``--write``."""

OF_TEXT = (
    *("per_sentence", "sizes", "filter", "join", "most_targets", "held_out", "start_from", "cluster"),
    *("checkpoint", "resume", "oov"),
)
"""Options that need text."""

SETTINGS_OF_TEXT = frozenset(("rule_filter", "max_phrase", "max_symbols", "max_span", "max_targets"))
"""Settings of phrases of a text."""


def write_fragments(args: argparse.Namespace, settings: Declared) -> None:
    """Samples fragments, and writes the composed rules and other outputs.

    Raises:
        InputError: an option needs text; see ``lscfg.induce.sampled.fragments.sample_fragments``.
    """
    if given := [name for name in OF_TEXT if is_given(getattr(args, name, None))]:
        option = {"most_targets": "max-targets"}.get(given[0], given[0].replace("_", "-"))
        raise InputError(f"--{option} needs source, target and alignments; {args.files[0]} alone is read as forests")
    if given := sorted(SETTINGS_OF_TEXT.intersection(item.partition("=")[0].strip() for item in args.set)):
        raise InputError(f"--set {given[0]}= needs text; {args.files[0]} alone is read as forests")
    if args.format != "cdec":
        raise InputError("fragments of forests are written in cdec's format only")
    outputs = further_outputs(args, OUTPUTS)
    if not (args.output or outputs):
        raise InputError("nothing to do; name an output with -o or --write")
    found = sample_fragments(Path(args.files[0]), cast("SamplingSettings", settings), args.jobs)
    log.table(found.statistics())
    if args.output:
        write_lines(args.output, found.grammar())
        log.info(f"wrote {args.output}")
    writers = {"fragments": lambda path: write_lines(path, found.lines()), "trace": write_trace(found.trace)}
    for name, path in outputs.items():
        writers[name](path)
        log.info(f"wrote {path}")
