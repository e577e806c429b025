"""The options of a decoder's line, numbers as text, and the warning about sums that are not probabilities."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from forests import build
from hypothesis import given
from hypothesis import strategies as st
from native import needs

from lscfg.decode.latent import LatentFeatures
from lscfg.errors import InputError
from lscfg.formats.ini import LatentFeature, read_ini
from lscfg.kernel import (
    CONTEXT_FEATURES,
    FEATURE_FAMILIES,
    FEATURES,
    LATENT_FEATURES,
    BindingOptions,
    FeatureOptions,
    Grammar,
    ImproperCounts,
    Inference,
    LatentOptions,
    option_pairs,
)

PAPER, SPAN, RATIOS = LATENT_FEATURES[:3], LATENT_FEATURES[3], LATENT_FEATURES[4:11]
COMPOSE, OOV = BindingOptions(compose=True), BindingOptions(True, True, True)

GOOD = [
    ("", FeatureOptions(), COMPOSE),
    ("model=a=b", FeatureOptions(), COMPOSE),
    ("log=false", FeatureOptions(log=False), COMPOSE),
    ("log=true floor=0.25", FeatureOptions(floor=0.25), COMPOSE),
    ("floor=1e-300", FeatureOptions(floor=1e-300), COMPOSE),
    ("floor=+.5", FeatureOptions(floor=0.5), COMPOSE),
    ("negative=clamp unknown=zero", FeatureOptions(negative="clamp"), BindingOptions()),
    ("negative=flip unknown=compose", FeatureOptions(negative="flip"), COMPOSE),
    ("improper=keep", FeatureOptions(improper="keep"), COMPOSE),
    ("improper=zero", FeatureOptions(), COMPOSE),
    ("unknown=oov", FeatureOptions(), OOV),
    ("features=paper", FeatureOptions(names=PAPER), COMPOSE),
    ("features=LatentSpan,LatentMarginal", FeatureOptions(names=(SPAN, PAPER[0])), COMPOSE),
    ("features=context,LatentSpan,ratios", FeatureOptions(names=(*CONTEXT_FEATURES, SPAN, *RATIOS)), COMPOSE),
    ("features=LatentSpan,", FeatureOptions(names=(SPAN,)), COMPOSE),
    ("prune=0", FeatureOptions(), COMPOSE),
]

USAGE = (
    "model=FILE features=NAME,NAME log=true|false floor=X negative=flip|clamp improper=zero|keep "
    "unknown=compose|zero|oov prune=X"
)
NAMES = ", ".join(LATENT_FEATURES)
FAMILIES = "paper, span, ratios, context, composed, sense, ranks, scores, boundary, neural, orientation"
ABOVE_0 = "expected a number above 0"
BAD = [
    ("log=yes", "log=yes: expected true or false"),
    ("log=True", "log=True: expected true or false"),
    *(
        (f"floor={x}", f"floor={x}: {ABOVE_0}")
        for x in (
            "0",
            "-1",
            "nan",
            "inf",
            "1e400",
            "1e-400",
            "1,5",
            "1e-6x",
            "x",
            "0x1p-20",
            "0X1",
            "infinity",
            "+-1",
            "e",
        )
    ),
    (f"floor={'1' * 1300}", f"floor={'1' * 80}: {ABOVE_0}"),
    ("negative=no", "negative=no: expected flip or clamp"),
    ("improper=yes", "improper=yes: expected zero or keep"),
    ("unknown=known", "unknown=known: expected zero, compose or oov"),
    (
        "features=Latent",
        f"unknown feature 'Latent'; families are {FAMILIES}; features are {NAMES}",
    ),
    (
        "features=paper,,ratios",
        f"unknown feature ''; families are {FAMILIES}; features are {NAMES}",
    ),
    (
        "features=,",
        f"unknown feature ''; families are {FAMILIES}; features are {NAMES}",
    ),
    ("features=paper,thesis", "the features 'thesis' are now called 'ranks'"),
    ("features=paper,LatentMarginal", "features=paper,LatentMarginal names a feature twice"),
    *(
        (f"prune={x}", f"prune={x}: expected a number of at least 0 and below 1")
        for x in ("1", "-1e-9", "nan", "x", "0x1", "1e400")
    ),
    ("colour=red", f"unknown option colour=red; options are {USAGE}"),
    ("Log=true", f"unknown option Log=true; options are {USAGE}"),
    (f"model={'a' * 4096}", f"model={'a' * 80}... is not a path"),
]


@pytest.mark.parametrize(("line", "features", "unknown"), GOOD)
def test_good_lines(line, features, unknown):
    options = LatentOptions.of(option_pairs(line))
    assert (options.features, options.unknown) == (features, unknown)
    assert options.model == ("a=b" if "model" in line else "")


@pytest.mark.parametrize(("line", "message"), BAD)
def test_bad_lines(line, message):
    with pytest.raises(InputError) as raised:
        LatentOptions.of(option_pairs(line))
    assert str(raised.value) == message


def test_an_empty_value_names_no_feature():
    with pytest.raises(InputError, match="features= names no feature"):
        LatentOptions.of([("features", "")])


def test_the_last_value_counts():
    assert LatentOptions.of(option_pairs("log=false log=true model=a model=\xe9")).model == "\xe9"
    assert LatentOptions.of([("model", "a b\udcff")]).model == "a b\udcff"


def test_pairs_of_a_line():
    assert list(option_pairs(" a=b\tc=d=e\r\n=x k= word \u3000=1\v")) == [
        ("a", "b"),
        ("c", "d=e"),
        ("", "=x"),
        ("", "k="),
        ("", "word"),
        ("\u3000", "1"),
    ]
    assert list(option_pairs("")) == [] == list(option_pairs(" \t"))


@pytest.mark.parametrize("latent_line", [*GOOD, *BAD])
def test_configurations_have_the_same_options(latent_line, tmp_path):
    """Reads the same lines in a cdec.ini, up to the features of a grammar."""
    line, *expected = latent_line
    model, grammar, *_ = build(tmp_path, 2, 1, False)
    ini = tmp_path / "cdec.ini"
    options = " ".join(part for part in line.split() if not part.startswith("model="))
    ini.write_text(f"formalism=scfg\nfeature_function=LSCFG model={tmp_path / 'm'} {options}\n")
    if len(expected) == 1 and options:
        with pytest.raises(InputError) as raised:
            LatentFeatures.from_ini(read_ini(ini).latent, grammar, ini)
        assert str(raised.value) == f"{ini}:2: feature function LSCFG: {expected[0]}"
        return
    latent = read_ini(ini).latent
    assert isinstance(latent, LatentFeature)
    if len(expected) == 2 and {*expected[0].names} <= {*PAPER, SPAN}:
        found = LatentFeatures.from_ini(latent, grammar, ini)
        assert found.options == expected[0]
        assert np.array_equal(
            found.binding.kinds, LatentFeatures(model, grammar, found.options, expected[1]).binding.kinds
        )
    elif len(expected) == 2:  # the model is without one state and context
        with pytest.raises(InputError, match="the model has no"):
            LatentFeatures.from_ini(latent, grammar, ini)


NUMBERS = st.one_of(
    st.floats().map(repr),
    st.from_regex(r"[+-]?[0-9]{0,25}(\.[0-9]{0,90})?(e[+-]?[0-9]{1,3})?", fullmatch=True).filter(bool),
)


@given(NUMBERS)
def test_numbers_are_those_of_strtod(text):
    """Python's float reads decimal numbers as C does, but for infinities and the like, which are no values."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    grammar = Grammar()
    if math.isfinite(value):
        grammar.read_text(f"[X] ||| a ||| b ||| F={text}\n")
        assert grammar.features()[2].tobytes() == np.array([value]).tobytes()
    else:
        with pytest.raises(InputError, match="is not a feature with a finite value"):
            grammar.read_text(f"[X] ||| a ||| b ||| F={text}\n")


