"""Which systems a system may choose from the translations of."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lscfg.errors import quote
from lscfg.tuning.experiment.schema import System


def agreement_fault(system: System, systems: Mapping[str, System], before: Collection[str]) -> tuple[str, str] | None:
    """The key of a system that is wrong, and what is wrong with it; None if nothing is.

    Args:
        before: the names of the systems before it.
    """
    if system.before and systems[system.before].agree:
        return "start", f"start: {system.before} chooses from others, and has no weights"
    for member in system.agree:
        if member not in before or systems[member].agree:
            return "agree", f"agree: {quote(member)} is no system before this one with rules of its own"
    if len(system.agree) == 1 or len({*system.agree}) < len(system.agree):
        return "agree", "agree must name two systems or more, each once"
    return None
