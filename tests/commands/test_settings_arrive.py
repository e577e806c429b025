"""Every setting of a command arrives at the work: by its option, by --set and from --settings; and faults are located.

``ROWS`` is the table: a line for each class of settings, and the function that receives them. A value differs from the
default and from all other values of its line, so that none can take another's place.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from unittest.mock import MagicMock

import helpers
import pytest
from other_settings import BESIDE, other_value, other_values, toml_lines

from lscfg.cli import build_parser, main
from lscfg.command_settings import toml_value
from lscfg.command_table import COMMANDS
from lscfg.context.learner import CONTEXT_MODELS
from lscfg.corpus.align import AlignmentSettings
from lscfg.corpus.aligner import ALIGNERS
from lscfg.errors import InputError
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.extract.extractor import EXTRACTORS
from lscfg.induce.propagated.phrases import PhraseSettings
from lscfg.induce.propagated.spaces import GraphSettings
from lscfg.induce.propagated.spread import PropagationSettings
from lscfg.kernel import DeriveOptions, FeatureOptions
from lscfg.prepare.reader import TEXT_READERS
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.serve.settings import ServeSettings
from lscfg.settings import Declared, Setting, settings_of
from lscfg.study.disambiguation import InventorySettings
from lscfg.tuning.margin.settings import MarginSettings
from lscfg.tuning.optimisers import OPTIMISERS
from lscfg.tuning.tune import TuneSettings


class Row(NamedTuple):
    """A command line, the table and the class of its settings, and the function that receives them."""

    line: str
    table: str
    cls: type[Declared]
    function: str
    fixed: Mapping[str, Any] = MappingProxyType({})
    """Values that the line gives already, or that exclude others."""
    only: bool = True
    """The line reads no other table."""


def of_method(one: object, name: str) -> str:
    return f"{type(one).__module__}.{type(one).__qualname__}.{name}"


EXTRACTIONS = {"sampled": "lscfg.induce.sampled.rules.sample_rules", "biparsed": "lscfg.induce.biparsed.rules.induce"}
PREPARE = "prepare corpus f e -o out --set source_language=mi --set target_language=haw"
APART = {"sampled": {"tables": "power", "resample": False, "states": 1, "shards": 1}}
"""Values that exclude others; each has tests of its own."""
LANGUAGES = {"source_language": "mi", "target_language": "haw"}
TUNE = "tune weights -c cdec.ini -s f --reference e -w weights -o folder"
MARGIN = "tune margin f e a1 -c cdec.ini -w weights -o folder --rules"
ROWS = [
    *(
        Row(f"align f e -o out --aligner {name}", "alignment", settings, "lscfg.corpus.align.align_both_ways")
        for name, settings in ALIGNERS.settings().items()
    ),
    Row("derive f e a1 -o out", "derive", DeriveOptions, "lscfg.extract.derive.derive_files"),
    *(
        Row(
            f"grammar {name} {'f e a1' if 'text' in EXTRACTORS[name].NEEDS else 'f'} -o out",
            name,
            EXTRACTORS[name].Settings,
            EXTRACTIONS.get(name) or of_method(EXTRACTORS[name], "rules"),
            APART.get(name, {}),
        )
        for name in EXTRACTORS
    ),
    *(
        Row(f"estimate {name} f -o out", name, ESTIMATORS[name].Settings, of_method(ESTIMATORS[name], "estimate"))
        for name in ESTIMATORS
    ),
    *(
        Row(PREPARE + f" --set format={name} --tokeniser none", "prepare", cls, "lscfg.prepare.corpus.prepare_corpus")
        for name, cls in TEXT_READERS.settings().items()
    ),
    *(
        Row(f"{PREPARE} --tokeniser {name}", "prepare", cls, "lscfg.prepare.corpus.prepare_corpus")
        for name, cls in TOKENISERS.settings().items()
    ),
    Row(
        f"{PREPARE} --tokeniser none --set casing=lower",
        "prepare",
        PrepareSettings,
        "lscfg.prepare.corpus.prepare_corpus",
        LANGUAGES | {"tokeniser": "none", "casing": "lower", "format": None},
    ),
    Row(
        "propagate phrases f e a1 --mono-source f -o out",
        "propagated",
        PhraseSettings,
        "lscfg.induce.propagated.phrases.collect",
    ),
    Row(
        "propagate graph f -o out --set space=vectors",
        "propagated",
        GraphSettings,
        "lscfg.induce.propagated.spaces.source_graph",
        {"space": "vectors"},
    ),
    Row(
        "propagate rules f e -o out --set source_stemmer=german",
        "propagated",
        PropagationSettings,
        "lscfg.induce.propagated.rules.make_rules",
        {"source_stemmer": "german"},
    ),
    Row("serve folder", "serve", ServeSettings, "lscfg.serve.application.Application"),
    Row(TUNE, "tuning", TuneSettings, "lscfg.tuning.tune.tune", {"optimiser": "mira"}),
    *(
        Row(f"{TUNE} --optimiser {name}", "tuning", OPTIMISERS[name].Settings, "lscfg.tuning.tune.tune")
        for name in OPTIMISERS
    ),
    Row(f"{MARGIN} hiero", "margin", MarginSettings, "lscfg.tuning.margin.system.learn_system", only=False),
    *(
        Row(
            f"{MARGIN} {name}",
            name,
            EXTRACTORS[name].Settings,
            "lscfg.tuning.margin.system.learn_system",
            APART.get(name, {}),
            only=False,
        )
        for name in EXTRACTORS
        if EXTRACTORS[name].NEEDS == ("text",)
    ),
    *(
        Row(
            f"context m f --derivations f -o out --model {name}",
            "context",
            CONTEXT_MODELS[name].Settings,
            "lscfg.context.inputs.ContextInputs.read",
        )
        for name in CONTEXT_MODELS
    ),
    Row("inspect marginals f e", "features", FeatureOptions, "lscfg.decode.analysis.Analyser.from_model"),
    Row(
        "inspect choices m --measure translations --train f --held-out e",
        "translations",
        InventorySettings,
        "lscfg.study.disambiguation.Questions.held_out",
    ),
]
ROWS = [row for row in ROWS if settings_of(row.cls)]
ids = [f"{' '.join(row.line.split()[:2])} {row.cls.__module__}.{row.cls.__name__}" for row in ROWS]


@pytest.fixture(scope="module", autouse=True)
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the files that lines and settings name; what precedes the work is doubled."""
    folder = tmp_path_factory.mktemp("files")
    for name in ("f", "e", "a1", "weights", "m"):
        (folder / name).write_text("One 1\n")
    (folder / "grammar").write_text("[X] ||| a ||| b ||| P=1\n")
    (folder / "cdec.ini").write_text("formalism=scfg\ngrammar=grammar\n")
    (folder / "folder").mkdir()
    for row in ROWS:
        for item in settings_of(row.cls):
            if item.kind is Path:
                (folder / f"{item.name}.file").touch()
    with pytest.MonkeyPatch.context() as patch:
        double = partial(helpers.double, patch)
        double("lscfg.extract.derive.Derivations.load", MagicMock())
        double("lscfg.induce.propagated.phrases.PhraseFile.read", MagicMock())
        double("lscfg.commands.prepare._guess", None)  # of these files, which are no text
        double("lscfg.decode.host.decoder_identity", "identity")
        double("lscfg.decode.embedded.Embedded.open", nullcontext("decoder"))
        double("lscfg.bundle.system.open_system", "system")
        double("lscfg.serve.address.listen", MagicMock())
        double("lscfg.serve.pool.WorkerPool", MagicMock())
        yield folder


