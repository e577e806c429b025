"""``lscfg decode``: translation with the embedded decoder."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lscfg import log
from lscfg.bundle.new_text import warn_of_filtered_rules, warned_of_raw_text
from lscfg.bundle.places import confidence_of, number_formats
from lscfg.bundle.typed import TypedWords
from lscfg.corpus.tolerant import tolerated
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.derivations import derivations_json
from lscfg.decode.inputs import check_inputs, input_fault
from lscfg.decode.taught import ConflictReport
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig, find_file, read_ini
from lscfg.formats.kbest import format_hypothesis
from lscfg.formats.marked import MODES
from lscfg.formats.segments import StreamIds, check_ids, grammars_of_lines
from lscfg.formats.weights import read_weights
from lscfg.io.arguments import OutputFile, StandardInput, check_kept, file_or_stream
from lscfg.io.read import read_lines
from lscfg.io.stream import STANDARD_INPUT, LineStream
from lscfg.io.write import atomic_write, put_as_they_come
from lscfg.later import later
from lscfg.options import (
    add_cluster,
    add_config,
    add_corrections,
    add_glossary,
    add_jobs,
    add_kbest,
    add_output,
    add_weights,
)
from lscfg.parallel.choose import in_processes, on_cluster

if TYPE_CHECKING:
    from lscfg.api import opened as absolutes
    from lscfg.bundle import system
    from lscfg.decode import glossary
    from lscfg.decode import memory as memories
    from lscfg.serve import filled
else:
    absolutes = later("lscfg.api.opened")
    system = later("lscfg.bundle.system")
    glossary = later("lscfg.decode.glossary")
    memories = later("lscfg.decode.memory")
    filled = later("lscfg.serve.filled")

DOCUMENT = "document"
"""Value of --xml-input for raw files in the format of their name."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "text",
        type=file_or_stream,
        metavar="TEXT",
        help="tokenised sentences or lattices, one per line; - translates standard input line by line, a bad line as "
        "an empty one",
    )
    add_config(parser)
    add_weights(parser)
    add_output(parser)
    add_kbest(parser)
    parser.add_argument(
        "--derivations",
        type=OutputFile,
        metavar="FILE",
        help="derivations of the translations to write as JSON lines, .gz allowed",
    )
    add_glossary(parser)
    parser.add_argument(
        "--xml-input",
        choices=(*MODES, DOCUMENT),
        help='use of <np translation="a||b" prob="0.8||0.2">words</np> in the text, as in Moses (default: tags are '
        "words); or document: TEXT is raw .txt, .html, .srt or .xlf",
    )
    add_corrections(parser)
    add_jobs(parser)
    add_cluster(parser)


