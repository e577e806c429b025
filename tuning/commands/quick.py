"""``lscfg quick``: from files of sentence pairs to a translator, without a choice to make."""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from lscfg import log
from lscfg.bundle.pack import pack
from lscfg.closing import Closing
from lscfg.command_settings import GivenSettings
from lscfg.commands import serve
from lscfg.errors import InputError, LscfgError, quote
from lscfg.extras import need
from lscfg.io.arguments import RECORDS, InputFile, NamedFile, output_folder
from lscfg.io.folders import replaced_files
from lscfg.io.json_files import read_json
from lscfg.io.read import decode_text, file_hash, read_bytes
from lscfg.io.sides import SIDES
from lscfg.io.write import atomic_write
from lscfg.options import add_jobs, add_output
from lscfg.parallel.signals import Terminated
from lscfg.parser import CommandParser
from lscfg.prepare.corpus import RawFiles, check_health
from lscfg.prepare.encoded import ENCODINGS
from lscfg.prepare.guess import Finding, Given, Guesses, guess
from lscfg.prepare.health import HEALTH, treatment_change
from lscfg.prepare.languages import code_fault, named_language
from lscfg.prepare.reader import TEXT_READERS
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.serve.address import check_port, listen
from lscfg.serve.rolling import RollingService
from lscfg.settings_file import parse_toml
from lscfg.tuning.commands import check_names
from lscfg.tuning.experiment.cache import StageCache, locked
from lscfg.tuning.experiment.config import Overrides, read_experiment
from lscfg.tuning.experiment.plan import make_plan
from lscfg.tuning.experiment.run import all_finished, run_experiment, show_plan
from lscfg.tuning.experiment.schema import DEFAULT_SYSTEMS, RawCorpus
from lscfg.tuning.experiment.template import SMALL_TEXT, experiment_text, held_out_size, relative
from lscfg.tuning.experiment.translating import best_system, translation_command

FIRST, BETTER = "MIN", ("MIN", "LATENT")
"""The system that is made first, and those that are made without ``--all-systems``."""

LEAST = 200
"""Pairs below which no system is worth its training."""

CURVE = 1000
"""Minimum number of pairs for a learning curve."""

SMALL, ITERATIONS = 20_000, 10
"""Pairs up to which tuning stops early, and its iterations: later ones gain little on small sets."""

STAMP = "# lscfg quick wrote this file and replaces it unless it was edited: "
PORT = 8080
TABLE = "prepare"

