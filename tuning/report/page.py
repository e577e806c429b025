"""The page: sections of results as HTML. It loads nothing, and says so to the browser."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from lscfg.tuning.report import plots
from lscfg.tuning.report.breakdown import breakdown_section
from lscfg.tuning.report.buckets import Breakdown
from lscfg.tuning.report.charts import charts_section
from lscfg.tuning.report.content import SIGNIFICANT, Content, headline
from lscfg.tuning.report.explorer import data_block, explorer_data, explorer_section
from lscfg.tuning.report.learning import tuning_section
from lscfg.tuning.report.markup import (
    bar_cell,
    data_row,
    data_table,
    decimal,
    definitions,
    matched_html,
    p_cell,
    with_spread,
    words_html,
)
from lscfg.tuning.report.monolingual import monolingual_section
from lscfg.tuning.report.sampling import sampling_section
from lscfg.tuning.sentences import Difference, best_and_worst, differences

_FILES = [
    Path(__file__).with_name(name).read_text("utf-8").strip()
    for name in ("style.css", "elements.js", "derivations.js", "explore.js")
]

STYLE = _FILES[0]

SCRIPT = "\n".join(['"use strict";', "{", *_FILES[1:], "}"])

_HASH = base64.b64encode(hashlib.sha256(SCRIPT.encode("utf-8")).digest()).decode()

POLICY = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{_HASH}'"
"""Nothing is loaded, and no other script runs than the page's own."""