def run(args: argparse.Namespace) -> None:
    """Translates; writes one line or one k-best list per sentence.

    Raises:
        InputError: a file cannot be read or is malformed, or there are no weights.
    """
    if args.xml_input == DOCUMENT:
        _translate_document(args)
        return
    stream = LineStream() if isinstance(args.text, StandardInput) else None
    # a worker has another working directory
    config = absolutes.absolute_config(args.config) if args.cluster else read_ini(args.config)
    sentences = _sentences(args, config, stream)
    total = len(sentences) if isinstance(sentences, list) else None
    place, name = Path(args.config), STANDARD_INPUT if stream is not None else str(args.text)

    def groups() -> Iterator[list[str]]:
        """The output lines of each sentence; also writes the derivations."""
        translated = decoder.translate(
            map(sent, warned_of_raw_text(sentences, place, lambda: decoder.grammar, name, args.xml_input is not None)),
            weights,
            1 if k is None else k,
            unique,
            args.derivations is not None,
            stream,
            terms=() if report is None else report.index,
            memory=memory,
            xml_input=args.xml_input,
            numbers=numbers,
            details=confidence is not None,
        )
        if stream is None and (args.output is not None or not sys.stdout.isatty()):
            translated = log.progress(translated, "decoding", total)
        for number, sentence in enumerate(translated):
            label, moved = (number, "") if k is None and details is None else ids.next(sentence.sentence)
            if moved:
                log.warning(f"{name}:{number + 1}: {moved}")
            if details is not None:
                judged = sentence if confidence is None else confidence.judged(sentence)
                details.write(derivations_json(label, judged) + "\n")
            if report is not None:
                report.add(sentence.found, {one.source for one in sentence.terms}, bool(sentence.unparsed), number)
            conflicts.add(sentence, number)
            if k is None:
                yield [typed.best(sentence)]
            else:
                yield [format_hypothesis(label, one) for one in sentence.hypotheses]

    ids, numbers = StreamIds(), number_formats(args.config)
    opened = None if args.glossary is None else system.open_glossary(args.glossary, args.config)
    report = None if opened is None else glossary.GlossaryReport(opened)
    folder = os.path.abspath(args.corrections) if args.cluster and args.corrections else args.corrections
    memory = None if folder is None else memories.Memory(folder)
    sent = partial(absolutes.absolute_segment, ini=args.config) if args.cluster else str
    conflicts, typed = ConflictReport(), TypedWords(args.config, {} if opened is None else opened.typed)
    with (
        on_cluster(args.cluster),
        in_processes(args.jobs if total is None else max(1, min(args.jobs, total))) as engine,
        EmbeddedDecoder.from_config(config, engine, cached=0, needed=False) as decoder,
    ):
        path = args.weights or decoder.config.weights
        if path is None:
            raise InputError("no weights; name them with -w, or with weights= in the ini", args.config)
        k = decoder.config.k_best if args.kbest is None else args.kbest
        if args.unique and k is None:
            raise InputError("-r has no effect without -k; give both, or neither")
        unique = args.unique or decoder.config.unique_k_best
        weights = read_weights(path)
        confidence = None if args.derivations is None else confidence_of(args.config, weights)
        given = sentences if isinstance(sentences, list) else []
        decoder.names.with_lines(given, config).check(weights, path)
        warn_of_filtered_rules(place, sentences if isinstance(sentences, list) else None)
        with nullcontext() if args.derivations is None else atomic_write(args.derivations) as details:
            put_as_they_come(args.output, groups())
    if report is not None:
        report.finish()
    conflicts.finish()


def _sentences(args: argparse.Namespace, config: DecoderConfig, stream: LineStream | None) -> Iterable[str]:
    """The sentences: a list of those of a file."""
    taught = args.glossary is not None or args.corrections is not None
    if stream is not None:
        return tolerated(stream, fault=partial(input_fault, config=config, xml_input=args.xml_input, taught=taught))
    sentences = read_lines(args.text)
    check_inputs(sentences, args.text, config, args.xml_input, taught=taught)
    grammars = (find_file(name, config.path or "") for name in grammars_of_lines(sentences))
    check_kept(args, [str(path) for path in grammars if path is not None])
    if args.kbest is not None or config.k_best is not None or args.derivations is not None:
        check_ids(sentences, args.text)
    return sentences


def _translate_document(args: argparse.Namespace) -> None:
    """Writes a document in which the texts are translated and all other bytes stay.

    Raises:
        InputError: a file cannot be read or is malformed, or an option does not fit.
    """
    options = {
        "-k": args.kbest,
        "-r": args.unique or None,
        "--derivations": args.derivations,
        "--cluster": args.cluster,
    }
    for option, value in options.items():
        if value is not None:
            raise InputError(f"{option} does not fit --xml-input document; leave one of them out")
    if isinstance(args.text, StandardInput):
        raise InputError("--xml-input document needs the name of a file, which ends in .txt, .html, .srt or .xlf")
    terms, report = None, None
    if args.glossary is not None:
        terms = glossary.Glossary.read(args.glossary)
        report = glossary.GlossaryReport(system.open_glossary(terms, args.config))
    if args.corrections is not None:
        memories.check_journal(args.corrections)
    opened = filled.document_system(args.config, args.weights, terms, args.corrections)
    with in_processes(args.jobs) as engine:
        data = filled.translated_document(opened, str(args.text), engine, report)
    if report is not None:
        report.finish()
    if args.output:
        with atomic_write(args.output, "wb") as file:
            file.write(data)
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
