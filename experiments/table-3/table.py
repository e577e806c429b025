"""The table of Table 3 for results.json, from the output of lscfg run and of experiments/table3_em.py.

python experiments/table-3/table.py table-3/results.json em.json
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path


def rows(results: Path, starts: Path) -> list[list[object]]:
    """System, dev and test BLEU with the deviations over starts, p against MIN and HIERO, chosen iterations."""
    table: list[list[object]] = [
        [
            row["system"],
            round(row["dev_bleu"], 2),
            None,
            round(row["test_bleu"], 2),
            None,
            row["p_value"],
            row["p_against"].get("HIERO"),
            None,
        ]
        for row in json.loads(results.read_text())["systems"]
    ]
    found: dict[tuple[object, ...], list[dict[str, object]]] = {}
    for start in json.loads(starts.read_text())["starts"]:
        found.setdefault((start["system"], start["iterations"], start["sentences"]), []).append(start)
    for (name, *_), group in found.items():
        figures: list[object] = []
        for scores in ([one["dev"][str(one["chosen"])] for one in group], [one["test"] for one in group]):
            figures += [round(statistics.fmean(scores), 2), round(statistics.stdev(scores), 2) if group[1:] else None]
        table.append([name, *figures, None, None, ", ".join(str(one["chosen"]) for one in group)])
    return table


if __name__ == "__main__":
    print(json.dumps(rows(Path(sys.argv[1]), Path(sys.argv[2]))))
