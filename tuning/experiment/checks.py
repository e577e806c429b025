"""Checks of an experiment before hours of work: its decoder, its text, and the folder of its results."""

from __future__ import annotations

import os
from itertools import chain, product
from pathlib import Path

from lscfg import log
from lscfg.bundle.places import CONFIDENCE, PREPARED
from lscfg.corpus.parallel import check_plain, check_sentences, read_parallel, read_scored_lines
from lscfg.errors import InputError, counted
from lscfg.io.read import read_lines
from lscfg.tuning.doubts import missing_references
from lscfg.tuning.experiment.schema import RawCorpus
from lscfg.tuning.experiment.stages.text import warn_of_known
from lscfg.tuning.experiment.system import Experiment

RESULTS = ("results.json", "manifest.json", "report.html")

OF_RUN = ("weights", "tuning.json", "test.output", "test.restored")
"""Files for users of each tuning of a system."""

PUBLISHED = ("cdec.ini", *OF_RUN, CONFIDENCE, PREPARED)
"""Files for users in the folder of a system, of which the first tuning is."""


def check_corpus(experiment: Experiment) -> None:
    """Reads all text once, so that a bad line shows before hours of work.

    Of the sources, only that of the test set may have empty lines, which are translated as empty lines. Sentences
    without a reference are warned of here, and those with some references where they are scored.

    Raises:
        InputError: see ``lscfg.corpus.parallel``; or [report] names a line that the test set lacks.
    """
    corpus = experiment.corpus
    if isinstance(corpus, RawCorpus):  # the preparation checks it
        count = experiment.prepare.test or len(read_lines(corpus.held_out("test")[0]))
        return _check_charted(experiment, count, corpus.test_source or corpus.source[0])
    read_parallel(corpus.source, corpus.target)
    for name, source, references in (
        ("dev", corpus.dev_source, corpus.dev_reference),
        ("test", corpus.test_source, corpus.test_reference),
    ):
        lines = read_lines(source)
        if not lines:
            raise InputError(f"the {name} set is empty", source)
        check_sentences(lines, source, allow_empty=name == "test")
        check_plain(lines, source)
        documents = [read_scored_lines(reference, len(lines), source) for reference in references]
        if missing := missing_references(documents, lines):
            log.warning(f"{references[0]}: {missing}")
    _warn_of_leaks(experiment)
    _check_charted(experiment, len(read_lines(corpus.test_source)), corpus.test_source)


def _warn_of_leaks(experiment: Experiment) -> None:
    """Warns if the monolingual text contains references, which flatter the language model and new rules."""
    corpus, texts = experiment.corpus, experiment.monolingual.target
    assert not isinstance(corpus, RawCorpus)
    if texts:
        warn_of_known(
            (line for path in texts for line in read_lines(path)), (*corpus.dev_reference, *corpus.test_reference)
        )


def _check_charted(experiment: Experiment, count: int, path: Path) -> None:
    last = max(experiment.report.sentences, default=0)
    if last > count:
        raise InputError(f"has {counted(count, 'line')}; [report] asks for a chart of line {last}", path)


def check_folder(folder: Path, experiment: Experiment) -> None:
    """Refuses files in the place of folders of the run, and folders in the place of files, before the work.

    Raises:
        InputError: a path of a folder is a file, or a path of a file is a folder.
    """
    systems = [f"systems/{system}" for system in experiment.systems]
    runs = [f"{system}/run{number}" for system in systems for number in range(2, experiment.tuning.runs + 1)]
    for name in ("cache", "systems", *systems, *runs):
        if os.path.lexists(folder / name) and not (folder / name).is_dir():
            raise InputError("is a file where the run needs a folder; remove it and run again", folder / name)
    files = product(systems, PUBLISHED), product(runs, OF_RUN)
    for name in (*RESULTS, *map("/".join, chain(*files))):
        if (folder / name).is_dir():
            raise InputError("is a folder where the run needs a file; remove it and run again", folder / name)
