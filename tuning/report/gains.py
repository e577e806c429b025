"""The section on gains and losses: the sentences on which a system differs most from the baseline."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.tuning.report.section import ReportData, ReportSection
from lscfg.tuning.sentences import Difference, best_and_worst, differences


@dataclass(frozen=True)
class _Compared:
    """A system compared with the baseline: counts of sentences, and examples."""

    system: str
    better: int
    worse: int
    equal: int
    examples: list[Difference]


class GainsSection(ReportSection):
    """Largest gains and losses of each system."""

    TITLE, POSITION = "Gains and losses", 80
    TEMPLATE = """
{% if not compared %}
<p>There is nothing to compare.</p>
{% else %}
<p class="note">Largest gains and losses of each system against {{ results.baseline }} in sentence BLEU
{%- if results.runs > 1 %} (first tuning){% endif
 %}. Words are shaded by the longest matching n-gram of a reference; words outside all references are underlined.</p>
{% for one in compared %}
<details{% if loop.first %} open{% endif %}>
<summary>{{ one.system }}: {{ one.better }} better, {{ one.worse }} worse, {{ one.equal }} equal</summary>
{% for item in one.examples %}
{% set k = item.sentence - 1 %}
{% set pair = ((results.baseline, item.baseline, item.baseline_bleu), (one.system, item.system, item.system_bleu)) %}
<div class="example {{ "gain" if item.difference > 0 else "loss" }}">
sentence {{ item.sentence }}: <b>{{ "%+.1f" | format(item.difference) }}</b>
<dl class="text">
{% call m.definition("source") %}{{ m.sentence(content.sources[k]) }}{% endcall %}
{% for document in content.references %}
{% call m.definition("reference") %}{{ m.sentence(document[k]) }}{% endcall %}
{% endfor %}
{% for name, output, score in pair %}
{% call m.definition(name) %}
{{ m.matched(output, content.orders[name][k]) }} <span class="score">{{ "%.1f" | format(score) }}</span>
{% endcall %}
{% endfor %}
</dl></div>
{% endfor %}
</details>
{% endfor %}
{% endif %}
"""

    def values(self, report: ReportData) -> dict[str, object]:
        """The systems compared with the baseline."""
        content = report.content
        baseline = report.results["baseline"]
        compared = []
        for name, lines in content.outputs.items() if content.examples else ():
            if name != baseline:
                found = differences(content.outputs[baseline], lines, content.references)
                better, worse = (sum(sign * item.difference > 0 for item in found) for sign in (1, -1))
                gains, losses = best_and_worst(found, content.examples)
                compared.append(_Compared(name, better, worse, len(found) - better - worse, [*gains, *losses]))
        return {"compared": compared}
