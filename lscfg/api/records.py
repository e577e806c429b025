"""Lists of records that a notebook shows as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from lscfg.io.columns import align_columns

SHOWN = 60
"""Most rows that a notebook shows."""


class Records(list[dict[str, Any]]):
    """Records of equal keys, such as the rules of a sentence.

    >>> found = Records([{"source": "una", "target": "a"}, {"source": "flor", "target": "flower"}])
    >>> found[1]["target"]
    'flower'
    >>> print(found)
    source  target
    una          a
    flor    flower
    """

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Records:
        """Copies the rows."""
        return cls(dict(row) for row in rows)

    def frame(self) -> Any:
        """Converts the records to a pandas DataFrame.

        Raises:
            ImportError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("frame() needs pandas: pip install pandas", name="pandas") from error

        return pandas.DataFrame.from_records(self)

    def __str__(self) -> str:
        if not self:
            return "no records"
        rows = [list(self[0]), *([_shown(value) for value in row.values()] for row in self)]
        return "\n".join(line.rstrip() for line in align_columns(rows))

    def _repr_html_(self) -> str:
        if not self:
            return "<p>no records</p>"
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self[0])
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(_shown(value))}</td>' for value in row.values())}</tr>" for row in self[:SHOWN]
        )
        left = f"<p>and {len(self) - SHOWN:,} more</p>" if len(self) > SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{left}"


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "–" if value is None else str(value)
