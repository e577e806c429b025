"""Tuning for programs: the weights of a decoder's configuration from lists of lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lscfg.api.arguments import brief, check_lines, check_number, check_path, check_weights
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.inputs import check_inputs
from lscfg.errors import InputError, counted
from lscfg.formats.ini import read_ini
from lscfg.formats.weights import read_weights
from lscfg.parallel.choose import in_processes
from lscfg.settings import settings_from
from lscfg.tuning.experiment.schema import START_WEIGHTS
from lscfg.tuning.tune import TuneSettings, tune


def tune_decoder(
    config: str | os.PathLike[str],
    source: Iterable[str],
    reference: Iterable[str] | Sequence[Iterable[str]],
    weights: str | os.PathLike[str] | Mapping[str, float] | None = None,
    *,
    jobs: int = 1,
    **settings: Any,
) -> dict[str, float]:
    """Tunes the feature weights of the built-in decoder on a development set; ``lscfg.tune``.

    Args:
        config: a ``cdec.ini``, such as ``lscfg init`` writes.
        source: tokenised sentences.
        reference: their translations, or a list of several reference sets.
        weights: start weights, or a file of them; None: the start weights of ``lscfg init``.
        jobs: processes; the result does not depend on their number.
        settings: settings of ``lscfg tune weights``, such as ``iterations=5``.

    Returns:
        Weights by feature, for ``lscfg.Decoder``.

    Raises:
        InputError: a file cannot be read, numbers of lines differ, or a setting or weight is out of its range.
        TypeError: an argument has another type, or there is no such setting.
    """
    config, lines = check_path(config, "config"), check_lines(source, "source")
    check_inputs(lines, "source", read_ini(config))
    references = _references(reference)
    for number, document in enumerate(references):
        if len(document) != len(lines):
            name = "reference" if len(references) == 1 else f"reference[{number}]"
            raise InputError(f"{name} has {counted(len(document), 'line')}, but source has {len(lines)}; give pairs")
    made, workers = settings_from(TuneSettings, settings, "tune"), int(check_number(jobs, "jobs", 1))
    with in_processes(workers) as engine, EmbeddedDecoder.from_ini(config, engine, needed=False) as decoder:
        if weights is None:
            start = {name: START_WEIGHTS.get(name, 0.0) for name in decoder.feature_names}
        elif isinstance(weights, Mapping):
            start = check_weights(weights, "weights")
        else:
            start = read_weights(check_path(weights, "weights"))
        return dict(tune(decoder, lines, references, start, made).weights)


def _references(value: Any) -> list[list[str]]:
    """Reference sets: one list of lines, or several.

    Raises:
        TypeError: the value is neither.
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"reference must be a list of lines, not {brief(value)}")
    given = [*value]
    if given and not isinstance(given[0], str) and isinstance(given[0], Iterable):
        return [check_lines(document, f"reference[{number}]") for number, document in enumerate(given)]
    return [check_lines(given, "reference")]
