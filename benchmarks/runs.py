"""Figures of benchmarks: tables on standard output, and a JSON file for each run in ``benchmarks/runs/NAME/``.

    python benchmarks/runs.py em              tables of the last run of benchmarks/em.py
    python benchmarks/runs.py em --history    the figures of all its runs, oldest first
    python benchmarks/em.py train.deriv --fail-above 10

With ``--fail-above PERCENT``, an option of every benchmark, a time or memory that grew by more than this ends the
program with status 1. The last run on the same machine with the same arguments is compared.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lscfg.version import __version__

RUNS = Path(__file__).resolve().parent / "runs"
COST = re.compile(r"^(?!sd |.*\bper .*\b(?:s|ms|us)\b)(?:.*[ (])?(?:s|ms|us|MiB|MB|GiB)\b(?!/s)")
"""Unit in the title of a column of which less is better: neither a rate nor a deviation."""
COUNT = "requests"
"""Title of a column of integers that differ from run to run."""

Cell = str | int | float | None


def machine() -> dict[str, str | int]:
    """Processor, cores, memory and Python of this machine."""
    found = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists() and (named := re.search(r"^model name\s*: (.*)$", info.read_text(), re.M)):
        found = named[1]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": found, "cores": os.cpu_count() or 1, "memory GiB": round(memory),
        "system": platform.platform(terse=True), "python": platform.python_version(),
    }  # fmt: skip


def revision() -> str:
    """The commit of the checkout, with ``+`` if files differ from it; empty outside of a checkout."""
    folder = Path(__file__).parent
    try:
        done = subprocess.run(["git", "describe", "--always", "--dirty=+"], cwd=folder, capture_output=True, text=True)
    except OSError:  # no git
        return ""
    return done.stdout.strip()


def parser(doc: str | None) -> argparse.ArgumentParser:
    """The parser of a benchmark, with the options of ``Run``."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument(
        "--runs", type=Path, default=RUNS, metavar="FOLDER", help="folder of JSON files (default: %(default)s)"
    )
    made.add_argument("--fail-above", type=float, metavar="PERCENT", help="fail if a time or memory grew by more")
    return made


def add_aligned_text(to: argparse.ArgumentParser) -> None:
    """Declares a parallel text and its alignments."""
    to.add_argument("source", type=Path)
    to.add_argument("target", type=Path)
    to.add_argument("alignment", type=Path, nargs="+")


def shown(cell: Cell) -> str:
    """A cell of a table: numbers with four significant digits."""
    if isinstance(cell, float):
        return f"{cell:.0f}" if abs(cell) >= 1000 else f"{cell:#.4g}".rstrip(".")
    return "–" if cell is None else str(cell)


def without_folders(value: Any) -> Any:
    """An argument without the folders of this machine: at most the last two parts of an absolute path."""
    if isinstance(value, list):
        return [without_folders(one) for one in value]
    if not isinstance(value, str) or not Path(value).is_absolute():
        return value
    inside = Path(value).parts[3:] or Path(value).parts[-1:]  # the first folders are those of the machine
    return "/".join(inside[-2:])


class Run:
    """One run of a benchmark: prints its tables as Markdown and writes them at the end.

    Args:
        args: parsed arguments, which identify runs that can be compared.
        name: of the benchmark; without one, that of the program.
    """

    def __init__(self, args: argparse.Namespace, name: str = ""):
        self.name = name or Path(sys.argv[0]).stem
        self._folder, self._fail_above = args.runs / self.name, args.fail_above
        given = {key: value for key, value in vars(args).items() if key not in ("runs", "fail_above")}
        self.facts: dict[str, Any] = {
            "benchmark": self.name,
            "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "lscfg": __version__,
            "revision": revision(),
            "machine": machine(),
            "arguments": {
                key: without_folders(value) for key, value in json.loads(json.dumps(given, default=str)).items()
            },
            "tables": {},
        }
        self._columns: Sequence[str] = ()
        self._rows: list[list[Cell]] = []
        self._begin = time.perf_counter()
        print(", ".join(f"{name}: {value}" for name, value in self.facts["machine"].items()))

    def table(self, title: str, columns: Sequence[str]) -> None:
        """Begins a table; titles of columns name units: ``best s``, ``peak MiB``."""
        self._columns, self._rows = columns, []
        self.facts["tables"][title] = {"columns": list(columns), "rows": self._rows}
        print(f"\n{title}\n\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")

    def row(self, *cells: Cell) -> None:
        """Adds a row to the table."""
        assert len(cells) == len(self._columns), (self._columns, cells)
        plain = [cell.item() if hasattr(cell, "item") else cell for cell in cells]  # a number of NumPy
        self._rows.append(plain)
        print(f"| {' | '.join(map(shown, plain))} |", flush=True)

    def save(self) -> None:
        """Writes the tables and compares them with those of the last run."""
        self.facts["seconds"] = round(time.perf_counter() - self._begin, 1)
        before = [
            one for one in load(self._folder) if all(one[key] == self.facts[key] for key in ("machine", "arguments"))
        ]
        self._folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.facts, indent=1, ensure_ascii=False) + "\n"
        path = write_new(self._folder, self.facts["date"].replace(":", ""), text)
        print(f"\n{path}")
        if self._fail_above is not None and before and (worse := slower(before[-1], self.facts, self._fail_above)):
            sys.exit("\n".join(worse))


def write_new(folder: Path, name: str, text: str) -> Path:
    """Writes a file that did not exist, since two runs may end in one second; returns its path."""
    for number in itertools.count(1):
        path = folder / (f"{name}.json" if number == 1 else f"{name}_{number}.json")
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            continue
        return path
    raise AssertionError


def load(folder: Path) -> list[dict[str, Any]]:
    """All runs of a benchmark, oldest first."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def slower(before: dict[str, Any], after: dict[str, Any], percent: float) -> list[str]:
    """Lines on times and memory that grew by more than a percentage; rows are matched by their texts and integers."""

    def figures(run: dict[str, Any]) -> dict[tuple[str, ...], float]:
        found = {}
        for title, table in run["tables"].items():
            for row in table["rows"]:
                costs = [k for k, name in enumerate(table["columns"]) if COST.match(name)]
                others = [k for k, name in enumerate(table["columns"]) if k not in costs and name != COUNT]
                key = [str(row[k]) for k in others if not isinstance(row[k], float)]
                for k in costs:
                    if isinstance(row[k], int | float):
                        found[(title, *key, table["columns"][k])] = float(row[k])
        return found

    old, new = figures(before), figures(after)
    return [
        f"{', '.join(key)}: {shown(old[key])} before, now {shown(value)} (+{100 * (value / old[key] - 1):.0f} %)"
        for key, value in new.items()
        if key in old and 0 < old[key] < value / (1 + percent / 100)
    ]


def main() -> None:
    """Prints runs that were kept."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("name", help="program of benchmarks/, without .py")
    arguments.add_argument("--history", action="store_true", help="all runs instead of the last one")
    arguments.add_argument("--runs", type=Path, default=RUNS, help=argparse.SUPPRESS)
    args = arguments.parse_args()
    kept = load(args.runs / args.name)
    if not kept:
        sys.exit(f"no run of {args.name} in {args.runs}")
    for run in kept if args.history else kept[-1:]:
        print(f"# {run['date']}, lscfg {run['lscfg']} {run['revision']}, {run['machine']['processor']}")
        for title, table in run["tables"].items():
            columns = table["columns"]
            print(f"\n{title}\n\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
            for row in table["rows"]:
                print(f"| {' | '.join(map(shown, row))} |")
        print()


if __name__ == "__main__":
    main()
