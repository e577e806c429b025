"""Writes tables and figures of pages, from the results.json of the experiments and from the code.

A table stands between the lines ``<!-- table: NAME -->`` and ``<!-- end -->``, a figure within a sentence between
``<!-- figure: NAME -->`` and ``<!-- end -->``. ``TABLES`` and ``FIGURES`` define them by name.
"""

from __future__ import annotations

import json
import math
import re
import statistics
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from made import find_table, probability, table

from lscfg.study.heatmap import draw_charts
from lscfg.study.markup import Markup, element
from lscfg.study.svg import tick_label, ticks
from lscfg.tuning.report import plots

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = tuple(
    ROOT / name
    for name in (
        "README.md",
        "docs/results.md",
        "docs/guides/cluster.md",
        "docs/guides/hidden-states.md",
        "docs/guides/how-much-text.md",
        "docs/guides/terms.md",
        "docs/guides/small-languages.md",
        "docs/reference/features.md",
    )
)
PAIRS = ("ja-en", "de-en")
WITH_NETWORK = (*PAIRS, "fr-en")

Rows = dict[str, dict[str, Any]]


def every_row(name: str) -> list[dict[str, Any]]:
    """The rows of a table of results, each by column."""
    made = find_table(name)
    return [dict(zip(made["columns"], row, strict=True)) for row in made["rows"]]


def rows_of(name: str) -> Rows:
    """The rows of a table of results by system, or else by their first cell, without the number of states."""
    columns = find_table(name)["columns"]
    key = "system" if "system" in columns else columns[0]
    return {re.sub(r" \(m = \d+\)", "", str(row[key])): row for row in every_row(name)}


def bleu(row: dict[str, Any] | None, name: str = "test BLEU") -> str:
    """BLEU with its deviation over the tunings."""
    if row is None or row.get(name) is None:
        return ""
    deviation = row.get(f"{name} deviation")
    return f"{row[name]:.2f}" + (f" ({deviation:.2f})" if deviation is not None else "")