@pytest.fixture(autouse=True)
def folder(files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enters the folder of the files."""
    monkeypatch.chdir(files)
    return files


def parts(value: Any) -> Iterator[Any]:
    """A value and all that it consists of."""
    yield value
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from parts(item)
    elif isinstance(value, Mapping):
        yield from parts(list(value.values()))
    elif not isinstance(value, (str, Path, MagicMock)) and hasattr(value, "__dict__"):
        for item in vars(value).values():
            yield from parts(item)


def received(row: Row, words: list[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The settings that the function gets; the command ends there."""

    def stop(*given: object, **named: object) -> None:
        raise InputError("stop")

    with monkeypatch.context() as patch:
        made = helpers.double(patch, row.function, does=stop)
        assert main([*shlex.split(row.line), *words]) == 1
    assert made.call_count == 1
    found = [part for part in parts([*made.call_args.args, *made.call_args.kwargs.values()]) if type(part) is row.cls]
    assert found, f"{row.function} got no {row.cls.__name__}"
    return found[0]


def by_set(row: Row, values: dict[str, Any]) -> list[str]:
    """The words that give the values by --set."""
    prefix = "" if row.only else f"{row.table}."
    texts = {name: ",".join(map(str, value)) if isinstance(value, tuple) else value for name, value in values.items()}
    texts = {name: str(value).lower() if isinstance(value, bool) else value for name, value in texts.items()}
    return [word for name, text in texts.items() for word in ("--set", f"{prefix}{name}={text}")]


def by_file(row: Row, values: dict[str, Any]) -> list[str]:
    Path("settings.toml").write_text(f"[other]\nx = 1\n[{row.table}]\n{toml_lines(values)}")
    return ["--settings", "settings.toml"]


def by_option(row: Row, values: dict[str, Any]) -> list[str]:
    """The words that give common settings by their options, and the others by --set."""
    parser = build_parser(COMMANDS, row.line.split()[0])
    known = {word for one in parser.every() for action in one.arguments() for word in action.option_strings}
    words, rest = [], dict(values)
    for item in settings_of(row.cls):
        if item.common and item.name in values and (row.only or row.table == "margin"):
            value = rest.pop(item.name)
            assert item.option in known
            words += [item.option] if item.kind is bool else [item.option, str(value)]
    return words + by_set(row, rest)


WAYS = {"option": by_option, "set": by_set, "file": by_file}


def all_values(row: Row) -> dict[str, Any]:
    return {name: value for name, value in other_values(row.cls).items() if name not in row.fixed}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_all_settings_arrive(row, way, monkeypatch):
    values = all_values(row)
    expected = row.cls(**row.fixed | values)
    found = received(row, WAYS[way](row, values), monkeypatch)
    assert {item.name: getattr(found, item.name) for item in settings_of(row.cls)} == {
        item.name: getattr(expected, item.name) for item in settings_of(row.cls)
    }


@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_each_setting_arrives_alone(row, monkeypatch):
    for item in settings_of(row.cls):
        if item.name in row.fixed and row.table not in APART:
            continue
        values = BESIDE.get(item.name, {}) | {item.name: other_value(item, 0)}
        if set(values) <= {one.name for one in settings_of(row.cls)}:
            found = received(row, by_set(row, values), monkeypatch)
            assert getattr(found, item.name) == values[item.name] != item.default, item.name


def test_an_option_overrides_set_and_set_overrides_the_file(monkeypatch):
    row = next(row for row in ROWS if row.line.startswith("estimate em"))
    words = by_file(row, {"m": 2, "iterations": 2, "seed": 2})
    words += ["--set", "m=3", "--set", "iterations=3", "-m", "4", "--set", "em.seed=5", "--set", "seed=6"]
    found = received(row, words, monkeypatch)
    assert (found.m, found.iterations, found.seed) == (4, 3, 6)


def bad_values(item: Setting) -> Iterator[tuple[str, Any, str]]:
    """Values of a wrong type and out of range, as text and as TOML has them, with what the message says."""
    if item.kind in (int, float, bool):
        names = {int: "a whole number", float: "a number", bool: "true or false"}
        yield "word", "word", f"must be {names[item.kind]}, not 'word'"
    if item.limits.choices:
        yield "neither", "neither", "must be one of"
    for limit, step, words in ((item.limits.least, -1, "at least"), (item.limits.most, 1, "at most")):
        if limit is not None and item.kind in (int, float):
            value = item.kind(limit + step)
            yield str(value), value, f"must be {words}"


@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_bad_values_name_their_origin(row, capsys):
    prefix = "" if row.only else f"{row.table}."
    for item in (item for item in settings_of(row.cls) if item.name not in row.fixed):
        for text, value, message in bad_values(item):
            assert main([*shlex.split(row.line), "--set", f"{prefix}{item.name}={text}"]) == 1
            told = capsys.readouterr().err.splitlines()[-1]
            assert f"--set {prefix}{item.name}: {item.name} {message}" in told, told
            assert main([*shlex.split(row.line), *by_file(row, {item.name: value})]) == 1
            told = capsys.readouterr().err.splitlines()[-1]
            assert f"settings.toml:4: {item.name} {message}" in told, told


ONE = next(row for row in ROWS if row.line.startswith("estimate em"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--set iteratoins=3", "--set iteratoins: unknown key 'iteratoins'; known keys:"),
        ("--set iteratoins=3", "(did you mean iterations?)"),
        ("--set inside=rule", "--set inside: inside is a setting of spectral only"),
        ("--set emm.m=3", "--set emm.m: no table 'emm' here, only em (did you mean em?)"),
        ("--set m", "--set m: expected KEY=VALUE"),
        ("--set =3", "--set =3: expected KEY=VALUE"),
        ("--set m=99999999999999999999", "--set m: m must be less than 2^63"),
        ("-m -1", "-m must be at least 0, not -1"),
        ("--settings none", "none: cannot read"),
        ("--settings bad.toml", "bad.toml:2: not TOML"),
        ("--settings other.toml", "other.toml: no table [em]; rename [emm]?"),
        ("--settings flat.toml", "flat.toml:1: em must be a table"),
        ("--settings keys.toml", "keys.toml:3: unknown key 'iteratoins'"),
        ("--settings keys.toml", "(did you mean iterations?)"),
    ],
)
def test_faults_name_the_cure(folder, capsys, words, message):
    files = {"bad": "[em]\nm = = 2\n", "other": "[emm]\nm = 2\n", "flat": "em = 3\n"}
    for name, text in (files | {"keys": "[em]\nm = 2\niteratoins = 3\n"}).items():
        (folder / f"{name}.toml").write_text(text)
    assert main([*shlex.split(ONE.line), *words.split()]) == 1
    assert message in capsys.readouterr().err
    assert not (folder / "out").exists()


def test_several_tables_need_names(capsys):
    line = f"{MARGIN} hiero --set"
    for words, message in (
        ("folds=3", "--set folds: name the table, as in margin.folds=3"),
        ("sampled.sweeps=3", "no table 'sampled' here, only margin, hiero"),
        ("hiero.passes=3", "--set hiero.passes: unknown key 'passes'"),
    ):
        assert main(shlex.split(f"{line} {words}")) == 1
        assert message in capsys.readouterr().err


def test_keys_of_lscfg_run_in_shared_tables_are_left_to_it(monkeypatch):
    row = next(row for row in ROWS if row.cls is TuneSettings)
    Path("settings.toml").write_text("[tuning]\nruns = 3\nlatent_starts = [0.0]\npatience = 2\nweights = { One = 1 }\n")
    assert received(row, ["--settings", "settings.toml"], monkeypatch).patience == 2
    row = next(row for row in ROWS if row.table == "alignment")
    Path("settings.toml").write_text("[alignment]\nheuristics = ['union']\niterations = 2\n")
    assert received(row, ["--settings", "settings.toml"], monkeypatch).iterations == 2


def test_a_file_of_set_is_an_input(folder, capsys):
    """No command overwrites its inputs."""
    (folder / "rule_values.file").write_text("x")
    line = "estimate spectral f --set rule_values=rule_values.file -o rule_values.file"
    assert main(shlex.split(line)) == 1
    assert "is also an input and would be overwritten" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("3", "iterations", 3),
        ("word", "iterations", "word"),
        ("1e-3", "held_out", 0.001),
        ("true", "forests", True),
        ("random", "init", "random"),
        ("'random'", "init", "random"),
        ("3", "init", "3"),
        ("[" * 5000, "iterations", "[" * 5000),
        ("1\nm = 2", "iterations", "1\nm = 2"),
    ],
)
def test_values_of_set_are_toml_or_bare_words(text, name, value):
    item = next(item for item in settings_of(ESTIMATORS["em"].Settings) if item.name == name)
    assert toml_value(text, item) == value


def test_lists_of_set_have_commas_or_brackets():
    item = next(item for item in settings_of(FeatureOptions) if item.name == "names")
    assert toml_value("paper,ratios", item) == ["paper", "ratios"] == toml_value("['paper', 'ratios']", item)
    numbers = next(item for item in settings_of(PhraseSettings) if item.name == "lengths")
    assert toml_value("1,2", numbers) == [1, 2] == toml_value("[1, 2]", numbers)


def test_model_of_alignment_is_a_setting(monkeypatch):
    row = Row("align f e -o out", "alignment", AlignmentSettings, "lscfg.corpus.align.align_both_ways")
    for words in (["--aligner", "fast-align"], ["--set", "model=fast-align"], by_file(row, {"model": "fast-align"})):
        assert received(row, words, monkeypatch).model == "fast-align"
