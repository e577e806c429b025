"""Tests of many random cases, each too quick to be an item of pytest, which takes several milliseconds."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest


def seeds(count: int, together: int = 20) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorator of a test that calls it with ``seed`` = 0 to ``count`` - 1, ``together`` of them in one item.

    A failure names its seed. Fixtures are shared within an item.
    """

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(first_seed: int, **others: Any) -> None:
            for seed in range(first_seed, min(first_seed + together, count)):
                try:
                    test(seed=seed, **others)
                except BaseException as error:
                    error.add_note(f"seed = {seed}")
                    raise

        own = inspect.signature(test)
        names = ["first_seed" if name == "seed" else name for name in own.parameters]
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
        )
        decorated: Callable[..., None] = pytest.mark.parametrize("first_seed", range(0, count, together))(run)
        return decorated

    return decorate
