"""Numbers of the report as text."""

from __future__ import annotations


def decimal(value: float | None, digits: int = 2) -> str:
    """A number with a minus sign where it is negative; a dash for None."""
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 1) -> str:
    """A number that always has a sign, except 0."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


def p_value(value: float, trials: int) -> str:
    """A p-value; the smallest value that the trials can give is a bound."""
    least = 1 / (trials + 1)
    return f"≤ {least:.4f}" if value <= least else f"{value:.4f}"
