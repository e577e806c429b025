"""One validated reader for all JSON: what it refuses, that nothing else reads JSON, and wrong values of every key."""

import ast
import copy
import json
import math
import os
import shutil
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from mutations import join_file, split_file

import lscfg
from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.io.json_files import COUNT, check_shape, read_json, write_json
from lscfg.json_text import parse_json
from lscfg.settings import Limits

ROOT = Path(__file__).resolve().parents[2]

WRONG: dict[str, Any] = {
    repr(value)[:20]: value
    for value in (
        *(None, True, False, -1, 0, 1.5, 10**19, 2**63 - 1, 1e300),
        *("", "x", "2", "../x", "/etc/passwd", "\0", "\n\x1b[31m"),
        *([], [1], ["a"], [[]], {}, {"a": 1}, {"": None}),
    )
}
"""Values that most keys must not have; some are right for some keys."""

RAW = [
    '{"a": 1, "a": 2}',
    "NaN",
    "[Infinity]",
    "1e999",
    "9" * 5000,
    "[" * 100_000,
    '{"a":' * 20_000,
    '"\\ud800"',
    "{",
    "",
]
"""Texts that are no JSON, or no JSON of lscfg."""


@pytest.mark.parametrize("text", RAW, ids=range(len(RAW)))
def test_what_is_no_json_is_one_line(text, tmp_path):
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        parse_json(text)
    (tmp_path / "f").write_text(text)
    with pytest.raises(InputError, match=r"f: damaged, or not written by this version of lscfg \([^\n]+\); do x$"):
        read_json(tmp_path / "f", cure="do x")


def test_json_is_read():
    for text in ('{"a": [1, -2.5, "\\ud83d\\ude00", null, true]}', "18446744073709551615", "-9223372036854775808"):
        assert parse_json(text) == parse_json(text.encode()) == json.loads(text)
    assert parse_json("[Infinity, -Infinity]", infinities=True) == [math.inf, -math.inf]
    with pytest.raises(ValueError, match="NaN is not a number in JSON"):
        parse_json("[[NaN]]", infinities=True)
    with pytest.raises(ValueError, match="not UTF-8 from byte 2 on"):
        parse_json(b'"\xff"')
    assert parse_json('"\\ud800"', halves=True) == "\ud800"


class Inner(TypedDict):
    size: COUNT
    note: NotRequired[str | None]


class Outer(TypedDict):
    way: Literal["left", 1]
    share: Annotated[float, Limits(above=0)]
    parts: dict[str, Inner]
    pair: tuple[int, str]
    rest: Any


GOOD = {"way": 1, "share": 1, "parts": {"a": {"size": 0, "note": None}, "b": {"size": 2}}, "pair": [1, "x"], "rest": []}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"way": True}, 'way must be "left" or 1, not true'),
        ({"share": 0.0}, "share must be more than 0, not 0.0"),
        ({"share": "1"}, "share must be a number, not"),
        ({"share": True}, "share must be a number, not true"),
        ({"parts": []}, "parts must be an object, not a list"),
        ({"parts": {"a": {"size": -1}}}, "parts.a.size must be at least 0, not -1"),
        ({"parts": {"a": {"size": 1.0}}}, r"parts.a.size must be a whole number, not 1\.0"),
        ({"parts": {"a": {}}}, "parts.a.size is missing"),
        ({"parts": {"a": {"size": 1, "note": 2}}}, "parts.a.note must be a string, not 2"),
        ({"parts": {"a": {"size": 1, "nota": "x"}}}, r"parts.a.nota is unknown \(did you mean note\?\)"),
        ({"pair": [1]}, "pair must be a list of 2 values, not a list"),
        ({"pair": [1, 2]}, r"pair\[1\] must be a string, not 2"),
    ],
)
def test_shapes_are_checked(change, message):
    check_shape(GOOD, Outer)
    with pytest.raises(ValueError, match=message):
        check_shape(GOOD | change, Outer)


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: is not a regular file"):
        read_json(tmp_path / "pipe")
    with pytest.raises(InputError, match="cannot read: No such file"):
        read_json(tmp_path / "none")
    write_json(tmp_path / "f", {"format": True})
    with pytest.raises(InputError, match="format must be a whole number, not true"):
        read_json(tmp_path / "f", format=1)


def test_nothing_else_reads_json():
    """``json.load`` and ``json.loads`` take more than JSON; ``plugin/build_kernel.py`` runs before lscfg exists."""
    found = set()
    for top in ("lscfg", "tuning", "cdec_bridge", "moses_bridge"):
        for path in (ROOT / top).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Attribute) and ast.unparse(node) in ("json.load", "json.loads"):
                    found.add(path.relative_to(ROOT).as_posix())
                assert not (isinstance(node, ast.ImportFrom) and node.module == "json"), path
    assert found == {"lscfg/json_text.py"}


# ---- wrong values of every key, through the commands that read them ----