def p_value(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    return "" if value is None else probability(value)


def scores(row: dict[str, Any] | None, against: str) -> list[str]:
    """Test BLEU and its p against a system; two empty cells without a row."""
    return [bleu(row), p_value(row, f"p against {against}") if row else ""]


def count(row: dict[str, Any], name: str = "rules") -> str:
    return f"{row[name]:,}" if row.get(name) is not None else ""


def right(first: int, number: int) -> frozenset[int]:
    return frozenset(range(first, number))


def summary() -> str:
    """Five systems and a Transformer on three language pairs."""
    systems = {
        "minimal grammar (MIN)": "MIN",
        "Hiero (HIERO)": "HIERO",
        "MIN with latent features (LATENT)": "LATENT-16",
        "LATENT with sampled rules (SAMPLED+LATENT)": "SAMPLED+LATENT-16",
        "consensus of three systems (AGREED)": "AGREED",
    }
    french = {name: row | {"test BLEU": row["BLEU"]} for name, row in rows_of("yardstick/fr-en-tunings").items()}
    found = [*(rows_of(f"{pair}-best/systems") for pair in PAIRS), french]
    lines = [
        [title, *(cell for rows in found for cell in (count(rows[name]), f"{rows[name]['test BLEU']:.2f}"))]
        for title, name in systems.items()
    ]
    networks = [cell for pair in WITH_NETWORK for cell in ("", f"{transformer(pair):.2f}")]
    lines.insert(2, ["small Transformer (NEURAL)", *networks])
    heads = [head for pair in WITH_NETWORK for head in (f"{pair} rules", "BLEU")]
    return table(["system", *heads], lines, right(1, 7))


def best(pair: str) -> str:
    """The main table of a language pair."""
    heads = ["system", "rules", "BLEU", "p against HIERO", "chrF2", "TER"]
    lines = [
        [
            name,
            count(row),
            bleu(row),
            p_value(row, "p against HIERO"),
            f"{row['chrF2']:.2f}",
            f"{row['TER']:.2f}",
        ]
        for name, row in rows_of(f"{pair}-best/systems").items()
    ]
    return table(heads, lines, right(1, 6))


def worst_p() -> str:
    """The largest p against MIN of the main tables."""
    found = [row["p against MIN"] for pair in PAIRS for row in rows_of(f"{pair}-best/systems").values()]
    return probability(max(p for p in found if p is not None))


IN_MOSES = "moses/latent-features-in-moses"
"""The table of systems in Moses, on ja-en."""


def in_hosts() -> str:
    """The line in cdec.ini and in moses.ini, on several grammars."""
    cdec, of_german = (rows_of(f"{pair}/minimal-and-hiero-grammars-in-cdec") for pair in PAIRS)
    moses, moses_german = rows_of(IN_MOSES), rows_of("moses/moses-with-given-weights")
    columns = cdec, moses, of_german, moses_german
    lines = [[name, *(bleu(rows.get(name)) for rows in columns)] for name in {**cdec, **moses}]
    return table(["system", "cdec, ja-en", "Moses, ja-en", "cdec, de-en", "Moses, de-en"], lines, right(1, 5))


def gains_in_moses() -> str:
    """Differences of test BLEU in Moses: LATENT-16 to MIN, HIERO+LATENT-16 to HIERO."""
    rows = {name: row["test BLEU"] for name, row in rows_of(IN_MOSES).items()}
    gains = rows["LATENT-16"] - rows["MIN"], rows["HIERO+LATENT-16"] - rows["HIERO"]
    return f"{gains[0]:.1f} on MIN, {gains[1]:.1f} on Hiero (ja-en)"


def equal_in_cdec() -> str:
    """Translations that cdec and lscfg's decoder share, of all with the same weights."""
    rows = every_row("moses/cdec-with-given-weights")
    return f"{sum(row['equal'] for row in rows):,} of {sum(row['translations'] for row in rows):,}"


def table_3() -> str:
    """Table 3 of the paper."""
    found = [rows_of(f"{pair}/table-3") for pair in PAIRS]
    lines = [
        [
            name,
            *(
                cell
                for rows in found
                for cell in (bleu(rows[name]), p_value(rows[name], "p vs MIN"), p_value(rows[name], "p vs HIERO"))
            ),
        ]
        for name in found[0]
    ]
    heads = [
        "system",
        "ja-en BLEU",
        "p against MIN",
        "p against HIERO",
        "de-en BLEU",
        "p against MIN",
        "p against HIERO",
    ]
    return table(heads, lines, right(1, 7))


EVERYTHING = {"ja-en": 49500, "de-en": 29000}
"""Pairs of the whole corpora."""

FROM_ZERO = {"ja-en": "systems-1", "de-en": "systems"}
"""Tables of the whole corpora whose latent features start at 0, as in data-size; de-en lacks HIERO+LATENT-16."""

CURVES = ("MIN", "HIERO", "LATENT-16", "HIERO+LATENT-16", "NEURAL")


def transformer(pair: str) -> float:
    """Test BLEU of the Transformer that learns from the whole corpus, the mean of its trainings."""
    trainings = rows_of(f"yardstick/{pair}-seeds").items()
    return statistics.fmean(row["BLEU"] for name, row in trainings if re.fullmatch(r"seed \d", name))


def by_size(pair: str) -> dict[int, Rows]:
    """Rows of systems by the number of training pairs, up to the whole corpus; latent features start at 0."""
    found: dict[int, Rows] = {}
    for row in every_row("data-size/training-size"):
        if row["corpus"] == pair:
            found.setdefault(row["pairs"], {})[row["system"]] = row
    every = rows_of(f"{pair}-sampled/{FROM_ZERO[pair]}") | {"NEURAL": {"test BLEU": transformer(pair)}}
    return found | {EVERYTHING[pair]: every}


def size_points(pair: str) -> dict[str, list[tuple[int, float]]]:
    """Numbers of pairs with the test BLEU, by system."""
    of = by_size(pair).items()
    return {name: [(pairs, rows[name]["test BLEU"]) for pairs, rows in of if name in rows] for name in CURVES}


def doubling() -> str:
    """BLEU that LATENT-16 gains for each doubling of the text, between the sizes."""
    lines, heads = [], []
    for pair in PAIRS:
        points = [point for point in size_points(pair)["LATENT-16"] if point[0] >= 5000]
        cells = []
        for (few, low), (many, high) in pairwise(points):
            cells.append(f"{(high - low) / math.log2(many / few):.1f}")
        lines.append([pair, *cells])
        ends = [*(f"{pairs:,}" for pairs, _ in points[:-1]), "all"]
        heads = heads or [f"{few} to {many}" for few, many in pairwise(ends)]
    return table(["corpus", *heads], lines, right(1, 1 + len(heads)))


def small_curve() -> str:
    """chrF of the small languages by the number of training pairs."""
    points: dict[str, dict[int, float]] = {}
    for row in every_row("small/small-curve"):
        points.setdefault(row["language"], {})[row["pairs"]] = row["chrF"]
    few = (0, 1000, 5000)
    lines = []
    for language, own in points.items():
        most = max(own)
        lines.append([language, *(f"{own[n]:.1f}" if n in own else "" for n in few), f"{own[most]:.1f} ({most:,})"])
    return table(["language", "untranslated", "1,000 pairs", "5,000", "most (pairs)"], lines, right(1, 4))


CURVE_STYLE = (
    "text { font: 12px sans-serif; fill: #59636e; } .name { font-weight: 600; fill: #1c2128; } "
    ".axis { stroke: #d5dbe1; fill: none; } .paper { fill: #ffffff; } .line { fill: none; stroke-width: 2.2; } "
    ".c0 { stroke: #5c6670; } .c1 { stroke: #b3421d; } .c2 { stroke: #0b62a8; } .c3 { stroke: #1a7f4b; } "
    ".c4 { stroke: #8a3ffc; }"
)


def learning_curves() -> str:
    """Test BLEU by the number of pairs as SVG, one plot for each corpus; pairs on a logarithmic scale."""
    wide, high, left, top, gap = 250.0, 210.0, 40.0, 40.0, 60.0
    parts = [element("rect", class_="paper", width="100%", height="100%")]
    for number, pair in enumerate(PAIRS):
        curves, x0 = size_points(pair), left + number * (wide + gap)
        values = [bleu for points in curves.values() for _, bleu in points]
        low, most = min(values) - 1, max(values) + 1
        first, last = math.log(900), math.log(55000)

        def at(pairs: int, bleu: float, x0: float = x0, scale: tuple[float, ...] = (low, most, first, last)) -> Any:
            low, most, first, last = scale
            return x0 + wide * (math.log(pairs) - first) / (last - first), top + high * (most - bleu) / (most - low)

        parts.append(element("text", f"{pair}, test BLEU", class_="name", x=x0, y=top - 16))
        for tick in ticks(low, most):
            y = at(5000, tick)[1]
            parts.append(element("path", class_="axis", d=f"M{x0:.0f} {y:.1f}h{wide:.0f}"))
            parts.append(element("text", tick_label(tick), x=x0 - 6, y=y + 4, text_anchor="end"))
        for pairs in (1000, 3000, 10000, EVERYTHING[pair]):
            x = at(pairs, low)[0]
            parts.append(element("text", f"{pairs / 1000:g}k", x=x, y=top + high + 18, text_anchor="middle"))
        for k, (name, points) in enumerate(curves.items()):
            tip = element("title", f"{name}: " + ", ".join(f"{pairs:,} pairs {bleu:.2f}" for pairs, bleu in points))
            places = [(round(x, 1), round(y, 1)) for x, y in (at(*point) for point in points)]
            line = element("polyline", class_=f"line c{k}", points=" ".join(f"{x},{y}" for x, y in places))
            dots = [element("circle", class_=f"c{k}", cx=x, cy=y, r=1, stroke_width=4) for x, y in places]
            parts.append(element("g", tip, line, *dots))
    x, y = left, top + high + 48
    for k, name in enumerate(CURVES):
        parts.append(element("path", class_=f"line c{k}", d=f"M{x:.0f} {y - 4:.0f}h22"))
        parts.append(element("text", name, x=x + 28, y=y))
        x += 44 + 8 * len(name)
    about = "Test BLEU by number of training pairs"
    size = {
        "viewBox": f"0 0 {left + 2 * wide + gap + 20:.0f} {top + high + 64:.0f}",
        "role": "img",
        "aria_label": about,
    }
    style = element("style", Markup(CURVE_STYLE))
    return element("svg", element("title", about), style, *parts, xmlns="http://www.w3.org/2000/svg", **size) + "\n"


def grammar_sizes() -> str:
    """Test BLEU by the number of rules as SVG: the plot of the report of a run, with its 95 % intervals."""
    rows = rows_of("grammar-size/systems")
    drawn = plots.size_points(
        [
            {"system": name, "rules": row["rules"], "test_bleu_mean": row["test BLEU"], "test_bleu_ci": row["95 %"]}
            for name, row in rows.items()
        ]
    )
    paper = element("rect", class_="paper", width="100%", height="100%")
    style = element("style", Markup(CURVE_STYLE + ".dot { fill: #0b62a8; } .tick { font-size: 10px; }"))
    return element("svg", style, paper, drawn, xmlns="http://www.w3.org/2000/svg", viewBox="0 0 640 300") + "\n"


def yardstick() -> str:
    """A Transformer next to grammars; Hiero with the network's feature and TER stand in the experiment."""
    heads, tests = ["BLEU", "chrF++"], ["p against HIERO", "p against NEURAL"]
    lines = [
        [pair, name, *(f"{row[head]:.2f}" for head in heads), *(p_value(row, test) for test in tests)]
        for pair in WITH_NETWORK
        for name, row in rows_of(f"yardstick/{pair}").items()
        if name != "HIERO+NEURAL"
    ]
    return table(["corpus", "system", *heads, *tests], lines, right(2, 6))


def sampled() -> str:
    """Table 2 of the paper on sampled rules."""
    found = [rows_of(f"{pair}-sampled/table-2") for pair in PAIRS]
    lines = [
        [name, *(cell for rows in found for cell in (count(rows[name]), *scores(rows[name], "HIERO")))]
        for name in found[0]
    ]
    p = "p against HIERO"
    return table(["system", "ja-en rules", "BLEU", p, "de-en rules", "BLEU", p], lines, right(1, 7))


def context() -> str:
    """Table 4.5 of the thesis, without variants of learning and of features."""
    ja_en, de_en = [rows_of(f"{pair}-context/table-4-5") for pair in PAIRS]
    names = ["PHRASES", "CCA", "LS", "SG", "HIGH-DIM", "CCA-RATIO", "HIGH-DIM-RATIO", "RESIDUAL-RATIO", "CONTEXT"]
    lines = [
        [name, de_en[name]["features"], *scores(ja_en.get(name), "PHRASES"), *scores(de_en[name], "PHRASES")]
        for name in [*names, "HIERO"]
    ]
    p = "p against PHRASES"
    return table(["system", "features", "ja-en BLEU", p, "de-en BLEU", p], lines, right(2, 6))


def propagated() -> str:
    """Rules for phrases that parallel text lacks."""
    lines: list[list[str]] = []
    for pair in PAIRS:
        corpora: dict[str, Rows] = {}
        for row in every_row(f"{pair}-propagated/systems"):
            corpora.setdefault(row["pair, pairs"], {})[row["system"]] = row
        for corpus, rows in corpora.items():
            graph = rows["GRAPH"]
            lines.append([corpus, bleu(rows["HIERO"]), bleu(graph), p_value(graph, "p against HIERO")])
            lines[-1].append(bleu(rows.get("ORACLE")))
    return table(["corpus, pairs", "HIERO", "GRAPH", "p against HIERO", "ORACLE"], lines, right(1, 5))


def margin() -> str:
    """Weights of single rules and words."""
    lines = []
    for pair, name in (("ja-en", "max-margin-weights-1"), ("de-en", "max-margin-weights")):
        for system, row in rows_of(f"{pair}-biparsed/{name}").items():
            p = [p_value(row, f"p against {other}") for other in ("HIERO", "INDUCED-0")]
            lines.append([pair, system, count(row), bleu(row), *p])
    heads = ["corpus", "system", "rules", "BLEU", "p against HIERO", "p against INDUCED-0"]
    return table(heads, lines, right(2, 6))


def steps() -> str:
    """CPU time and memory of single commands."""
    made = find_table("speed/steps")
    names = {
        "lscfg align": "align 49,500 sentence pairs, two heuristics",
        "lscfg derive": "build their derivation trees",
        "lscfg grammar": "extract the minimal grammar",
        "lscfg lm": "estimate a 4-gram language model",
        "lscfg estimate": "estimate 16 hidden states and the context model",
        "lscfg decode": "translate 500 sentences",
        "lscfg demo": "run the demo",
    }
    lines = []
    for command, seconds, memory in made["rows"]:
        title = next(title for name, title in names.items() if command.strip("`").startswith(name))
        lines.append([title, f"{seconds:,.1f}", f"{memory:,}"])
    return table(["job", "CPU seconds", "peak MiB"], lines, right(1, 3))


def hosts() -> str:
    """Time of cdec and Moses with latent features."""
    cdec = rows_of("speed/cdec-with-a-minimal-grammar-1")
    moses = rows_of("moses/moses-2")
    lines = [
        ["cdec, 8 hidden states", *(f"{cdec[f'sp8 {form}']['ratio']:.2f}" for form in ("plain", "all"))],
        ["cdec, 16 hidden states", *(f"{cdec[f'sp16 {form}']['ratio']:.2f}" for form in ("plain", "all"))],
        ["Moses, 8 hidden states", f"{moses['sp8.lscfg']['ratio']:.2f}", ""],
        ["Moses, 16 hidden states", f"{moses['sp16.lscfg']['ratio']:.2f}", ""],
    ]
    return table(["decoder and model", "time, not packed", "time, packed"], lines, right(1, 3))


def whole(name: str) -> Callable[[], str]:
    """A table of results as it is."""
    from made import results_table

    return lambda: results_table(find_table(name))


# ---- figures within a sentence ----


def both(values: list[float]) -> str:
    return " and ".join(f"{value:.1f} ({pair})" for value, pair in zip(values, PAIRS, strict=True))


def gain(better: str, worse: str) -> str:
    """Difference of test BLEU in cdec, on both language pairs."""
    found = [rows_of(f"{pair}/minimal-and-hiero-grammars-in-cdec") for pair in PAIRS]
    return both([rows[better]["test BLEU"] - rows[worse]["test BLEU"] for rows in found])


def small() -> str:
    """LATENT and HIERO with 5,000 pairs."""
    found = [by_size(pair)[5000] for pair in PAIRS]
    return both([rows["LATENT-16"]["test BLEU"] - rows["HIERO"]["test BLEU"] for rows in found])


def lead_over_neural() -> str:
    """LATENT and a Transformer with 5,000 pairs."""
    found = [by_size(pair)[5000] for pair in PAIRS]
    return both([rows["LATENT-16"]["test BLEU"] - rows["NEURAL"]["test BLEU"] for rows in found])


def next_to_a_transformer() -> str:
    """chrF of two small languages: the mean of three tunings, and a Transformer."""
    found = {(row["language"], row["system"]): row["chrF"] for row in every_row("small/small-test")}
    languages = ("Aymara", "Shipibo")
    grammar, network = (
        " and ".join(f"{found[language, system]:.1f}" for language in languages)
        for system in ("… mean of three tunings", "Transformer")
    )
    return f"{grammar} chrF; a Transformer, {network}"


def ratio(name: str, row: str) -> str:
    return f"{rows_of(name)[row]['ratio']:.2f}"


def cdec_time() -> str:
    """Time of cdec with the line, packed, relative to cdec without it: the runs of the goals."""
    ratios = [float(value) for value in str(rows_of("speed/goals")["cdec with the line, ratio"]["today"]).split(";")]
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


def decoders() -> str:
    """Time of lscfg's decoder relative to cdec."""
    ratios = [row["ratio"] for row in rows_of("speed/embedded-decoder-and-cdec").values()]
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


def estimate() -> str:
    row = next(row for row in find_table("speed/steps")["rows"] if "lscfg estimate" in row[0])
    return f"{row[1]:.0f} CPU seconds and {row[2] / 1024:.1f} GiB"


def features() -> str:
    """Latent features by family, and the weights with which tuning starts."""
    from lscfg.kernel import FEATURE_FAMILIES, FEATURES

    starts = {feature.name: f" ({feature.start:g})" for feature in FEATURES if feature.start}
    rows = [
        [f"`{family}`", ", ".join(f"`{name}`{starts.get(name, '')}" for name in names)]
        for family, names in FEATURE_FAMILIES.items()
    ]
    return table(["family", "features, with start weights other than 0"], rows)


def example() -> dict[str, Any]:
    """The states, neighbours and marginals of a small model, by experiments/hidden-states/example.py."""
    found: dict[str, Any] = json.loads((ROOT / "experiments/hidden-states/example.json").read_text(encoding="utf-8"))
    return found


def states() -> str:
    """Four states of the example, which the page explains."""
    by_number = {one["state"]: one for one in example()["states"]}
    rows = []
    for number in (4, 2, 7, 5):
        one = by_number[number]
        rules = ", ".join(f"{_code(source)} → {_code(target)}" for source, target in one["rules"][:3])
        rows.append([str(number), f"{100 * one['share']:.1f} %", rules])
    return table(["state", "share of nodes", "most probable rules"], rows, right(1, 2))


def _code(text: str) -> str:
    return f"`{text}`" if "[" in text else text


def nearest() -> str:
    """The rules nearest to a rule of the example, and the farthest one."""
    found = [(float(cosine), *text.split(" ||| ")[1:]) for cosine, text in example()["nearest"]]
    near, far = found[: len(found) // 2], found[len(found) // 2]
    rows = [[f"`{source}` → {target}", f"{cosine:.4f}"] for cosine, source, target in near]
    rows += [["…", ""], [f"`{far[1]}` → {far[2]} (farthest)", f"{far[0]:.4f}"]]
    return table(["rule", "cosine"], rows, right(1, 2))


def marginals() -> str:
    """Difference of the span marginals of the example's sentence."""
    found = example()
    chart = {(i, j): value for i, j, value in found["difference"]}
    return draw_charts(found["sentence"].split(), {"8 states − 1 state": chart})


def corrections() -> str:
    """BLEU of Hiero without and with corrections."""
    found = {row["corpus"]: row for row in every_row("corrections/corrections") if row["system"] == "HIERO"}
    return " and ".join(f"{found[pair]['decoder']:.1f} to {found[pair]['both']:.1f} ({pair})" for pair in PAIRS)


def neural() -> str:
    """BLEU of a consensus of grammars with a network."""
    found = {pair: rows_of(f"yardstick/{pair}")["AGREED+NEURAL"]["BLEU"] for pair in WITH_NETWORK}
    return ", ".join(f"{score:.1f} ({pair})" for pair, score in found.items())


def references() -> str:
    """The lead of LATENT-16 over HIERO with one reference and with all, and its p."""
    leads = []
    for name in ("one-reference", "all-references"):
        latent, hiero = (rows_of(f"ja-en-references/{name}")[system] for system in ("LATENT-16", "HIERO"))
        leads.append(f"{latent['BLEU'] - hiero['BLEU']:.1f} (*p* = {p_value(latent, 'p against HIERO')})")
    return " to ".join(leads)


FIGURES: dict[str, Callable[[], str]] = {
    "worst p": worst_p,
    "line on minimal": lambda: gain("LATENT-16", "MIN"),
    "line on hiero": lambda: gain("HIERO+LATENT-16", "HIERO"),
    "gains in Moses": gains_in_moses,
    "equal in cdec": equal_in_cdec,
    "cdec time": cdec_time,
    "moses time": lambda: ratio("moses/moses-2", "sp16.lscfg"),
    "decoder time": decoders,
    "estimate": estimate,
    "small": small,
    "neural-lead": lead_over_neural,
    "small languages": next_to_a_transformer,
    "corrections": corrections,
    "neural": neural,
    "references": references,
}

TABLES: dict[str, Callable[[], str]] = {
    "features": features,
    "summary": summary,
    "best ja-en": lambda: best("ja-en"),
    "best de-en": lambda: best("de-en"),
    "line": in_hosts,
    "table-3": table_3,
    "doubling": doubling,
    "small-curve": small_curve,
    "states": states,
    "nearest": nearest,
    "yardstick": yardstick,
    "sampled": sampled,
    "context": context,
    "propagated": propagated,
    "margin": margin,
    "steps": steps,
    "hosts": hosts,
    "extrapolation": whole("large-corpora/extrapolation"),
    "corpora": whole("ja-en-best/corpora-and-systems-1"),
    "sizes": whole("ja-en/times-and-sizes-2"),
}


PICTURES: dict[Path, Callable[[], str]] = {
    ROOT / "docs" / "learning-curves.svg": learning_curves,
    ROOT / "docs" / "hidden-states.svg": marginals,
    ROOT / "docs" / "grammar-size.svg": grammar_sizes,
}
"""Pictures by file."""


def updated(text: str) -> str:
    """A document with today's tables.

    Raises:
        KeyError: no table has that name.
    """

    def made(mark: re.Match[str]) -> str:
        return f"<!-- table: {mark[1]} -->\n\n{TABLES[mark[1]]()}\n\n<!-- end -->"

    def figure(mark: re.Match[str]) -> str:
        return f"<!-- figure: {mark[1]} -->{FIGURES[mark[1]]()}<!-- end -->"

    text = re.sub(r"<!-- figure: (.+?) -->.*?<!-- end -->", figure, text)
    return re.sub(r"<!-- table: (.+?) -->\n.*?<!-- end -->", made, text, flags=re.DOTALL)


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(updated(document.read_text(encoding="utf-8")), encoding="utf-8")
    for path, made in PICTURES.items():
        path.write_text(made(), encoding="utf-8")
