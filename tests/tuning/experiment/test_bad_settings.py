"""Every key of an experiment file with every kind of bad value: one error by file and line, before any work."""

import json
from pathlib import Path

import pytest
from little_experiment import TOML
from other_settings import BESIDE

from lscfg.context.learner import CONTEXT_MODELS
from lscfg.corpus.aligner import ALIGNERS
from lscfg.errors import InputError, LscfgError
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.extract.extractor import EXTRACTORS
from lscfg.kernel import LATENT_FEATURES
from lscfg.settings import LARGEST, settings_of
from lscfg.tuning.experiment.config import PARTS, read_experiment
from lscfg.tuning.experiment.run import run_experiment
from lscfg.tuning.experiment.schema import Alignment, Tuning
from lscfg.tuning.optimisers import OPTIMISERS

CORPUS = TOML[: TOML.index("[language_model]")]
SYSTEMS = TOML[TOML.index("[systems.MIN]") :]


def tables():
    """(table with its first lines, class of settings) of every table whose keys are declared settings."""
    yield from ((f"[{name}]", cls) for name, cls in PARTS.items() if name != "corpus")
    yield "[tuning]", Tuning
    yield "[alignment]", Alignment
    yield from ((f"[{name}]", EXTRACTORS[name].Settings) for name in EXTRACTORS.names())
    yield from ((f"[context.{name}]", CONTEXT_MODELS[name].Settings) for name in CONTEXT_MODELS)
    for group, table, key in (
        (ALIGNERS, "[alignment]", "model"),
        (OPTIMISERS, "[tuning]", "optimiser"),
        (ESTIMATORS, "[systems.OWN]", "estimator"),
    ):
        yield from ((f'{table}\n{key} = "{name}"', group[name].Settings) for name in group.names())


EVERY = [(header, item) for header, cls in tables() for item in settings_of(cls)]

ODD = ("1979-05-27", "07:32:00", "{}", "{a = 1}", "[[]]", "9" * 400, "0x" + "f" * 5000, str(2**63), str(-(2**63) - 1))
"""Wrong for every setting."""

WRONG = {
    int: ("true", '"1"', "1.0", "nan", "inf"),
    float: ("true", '"1"', "nan", "inf", "-inf", "1e400"),
    bool: ("1", '"true"', "[]"),
    str: ("1", "true", '"' + "x" * 5000 + '"'),
    Path: ("1", "true", '""', '"no such file"', '"."', '"a\\u0000b"', '"a\\nb"', '"' + "x" * 4000 + '"'),
}


def bad_values(item):
    limits = item.limits
    one = [*ODD, *WRONG[item.kind], *(['"no such choice"', '""'] if limits.choices else [])]
    one += [repr(limits.least - 1), repr(limits.least - 1e-9)] if limits.least is not None else []
    one += [repr(limits.most + 1)] if limits.most is not None else []
    one += [repr(bound) for bound in (limits.above, limits.below) if bound is not None]
    if not item.many:
        return [*one, *([] if item.kind is bool else ["[]", "[1]"])]
    twice = json.dumps([item.limits.choices[0] if item.limits.choices else 7 if item.kind is int else "MIN"] * 2)
    return [*one, *(f"[{value}]" for value in one), twice, *(["[]"] if item.default else [])]


def read(corpus, text):
    (corpus / "bad.toml").write_text(text)
    return read_experiment(corpus / "bad.toml")


@pytest.mark.parametrize(("header", "item"), EVERY, ids=lambda part: getattr(part, "name", part))
def test_every_bad_value_is_refused_by_file_and_line(corpus, header, item):
    before = CORPUS + SYSTEMS + header + "\n"
    for value in bad_values(item):
        with pytest.raises(InputError) as caught:
            read(corpus, f"{before}{item.name} = {value}\n")
        message = str(caught.value)
        line = before.count("\n") + 1
        assert message.startswith(f"{corpus / 'bad.toml'}:{line}: {item.name}"), (value[:50], message)
        assert "\n" not in message and len(message) < 4500


