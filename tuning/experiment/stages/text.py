"""Stages from raw text to words, and from translations back to text."""

from __future__ import annotations

from pathlib import Path

from lscfg.io.text import read_lines, write_json, write_lines
from lscfg.tuning.experiment.stages import Facts, Files, several, version

RESTORED, RESTORED_BLEU = "restored", "restored.json"


@version(1)
def prepare(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """A corpus with dev and test sets, and what new text needs; see ``lscfg.prepare.corpus``."""
    from lscfg import log
    from lscfg.kinds import TEXT_SOURCES, TOKENISERS, kind
    from lscfg.parallel.choose import in_processes
    from lscfg.prepare.corpus import RawFiles, prepare_corpus
    from lscfg.prepare.settings import PrepareSettings
    from lscfg.settings import settings_of

    own = {item.name for item in settings_of(PrepareSettings)}
    options = PrepareSettings(
        **{name: value for name, value in settings.items() if name in own},
        reading=kind(TEXT_SOURCES, settings["format"]).Settings.of(settings["reading"]),
        tokenisation=kind(TOKENISERS, settings["tokeniser"]).Settings.of(settings["tokenisation"], inputs),
    )
    files = RawFiles(
        *(tuple(inputs[key] for key in several(name, inputs)) for name in ("corpus", "dev file", "test file"))
    )
    with in_processes(jobs) as engine:
        record = prepare_corpus(files, options, folder, engine)
    for line in record.summary():
        log.info(line)


@version(1)
def restore(folder: Path, settings: Facts, inputs: Files, jobs: int) -> None:
    """One output as people would write it, and its BLEU against references as people wrote them."""
    from lscfg.prepare.record import Record
    from lscfg.tuning.evaluate import restored_bleu

    side = Record.read(inputs["record"].parent).sides[1].side()
    lines = [side.decode(line) for line in read_lines(inputs["output"])]
    references = [read_lines(inputs[name]) for name in several("test reference", inputs)]
    bleu, signature = restored_bleu(lines, references, settings["tokens"])
    write_lines(folder / RESTORED, lines)
    write_json(folder / RESTORED_BLEU, {"bleu": bleu, "signature": signature})
