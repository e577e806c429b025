"""The harness of ``make attack``, for a few cases: it must see faults, and the project must have none."""

import argparse
import functools
import random
import re
import shlex
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from lscfg.cli import build_parser
from lscfg.command_table import COMMANDS

ATTACK = Path(__file__).parent / "attack"


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are found by what Linux has")
def test_a_few_attacks_find_nothing():
    command = [sys.executable, "-P", ATTACK / "attack.py", "--cases", "25", "--seed", "1"]
    command += ["--only", "arguments,mutations,tensors,hidden,sums,json,api,service,plugin"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bad files as arguments" in done.stdout and "summed over derivations" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are found by what Linux has")
def test_the_harness_sees_faults(tmp_path):
    """Commands that are wrong on purpose, in a separate process, since the harness changes its process."""
    program = f"""
import os, sys, time
from pathlib import Path
sys.path[:0] = [{str(ATTACK)!r}, {str(ATTACK.parent / "support")!r}]
import cases, lscfg.commands.inspect as command
from lscfg.errors import InputError
cases.SECONDS, cases.STILL_SECONDS = 2, 1
cases.adopt_orphans()
def hang(args): time.sleep(60)
def fault(args): raise KeyError("x")
def crash(args): os.abort()
def long(args): raise InputError(" x\\n" * 100)
def lose(args):
    Path("out").unlink()
    raise InputError("lost")
def litter(args): Path(".out.1.tmp").touch()
def change(args): os.utime("in", (1, 1))
def orphan(args):
    if not os.fork(): time.sleep(60)
def refuse(args): raise InputError("no")
folder = Path({str(tmp_path)!r})
for name in "hang fault crash long lose litter change orphan refuse".split():
    place = cases.empty(folder / name)
    (place / "in").touch()
    command.run = globals()[name]
    print(name, cases.run_case(["inspect", "model", "in"], place, [place / "in"], [place / "out"]).verdict, sep=": ")
"""
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "hang: hang",
        "fault: fault",
        "crash: crash",
        "long: bad message",
        "lose: lost output",
        "litter: litter",
        "change: changed input",
        "orphan: orphan",
        "refuse: refused",
    ]


@pytest.fixture
def world(monkeypatch):
    monkeypatch.syspath_prepend(str(ATTACK))
    return __import__("world")


@functools.cache
def all_commands():
    return build_parser(COMMANDS)


def leaf_of(words):
    """The command of a line, with its subcommands; the line must be one that the parser takes."""
    parser = all_commands()
    values = vars(parser.parse_args(words))
    while below := next((a for a in parser._actions if isinstance(a, argparse._SubParsersAction)), None):
        parser = below.choices[values[below.dest]]
    return parser.prog


def test_every_command_has_a_case(world):
    parsers = all_commands().every()
    leaves = {one.prog for one in parsers if not any(isinstance(a, argparse._SubParsersAction) for a in one._actions)}
    attacked = {leaf_of(shlex.split(line)) for line in world.ATTACKED.splitlines()}
    assert attacked | {*world.NOT_ATTACKED} == leaves and not attacked & {*world.NOT_ATTACKED}
    assert all(reason for reason in world.NOT_ATTACKED.values())


@pytest.mark.parametrize(
    ("group", "but"),
    [
        ("extractors", ()),
        ("estimators", ()),
        ("context_models", ("loglinear",)),  # the default
        ("optimisers", ("mira",)),  # the default
        ("aligners", ("eflomal",)),  # the world has too few pairs
        ("metrics", ("comet", "ter")),  # a model of gigabytes; the same reader of files
        ("tokenisers", ("moses",)),  # the default
        ("text_readers", ("text",)),  # two files
        ("grammar_formats", ()),
    ],
)
def test_every_kind_has_a_case(world, group, but):
    words = {word for line in world.ATTACKED.splitlines() for word in re.split(r"[ ,.]", line)}
    names = {point.name for point in entry_points(group=f"lscfg.{group}")}
    assert names - {*but} <= words and {*but} <= names, names - {*but} - words


def test_a_cluster_has_a_case(world):
    assert any("--cluster local:" in line for line in world.ATTACKED.splitlines())


def test_damage_repeats_and_is_damage():
    from mutations import mutate_arrays, mutate_text

    data = b"a b c\n" * 40
    changed = {mutate_text(data, random.Random(seed)) for seed in range(50)}
    assert len(changed) > 45 and data not in changed
    assert mutate_text(data, random.Random(3)) == mutate_text(data, random.Random(3))
    model = (ATTACK.parent / "fuzz" / "corpus" / "model" / "low-rank3").read_bytes()
    assert len({mutate_arrays(model, random.Random(seed)) for seed in range(50)}) > 30
