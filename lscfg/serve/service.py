"""The service of a command line: opens the system, then serves on an address."""

from __future__ import annotations

import argparse
import asyncio
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lscfg import log
from lscfg.bundle.new_text import warn_of_filtered_rules
from lscfg.bundle.places import preparation_of
from lscfg.bundle.system import TranslationSystem, one_system, open_system
from lscfg.decode.glossary import Glossary
from lscfg.errors import InputError
from lscfg.io.read import read_bytes, read_lines
from lscfg.json_text import parse_json
from lscfg.parallel.log_thread import log_in_thread
from lscfg.serve.application import Application, Offer
from lscfg.serve.description import ShownScore, experiment_scores
from lscfg.serve.guard import Hosts
from lscfg.serve.pool import WorkerPool
from lscfg.serve.server import Server
from lscfg.serve.settings import ServeSettings
from lscfg.serve.texts import LanguagePair

MOST_SERVED = 10_000
"""Maximum terms of a service, which looks all of them up in each sentence."""


def serve_on(
    listening: socket.socket, args: argparse.Namespace, settings: ServeSettings, started: Callable[[], None]
) -> None:
    """Serves on a socket until a signal ends the service.

    Args:
        args: the arguments of ``lscfg serve``.
        settings: its limits.
        started: called when the service accepts connections.

    Raises:
        InputError: the system cannot be opened.
    """
    place = one_system(args.system, args.config)
    hosts = Hosts(args.address, args.public_name, args.cors)
    with log_in_thread(), WorkerPool(args.jobs) as pool:
        system = _with_terms(open_system(place, args.weights), args.glossary, args.corrections)
        application = Application(system, pool, settings, hosts, _offer(args, system, Path(place)))
        warn_of_filtered_rules(Path(place))
        if system.preparation is None and preparation_of(Path(place)):
            log.warning(f"{place}: requests must be prepared text; a bundle of lscfg pack takes raw text")
        asyncio.run(Server(application, listening, started).run_until_signal())


def _with_terms(system: TranslationSystem, glossary: str | None, memory: str | None) -> TranslationSystem:
    """The system with the terms of a file and the folder of a memory.

    Raises:
        InputError: the file cannot be read, a line is not a term, or the terms are too many.
    """
    if memory is not None:
        system = replace(system, memory=Path(memory).absolute())
    if glossary is None:
        return system
    found = Glossary.read(glossary)
    if len(found.entries) > MOST_SERVED:
        raise InputError(f"{len(found.entries):,} terms; at most {MOST_SERVED:,} are served", glossary)
    preparation = system.preparation
    found.prepared(None if preparation is None else (preparation.sides[0].side(), preparation.sides[1].side()))
    return replace(system, glossary=tuple(entry.term for entry in found.entries))


def _offer(args: argparse.Namespace, system: TranslationSystem, place: Path) -> Offer:
    """The choices of the command line.

    Raises:
        InputError: a language or a file of keys is wrong.
    """
    languages = LanguagePair()
    if args.languages is not None:
        if system.preparation is not None:
            raise InputError("--languages: the system's preparation names its languages; leave the option out")
        try:
            languages = LanguagePair.parse(args.languages)
        except ValueError as error:
            raise InputError(f"--languages: {error}") from None
    keys = tuple(line.strip() for line in read_lines(args.api_key_file) if line.strip()) if args.api_key_file else ()
    if args.api_key_file and not keys:
        raise InputError("contains no key; write one key into each line", args.api_key_file)
    report = Path(args.report) if args.report else _report_of(place)
    scores = () if report is None else _scores_of(report, system.name)
    content = None if report is None else report.read_bytes()
    return Offer(not args.no_page, languages, keys, content, scores)


def _scores_of(report: Path, system: str) -> tuple[ShownScore, ...]:
    """The scores in the results next to a report; none, with a warning, if the file is damaged or another program's."""
    results = report.with_name("results.json")
    if not results.is_file():
        return ()
    try:
        return experiment_scores(parse_json(read_bytes(results)), system)
    except ValueError as error:
        reason = f"damaged, or not written by lscfg run ({error}), so the page shows no scores"
        log.warning(f"{results}: {reason}; restore the file, or move the report to another folder")
        return ()


def _report_of(place: Path) -> Path | None:
    """The report of the experiment in whose folder ``systems/NAME`` lies."""
    system = (place if place.is_dir() else place.parent).resolve()
    found = system.parent.parent / "report.html"
    return found if system.parent.name == "systems" and found.is_file() else None