def render(content: Content, manifest: dict[str, Any]) -> str:
    """The whole page. Equal arguments give equal bytes.

    Args:
        manifest: as in manifest.json; times and memory are nowhere else.
    """
    breakdown = Breakdown.of(content)
    sections = [
        ("results", "Results", _results(content)),
        ("tuning", "Tuning", tuning_section(content)),
        ("grammars", "Grammars and models", _grammars(content)),
        *([("sampling", "Sampled rules", chains)] if (chains := sampling_section(content)) else []),
        *([("monolingual", "Monolingual text", mono)] if (mono := monolingual_section(content)) else []),
        ("charts", "Charts", charts_section(content)),
        ("breakdown", "Where systems differ", breakdown_section(content, breakdown)),
        ("explore", "Test sentences", explorer_section(content)),
        ("sentences", "Gains and losses", _sentences(content)),
        ("cost", "Time and memory", _cost(manifest)),
        ("manifest", "What made it", _manifest(manifest)),
    ]
    links = "".join(f'<li><a href="#{key}">{name}</a></li>' for key, name, _ in sections)
    body = "".join(
        f'<section id="{key}" aria-labelledby="{key}-title"><h2 id="{key}-title">{name}</h2>{text}</section>\n'
        for key, name, text in sections
    )
    title = escape(content.title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<link rel="icon" href="data:,">\n<title>{title} – lscfg</title>\n'
        f"<style>\n{STYLE}\n</style>\n</head>\n<body>\n"
        f"<header><h1>{title}</h1>{_lead(content)}"
        f'</header>\n<nav aria-label="Sections"><ul>{links}</ul></nav>\n<main>\n{body}</main>\n'
        f"<footer><p>Made by lscfg {escape(manifest['lscfg'])}. The numbers are in results.json and manifest.json "
        "beside this page, the translations in systems/.</p></footer>\n"
        f"{data_block(explorer_data(content, breakdown))}\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _lead(content: Content) -> str:
    results = content.results
    rows = results["systems"]
    lead = escape(headline(results))
    best = escape(max(rows, key=lambda row: row["test_bleu"])["system"])
    if lead.startswith(f"{best} "):
        lead = f"<b>{best}</b>{lead.removeprefix(best)}"
    facts = [
        ("systems", str(len(rows))),
        ("tunings of each", str(results["runs"])),
        ("decoder", results["decoder"]),
        ("training pairs", f"{results['derivations']['sentence pairs']:,}"),
        ("test sentences", f"{results['test sentences']:,}"),
        ("references", str(len(content.references))),
    ]
    items = "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)
    return f'<p class="lead">{lead}</p><dl class="facts">{items}</dl>'


def _results(content: Content) -> str:
    results = content.results
    rows, baseline = results["systems"], results["baseline"]
    best = {key: max(row[key] for row in rows) for key in ("dev_bleu", "test_bleu", "test_chrF2")}
    best["test_TER"] = min(row["test_TER"] for row in rows)

    def cell(row: dict[str, Any], key: str, deviation: str | None = None) -> str:
        text = with_spread(row[key], row[deviation] if deviation else None)
        return f'<td class="best">{text}</td>' if row[key] == best[key] else text

    restored = ["restored BLEU"] if results["restored_signature"] else []
    lines = [
        data_row(
            row["system"],
            [
                f"{row['rules']:,}",
                str(row["states"] or "–"),
                cell(row, "dev_bleu", "dev_bleu_deviation"),
                cell(row, "test_bleu", "test_bleu_deviation"),
                f"± {row['test_bleu_ci']:.2f}",
                *(decimal(row["restored_bleu"]) for _ in restored),
                p_cell(row["p_value"], results["randomisation trials"]),
                decimal(row["p_bootstrap"], 4),
                *(p_cell(p, results["randomisation trials"]) for p in row["p_against"].values()),
                cell(row, "test_chrF2"),
                cell(row, "test_TER"),
            ],
            "baseline" if row["system"] == baseline else "",
        )
        for row in rows
    ]
    head = [
        "system",
        "rules",
        "<i>m</i>",
        "dev BLEU",
        "test BLEU",
        "95 % CI",
        *restored,
        "<i>p</i> randomised",
        "<i>p</i> bootstrap",
        *(f"<i>p</i> against {escape(name)}" for name in results["against"]),
    ]
    head += ["chrF2", "TER"]
    runs = results["runs"]
    tuned = f"Means of {runs} independent tunings, sample standard deviations in parentheses. " if runs > 1 else ""
    caption = f"{tuned}Tests against {escape(baseline)}; best values are bold, and p below {SIGNIFICANT}."
    note = (
        f"BLEU: <code>{escape(results['signature'])}</code>. The interval is that of the sentences (bootstrap); "
        f"<i>p</i> randomised is {results['randomisation trials']:,} trials of approximate randomisation"
        + (", stratified by sentence over the runs (Clark et al., 2011)." if runs > 1 else ".")
    )
    if restored:
        note += f" Restored BLEU, of text as people write it: <code>{escape(results['restored_signature'])}</code>."
    what = (
        "What test BLEU is made of: percentage of n-grams found, brevity penalty, length over that of the references."
    )
    plot = plots.intervals(rows, baseline)
    legend = "Test BLEU: mean (dot) and 95 % interval (band)" + (", single runs (small dots)" if runs > 1 else "")
    return (
        data_table(head, lines, caption)
        + f'<p class="note">{note}</p><figure class="plot wide">{plot}'
        + f"<figcaption>{legend}; the dashed line is {escape(baseline)}.</figcaption></figure>"
        + data_table(["system", *(f"{n}-gram" for n in range(1, 5)), "BP", "length"], _breakdown(rows), what)
    )


def _breakdown(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What BLEU is made of."""
    return [
        data_row(
            row["system"],
            [
                *(f"{value:.1f}" for value in row["test_precisions"]),
                decimal(row["brevity_penalty"], 3),
                decimal(row["test_length_ratio"], 3),
            ],
        )
        for row in rows
    ]


def _grammars(content: Content) -> str:
    rows = content.results["systems"]
    sizes = [(row, row["effective_rules"] or row["rules"]) for row in rows]
    largest = max(np.log10(max(size, 1)) for _, size in sizes) or 1
    lines = [
        data_row(
            row["system"],
            [
                f"{row['rules']:,}",
                str(row["states"] or "–"),
                f"{row['effective_rules']:,}" if row["effective_rules"] else "–",
                bar_cell(np.log10(max(size, 1)) / largest),
            ],
        )
        for row, size in sizes
    ]
    caption = (
        "Rules of the grammar, hidden states, and parameters of the model (effective rules); bars are logarithmic."
    )
    text = data_table(["system", "rules", "<i>m</i>", "effective rules", "size"], lines, caption, frozenset({0, 4}))
    found = content.results["derivations"]
    numbers = [data_row(name, [f"{value:,}"]) for name, value in found.items() if isinstance(value, int)]
    counts = data_table(["of the training corpus", "number"], numbers, "Minimal derivation trees.")
    text += f"<details><summary>Derivations</summary>{counts}</details>"
    figures = [
        f'<figure class="plot">{plots.spectrum_bars(row["system"], row["singular_values"])}<figcaption>'
        f"<b>{escape(row['system'])}</b>: {len(row['singular_values'])} values, condition "
        f"{row['singular_values'][0] / row['singular_values'][-1]:.1f}</figcaption></figure>"
        for row in rows
        if row["singular_values"]
    ]
    if figures:
        note = "Of the covariance of inside and outside features; a fast fall says that few states suffice."
        text += f'<h3>Singular values</h3><p class="note">{note}</p><div class="grid">{"".join(figures)}</div>'
    return text


def _sentences(content: Content) -> str:
    baseline = content.results["baseline"]
    if len(content.outputs) < 2 or content.examples == 0:
        return "<p>There is nothing to compare.</p>"
    text = (
        f'<p class="note">Where each system gains and loses most against {escape(baseline)} in sentence BLEU'
        + (" (first tuning)" if content.results["runs"] > 1 else "")
        + ". The darker a word, the longer the n-gram of the reference that it is in; words that the reference lacks "
        "are underlined.</p>"
    )
    for number, (name, lines) in enumerate(item for item in content.outputs.items() if item[0] != baseline):
        found = differences(content.outputs[baseline], lines, content.references)
        better, worse = (sum(sign * item.difference > 0 for item in found) for sign in (1, -1))
        gains, losses = best_and_worst(found, content.examples)
        parts = [_example(content, name, item) for item in (*gains, *losses)]
        text += (
            f"<details{' open' if number == 0 else ''}><summary>{escape(name)}: {better} better, {worse} worse, "
            f"{len(found) - better - worse} equal</summary>{''.join(parts)}</details>"
        )
    return text


def _example(content: Content, name: str, item: Difference) -> str:
    baseline, k = content.results["baseline"], item.sentence - 1
    references = [document[k] for document in content.references]
    lines = [("source", words_html(content.sources[k])), *(("reference", words_html(line)) for line in references)]
    for system, output, score in ((baseline, item.baseline, item.baseline_bleu), (name, item.system, item.system_bleu)):
        lines.append(
            (system, f'{matched_html(output, content.orders[system][k])} <span class="score">{score:.1f}</span>')
        )
    kind = "gain" if item.difference > 0 else "loss"
    head = f"sentence {item.sentence}: <b>{item.difference:+.1f}</b>"
    return f'<div class="example {kind}">{head}{definitions(lines)}</div>'


def _cost(manifest: dict[str, Any]) -> str:
    stages = {stage["folder"]: stage for stage in reversed(manifest["stages"])}
    ordered = list(dict.fromkeys(stage["folder"] for stage in manifest["stages"]))
    found = [stages[folder] for folder in ordered]
    total = sum(stage["seconds"] for stage in found)
    slowest = max((stage["seconds"] for stage in found), default=0) or 1
    largest = max((stage["peak_mib"] for stage in found), default=0) or 1
    rows = [
        data_row(
            stage["stage"],
            [
                f'<td class="text">{escape(", ".join(stage["systems"]))}</td>',
                f"{stage['seconds']:,.1f}",
                bar_cell(stage["seconds"] / slowest),
                f"{stage['peak_mib']:,.0f}",
                bar_cell(stage["peak_mib"] / largest),
            ],
        )
        for stage in found
    ]
    caption = (
        f"Stages as they were made, {total:,.0f} seconds in all, {manifest['jobs']} jobs on {manifest['cpus']} "
        "processors; a stage that several systems or runs share was made once. Of an interrupted tuning, its last part."
    )
    head = ["stage", "of", "seconds", "time", "peak MiB", "memory"]
    return data_table(head, rows, caption, frozenset({0, 1, 3, 5}))


def _manifest(manifest: dict[str, Any]) -> str:
    versions = {"lscfg": manifest["lscfg"], "Python": manifest["python"], **manifest["packages"]}
    rows = [data_row(name, [f'<td class="text">{escape(value)}</td>']) for name, value in versions.items()]
    files = [
        data_row(name, [f'<td class="text wrap"><code>{escape(value)}</code></td>'])
        for name, value in (manifest["sha256"] | manifest["decoder"]).items()
    ]
    return (
        f"<p>{escape(manifest['platform'])}</p><p>Command: <code>{escape(' '.join(manifest['command']))}</code></p>"
        + data_table(["package", "version"], rows, "Versions.", frozenset({0, 1}))
        + "<details><summary>Input files (SHA-256)</summary>"
        + data_table(["file", "SHA-256"], files, "Everything the results were made of.", frozenset({0, 1}))
        + "</details><details><summary>The experiment file</summary>"
        + f"<pre tabindex=0>{escape(manifest['experiment'])}</pre></details>"
    )
