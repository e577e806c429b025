"""Parts of the documentation that are made from the code and from the results of experiments.

A page names such a part in a comment, ``<!-- made: commands -->``; ``docs/conf.py`` inserts the part when the site is
built. On the command line,

    python docs/made.py commands
    python docs/made.py results ja-en-best

prints a part as Markdown.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import json
import re
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, get_type_hints

ROOT = Path(__file__).resolve().parents[1]
MARK = re.compile(r"^<!-- made: (.*?) -->$", re.M)


def filled(text: str) -> str:
    """A page with all of its parts.

    Raises:
        KeyError: no part has that name.
    """

    def part(mark: re.Match[str]) -> str:
        name, *arguments = mark[1].split()
        return PARTS[name](*arguments)

    return MARK.sub(part, text)


def table(names: list[str], rows: list[list[str]], right: frozenset[int] = frozenset()) -> str:
    """A table in Markdown; columns whose number is in ``right`` are aligned to the right."""
    lines = [names, ["---:" if column in right else "---" for column in range(len(names))], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


# ---- commands ----


def commands() -> str:
    """All commands by group, with their options."""
    from lscfg.cli import build_parser
    from lscfg.command_table import by_group, every_command

    known = every_command()
    parsers = _actions(build_parser(known))
    parts = []
    for title, group in by_group(known).items():
        parts.append(f"## {title[0].upper()}{title[1:]}")
        for command in group:
            parts += [f"### `lscfg {command.name}`", f"{_sentence(command.help)}", f"```\n{command.example}\n```"]
            parts += _options(parsers[command.name])
    return "\n\n".join(parts)


def _actions(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of a parser's actions by name."""
    chosen = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {name: made for action in chosen for name, made in action.choices.items()}


def _options(parser: argparse.ArgumentParser, level: str = "####") -> Iterator[str]:
    rows = []
    for action in parser._actions:
        if action.help == argparse.SUPPRESS or isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
            continue
        if "--quiet" in action.option_strings:
            continue
        formatter = parser._get_formatter()
        value = "" if action.nargs == 0 else formatter._format_args(action, _metavar(action, formatter))
        name = ", ".join(action.option_strings) or value
        text = formatter._expand_help(action) if action.help else ""
        rows.append([f"`{name}{f' {value}' if action.option_strings and value else ''}`", text])
    if rows:
        yield table(["argument", "meaning"], rows)
    for name, action_parser in _actions(parser).items():
        program = action_parser.prog.removesuffix(f" {name}")
        yield f"{level} `{program} {name}`"
        if action_parser.description:
            yield _sentence(action_parser.description)
        yield from _options(action_parser, level + "#" if len(level) < 6 else level)


def _metavar(action: argparse.Action, formatter: argparse.HelpFormatter) -> str:
    if action.option_strings:
        return formatter._get_default_metavar_for_optional(action)
    return formatter._get_default_metavar_for_positional(action)


def _sentence(text: str) -> str:
    """A help text as a sentence."""
    first = text.strip().split("\n\n")[0]
    return first[:1].upper() + first[1:].rstrip(".") + "."


# ---- settings ----


def kinds() -> str:
    """The settings of every kind, by the groups of entry points."""
    groups: dict[str, dict[str, Any]] = {}
    for row in distribution("lscfg").entry_points:
        if row.group.startswith("lscfg."):
            found = row.load()
            if dataclasses.is_dataclass(getattr(found, "Settings", None)):
                groups.setdefault(row.group, {})[row.name] = found
    return "\n\n".join(part for group in sorted(groups) for part in _group(group, groups[group]))


def _group(group: str, found: dict[str, Any]) -> Iterator[str]:
    """The kinds of a group. Settings that several kinds inherit stand once, before all kinds."""
    from lscfg.settings import settings_of

    title = group.removeprefix("lscfg.").replace("_", " ")
    yield f"## {title[0].upper()}{title[1:]}"
    users: dict[tuple[str, ...], set[str]] = {}
    for name, kind in found.items():
        for row in setting_rows(kind.Settings):
            users.setdefault(row, set()).add(name)
    shared = {row: names for row, names in users.items() if len(names) > 1}
    if shared:
        yield "These settings belong to several kinds:"
        rows = [[*row, ", ".join(sorted(names))] for row, names in shared.items()]
        yield table(["key", "default", "range", "meaning", "kinds"], rows)
    for name, kind in sorted(found.items()):
        yield f"### `{name}`"
        yield _sentence(getattr(kind, "HELP", None) or kind.__doc__ or name)
        rows = [list(row) for row in setting_rows(kind.Settings) if row not in shared]
        if rows:
            yield table(["key", "default", "range", "meaning"], rows)
        elif not settings_of(kind.Settings):
            yield "No settings."


def setting_rows(declared: type) -> list[tuple[str, ...]]:
    """Key, default, range and meaning of each setting."""
    from lscfg.settings import settings_of

    kinds = {bool: "true, false", Path: "a file", str: "a string"}
    return [
        (f"`{item.name}`", item.default_text(), str(item.limits) or kinds.get(item.kind, "any"), item.meaning())
        for item in settings_of(declared)
    ]


