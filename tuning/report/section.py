"""Sections of the report, which are kinds: one class in one file and one row among ``lscfg.report_sections``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from lscfg.kinds import Kind, Registry
from lscfg.settings import Declared
from lscfg.tuning.report.buckets import Breakdown
from lscfg.tuning.report.content import Content


@dataclass(frozen=True)
class ReportData:
    """All data of a report."""

    content: Content
    manifest: dict[str, Any]
    """Content of manifest.json; the only source of times and memory."""

    @cached_property
    def breakdown(self) -> Breakdown:
        """Tables by frequency, length and n-gram."""
        return Breakdown.of(self.content)

    @property
    def results(self) -> dict[str, Any]:
        """Content of results.json."""
        return self.content.results


class ReportSection(Kind[Declared]):
    """A section of the report. The name of its entry point is its id in the page."""

    TITLE: ClassVar[str]
    POSITION: ClassVar[int]
    """Sections stand in ascending order of this number."""
    TEMPLATE: ClassVar[str]
    """Jinja template, which escapes all values. ``lscfg/tuning/report/templates/macros.html`` has its macros as ``m``,
    and ``lscfg.tuning.report.page`` its filters. ``content`` and ``results`` are always defined."""
    Settings = Declared

    def values(self, report: ReportData) -> dict[str, object] | None:
        """Further variables of the template; None leaves the section out."""
        return {}


SECTIONS = Registry("lscfg.report_sections", ReportSection, "report section")