EXPERIMENT = "experiment.toml"
INPUT, STDIN = Path("-"), "stdin"
"""The argument that means standard input, and the file in the folder that keeps the input."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.set_defaults(**{RECORDS: "name a file, or - for standard input"})
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        type=InputFile,
        help="files of sentence pairs (table, workbook, TMX, XLIFF, JSON lines, Parquet), - for one on standard input,"
        " or texts or subtitles and their translations",
    )
    add_output(parser, "folder to write (default: %(default)s)", type=output_folder(), metavar="DIR", default="quick")
    guesses = parser.add_argument_group("instead of guesses")
    guesses.add_argument("--format", choices=TEXT_READERS.names(), help="format of the files")
    guesses.add_argument("--encoding", choices=ENCODINGS, metavar="NAME", help="encoding of the text, such as cp1252")
    guesses.add_argument("--languages", metavar="SOURCE,TARGET", help="codes or names of both languages, such as de,en")
    guesses.add_argument("--columns", metavar="SOURCE,TARGET", help="numbers of two columns, or names of two fields")
    guesses.add_argument(
        "--header", action=argparse.BooleanOptionalAction, default=None, help="the first row names the columns"
    )
    for name, use in (("dev", "tune on"), ("test", "test on")):
        guesses.add_argument(f"--{name}", type=int, metavar="N", help=f"pairs to {use} (default: by amount of text)")
    guesses.add_argument(
        "--set",
        type=NamedFile,
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a setting of [prepare], such as drop=copy,script; repeat for several",
    )
    parser.add_argument("--all-systems", action="store_true", help="train the other systems of lscfg init, too")
    parser.add_argument("--plan", action="store_true", help="write the experiment, show the stages; train nothing")
    parser.add_argument("--no-serve", action="store_true", help="end after training instead of serving the translator")
    parser.add_argument(
        "--port", type=int, default=PORT, metavar="N", help="port of the service (default: %(default)s, or a free one)"
    )
    add_jobs(parser)


def run(args: argparse.Namespace) -> None:
    """Guesses, writes the experiment, trains, and serves the best system so far; prints the result.

    Raises:
        InputError: the files are unknown or too small, the experiment was edited, another command is at work in the
            folder, or a stage failed.
    """
    check_names(args.output, *args.files)
    args.files = [Path(file) for file in args.files]
    _check_files(args.files)
    if not args.no_serve and not args.plan:
        need("serve")
        check_port(args.port)
        if args.port not in (0, PORT):
            listen("127.0.0.1", args.port).close()  # a taken port shows before the training
    folder, given = Path(args.output), _given(args)
    if args.files == [INPUT]:
        with locked(folder):
            pairs = _take_input(args, given)
            _run_experiment(args, pairs)
        return
    text, pairs = _guessed(args, given)
    with locked(folder):
        _write(folder / EXPERIMENT, text)
        _run_experiment(args, pairs)


def _take_input(args: argparse.Namespace, given: Given) -> int:
    """Puts standard input and its experiment into the locked folder, and returns the number of pairs.

    Earlier input stays until the experiment is written, since the experiment may be one that must not be replaced.

    Raises:
        InputError: see ``run``.
    """
    folder = Path(args.output)
    saved = folder / STDIN
    before = file_hash(saved) if saved.exists() else None
    with replaced_files(folder, [STDIN]) as place:
        args.files = [_saved_input(place)]
        text, pairs = _guessed(args, given, [STDIN])
        _write(folder / EXPERIMENT, text)
    if before not in (None, file_hash(saved)):
        log.warning(f"{saved}: replaced by other text; the translator of {folder} will be that of the new text")
    return pairs


def _guessed(args: argparse.Namespace, given: Given, names: Sequence[str] = ()) -> tuple[str, int]:
    """The text of the experiment, and the number of pairs; logs the findings.

    Args:
        names: files of pairs in the experiment, if they differ from those of the command.

    Raises:
        InputError: see ``run``.
    """
    folder = Path(args.output)
    found = guess(args.files, given)
    prepare = _preparation(args.set, found, folder)
    text = _experiment(args, found, prepare, names or [relative(str(path), folder) for path in found.files])
    for finding in found.findings:
        log.info(str(finding))
    for warning in found.warnings:
        log.warning(warning)
    return text, found.pairs


def _run_experiment(args: argparse.Namespace, pairs: int) -> None:
    """Shows the plan of the experiment in the locked folder, or trains and serves.

    Raises:
        InputError: see ``run``.
    """
    folder = Path(args.output)
    experiment = folder / EXPERIMENT
    health = _Health(experiment, folder)
    health.show()
    steps = _steps(experiment, folder, pairs)
    if args.plan:
        print(show_plan(experiment, folder, steps[-1]))
        return
    display = log.current_display()
    brief = nullcontext() if display is None or display.quiet else log.shown(replace(display, brief=True))
    with brief, nullcontext() if args.no_serve else _Service(args) as service:
        result, failed = _train(args, experiment, steps, service, health)
        print(result, flush=True)
        if service is not None:
            service.wait()
    if failed is not None:
        raise failed


def _train(
    args: argparse.Namespace,
    experiment: Path,
    steps: Sequence[Overrides],
    service: _Service | None,
    health: _Health,
) -> tuple[str, Exception | None]:
    """Trains step by step and shows the best system so far; returns the result and the error of a later step, if any.

    Raises:
        LscfgError: the first step failed.
    """
    folder, served, summary = Path(args.output), None, ""
    failed = None
    try:
        for overrides in steps:
            summary = run_experiment(experiment, folder, args.jobs, overrides, held=True)
            health.show()
            best = _best(folder, experiment)
            if best != served:
                pack(folder / "systems" / best, folder / "bundle", prepare=folder / "prepare", name=best)
            if service is not None:
                service.show(best, changed=best != served, more=overrides is not steps[-1])
            elif best != served:
                log.info(f"to translate now, in another terminal: {translation_command(folder, best, True)}")
            served = best
    except (LscfgError, OSError, MemoryError) as error:
        if served is None:
            raise
        failed = error
        log.warning(f"{error or type(error).__name__}; {served} is kept, and the next run continues from here")
    again = f"lscfg serve {shlex.quote(str(folder / 'bundle'))}"
    ends = f"page:      {service.address} (Ctrl-C ends it; again: {again})" if service else f"serve:     {again}"
    return f"{summary}\n{ends}", failed


def _check_files(files: Sequence[Path]) -> None:
    """Refuses standard input among other files, and a file that is named twice.

    Raises:
        InputError: see above.
    """
    if INPUT in files and len(files) > 1:
        raise InputError("- is standard input, one file of pairs; name it alone, or save it to a file first")
    for number, path in enumerate(files):
        if path in files[:number]:
            raise InputError("is named twice; name each file once", path)


def _saved_input(folder: Path) -> Path:
    """A file in the folder with the bytes of standard input: a later run reads the file again.

    Raises:
        InputError: standard input is closed, a terminal or empty, or the file cannot be written.
    """
    state = "closed" if sys.stdin is None else "a terminal" if sys.stdin.isatty() else ""
    first = b"" if state else sys.stdin.buffer.read(1)
    if not first:
        state = state or "empty"
        raise InputError(f"- is standard input, which is {state} here; name a file, or write lscfg quick - < FILE")
    saved = folder / STDIN
    with atomic_write(saved, "wb") as file:
        file.write(first)
        shutil.copyfileobj(sys.stdin.buffer, file)
    return saved


class _Health:
    """Shows the faults of the text: pairs, treatment, and the option that changes the treatment.

    Raises:
        InputError: the text cannot be read.
    """

    def __init__(self, experiment: Path, folder: Path):
        chosen = read_experiment(experiment)
        stage = make_plan(chosen).texts.prepared
        assert isinstance(chosen.corpus, RawCorpus) and stage is not None
        self._corpus, self._prepare, self._stage = chosen.corpus, chosen.prepare, stage
        self._cache = folder / "cache"
        self._shown: set[str] | None = None

    def show(self) -> None:
        """Logs a line for each fault that was not shown: some are found only when the text is prepared."""
        if made := StageCache(self._cache).found(self._stage):
            found: Any = read_json(made.path / HEALTH)["findings"]
        elif self._shown is None:
            health, read = check_health(RawFiles(self._corpus.files), self._prepare)
            found = health.facts(read)["findings"]
        else:
            return
        if not found and self._shown is None:
            log.info("health:    no fault found")
        for one in found:
            if one["fault"] not in (self._shown or ()):
                log.info(self._line(one))
        self._shown = (self._shown or set()) | {one["fault"] for one in found}

    @staticmethod
    def _line(one: Mapping[str, Any]) -> str:
        change = treatment_change(one["fault"], one["done"])
        option = "--header" if change == "header=true" else f"--set {change}" if change else ""
        pairs = "1 pair" if one["pairs"] == 1 else f"{one['pairs']:,} pairs"
        return str(Finding("health", f"{pairs} with {one['title']}", one["done"], option))


def _steps(experiment: Path, folder: Path, pairs: int) -> list[Overrides]:
    """The runs, one after the other: the first system, the fast ones, all, and the learning curve.

    A better system is served as soon as its run ends, so the learning curve, which improves no system, comes last. If
    all stages of the last run are finished, the others are left out.
    """
    names = list(read_experiment(experiment).systems)
    parts = [names[:1], [name for name in names if name in BETTER], names]
    steps = [Overrides(systems=part) for number, part in enumerate(parts) if part not in parts[:number]]
    if pairs >= CURVE:
        steps.append(Overrides(systems=names, learning_curve=True))
    return steps[-1:] if all_finished(experiment, folder, steps[-1]) else steps


def _given(args: argparse.Namespace) -> Given:
    """Reads the options that replace guesses.

    Raises:
        InputError: not two languages or columns, or a language has no code.
    """
    languages = _two(args.languages, "--languages")
    if languages:
        source, target = (named_language(name) or name if code_fault(name) else name for name in languages)
        languages = source, target
    for code in languages or ():
        if fault := code_fault(code):
            raise InputError(f"--languages: {code!r} {fault}")
    if languages and languages[0] == languages[1]:
        raise InputError("--languages: source and target are the same")
    columns = _two(args.columns, "--columns")
    if columns and columns[0] == columns[1]:
        raise InputError("--columns: source and target are the same")
    return Given(args.format, args.encoding, languages, columns, args.header)


def _two(text: str | None, option: str) -> tuple[str, str] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise InputError(f"{option} takes two values separated by a comma, not {text!r}")
    return parts[0], parts[1]


def _preparation(words: Sequence[str], found: Guesses, folder: Path) -> dict[str, object]:
    """The settings of [prepare], of the reader and of the tokeniser: those that ``--set`` names, else the guesses.

    Raises:
        InputError: a setting is unknown, or of another reader or tokeniser, or its value is wrong.
    """
    given = GivenSettings(argparse.Namespace(set=words, settings=None), TABLE)
    given.suppose(TABLE, found.settings)
    readers, tokenisers = TEXT_READERS.settings(), TOKENISERS.settings()
    reader, tokeniser = (given.choose(TABLE, PrepareSettings, name) for name in ("format", "tokeniser"))
    classes = PrepareSettings, readers[reader], tokenisers[tokeniser]
    given.build(TABLE, *classes, others=readers | tokenisers)
    values = given.stated(TABLE, *classes)
    return {name: relative(str(value), folder) if isinstance(value, Path) else value for name, value in values.items()}


def _experiment(args: argparse.Namespace, found: Guesses, prepare: Mapping[str, object], files: Sequence[str]) -> str:
    """The text of the experiment; adds the sizes to the findings.

    Args:
        files: the files of pairs, as the experiment names them.

    Raises:
        InputError: there are too few pairs.
    """
    if found.pairs < LEAST:
        raise InputError(f"{found.pairs} pairs are too few to train on; at least {LEAST} are needed", args.files[0])
    usual = held_out_size(found.pairs)
    sizes = {name: usual if getattr(args, name) is None else getattr(args, name) for name in ("dev", "test")}
    for name, size in sizes.items():
        if size < 1 or sum(sizes.values()) * 2 > found.pairs:
            raise InputError(f"--{name} {size}: dev and test take 1 pair to half of the {found.pairs:,} pairs together")
    found.found("sizes", f"{sizes['dev']:,} to tune, {sizes['test']:,} to test", "by the pairs", "--dev, --test")
    sides = TEXT_READERS[str(found.settings["format"])].FILES or 1
    corpus = {side: list(files[number::sides]) for number, side in enumerate(SIDES[:sides])}
    systems = DEFAULT_SYSTEMS if args.all_systems else {name: DEFAULT_SYSTEMS[name] for name in BETTER}
    tables = found.tables | SMALL_TEXT
    tables["tuning"] = found.tables.get("tuning", {}) | ({"iterations": ITERATIONS} if found.pairs <= SMALL else {})
    found.found(
        "systems",
        ", ".join(systems),
        "all" if args.all_systems else "the fast ones",
        "" if args.all_systems else "--all-systems",
    )
    text = experiment_text(corpus, {**sizes, **prepare}, systems, tables)
    return f"{STAMP}{_hash(text)}\n{text}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _write(path: Path, text: str) -> None:
    """Writes the experiment, also over an earlier one of the same text, or of a part of it, that nobody edited.

    Raises:
        InputError: the file is another one, or its translator learned from other files.
    """
    if path.exists():
        first, _, rest = decode_text(read_bytes(path), path).partition("\n")
        if first != f"{STAMP}{_hash(rest)}":
            raise InputError(
                f"was edited, or lscfg quick did not write it; run it by lscfg run {path} -o {path.parent}, or choose"
                " another folder with -o",
                path,
            )
        before, now = (_corpus_files(one, path) for one in (rest, text))
        if not before & now:
            other = quote(os.path.relpath(min(before)))
            raise InputError(
                f"contains a translator of {other}, which this one would replace; choose another folder with -o",
                path.parent,
            )
    with atomic_write(path) as file:
        file.write(text)


def _corpus_files(text: str, path: Path) -> set[str]:
    """The files of pairs in an experiment, without links."""
    named = parse_toml(text, path)["corpus"]
    files = [file for side in SIDES for file in _listed(named.get(side, []))]
    return {os.path.realpath(path.parent / file) for file in files}


def _listed(files: str | list[str]) -> list[str]:
    return [files] if isinstance(files, str) else files


def _best(folder: Path, experiment: Path) -> str:
    """The best system so far; the first one translates new text, so there is one."""
    best = best_system(read_json(folder / "results.json"), read_experiment(experiment))
    assert best is not None
    return best


class _Service(Closing):
    """The service of the best system so far, at a free port if the usual one is taken.

    Attributes:
        address: of the page; empty before the first system is served.
    """

    def __init__(self, args: argparse.Namespace):
        self._args = args
        self.address = ""
        self._rolling: RollingService | None = None

    def show(self, system: str, changed: bool, more: bool) -> None:
        """Serves the bundle, which holds this system, from now on.

        Args:
            changed: the bundle held another system before; otherwise only a service that has died starts again.
            more: other systems are trained later.

        Raises:
            LscfgError: the system cannot be served, and no earlier one is.
        """
        if self._rolling is not None and not self._rolling.alive:
            log.warning("the service has died and starts again")
        elif not changed:
            return
        bundle = Path(self._args.output) / "bundle"
        parser = CommandParser(prog="lscfg serve")
        serve.add_arguments(parser)
        report = Path(self._args.output) / "report.html"
        words = [str(bundle), "--report", str(report), "--jobs", str(self._args.jobs)]
        if first := self._rolling is None:
            listening = _listening(self._args.port)
            self.address = f"http://127.0.0.1:{listening.getsockname()[1]}"
            self._rolling = RollingService(serve.serve_on, listening)
        with log.shown(log.Display(quiet=True)):  # requests and addresses are not part of this command's messages
            replaced = self._rolling.show(parser.parse_args(words))
        if first:
            rest = "; a better system replaces it when ready" if more else ""
            log.info(f"page:      {self.address} translates with {system}{rest}")
        elif replaced:
            log.info(f"page:      {self.address} now translates with {system}")

    def wait(self) -> None:
        """Serves until a signal ends the service."""
        if self._rolling is not None:
            with suppress(KeyboardInterrupt, Terminated):
                self._rolling.wait()

    def close(self) -> None:
        if self._rolling is not None:
            self._rolling.close()


def _listening(port: int) -> socket.socket:
    """A socket at the port, or at a free one if the usual port is taken.

    Raises:
        InputError: the port is taken.
    """
    try:
        return listen("127.0.0.1", port)
    except InputError:
        if port != PORT:
            raise
        log.warning(f"port {port} is in use, so the service uses a free one")
        return listen("127.0.0.1", 0)
