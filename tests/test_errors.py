"""Messages: one line, whatever the input holds."""

import copy
import inspect
import multiprocessing
import pickle
import re
import unicodedata
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest

from lscfg.errors import InputError, LscfgError, NotBuiltError, WorkerError, cut, exit_reason, quote
from lscfg.estimate.em import EMSettings
from lscfg.kernel import LineError
from lscfg.serve.refusal import RefusalError
from lscfg.settings import SettingError

ROOT = Path(__file__).resolve().parents[1]


def test_no_character_of_the_input_breaks_a_message():
    for code in range(0x110000):
        text = chr(code)
        if text != "\n" and (
            len(f"a{text}b".splitlines()) > 1 or unicodedata.bidirectional(text) in ("LRE", "RLO", "PDF")
        ):
            assert text not in str(InputError(f"found {text}", f"a{text}b", 1)), hex(code)
            assert text not in quote(text)
    assert str(InputError("two\nlines")) == "two\nlines" and str(InputError("m", "a\nb", 2)) == "a\\nb:2: m"


def test_every_way_of_a_process_to_end_has_words():
    """Most real-time signals have no name."""
    assert [exit_reason(status) for status in (3, -11, -40)] == ["status 3", "signal SIGSEGV", "signal 40"]
    assert all(exit_reason(status) for status in range(-128, 256))


def test_long_pieces_are_cut():
    assert cut("x" * 80) == "x" * 80 and len(cut("x" * 81)) == 80 and cut("x" * 81).endswith("x…")


def test_a_line_of_a_message_is_bounded():
    said = str(InputError("what is wrong: " + "x" * 50_000 + "; give another\nsee docs", "file", 3))
    assert said.startswith("file:3: what is wrong: xxx") and said.endswith("xxx; give another\nsee docs")
    assert len(said) < 1300


def test_a_name_of_a_file_is_bounded():
    error = InputError("cannot read", "a" * 100_000, 3)
    assert len(str(error)) < 1300 and str(error).endswith("aaa:3: cannot read")
    assert error.path == "a" * 100_000


GIVEN = {
    "message": "a message; " + "x" * 5000,
    "path": Path("p" * 5000),
    "line": 3,
    "name": "m",
    "requirement": "must be at least 1, not 0",
    "stream": 1,
    "pair": 2,
    "reason": "killed",
    "block": 4,
    "status": 404,
    "headers": {"Retry-After": "1"},
}
"""Values of the parameters of constructors."""


def errors(kind=LscfgError):
    """All classes of errors of lscfg; their modules are imported first."""
    if kind is LscfgError:
        for folder in ("lscfg", "tuning", "cdec_bridge", "moses_bridge"):
            for path in sorted((ROOT / folder).rglob("*.py")):
                if re.search(r"^class \w+\(.*Error\b", path.read_text("utf-8"), re.M):
                    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removeprefix("lscfg.")
                    import_module(f"lscfg.{name}")
    below = (one for one in kind.__subclasses__() if one.__module__.startswith("lscfg."))  # not those of other tests
    return {kind}.union(*map(errors, below))


def made(kind):
    """An error of the class; a built-in constructor takes the message alone."""
    parameters = [*inspect.signature(kind.__init__).parameters.values()][1:]
    names = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    some = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    return kind(*(GIVEN[name] for name in names), *(["message"] if some else []))


def test_every_error_survives_pickling_and_copying():
    """A process pool would otherwise wait forever for the result of a task that failed."""
    classes = errors()
    assert {SettingError, LineError, NotBuiltError, WorkerError, RefusalError} <= classes
    for kind in classes:
        error = made(kind)
        error.add_note("a note")
        for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert type(other) is kind and str(other) == str(error) and repr(other) == repr(error)
            assert vars(other) == vars(error) and other.args == error.args
            assert getattr(other, "msg", None) == getattr(error, "msg", None)


def test_a_wrong_setting_in_a_worker_of_a_pool_reaches_its_user():
    with (
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool,
        pytest.raises(SettingError, match="patience must be at least 1, not 0") as caught,
    ):
        pool.submit(EMSettings, patience=0).result(60)
    assert caught.value.name == "patience"
