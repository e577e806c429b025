"""What the stages of an experiment do, from text to score.

Each is a function ``work(folder, settings, inputs, jobs)`` that writes files into its folder. It sees nothing of the
experiment but its settings, as JSON has them, and its input files, by name, so that what it makes depends on its key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

Facts = Mapping[str, Any]
Files = dict[str, Path]
Function = TypeVar("Function", bound=Callable[..., None])


def version(
    number: int, spare: tuple[str, ...] = (), shares: bool = False, growth: int | None = None
) -> Callable[[Function], Function]:
    """Notes the version of a stage: it grows whenever the same settings and inputs give other files.

    Args:
        spare: patterns of files that nobody needs once the stage is finished.
        shares: the work is done by ``lscfg.parallel.choose.in_processes``, while the stage itself waits.
        growth: bytes of memory, at most, for a byte of input, of a stage that may run beside others; None: it may not.
    """

    def noted(work: Function) -> Function:
        work.version, work.spare, work.shares, work.growth = number, spare, shares, growth  # type: ignore[attr-defined]
        return work

    return noted


def several(name: str, files: Iterable[str]) -> list[str]:
    """The names of those inputs that are several of one kind, in order: ``"alignments 001"``, ..."""
    return sorted(key for key in files if key.startswith(f"{name} "))
