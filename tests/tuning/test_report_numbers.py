"""Positions and digits in the report that a reader measures by."""

import math
import re
from types import SimpleNamespace

import pytest

from lscfg.errors import InputError
from lscfg.tuning.commands import check_names
from lscfg.tuning.metrics.bleu import brevity_penalty
from lscfg.tuning.report.cost import CostSection
from lscfg.tuning.report.plots import TuningCurve, tuning_curves
from lscfg.tuning.report.sampling import _cells
from lscfg.tuning.report.text import p_equation


def test_the_longest_curve_fills_the_plot():
    """The first iteration is at the left border, the last one of the longest tuning at the right one."""
    curves = [TuningCurve("A", 1, [10.0, 12.0, 11.0], 2), TuningCurve("B", 1, [9.0, 13.0], 2)]
    text = str(tuning_curves(["A", "B"], curves, 9.0, 10.5))
    lines = [
        [float(point.split(",")[0]) for point in points.split()] for points in re.findall('points="([^"]*)"', text)
    ]
    assert [44.0, 630.0] in lines and [44.0, 337.0, 630.0] in lines and [44.0, 337.0] in lines


def test_bars_are_shares_of_the_largest_stage():
    stages = [{"folder": f"f{k}", "seconds": float(k), "peak_mib": 10.0 - k} for k in (2, 5, 3)]
    values = CostSection().values(SimpleNamespace(manifest={"stages": [*stages, stages[0]]}))
    assert [stage["seconds"] for stage in values["stages"]] == [2.0, 5.0, 3.0]
    assert (values["slowest"], values["largest"]) == (5.0, 8.0)
    empty = CostSection().values(SimpleNamespace(manifest={"stages": []}))
    assert (empty["slowest"], empty["largest"]) == (1, 1)


def test_effective_samples_have_one_decimal():
    chain = {"log_joint": [-9.0, -8.0], "types": [3, 4], "tokens": [5, 6]}
    item = {"chains": [chain], "kept": [1], "convergence": {"R-hat": 1.23456, "effective samples": 41.26}}
    assert _cells(item, ["R-hat", "effective samples"])[-2:] == ["1.235", "41.3"]


@pytest.mark.parametrize(
    ("length", "reference", "expected"),
    [(10, 10, 1.0), (12, 10, 1.0), (5, 10, math.exp(-1)), (8, 10, math.exp(-0.25)), (0, 3, 0.0), (0, 0, 1.0)],
)
def test_the_brevity_penalty_is_its_formula(length, reference, expected):
    assert brevity_penalty(length, reference) == pytest.approx(expected, abs=1e-15)


def test_the_scale_of_tunings_is_that_of_the_curves():
    """The line of a tick is as high as a curve of that value."""
    curves = [TuningCurve("A", 1, [10.0, 12.0, 11.0], 2)]
    text = str(tuning_curves(["A"], curves, 10.0, 11.0))
    levels = {float(y) for y in re.findall(r'<line class="axis"[^>]* y1="([\d.]+)"', text)}
    (line,) = (points.split() for points in re.findall('points="([^"]*)"', text) if points.count(",") == 3)
    heights = [float(point.split(",")[1]) for point in line]
    assert heights[1] < heights[2] < heights[0] and {round(y, 1) for y in heights} <= {round(y, 1) for y in levels}


@pytest.mark.parametrize(("value", "text"), [(0.0001, "p ≤ 0.0001"), (0.00011, "p = 0.0001"), (0.3, "p = 0.3000")])
def test_a_p_value_at_the_bound_of_the_test_is_a_bound(value, text):
    assert p_equation(value, 0.0001).replace("\u00a0", " ") == text


def test_a_name_with_half_a_surrogate_pair_is_refused():
    for code in (0xD800, 0xDC80, 0xDFFF):
        with pytest.raises(InputError, match="is not UTF-8; give another"):
            check_names(None, "A", f"B{chr(code)}")
    check_names("\ud7ff", "\ue000")
