"""Assertions of test files, rewritten ahead of collection."""

import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.assertion import rewrite as assertions


def rewrite(paths: Iterable[Path], config: pytest.Config) -> None:
    """Rewrites files that pytest has not rewritten before, and keeps the code where pytest looks for it.

    All workers of pytest-xdist collect all files in one order, at the same time. In a clean checkout each would rewrite
    all of them, which takes most of its time; after a share each, a worker finds the code of the others.
    """
    if sys.dont_write_bytecode or config.option.assertmode != "rewrite":
        return
    for path in paths:
        kept = assertions.get_cache_dir(path) / f"{path.stem}{assertions.PYC_TAIL}"
        if not kept.exists() and assertions.try_makedirs(kept.parent):
            source, code = assertions._rewrite_test(path, config)
            assertions._write_pyc(config.stash[assertions.assertstate_key], code, source, kept)
