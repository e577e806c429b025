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
    return f"≤\u00a0{least:.4f}" if value <= least else f"{value:.4f}"


def p_equation(value: float, least: float) -> str:
    """A p-value with its sign, which no line break divides.

    Args:
        least: the smallest value that the test can give, a bound.
    """
    return f"p\u00a0≤\u00a0{least:.4f}" if value <= least else f"p\u00a0=\u00a0{value:.4f}"
