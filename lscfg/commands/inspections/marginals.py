"""``lscfg inspect marginals``: marginals and features of sentences, as JSON or as grammars."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from lscfg.bundle.system import open_glossary
from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.commands.inspections.sentence import model_or_ini
from lscfg.corpus.parallel import check_plain, check_sentences
from lscfg.decode.analysis import Analyser, Analysis, Cut
from lscfg.decode.sentence_grammars import SentenceGrammars
from lscfg.errors import InputError
from lscfg.formats.forests import ForestFile, StoredForest
from lscfg.formats.ini import read_ini
from lscfg.io.arguments import InputFile, output_folder
from lscfg.io.read import read_lines
from lscfg.io.write import atomic_write
from lscfg.kernel import PAPER_FEATURES, FeatureOptions
from lscfg.log import info, progress, warning
from lscfg.options import add_glossary, add_jobs, add_output
from lscfg.parallel.choose import in_threads
from lscfg.parser import CommandParser
from lscfg.study.heatmap import HeatMapFolder

HELP = "write the marginals and features of sentences as JSON"

TABLE = "features"


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "model",
        type=model_or_ini,
        metavar="MODEL",
        help="model, which parses with its own rules, or cdec.ini with an LSCFG line, which sets the grammar "
        "(for --per-sentence-grammars also without)",
    )
    parser.add_argument(
        "text", type=InputFile, metavar="TEXT", help="tokenised source sentences, one per line; or forests"
    )
    parser.add_argument(
        "--forests",
        action="store_true",
        help="TEXT holds forests of lscfg cdec forest or of this command; nothing is parsed",
    )
    add_output(parser)
    parser.add_argument(
        "--per-sentence-grammars",
        type=output_folder("cdec.ini", "segments.sgm", "grammar.*.gz", new=True),
        metavar="DIR",
        help="folder for a grammar of each sentence, with which a plain cdec decodes like lscfg; JSON only with -o",
    )
    parser.add_argument(
        "--heat-maps",
        type=output_folder("index.html", "*.svg", new=True),
        metavar="DIR",
        help="folder for a heat map of each sentence and a page with all of them; JSON only with -o",
    )
    parser.add_argument(
        "--top", type=int, metavar="N", help="write the N applications of each node with the largest |marginal|"
    )
    parser.add_argument(
        "--min-marginal",
        type=float,
        default=0.0,
        metavar="X",
        help="write the applications with |marginal| of X or more, such as 1e-4 (default: all)",
    )
    add_glossary(parser, "terms that the grammars of --per-sentence-grammars obey, as in lscfg decode")
    add_jobs(parser)
    add_settings(parser, Table(TABLE, (FeatureOptions,)))


def run(args: argparse.Namespace) -> None:
    """Writes one JSON object per sentence, or grammars.

    Raises:
        InputError: a file cannot be read or is malformed, or options do not go together.
    """
    given = GivenSettings(args, TABLE)
    cut = Cut(args.top, args.min_marginal)
    if (args.per_sentence_grammars or args.heat_maps) and not args.output and not cut.is_none:
        what = "the grammars" if args.per_sentence_grammars else "the heat maps"
        raise InputError(f"--top and --min-marginal limit the JSON, not {what}; name a file for the JSON with -o")
    if args.forests and args.per_sentence_grammars:
        raise InputError("--per-sentence-grammars needs sentences that are parsed here, not --forests")
    if args.glossary and (not args.per_sentence_grammars or args.output or args.heat_maps):
        raise InputError("--glossary needs --per-sentence-grammars, without -o and --heat-maps")
    is_ini, shown = args.model.endswith(".ini"), args.output or args.heat_maps
    if is_ini and given.keys(TABLE):
        raise InputError("the LSCFG line sets the features' options; change them there", args.model)
    forests = ForestFile(args.text, read_ini(args.model).grammars if is_ini else ()) if args.forests else None
    grammar = None if forests is None else forests.grammar
    if is_ini:
        analyser = Analyser.from_ini(args.model, grammar, needed=bool(shown) or not args.per_sentence_grammars)
    else:
        analyser = Analyser.from_model(args.model, _features(given), grammar)
    grammars, total = None, None
    items: Iterable[object]
    if forests is not None:
        items = forests
    else:
        sentences = read_lines(args.text)
        check_plain(sentences, args.text, "let cdec parse it with lscfg cdec forest, and give --forests")
        check_sentences(sentences, args.text, allow_empty=True)
        if args.glossary:
            _write_obeying(args, analyser, sentences)
            return
        items, total = enumerate(sentences), len(sentences)
        if args.per_sentence_grammars:
            grammars = SentenceGrammars(args.per_sentence_grammars, analyser, sentences)
    heat_maps = HeatMapFolder(args.heat_maps) if args.heat_maps else None
    with_json = (grammars is None and heat_maps is None) or args.output

    def work(item: Any) -> tuple[int, Analysis]:
        if isinstance(item, StoredForest):
            return item.number, analyser.stored(item)
        number, sentence = item
        analysis = analyser(sentence, number)
        if grammars is not None:
            grammars.write(number, analysis)
        return number, analysis

    output = atomic_write(args.output, "wb") if args.output else nullcontext(sys.stdout.buffer)
    size = _Size(total, not cut.is_none)
    with in_threads(args.jobs) as engine, output as file:
        for number, analysis in progress(engine.map(work, items), "marginals", total):
            if with_json:
                file.writelines(size.of(analyser.json_parts(number, analysis, cut)))
                file.write(b"\n")
                size.end()
            if heat_maps is not None:
                heat_maps.add(number, analysis.words, analysis.chart())
    if heat_maps is not None:
        info(f"wrote {heat_maps.finish(os.path.basename(args.model))}")
    if with_json:
        info(size.summary(args.output))
    if grammars is not None:
        grammars.finish()
    analyser.report()


def _write_obeying(args: argparse.Namespace, analyser: Analyser, sentences: Sequence[str]) -> None:
    """Writes grammars that obey a glossary."""
    terms = open_glossary(args.glossary, args.model).index()
    grammars = SentenceGrammars(args.per_sentence_grammars, analyser, sentences, terms)
    numbers = progress(range(len(sentences)), "grammars", len(sentences))
    found = [grammars.write_obeying(number) for number in numbers]
    grammars.finish()
    places, overlaps = (sum(len(one[k]) for one in found) for k in (0, 2))
    info(f"{args.glossary}: terms occur at {places} places")
    if overlaps:
        warning(f"{args.glossary}: at {overlaps} more places terms overlap longer or earlier ones and do not count")
    analyser.report()


def _features(given: GivenSettings) -> FeatureOptions:
    """The given options; without named features, those of the paper."""
    made: FeatureOptions = given.build(TABLE, FeatureOptions)
    return made if "names" in given.keys(TABLE) else dataclasses.replace(made, names=PAPER_FEATURES)


class _Size:
    """The amount of JSON written so far, and an estimate of the whole.

    Args:
        total: number of sentences, if it is known.
        is_cut: no warning is needed.
    """

    LARGE = 1_000_000_000
    """Bytes of output that deserve a warning beforehand."""
    SAMPLE = 5
    """Sentences from which the size of the whole output is estimated."""

    def __init__(self, total: int | None, is_cut: bool):
        self._total, self._warned = total, is_cut
        self._sentences = self._bytes = 0

    def of(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """The parts, counted."""
        for part in parts:
            self._bytes += len(part)
            yield part

    def end(self) -> None:
        """Ends a sentence. Warns once if the whole output will be large."""
        self._sentences += 1
        expected = self._bytes
        if self._total is not None and self._sentences >= min(self.SAMPLE, self._total):
            expected = self._bytes * self._total // self._sentences
        if expected > self.LARGE and not self._warned:
            self._warned = True
            warning(f"about {expected / 1e9:.1f} GB of JSON; --top 10 or --min-marginal 1e-4 writes only what matters")

    def summary(self, path: str | None) -> str:
        """One line of log."""
        mean = self._bytes / max(1, self._sentences)
        line = f"{self._sentences} sentences, {self._bytes / 1e6:.1f} MB of JSON, {mean / 1e3:.0f} kB per sentence"
        if path is not None and path.endswith(".gz") and os.path.isfile(path):
            line += f"; compressed {os.path.getsize(path) / 1e6:.1f} MB"
        return line