def experiment() -> str:
    """The tables of an experiment file whose settings are declared."""
    from lscfg.settings import Declared
    from lscfg.tuning.experiment.steps import expand
    from lscfg.tuning.experiment.system import Experiment
    from lscfg.tuning.margin.settings import MarginSettings

    tables = {f"[{name}]": declared for name, declared in get_type_hints(Experiment).items()}
    tables |= {f"[{expand.TABLE}]`, {name}": declared for name, declared in expand.PARTS.items()}
    tables["margin"] = MarginSettings
    parts = []
    for name, declared in tables.items():
        if isinstance(declared, type) and issubclass(declared, Declared) and (rows := setting_rows(declared)):
            title = f"## `{name}" if "`" in name else f"## `{name}`"
            parts += [title, table(["key", "default", "range", "meaning"], list(map(list, rows)))]
    return "\n\n".join(parts)


def settings(module: str, name: str) -> str:
    """The settings of one class."""
    found = getattr(__import__(module, fromlist=[name]), name)
    return table(["key", "default", "range", "meaning"], list(map(list, setting_rows(found))))


# ---- packages ----


def packages() -> str:
    """The packages of Python by layer, with the first line of their docstrings."""
    rows = []
    for layer in _layers():
        for name in layer:
            path = ROOT.joinpath(*name.split("."))
            if name.split(".")[-1] in ("tuning", "cdec_bridge", "moses_bridge"):
                path = ROOT / name.split(".")[-1]
            source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
            rows.append([f"`{name}`", text.split("\n\n")[0].replace("\n", " ").replace("``", "`")])
    return table(["package", "purpose"], rows)


def _layers() -> list[list[str]]:
    tree = ast.parse((ROOT / "tests" / "test_architecture.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "LAYERS":
            return [list(layer) for layer in ast.literal_eval(node.value)]
    raise KeyError("LAYERS")


# ---- results ----


def results(name: str) -> str:
    """All sections of an experiment's results.json: findings, commands, tables and notes."""
    parts = []
    for section in read_results(name)["sections"]:
        parts += [f"## {section['title']}", *(f"**{line}**" for line in section.get("finding", []))]
        if section.get("commands"):
            parts.append("```\n" + "\n".join(section["commands"]) + "\n```")
        parts += [results_table(made) for made in section["tables"]]
        parts += [f"Setting: {line}" for line in section.get("setting", [])]
        if section.get("notes"):
            parts.append("\n".join(f"- {line}" for line in section["notes"]))
    return "\n\n".join(parts)


def read_results(name: str) -> dict[str, Any]:
    """The results of an experiment."""
    found: dict[str, Any] = json.loads((ROOT / "experiments" / name / "results.json").read_text(encoding="utf-8"))
    return found


def find_table(name: str) -> dict[str, Any]:
    """A table by the names of its experiment and its own, ``ja-en-best/systems``.

    Raises:
        KeyError: there is none.
    """
    folder, _, wanted = name.partition("/")
    for section in read_results(folder)["sections"]:
        for made in section["tables"]:
            if made["name"] == wanted:
                return dict(made)
    raise KeyError(name)


def results_table(made: dict[str, Any]) -> str:
    """A table of results; a deviation stands in parentheses behind its mean, an error behind ±."""
    names, rows = list(made["columns"]), made["rows"]
    columns, right = [], set()
    for at, name in enumerate(names):
        if at and name in (f"{names[at - 1]} deviation", f"{names[at - 1]} error"):
            continue
        after = names[at + 1] if at + 1 < len(names) else ""
        sign = {f"{name} deviation": " ({})", f"{name} error": " ± {}"}.get(after, "")
        cells = []
        for row in rows:
            cell = shown(row[at], name, made)
            if sign and row[at + 1] is not None:
                cell += sign.format(shown(row[at + 1], after, made))
            cells.append(cell)
        if any(isinstance(row[at], int | float) for row in rows):
            right.add(len(columns))
        columns.append(cells)
    heads = [
        n for at, n in enumerate(names) if not (at and n in (f"{names[at - 1]} deviation", f"{names[at - 1]} error"))
    ]
    heads = ["" if head == "row" else head for head in heads]
    return table(heads, [list(row) for row in zip(*columns, strict=True)], frozenset(right))


def shown(value: Any, column: str, made: dict[str, Any]) -> str:
    """A cell as a reader sees it."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if re.match(r"p\b", column):
        return probability(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.{made['decimals'].get(column, 2)}f}"


def probability(p: float) -> str:
    """A p-value without the zero before its point; one that rounding turned into 0 is below .001."""
    if round(p, 4) == 0:
        return "<.001"
    text = f"{p:.{2 if p >= 0.1 else 3 if p >= 0.01 else 4}f}"
    return (text if p >= 0.01 else text.rstrip("0")).lstrip("0") or "0"


PARTS: dict[str, Callable[..., str]] = {
    "commands": commands,
    "kinds": kinds,
    "experiment": experiment,
    "settings": settings,
    "results": results,
    "packages": packages,
}

if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    print(PARTS[name](*arguments))
