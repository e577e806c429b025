"""The section on time and memory of all stages."""

from __future__ import annotations

from lscfg.tuning.report.section import ReportData, ReportSection


class CostSection(ReportSection):
    """Time and memory of each stage."""

    TITLE, POSITION = "Time and memory", 90
    TEMPLATE = """
{% set caption %}
Stages in the order of work: {{ "{:,.0f}".format(stages | sum("seconds")) }} seconds in all, with {{ manifest.jobs }}
 jobs
 on {{ manifest.cpus }} processors. A stage that several systems or runs share is made once. An interrupted tuning is
 counted from its last start.
{%- endset %}
{% call m.table(["stage", "of", "seconds", "time", "peak MiB", "memory"], caption, text=(0, 1, 3, 5)) %}
{% for stage in stages %}
<tr><th scope="row">{{ stage.stage }}</th><td class="text">{{ stage.systems | join(", ") }}</td>
<td>{{ "{:,.1f}".format(stage.seconds) }}</td>{{ m.bar(stage.seconds / slowest) }}
<td>{{ "{:,.0f}".format(stage.peak_mib) }}</td>{{ m.bar(stage.peak_mib / largest) }}</tr>
{% endfor %}
{% endcall %}
"""

    def values(self, report: ReportData) -> dict[str, object]:
        """Each stage once, and the maxima."""
        records = report.manifest["stages"]
        stages = {stage["folder"]: stage for stage in reversed(records)}
        found = [stages[folder] for folder in dict.fromkeys(stage["folder"] for stage in records)]
        return {
            "manifest": report.manifest,
            "stages": found,
            "slowest": max((stage["seconds"] for stage in found), default=0) or 1,
            "largest": max((stage["peak_mib"] for stage in found), default=0) or 1,
        }
