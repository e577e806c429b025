"""Hiero rules of sentence pairs in memory."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

from lscfg.extract.hiero import HieroRules, extract_files
from lscfg.extract.hiero_settings import HieroLimits
from lscfg.io.write import write_lines


def extract_pairs(pairs: Iterable[tuple[str, str, str]], limits: HieroLimits | None = None) -> HieroRules:
    """Extracts the rules from files f, e and al of source sides, target sides and links."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("f", "e", "al")]
        for path, lines in zip(paths, zip(*pairs, strict=True), strict=True):
            write_lines(path, lines)
        return extract_files(*paths[:2], paths[2:], limits)
