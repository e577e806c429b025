"""The section of charts: span marginals of some sentences as heat maps, and their change by hidden states."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.study.markup import Markup
from lscfg.study.svg import heat_map
from lscfg.tuning.report.content import Content, Spans
from lscfg.tuning.report.section import ReportData, ReportSection
from lscfg.tuning.report.text import signed


@dataclass(frozen=True)
class _Figure:
    """The chart of a sentence under a model."""

    system: str
    picture: Markup | None
    """None without a parse."""
    rules: list[dict[str, object]] | None
    """Records of the derivation of the translation, if they are known."""
    difference: Markup | None = None
    """The change against one state, if it is known."""
    largest: str = ""
    """The largest change."""


class ChartsSection(ReportSection):
    """Heat maps of all systems that have charts."""

    TITLE, POSITION = "Charts", 60
    TEMPLATE = """
{% macro tree(rules, number) %}
{% set rule = rules[number] %}
<li>{{ rule.source }} → {{ rule.target }}
{%- if "marginal" in rule %} <span class="score">μ {{ "%.3f" | format(rule.marginal) }}</span>{% endif %}
{%- if rule.children %}<ul>{% for child in rule.children %}{{ tree(rules, child) }}{% endfor %}</ul>{% endif %}</li>
{%- endmacro %}
{% if not content.charts %}
<p>No system has a model.</p>
{% else %}
<p class="note">Marginal probability that a span of the source sentence is a phrase (paper, Figure 3): first word down,
 last word across. Hover over a cell for its value. Colours show the square root of the value:
 <span class="scale"><span class="mark">−1</span><span class="ramp"></span><span class="mark">1</span></span>. Spans
 without a
 cell have no node in the forest. Below each chart: the translation with sentence BLEU. Words are shaded by the longest
 matching n-gram of a reference; words outside all references are underlined.</p>
{% for k, figures in sentences %}
<h3>Sentence {{ k + 1 }}</h3>
<dl class="text">
{% call m.definition("source") %}{{ m.sentence(content.sources[k]) }}{% endcall %}
{% for document in content.references %}
{% call m.definition("reference") %}{{ m.sentence(document[k]) }}{% endcall %}
{% endfor %}
</dl>
<div class="grid heat">
{% for figure in figures %}
{% set readout %}<p class="note scripted" role="status" hidden></p>{% endset %}
<figure>{% if figure.picture %}{{ readout }}{{ figure.picture }}{% else %}<p>No parse.</p>{% endif %}
{% set score = content.bleu[figure.system][k] %}
<figcaption><b>{{ figure.system }}</b> <span class="score">BLEU {{ "%.1f" | format(score) }}</span><br>
{{ m.matched(content.outputs[figure.system][k], content.orders[figure.system][k]) }}
{% if figure.rules %}
<details><summary>derivation</summary><ul class="tree" tabindex="0">{{ tree(figure.rules, 0) }}</ul></details>
{% endif %}
</figcaption></figure>
{% if figure.difference %}
<figure>{{ readout }}{{ figure.difference }}
<figcaption><b>{{ figure.system }} − one state</b><br>
Effect of the hidden states: difference from the same rules with one state (MLE);
 {{ figure.largest }}.</figcaption></figure>
{% endif %}
{% endfor %}
</div>
{% endfor %}
{% endif %}
"""

    def values(self, report: ReportData) -> dict[str, object]:
        """The figures of each sentence."""
        content = report.content
        charted = enumerate(content.charted) if content.charts else ()
        return {"sentences": [(k, [_figure(content, name, n, k) for name in content.charts]) for n, k in charted]}


def _figure(content: Content, name: str, number: int, k: int) -> _Figure:
    """The figure of a system; ``number`` is that of sentence ``k`` among those with charts."""
    words, charts = content.sources[k].split(), content.charts[name]
    spans = charts.model[number]
    if not spans or not words:
        return _Figure(name, None, None)
    trees = content.trees
    rules = trees.systems[name][trees.sentences.index(k)] if name in trees.systems else None
    model = _marginals(spans)
    picture = heat_map(words, model, f"Span marginals of sentence {k + 1} under {name}")
    if charts.one_state is None:
        return _Figure(name, picture, rules)
    alone = _marginals(charts.one_state[number])
    change = {span: value - alone.get(span, 0.0) for span, value in model.items()}
    most = max(change, key=lambda span: (abs(change[span]), span))
    difference = heat_map(words, change, f"Span marginals of sentence {k + 1}: {name} less one state", change=True)
    largest = f"largest change: {signed(change[most], 3)} at “{' '.join(words[slice(*most)])}”"
    return _Figure(name, picture, rules, difference, largest)


def _marginals(spans: Spans) -> dict[tuple[int, int], float]:
    return {(int(i), int(j)): value for i, j, value in spans}