@pytest.mark.parametrize(("header", "item"), EVERY, ids=lambda part: getattr(part, "name", part))
def test_the_limits_themselves_are_good_values(corpus, header, item):
    for value in (item.limits.least, item.limits.most):
        if value is not None:
            needed = "".join(f"{key} = {json.dumps(needs)}\n" for key, needs in BESIDE.get(item.name, {}).items())
            read(corpus, f"{CORPUS}{SYSTEMS}{header}\n{needed}{item.name} = {item.kind(value)}\n")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('[tuning]\nweights = {"Language Model" = 1}', "2: weights must name features; 'Language Model' cannot"),
        ('[tuning]\nweights."" = 1', "2: weights must name features; '' cannot"),
        ('[tuning.weights]\n"A\\nB" = 1', "1: weights must name features; 'A\\nB' cannot"),
        ('[tuning]\nweights = {"A|||" = 1}', "2: weights must name features"),
        ('[tuning]\nweights = {"A#B" = 1}', "2: weights must name features"),
        ('[tuning]\nweights = {"A\\u0000" = 1}', "2: weights must name features"),
        ("[tuning]\nweights = {A = nan}", "2: weights must be finite numbers; that of A is nan"),
        ("[tuning]\nweights = {A = 1e400}", "2: weights must be finite numbers; that of A is inf"),
        ("[tuning]\nweights = {A = " + "9" * 400 + "}", "2: A must be less than 2^63 in size"),
        ("[tuning]\nweights = {A = " + "9" * 5000 + "}", "2: a number has too many digits"),
        ("[tuning]\nweights = {A = true}", "2: A must be a number, not True"),
        ("[tuning]\nweights = [1]", "2: weights must be a table"),
        ("[tuning]\nkbest = " + "[" * 5000 + "]" * 5000, "2: brackets are nested too deeply"),
        ("[tuning]\nkbest = " + "{a=" * 5000 + "1" + "}" * 5000, "2: brackets are nested too deeply"),
        ("[tuning]\nkbest" + ".a" * 5000 + " = 1", "2: kbest must be a whole number, not a table"),
        (f"[tuning]\nseed = {LARGEST}\nruns = 2", "2: seed of the last of 2 runs must be at most"),
        ("[tuning]\nruns = 1001", "2: runs must be at most 1000"),
        ("[" + "x" * 5000 + "]", "1: unknown key 'xxx"),
        ("[[tuning]]\nkbest = 3", "1: tuning must be a table"),
        ('[systems."A.B"]\nm = 3', "2: m needs a system with an estimator"),
        ('["systems".\'A.B\']\nestimator = "mle"\n"max_targets" = -1', "3: max_targets must be at least 0"),
        ('[systems."A\\nB"]', "1: a system's name may contain letters"),
        ("[systems.A]\ngrammar = 3", "2: grammar must be a string"),
        ('[systems.A]\ngrammar = ""', "2: "),
        ('[systems.A]\ngrammar_file = "' + "x" * 4000 + '"', "2: grammar_file: no file '/"),
        ('[systems.A]\nestimator = "spectral"\nfeatures = [""]', "3: features is invalid: unknown feature"),
        (
            '[systems.A]\nestimator = "spectral"\nfeatures = ["paper", "paper"]',
            "3: features must not name 'paper'",
        ),
        (
            f'[systems.A]\nestimator = "mle"\nfeatures = ["paper", "{LATENT_FEATURES[0]}"]',
            "3: features must not name 'LatentMarginal'",
        ),
    ],
    ids=range(28),
)
def test_what_settings_by_themselves_do_not_say(corpus, lines, message):
    before = CORPUS + SYSTEMS
    with pytest.raises(InputError) as caught:
        read(corpus, f"{before}{lines}\n")
    line, _, text = message.partition(":")
    wanted = f"{corpus / 'bad.toml'}:{before.count(chr(10)) + int(line)}:{text}"
    assert str(caught.value).startswith(wanted), str(caught.value)


@pytest.mark.parametrize("text", ["", "[", "a = ", '"', '"""', "a = [\n1,\n"])
def test_a_file_that_ends_too_early_names_its_last_line(corpus, text):
    with pytest.raises(InputError, match=r"bad\.toml:\d+: (not TOML|unknown key)"):
        read(corpus, TOML + text if text else "x = 1")


def test_more_states_than_fit_into_memory_name_the_system(corpus, tmp_path):
    """Only the estimator knows how many fit; nothing is tuned before."""
    (corpus / "large.toml").write_text(TOML.replace("m = 3", "m = 100000"))
    with pytest.raises(LscfgError, match=r"^system SPECTRAL: m = 100000 hidden states need .* smaller -m$"):
        run_experiment(corpus / "large.toml", tmp_path, 1)
    assert not list(tmp_path.glob("cache/tune*"))
