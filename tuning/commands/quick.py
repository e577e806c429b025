"""``lscfg quick``: from files of sentence pairs to a translator, without a choice to make."""

from __future__ import annotations

import argparse
import hashlib
import socket
from collections.abc import Sequence
from pathlib import Path

from lscfg import log
from lscfg.bundle.pack import pack
from lscfg.commands import serve
from lscfg.errors import InputError
from lscfg.extras import need
from lscfg.io.arguments import output_folder
from lscfg.io.folders import make_folder
from lscfg.io.json_files import read_json
from lscfg.io.write import atomic_write
from lscfg.options import add_jobs, add_output
from lscfg.parser import CommandParser
from lscfg.prepare.encoded import ENCODINGS
from lscfg.prepare.guess import Given, Guesses, guess
from lscfg.prepare.languages import code_fault
from lscfg.prepare.reader import TEXT_READERS
from lscfg.tuning.commands import check_names
from lscfg.tuning.experiment.config import Overrides, read_experiment
from lscfg.tuning.experiment.run import run_experiment, show_plan
from lscfg.tuning.experiment.schema import DEFAULT_SYSTEMS
from lscfg.tuning.experiment.system import Experiment
from lscfg.tuning.experiment.template import experiment_text, held_out_size, relative

FIRST, BETTER = "MIN", ("MIN", "LATENT")
"""The system that is made first, and those that are made without ``--all-systems``."""

LEAST = 200
"""Pairs below which no system is worth its training."""

SMALL, ITERATIONS = 20_000, 10
"""Pairs up to which tuning stops early, and its iterations: later ones gain little on small sets."""

STAMP = "# lscfg quick wrote this file and replaces it unless it was edited: "
PORT = 8080


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        type=Path,
        help="a file of sentence pairs (table, workbook, TMX, XLIFF, JSON lines, Parquet), or a text or subtitles and"
        " its translation",
    )
    add_output(parser, "folder to write (default: %(default)s)", type=output_folder(), metavar="DIR", default="quick")
    guesses = parser.add_argument_group("instead of guesses")
    guesses.add_argument("--format", choices=TEXT_READERS.names(), help="format of the files")
    guesses.add_argument("--encoding", choices=ENCODINGS, metavar="NAME", help="encoding of the text, such as cp1252")
    guesses.add_argument("--languages", metavar="SOURCE,TARGET", help="codes of both languages, such as de,en")
    guesses.add_argument("--columns", metavar="SOURCE,TARGET", help="numbers of two columns, or names of two fields")
    guesses.add_argument(
        "--header", action=argparse.BooleanOptionalAction, default=None, help="the first row names the columns, or not"
    )
    for name, use in (("dev", "tune on"), ("test", "test on")):
        guesses.add_argument(f"--{name}", type=int, metavar="N", help=f"pairs to {use} (default: by amount of text)")
    parser.add_argument("--all-systems", action="store_true", help="train the other systems of lscfg init, too")
    parser.add_argument("--plan", action="store_true", help="show the guesses and the stages; train nothing")
    parser.add_argument("--no-serve", action="store_true", help="end after training instead of serving the translator")
    parser.add_argument(
        "--port", type=int, default=PORT, metavar="N", help="port of the service (default: %(default)s, or a free one)"
    )
    add_jobs(parser)


