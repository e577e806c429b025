"""Settings as data: what a declaration gives to checks, commands, stage keys and documents."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.context.learner import CONTEXT_MODELS
from lscfg.corpus.aligner import ALIGNERS
from lscfg.errors import InputError
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.extract.extractor import EXTRACTORS
from lscfg.parser import CommandParser
from lscfg.settings import (
    Declared,
    SettingError,
    setting,
    settings_of,
)
from lscfg.tuning.optimisers import OPTIMISERS

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))
from made import setting_rows


@dataclass(frozen=True)
class Sample(Declared):
    m: int = setting(8, "hidden states", least=1, most=64, metavar="M", common=True)
    share: float = setting(0.5, "share of the text", above=0, below=1, common=True)
    way: str = setting("left", "way to go", choices=("left", "right"), common=True)
    names: tuple[str, ...] = setting(("a", "b"), "names", choices=("a", "b", "c"), common=True)
    scaling: bool = setting(True, "no scaling", common=True)
    drop: bool = setting(False, "bad pairs dropped", option="drop-bad", common=True)
    limit: int | None = setting(None, "limit", least=1, common=True)
    file: Path | None = setting(None, "a file", part="late", common=True)
    long: int = setting(1, "a long number", least=0, most=2**32 - 1)


def given(*words: str) -> Sample:
    """The settings that a command line gives."""
    parser = CommandParser(exit_on_error=False)
    add_settings(parser, Table("sample", (Sample,)), leave=("long",))
    made: Sample = GivenSettings(parser.parse_args(words), "sample").build("sample", Sample)
    return made


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"m": 0}, "m must be at least 1, not 0"),
        ({"m": 65}, "m must be at most 64, not 65"),
        ({"share": 0.0}, "share must be more than 0, not 0.0"),
        ({"share": 1.0}, "share must be less than 1, not 1.0"),
        ({"share": float("nan")}, "share must be a finite number, not nan"),
        ({"way": "up"}, "way must be one of left, right, not 'up'"),
        ({"names": ("a", "x")}, "names must be one of a, b, c, not 'x'"),
        ({"limit": 2**31}, "limit must be at most 2147483647, not 2147483648"),
        ({"long": 2**32}, "long must be at most 4294967295, not 4294967296"),
    ],
)
def test_ranges_are_checked(values, message):
    with pytest.raises(SettingError, match=message) as caught:
        Sample(**values)
    assert caught.value.name == next(iter(values))


def test_options_come_from_the_declaration():
    assert given() == Sample()
    words = "-m 3 --share .25 --way right --names c,a --no-scaling --drop-bad --limit 4 --file here"
    assert given(*words.split()) == Sample(3, 0.25, "right", ("c", "a"), False, True, 4, Path("here"))
    with pytest.raises(SystemExit):
        given("--long", "3")
    assert given("--set", "long=3") == Sample(long=3)


def test_an_option_out_of_its_range_is_named():
    with pytest.raises(InputError, match=r"^-m must be at least 1, not 0$"):
        given("-m", "0")
    with pytest.raises(InputError, match=r"^--share must be less than 1"):
        given("--share", "2")


def test_facts_are_all_but_files_and_come_back():
    given = Sample(m=3, names=("c",), file=Path("here"))
    assert given.facts() == {
        "m": 3,
        "share": 0.5,
        "way": "left",
        "names": ["c"],
        "scaling": True,
        "drop": False,
        "limit": None,
        "long": 1,
    }
    assert given.files() == {"file": Path("here")}
    assert Sample.of(given.facts(), {**given.files(), "another": Path("x")}) == given
    assert given.facts("late") == {} and "m" in given.facts("")


def test_the_table_of_the_documents():
    rows = setting_rows(Sample)
    assert rows[0] == ("`m`", "8", "≥ 1, ≤ 64", "hidden states")
    assert rows[1] == ("`share`", "0.5", "> 0, < 1", "share of the text")
    assert rows[3] == ("`names`", "a,b", "a, b, c", "names")
    assert rows[4] == ("`scaling`", "true", "true, false", "false: no scaling")
    assert rows[5] == ("`drop`", "false", "true, false", "bad pairs dropped")
    assert rows[7] == ("`file`", "none", "a file", "a file")
    assert rows[8] == ("`long`", "1", "≥ 0, ≤ 4294967295", "a long number")
    assert len(rows) == len(settings_of(Sample))


@pytest.mark.parametrize("group", [ALIGNERS, ESTIMATORS, EXTRACTORS, CONTEXT_MODELS, OPTIMISERS])
def test_every_kind_is_whole(group):
    """One line of help, a version, settings with a noun at the head of each help, defaults within their ranges."""
    assert group.names()
    for name in group.names():
        module = group[name]
        assert module.HELP and "\n" not in module.HELP
        assert isinstance(module.VERSION, int) and module.VERSION >= 1
        assert module.Settings.of(module.Settings().facts()) == module.Settings()
        for item in settings_of(module.Settings):
            assert item.help and item.help[-1] != "." and not item.help.startswith(("of ", "for ", "to ", "in "))


@pytest.mark.parametrize("group", [ALIGNERS, ESTIMATORS, EXTRACTORS, CONTEXT_MODELS, OPTIMISERS])
def test_an_unknown_kind_names_those_there_are(group):
    with pytest.raises(InputError, match=f"unknown .* 'simplex'; choose from .*{group.names()[0]}"):
        group["simplex"]


@pytest.mark.parametrize("group", [ALIGNERS, ESTIMATORS, EXTRACTORS, CONTEXT_MODELS, OPTIMISERS])
def test_values_beyond_each_range_are_refused(group):
    """Bad values are made of the declarations themselves."""
    for name in group.names():
        cls = group[name].Settings
        for item in settings_of(cls):
            limits = item.limits
            beyond = [limits.least - 1] if limits.least is not None else []
            beyond += [limits.most + 1] if limits.most is not None else []
            beyond += [bound for bound in (limits.above, limits.below) if bound is not None]
            beyond += ["no such choice"] if limits.choices else []
            for value in beyond:
                with pytest.raises(SettingError, match=item.name):
                    cls(**{item.name: (value,) if item.many else value})
