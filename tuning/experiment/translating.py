"""The best system of a finished experiment, and the commands that translate with it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lscfg.tuning.experiment.system import Experiment
from lscfg.tuning.metrics.tuned import deciding_metric


def best_system(results: Mapping[str, Any], experiment: Experiment) -> str | None:
    """The system with the best dev score in the metric of tuning, of those that translate new text; None if none does.

    Args:
        results: content of ``results.json``.
    """
    rows = [row for row in results["systems"] if experiment.systems[row["system"]].translates_new_text]
    column = f"dev_{deciding_metric(results)[1]}"
    return str(max(rows, key=lambda row: row[column])["system"]) if rows else None


def translation_command(folder: Path, system: str, prepared: bool) -> str:
    """The command that translates a file with a system; of raw text, addresses and the like stay unchanged.

    Args:
        folder: folder of the experiment.
        prepared: the text was raw.
    """
    place = folder / "systems" / system
    decode = shlex.join(["lscfg", "decode", "-c", str(place / "cdec.ini"), "-w", str(place / "weights")])
    return f"{decode} --xml-input document TEXT.txt" if prepared else f"{decode} TEXT"