def test_counts_of_improper_sums():
    flip, clamp = FeatureOptions(), FeatureOptions(negative="clamp")
    counts = ImproperCounts()
    assert counts.text(flip) == ""
    nothing = np.empty(0)
    for sign, negative, mass in ((1, 0, 0.0), (-1, 3, 0.5), (0, 0, 0.0), (1, 2, 0.25), (1, 1, 0.5), (-1, 0, 0.0)):
        counts = counts.count(Inference(nothing, nothing, sign, 0.0, negative, mass))
    assert counts == ImproperCounts(6, 2, 1, 2, 0.75)
    assert counts + counts == ImproperCounts(12, 4, 2, 4, 1.5)
    none = "of 6 sentences 3 have no positive sum of derivations (g < 0: 2, g = 0: 1) and all latent features 0"
    some = "2 have negative marginals, 37.5% of the absolute mass on average, which count as"
    assert counts.text(flip) == f"{none}; {some} their absolute value"
    assert counts.text(clamp) == f"{none}; {some} 0"
    assert ImproperCounts(6, 2, 1).text(flip) == none
    kept = FeatureOptions(improper="keep")
    assert ImproperCounts(6, 2, 1).text(kept) == f"{none[:-21]}keep their latent features where g < 0"
    assert ImproperCounts(6, 0, 0, 2, 0.75).text(clamp) == f"of 6 sentences {some} 0"
    assert ImproperCounts(6).text(flip) == ""
    most = 2**62
    assert ImproperCounts(most, most // 2, most // 2, most, float(most)).text(flip).endswith("absolute value")


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"[+-]?[0-9]{1,19}\.?[0-9]{0,6}(e[+-]?[0-9]{1,2})?", fullmatch=True),
)


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_numbers_are_rounded_as_python_does(numbers: list[str]):
    grammar = Grammar()
    grammar.read_text(f"[X] ||| a ||| b ||| {' '.join(f'F{k}={number}' for k, number in enumerate(numbers))}\n")
    assert grammar.features()[2].tobytes() == np.array([float(number) for number in numbers]).tobytes()


