"""Language models from text, by the built-in estimator or KenLM's ``lmplz``."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lscfg.errors import InputError, exit_reason
from lscfg.io.arpa import check_arpa
from lscfg.io.write import atomic_write
from lscfg.lm.counts import tokenized_lines
from lscfg.lm.estimate import (
    check_fallback,
    check_order,
    estimate_ngrams,
    prune_thresholds,
    write_arpa,
)

ESTIMATORS = ("lscfg", "lmplz")

_MEMORY = 1024
"""Sorting memory of ``lmplz`` in MiB, beyond which it uses the disk; its default is most of the machine's memory."""


def build_lm(
    text_path: str | os.PathLike[str],
    arpa_path: str | os.PathLike[str],
    order: int = 4,
    prune: Sequence[int] = (),
    discount_fallback: Sequence[float] | None = None,
    estimator: str = "lscfg",
) -> None:
    """Estimates an n-gram model (interpolated modified Kneser-Ney) from a text and writes it in ARPA, atomically.

    Args:
        text_path: one tokenised sentence per line, UTF-8, may be compressed.
        arpa_path: the file to write; compressed if its name ends in .gz.
        order: length of the longest n-grams, 2..6.
        prune: n-grams up to these raw counts are dropped; one threshold for each order, never falling.
        discount_fallback: up to three discounts for orders whose discounts the text does not determine.
        estimator: ``lscfg`` for the built-in estimator, in memory; ``lmplz`` for KenLM's, on disk.

    Raises:
        InputError: bad arguments or text, or ``lmplz`` is missing or failed (the error contains its messages).
    """
    if estimator not in ESTIMATORS:
        raise InputError(f"unknown estimator {estimator}; choose among {', '.join(ESTIMATORS)}")
    check_order(order)
    thresholds = prune_thresholds(prune, order)
    fallback = check_fallback(discount_fallback)
    if estimator == "lmplz":
        program = shutil.which("lmplz")
        if program is None:
            raise InputError(
                "lmplz is not on the PATH; install KenLM's programs, or use the built-in estimator (lscfg)"
            )
        _run_lmplz(program, text_path, arpa_path, order, thresholds, fallback)
    else:
        write_arpa(estimate_ngrams(text_path, order, thresholds, fallback), arpa_path)


def _run_lmplz(
    program: str,
    text_path: str | os.PathLike[str],
    arpa_path: str | os.PathLike[str],
    order: int,
    thresholds: list[int],
    fallback: tuple[float, float, float] | None,
) -> None:
    """Runs ``lmplz`` on a copy of the text, so that both estimators read compressed files and unfinished last lines."""
    with tempfile.TemporaryDirectory(prefix="lscfg-lm-") as folder:
        text, arpa = Path(folder, "text"), Path(folder, "arpa")
        with atomic_write(text) as file:
            file.writelines(" ".join(words) + "\n" for words in tokenized_lines(text_path))
        command = [program, "-o", str(order), "-S", f"{_MEMORY}M", "-T", f"{folder}/"]
        command += ["--text", str(text), "--arpa", str(arpa)]
        if any(thresholds):
            command += ["--prune", *map(str, thresholds)]
        if fallback is not None:
            command += ["--discount_fallback", *(f"{discount:g}" for discount in fallback)]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        except OSError as error:
            raise InputError(
                f"cannot run: {error.strerror or error}; repair it or use --estimator lscfg", program
            ) from error
        if done.returncode != 0:
            raise InputError(
                f"lmplz failed ({exit_reason(done.returncode)}): {_messages(done.stderr)}; "
                "remove the cause, or try the built-in estimator (--estimator lscfg)",
                text_path,
            )
        try:
            check_arpa(arpa, order)
        except InputError as error:
            raise InputError(f"lmplz wrote no valid model: {error}; use --estimator lscfg", text_path) from error
        with open(arpa, "rb") as source, atomic_write(arpa_path, "wb") as target:
            shutil.copyfileobj(source, target)


def _messages(stderr: bytes) -> str:
    """Messages of ``lmplz`` in one line, without its progress bars and banners."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines()]
    said = [line for line in lines if line and not line.startswith(("===", "----", "****", "Reading "))]
    return " ".join(said[-6:]).rstrip(".;") or "no message"