def run(args: argparse.Namespace) -> None:
    """Guesses, writes the experiment, trains, prints the result, and serves.

    Raises:
        InputError: the files are unknown or too small, the experiment was edited, or a stage failed.
    """
    check_names(args.output, *map(str, args.files))
    if len(args.files) > 2:
        raise InputError("give one file of pairs, or a source and its translation; join other files first")
    serving = not args.no_serve and not args.plan
    if serving:
        need("serve")
    folder = Path(args.output)
    experiment = folder / "experiment.toml"
    found = guess(args.files, _given(args))
    text = _experiment(args, found, folder)
    for finding in found.findings:
        log.info(str(finding))
    for warning in found.warnings:
        log.warning(warning)
    _write(experiment, text)
    if args.plan:
        print(show_plan(experiment, folder))
        return
    done = (folder / "results.json").exists() and (folder / "systems" / "LATENT" / "weights").exists()
    if not done:
        log.info(f"first system: {FIRST}; better ones follow, and each finished stage is kept")
        run_experiment(experiment, folder, args.jobs, Overrides(systems=[FIRST]))
        log.info("it translates now, in another window:\n" + _translate(folder, FIRST, found))
    summary = run_experiment(experiment, folder, args.jobs)
    best = _best(folder, read_experiment(experiment))
    pack(folder / "systems" / best, folder / "bundle")
    print(f"{summary}\n\ntranslate:\n{_translate(folder, best, found)}\nserve:\n  lscfg serve {folder / 'bundle'}")
    if serving:
        _serve(folder / "bundle", args)


def _given(args: argparse.Namespace) -> Given:
    """Reads the options that replace guesses.

    Raises:
        InputError: not two languages or columns, or a language has no code.
    """
    languages = _two(args.languages, "--languages")
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


def _experiment(args: argparse.Namespace, found: Guesses, folder: Path) -> str:
    """The text of the experiment; adds the sizes to the findings.

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
    corpus = {side: relative(str(path), folder) for side, path in zip(("source", "target"), args.files, strict=False)}
    systems = DEFAULT_SYSTEMS if args.all_systems else {name: DEFAULT_SYSTEMS[name] for name in BETTER}
    tables: dict[str, dict[str, object]] = {"language_model": {"discount_fallback": True}}  # small texts need it
    if found.pairs <= SMALL:
        tables["tuning"] = {"iterations": ITERATIONS}
    found.found(
        "systems",
        ", ".join(systems),
        "all" if args.all_systems else "the fast ones",
        "" if args.all_systems else "--all-systems",
    )
    text = experiment_text(corpus, found.settings | sizes, systems, tables)
    return f"{STAMP}{_hash(text)}\n{text}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _write(path: Path, text: str) -> None:
    """Writes the experiment, also over an earlier one that nobody edited.

    Raises:
        InputError: the file is another one.
    """
    if path.exists():
        first, _, rest = path.read_text(encoding="utf-8").partition("\n")
        if first != f"{STAMP}{_hash(rest)}":
            raise InputError(
                f"was edited or is not by lscfg quick; run it by lscfg run {path} -o {path.parent}, or choose another"
                " folder with -o",
                path,
            )
    make_folder(path.parent)
    with atomic_write(path) as file:
        file.write(text)


def _best(folder: Path, experiment: Experiment) -> str:
    """The system with the best BLEU on the development set, of those that translate other text, too."""
    rows: Sequence[dict[str, object]] = read_json(folder / "results.json")["systems"]
    able = [row for row in rows if experiment.systems[str(row["system"])].translates_new_text]
    return str(max(able, key=lambda row: float(str(row["dev_bleu"])))["system"])


def _translate(folder: Path, system: str, found: Guesses) -> str:
    made, prepared = folder / "systems" / system, folder / "prepare"
    new = f"new.{found.settings['source_language']}"
    decoder = f"lscfg decode -c {made / 'cdec.ini'} -w {made / 'weights'}"
    return "\n".join(
        (
            f"  lscfg prepare apply {prepared} < {new} > new.words",
            f"  {decoder} new.words | lscfg prepare restore {prepared}",
        )
    )


def _serve(bundle: Path, args: argparse.Namespace) -> None:
    """Serves the bundle until a signal ends the service, at a free port if the usual one is taken."""
    port = args.port
    if port == PORT and not _is_free(port):
        log.warning(f"port {port} is taken; the service takes a free one")
        port = 0
    parser = CommandParser(prog="lscfg serve")
    serve.add_arguments(parser)
    serve.run(parser.parse_args([str(bundle), "--port", str(port), "--jobs", str(args.jobs)]))


def _is_free(port: int) -> bool:
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
