"""Positions and digits in the report that a reader measures by."""

import math
import re
from types import SimpleNamespace

import pytest

from lscfg.tuning.metrics.bleu import brevity_penalty
from lscfg.tuning.report.cost import CostSection
from lscfg.tuning.report.plots import TuningCurve, tuning_curves
from lscfg.tuning.report.sampling import _cells


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