def places(value: Any, path: tuple = ()) -> list[tuple]:
    """The paths of all keys, and of the first item of each list."""
    found = []
    if isinstance(value, dict):
        for key, item in value.items():
            found += [(*path, key), *places(item, (*path, key))]
    elif isinstance(value, list) and value:
        found += [(*path, 0), *places(value[0], (*path, 0))]
    return found


def changed(value: Any) -> list[tuple[str, Any]]:
    """The value with each key missing, and with each of ``WRONG`` in each place; and with an unknown key."""
    made = []
    for place in places(value):
        if place[0] == "settings" and "history" in value:  # of a tuning: for people, no command reads them
            continue
        *above, last = place
        for name, wrong in [("missing", None), *WRONG.items()]:
            other = copy.deepcopy(value)
            inside = other
            for key in above:
                inside = inside[key]
            if name == "missing":
                del inside[last]
            elif inside[last] == wrong and type(inside[last]) is type(wrong):
                continue
            else:
                inside[last] = wrong
            made.append((f"{place} {name}", other))
    return [*made, ("unknown key", value | {"surprise": 1})]


SOURCE = ["das haus", "das buch", "ein buch", "ein haus"] * 10
TARGET = ["the house", "the book", "a book", "a house"] * 10
LINKS = ["0-0 1-1"] * 40
INI = "formalism=scfg\ngrammar=g\nfeature_function=WordPenalty\nadd_pass_through_rules=true\n"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Every JSON file and every header with JSON, made by commands."""
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, lines in (("s", SOURCE), ("t", TARGET), ("a", LINKS), ("raw.de", SOURCE), ("raw.en", TARGET)):
            Path(name).write_text("".join(line + "\n" for line in lines))
        Path("m").write_text("das rad\nrad haus\nein\n")
        Path("one").write_text("das haus\n")
        Path("cdec.ini").write_text(INI)
        Path("w").write_text("WordPenalty 1\nPassThrough -1\nEgivenF -1\nCountEF 0\nSampleCountF 0\n")
        lscfg.derive(SOURCE, TARGET, LINKS).save("d")
        for line in (
            "grammar minimal d -o g",
            "prepare corpus raw.de raw.en --tokeniser none --set casing=lower --set keep_duplicates=true -o prep",
            "pack cdec.ini -w w --prepare prep -o bundle",
            "tune weights --config cdec.ini --source one --reference one --weights w -o tuned --iterations 1",
            "propagate phrases s t a --mono-source m --mono-target t --to-translate m -o phrases --set q=2",
            "propagate graph phrases -o graph --set neighbours=2",
            "estimate em d -m 2 --iterations 2 --checkpoint em -o model",
            "grammar sampled s t a --sweeps 2 --checkpoint chains -o sampled",
            "grammar biparsed s t a --passes 1 --checkpoint learners -o biparsed",
            "inspect marginals model one -o forests",
        ):
            assert main([*line.split(), "--quiet"]) == 0, line
    return folder


FILES = {
    "prep/prepare.json": "prepare apply prep one",
    "bundle/bundle.json": "pack cdec.ini -w w -o bundle",
    "tuned/history.json": "tune weights --config cdec.ini --source one --reference one --weights w -o tuned"
    " --iterations 2 --resume",
}
HEADERS = {
    "graph about": "propagate rules phrases graph -o out",
    "d options": "grammar minimal d -o out",
    "d dropped": "grammar minimal d -o out",
    "em/checkpoint.em state": "estimate em d -m 2 --iterations 3 --checkpoint em --resume -o out",
    "chains/chain.0001 trace": "grammar sampled s t a --sweeps 3 --checkpoint chains --resume -o out",
    "learners/fold.0001 state": "grammar biparsed s t a --passes 2 --checkpoint learners --resume -o out",
}
"""A file, or a file and a key of its metadata, and the command that reads it."""


def told(command: str, capsys) -> tuple[int, str]:
    status = main([*command.split(), "--quiet"])
    return status, capsys.readouterr().err


@pytest.mark.parametrize("name", [*FILES, *HEADERS])
def test_wrong_values_are_one_line(name, world, tmp_path, monkeypatch, capsys):
    shutil.copytree(world, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    file, _, key = name.partition(" ")
    path = Path(file)
    good = path.read_bytes()
    if key:
        metadata, arrays = split_file(good)
        value = json.loads(metadata[key])
    else:
        value = json.loads(good)
    refused = 0
    for place, wrong in changed(value):
        text = json.dumps(wrong)
        path.write_bytes(join_file(metadata | {key: text}, arrays) if key else text.encode())
        status, messages = told((FILES | HEADERS)[name], capsys)
        assert status in (0, 1, 2) and messages.count("\n") <= (0 if status == 0 else 1) + 2, (place, messages)
        assert "fault in lscfg" not in messages and "Traceback" not in messages, (place, messages)
        if status:
            assert messages.strip().count("\n") == 0 and "\x1b" not in messages, (place, messages)
            refused += 1
    assert refused > len(changed(value)) / 2
