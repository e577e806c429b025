"""Positions and digits in the report that a reader measures by."""

import math
import re
from types import SimpleNamespace

import pytest

from lscfg.errors import InputError
from lscfg.tuning.commands import check_names
from lscfg.tuning.metrics.bleu import brevity_penalty
from lscfg.tuning.report.cost import CostSection
from lscfg.tuning.report.grammars import GrammarsSection
from lscfg.tuning.report.learning import TuningSection, _weights
from lscfg.tuning.report.plots import TuningCurve, intervals, size_points, spectrum_bars, tuning_curves
from lscfg.tuning.report.sampling import _cells, _panel, _panels
from lscfg.tuning.report.text import p_equation, p_value


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


def test_the_smallest_p_value_of_the_trials_is_a_bound():
    assert [p_value(value, 99).replace("\u00a0", " ") for value in (0.01, 0.0101, 0.02)] == [
        "≤ 0.0100",
        "0.0101",
        "0.0200",
    ]


SIZED = [("A", 20.0, 1000), ("B", 22.0, 10_000), ("C", 23.0, 100_000)]


def interval_row(name, middle, half):
    return {"system": name, "test_bleu": middle, "test_bleu_ci": half, "test_bleu_mean": middle, "runs": []}


def test_intervals_fill_the_plot():
    text = str(intervals([interval_row("A", 20.0, 1.5), interval_row("B", 22.0, 2.0)], "A"))
    bars = re.findall(r'<rect class="ci" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', text)
    (a, b) = [(float(x), float(x) + float(width)) for x, width in bars]
    assert a[0] == 8 and b[1] == pytest.approx(360 - 8, abs=0.1)
    assert a[1] == pytest.approx(8 + 344 * 3 / 5.5, abs=0.1)


def test_intervals_without_width_are_in_the_middle_of_one_bleu():
    text = str(intervals([interval_row("A", 20.0, 0.0)], "A"))
    ticks = {float(number): float(x) for x, number in re.findall(r'class="tick" x="([\d.]+)"[^>]*>([\d.]+)<', text)}
    assert '<circle class="dot" cx="180" ' in text
    assert ticks[19.6] == pytest.approx(8 + 344 * 0.1, abs=0.1) and ticks[20.4] == pytest.approx(8 + 344 * 0.9, abs=0.1)


def test_dots_of_systems_are_placed_by_the_logarithm_of_their_rules():
    rows = [interval_row(name, bleu, 1.0) | {"rules": rules} for name, bleu, rules in SIZED]
    text = str(size_points(rows))
    dots = [(float(x), float(y)) for x, y in re.findall(r'class="dot" cx="([\d.]+)" cy="([\d.]+)"', text)]
    assert dots[1][0] - dots[0][0] == pytest.approx(dots[2][0] - dots[1][0], abs=0.1)
    assert dots[0][1] - dots[1][1] == pytest.approx(2 * (dots[1][1] - dots[2][1]), abs=0.1)
    assert [mark for mark in ("1,000", "10,000", "100,000") if f">{mark}<" in text] == ["1,000", "10,000", "100,000"]


def test_labels_of_dots_do_not_overlap():
    rows = [interval_row(f"SYSTEM-{k}", 20 + k / 50, 1.0) | {"rules": 1000 + k} for k in range(6)]
    labels = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">SYSTEM', str(size_points(rows)))
    assert len(labels) == 6
    assert all(abs(float(a[1]) - float(b[1])) > 11 or a[2] != b[2] for k, a in enumerate(labels) for b in labels[:k])


def test_a_spectrum_is_numbered_from_1():
    for values, numbers in (([4.0, 2.0, 1.0], ["1", "3"]), ([4.0], ["1"])):
        assert re.findall(r'y="114"[^>]*>(\d+)<', str(spectrum_bars("A", values))) == numbers


def test_chains_of_one_distribution_share_a_panel():
    """A chain with an initial state only has no panel."""
    chains = [("a", 2), ("b", 3), ("a", 4), ("c", 1)]
    items = [{"distribution": name, "chains": [{"log_joint": [-1.0] * n}]} for name, n in chains]
    assert _panels(items) == [[items[0], items[2]], [items[1]]]


def test_bars_of_grammars_are_logarithms():
    sizes = [(1000, None), (10, 100_000), (0, None)]
    rows = [
        {"system": "A", "rules": rules, "effective_rules": effective, "singular_values": None}
        for rules, effective in sizes
    ]
    results = {"systems": rows, "words": [], "derivations": {"rules": 7, "share": 0.5}}
    values = GrammarsSection().values(SimpleNamespace(results=results))
    assert values["sizes"] == pytest.approx([3 / 5, 1, 0]) and values["counts"] == [("rules", 7)]


def test_a_system_that_is_not_tuned_has_no_curve():
    runs = [{"dev_bleu_by_iteration": [20.0, 24.0, 23.0], "tuning_iteration": 2}]
    rows = [{"system": "A", "dev_bleu": 24.0, "runs": runs}]
    rows += [{"system": "AGREE", "dev_bleu": 25.0, "runs": [{"dev_bleu_by_iteration": []}]}]
    report = SimpleNamespace(results={"systems": rows, "baseline": "A"}, content=SimpleNamespace(weights={}))
    values = TuningSection().values(report)
    assert values["rows"] == rows[:1] and values["weights"] is None and ">AGREE<" not in str(values["plot"])


def test_weights_of_runs_have_four_decimals():
    table = _weights(SimpleNamespace(weights={"A": [{"lm": 0.123456}, {"lm": -0.5}]}))
    (row,) = table["rows"]
    assert row[2] == [{"share": 0.0, "title": "0.1235, −0.5000"}]


def test_colours_of_systems_repeat_after_eight():
    names = [f"S{k}" for k in range(9)]
    chains = [{"log_joint": [-9.0, -8.0], "types": [3, 4], "tokens": [5, 6]}] * 2
    panel = _panel(names, [{"systems": [names[k]], "chains": chains} for k in (1, 8)])
    assert panel["legend"] == [("S1", 1), ("S8", 0)]
    found = re.findall(r"--c(\d)\)\">.*?<polyline class=\"([a-z ]+)\"", str(panel["plots"][0][1]))
    assert found == [("1", "line"), ("1", "line more"), ("0", "line"), ("0", "line more")]  # the first chain stands out
