"""The stage that learns the confidence in a system's translations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from lscfg import log
from lscfg.bundle.places import CONFIDENCE
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.formats.ini import write_ini
from lscfg.formats.weights import read_weights
from lscfg.io.read import read_lines
from lscfg.parallel.choose import in_processes
from lscfg.tuning.confidence import FEWEST, judge, learn_confidence
from lscfg.tuning.experiment.stage import File, Input, Stage, version
from lscfg.tuning.experiment.stages.decoding import INI, WEIGHTS, decoder_config
from lscfg.tuning.experiment.system import DecoderFiles, Experiment, SystemDecoder, SystemPlan, Texts


@dataclass(frozen=True)
class ConfidenceFiles(Generic[File]):
    """A tuned system and the development set."""

    decoder: DecoderFiles[File]
    weights: File
    dev_source: File
    dev_references: tuple[File, ...]


@version(6, spare=(INI,), shares=True, growth=20)
def confidence(folder: Path, settings: SystemDecoder, inputs: ConfidenceFiles[Path], jobs: int) -> None:
    """Learns the confidence from the development set, whose few tuned weights leave it nearly as hard as other text.

    500 pairs held out of training would do little better: on 1,500 fresh pairs, they change the expected calibration
    error of translations from 0.034 to 0.039 and from 0.042 to 0.038 (MIN and LATENT-16 of ja-en), and from 0.042 to
    0.039 and from 0.049 to 0.037 (de-en), of which 0.025 to 0.033 are chance (benchmarks/confidence.py).
    A development set that is too small, or whose references share no word with the translations, yields no file.
    """
    write_ini(folder / INI, decoder_config(settings, folder, inputs.decoder))
    sources, weights = read_lines(inputs.dev_source), read_weights(inputs.weights)
    references = [read_lines(path) for path in inputs.dev_references]
    with in_processes(jobs) as engine, EmbeddedDecoder.from_ini(folder / INI, engine, cached=0) as decoder:
        text = judge(decoder.translate(sources, weights, details=True), references)
    if len(text.details) < FEWEST:
        log.info(
            f"no confidence: the development set has fewer than {FEWEST} sentences with a parse, words and a reference"
        )
        return
    if not text.matched.any():
        log.warning("no confidence: no word of the translations of the development set is in a reference")
        return
    learn_confidence(text, weights).write(folder / CONFIDENCE)


def confidence_stage(experiment: Experiment, system: str, plan: SystemPlan, texts: Texts) -> Stage | None:
    """The stage of a system's first run; None for a system that translates no new text, and for other decoders."""
    if plan.decoder is None or plan.files is None or not experiment.decoder.host.DERIVATIONS:
        return None
    if not experiment.systems[system].translates_new_text:
        return None
    files = ConfidenceFiles[Input](plan.files, plan.tuned[0] / WEIGHTS, texts.dev_source, texts.dev_references)
    return Stage("confidence", confidence, plan.decoder, files)
