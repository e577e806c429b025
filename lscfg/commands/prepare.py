"""``lscfg prepare``: raw parallel text made a corpus; new text and translations the same way there and back."""

from __future__ import annotations

import argparse
from pathlib import Path

from lscfg.cli import add_action


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the actions and their options."""
    from lscfg.io.arguments import InputFile, output_folder
    from lscfg.options import add_jobs, add_output
    from lscfg.prepare.reader import TEXT_READERS
    from lscfg.prepare.settings import PrepareSettings
    from lscfg.prepare.tokeniser import TOKENISERS
    from lscfg.settings import add_kind_options, add_options

    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    corpus = add_action(actions, "corpus", "clean, tokenise, filter and split raw text into a folder")
    corpus.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        type=Path,
        help="a source text and its translation, or files with both: .tsv, .tmx, .parquet (of the others .gz, too)",
    )
    add_output(corpus, "folder to write", type=output_folder("*"), metavar="DIR", required=True)
    for name in ("dev", "test"):
        corpus.add_argument(
            f"--{name}-files",
            metavar="FILE",
            nargs="+",
            type=Path,
            default=[],
            help=f"raw source of the {name} set and its references, in place of --{name}",
        )
    add_options(corpus, PrepareSettings)
    add_kind_options(corpus, TEXT_READERS.settings() | TOKENISERS.settings())
    add_jobs(corpus)
    apply = add_action(actions, "apply", "prepare new text, from standard input or a file, as the corpus was")
    apply.add_argument(
        "--side", choices=("source", "target"), default="source", help="language of the text (default: %(default)s)"
    )
    restore = add_action(actions, "restore", "put translations back into text as people write it")
    for action in (apply, restore):
        action.mixes = True
        action.add_argument("folder", metavar="DIR", type=Path, help="folder of lscfg prepare corpus")
        action.add_argument(
            "text", type=InputFile, metavar="TEXT", nargs="?", help="file to read (default: standard input)"
        )


def run(args: argparse.Namespace) -> None:
    """Does the action.

    Raises:
        InputError: see ``lscfg.prepare.corpus.prepare_corpus`` and ``lscfg.prepare.record.Record.read``.
    """
    if args.action == "corpus":
        _corpus(args)
    else:
        _convert(args)


def _corpus(args: argparse.Namespace) -> None:
    from lscfg import log
    from lscfg.io.text import replaced_folder
    from lscfg.parallel.choose import in_processes
    from lscfg.prepare.corpus import DROPPED, RawFiles, prepare_corpus
    from lscfg.prepare.reader import TEXT_READERS, reader_of
    from lscfg.prepare.record import RECORD
    from lscfg.prepare.settings import PrepareSettings
    from lscfg.prepare.tokeniser import TOKENISERS
    from lscfg.settings import SettingError, from_kind_options, from_options, option_error

    kinds = TEXT_READERS.settings()
    reading = from_kind_options(reader_of(args.files, getattr(args, "format", None)), kinds, args)
    tokenisation = from_kind_options(getattr(args, "tokeniser", PrepareSettings.tokeniser), TOKENISERS.settings(), args)
    settings = from_options(PrepareSettings, args, reading=reading, tokenisation=tokenisation)
    files = RawFiles(tuple(args.files), tuple(args.dev_files), tuple(args.test_files))
    try:
        with in_processes(args.jobs) as engine, replaced_folder(args.output, RECORD) as folder:
            record = prepare_corpus(files, settings, folder, engine)
    except SettingError as error:  # what no setting tells by itself
        raise option_error(PrepareSettings, error) from None
    for line in record.summary():
        log.info(line)
    log.info(f"wrote {args.output}; each pair that was dropped is in {Path(args.output) / DROPPED}")


def _convert(args: argparse.Namespace) -> None:
    import sys

    from lscfg.io.text import stream_lines
    from lscfg.prepare.record import Record

    source, target = Record.read(args.folder).sides
    recipe = source if args.action == "apply" and args.side == "source" else target
    side = recipe.side()
    work = side.encode if args.action == "apply" else side.decode
    for line in stream_lines(args.text or "/dev/stdin"):
        sys.stdout.write(work(line) + "\n")
