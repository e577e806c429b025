"""What a checkpoint of EM says of where EM stands (docs/reference/formats.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def check_state(facts: Mapping[str, Any], restarts: int, held_out: bool) -> None:
    """Refuses what no checkpoint says of where EM stands, or of its best model.

    Raises:
        ValueError: the fact that is wrong.
    """
    figures = {"train", "held out"} if held_out else {"train"}

    def is_step(step: object) -> bool:
        return isinstance(step, dict) and step.keys() == figures and all(type(x) is float for x in step.values())

    def is_history(history: object) -> bool:
        return isinstance(history, list) and all(map(is_step, history))

    finished = facts.get("finished", [])
    right: dict[str, Callable[[Any], bool]] = {
        "restart": lambda value: type(value) is int and 0 <= value < restarts,
        "iteration": lambda value: type(value) is int and value >= 0,
        "score": lambda value: type(value) is float and np.isfinite(value),
        "history": is_history,
        "finished": lambda value: isinstance(value, list) and all(map(is_history, value)),
    }
    for name in ("restart", "history", "finished") if "history" in facts else ("restart", "score", "iteration"):
        if not right[name](facts.get(name)):
            raise ValueError(f"its state has no {name} that could be")
    if "history" in facts and len(finished) != facts["restart"]:
        raise ValueError("its state has other restarts than it says")
