"""The section on data health: faults of the raw text, with examples and what was done."""

from __future__ import annotations

from lscfg.study.health import health_html
from lscfg.tuning.report.section import ReportData, ReportSection


class HealthSection(ReportSection):
    """Faults of the raw text; left out where the text was not prepared here."""

    TITLE, POSITION = "Data health", 15
    TEMPLATE = "{{ section }}"

    def values(self, report: ReportData) -> dict[str, object] | None:
        """The section."""
        health = report.content.health
        return None if health is None else {"section": health_html(health)}