@pytest.mark.parametrize("number", ["1e", "1e+", "1..2", "1.2.3", ".", "-", "--1", "1e5x", "1 e5", "0x", "1e9999"])
def test_other_texts_are_no_numbers(number: str):
    with pytest.raises(InputError):
        Grammar().read_text(f"[X] ||| a ||| b ||| F={number}\n")


IN_THE_LOCALE = """
import locale, numpy as np
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
assert locale.localeconv()["decimal_point"] == ",", "no comma"
from helpers import rule_table
from lscfg.errors import InputError
from lscfg.kernel import FeatureOptions, Grammar, ImproperCounts, LatentOptions, Rules

grammar = Grammar()
grammar.read_text("[X] ||| a ||| b ||| F=0.5 G=-1.25e-3\\n")
assert grammar.features()[2].tolist() == [0.5, -1.25e-3]
for bad in lambda: grammar.read_text("[X] ||| a ||| b ||| F=0,5\\n"), lambda: LatentOptions.of([("floor", "0,5")]):
    try:
        bad()
    except InputError as error:
        print(error)
assert LatentOptions.of([("floor", "0.25")]).features.floor == 0.25
print(ImproperCounts(2, 0, 0, 1, 0.125).text(FeatureOptions()))
print(Rules(rule_table(["a ||| b"]).arrays()).text(np.zeros(1), ["F"], np.array([[0.5]])).decode())
assert locale.str(0.5) == "0,5"  # the program's own locale is as it was
"""


def test_numbers_do_not_depend_on_the_locale(tmp_path: Path):
    made = subprocess.run(
        [needs("localedef"), "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], capture_output=True, text=True
    )
    if not (tmp_path / "de_DE.UTF-8" / "LC_NUMERIC").exists():
        pytest.skip(f"no locale with a comma: {made.stderr.strip()}")
    environment = {**os.environ, "LOCPATH": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-P", "-c", IN_THE_LOCALE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert "'F=0,5' is not a feature with a finite value" in told[0]
    assert told[1] == f"floor=0,5: {ABOVE_0}"
    assert "12.5%" in told[2]
    assert told[3] == "[X] ||| a ||| b ||| F=0.5"


def test_every_feature_has_a_family_and_a_line_of_help():
    assert sorted(name for family in FEATURE_FAMILIES.values() for name in family) == sorted(LATENT_FEATURES)
    assert all(feature.help and not feature.help.endswith(".") for feature in FEATURES)
    assert len({feature.name for feature in FEATURES}) == len(FEATURES)
    for family, names in FEATURE_FAMILIES.items():
        line = LatentOptions.of([("features", family)])
        assert line.features.names == FeatureOptions(names=names).names == names


def test_a_long_bad_name_fits_into_the_message():
    with pytest.raises(InputError, match=r"^unknown feature 'x{80}'; families are paper, span"):
        LatentOptions.of([("features", "x" * 4000)])
