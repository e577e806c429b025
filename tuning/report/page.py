"""The page: all sections, the data and the script. The page loads nothing, and its policy holds the browser to that."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lscfg.study.health import script_language
from lscfg.tuning.metrics.tuned import deciding_metric
from lscfg.tuning.report.content import SIGNIFICANT, Content, headline
from lscfg.tuning.report.explorer import explorer_data
from lscfg.tuning.report.section import SECTIONS, ReportData
from lscfg.tuning.report.text import decimal, p_value, signed

_HERE = Path(__file__).parent

STYLE = (_HERE / "style.css").read_text("utf-8").strip()

_SCRIPTS = [
    (_HERE / name).read_text("utf-8").strip() for name in ("elements.js", "derivations.js", "explore.js", "copy.js")
]

SCRIPT = "\n".join(['"use strict";', "{", *_SCRIPTS, "}"])

_HASH = base64.b64encode(hashlib.sha256(SCRIPT.encode("utf-8")).digest()).decode()

POLICY = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{_HASH}'"
"""The page loads nothing and runs no script but its own."""


@dataclass(frozen=True)
class _Written:
    id: str
    title: str
    text: Markup


def render(content: Content, manifest: dict[str, object]) -> str:
    """The whole page. Equal arguments give equal bytes.

    Args:
        manifest: content of manifest.json.
    """
    report = ReportData(content, manifest)
    results = content.results
    column = f"test_{deciding_metric(results)[1]}"
    best = max(results["systems"], key=lambda row: row[column])["system"]
    facts = {
        "training pairs": f"{results['derivations']['sentence pairs']:,}",
        "dev sentences": f"{content.dev_sentences:,}" if content.dev_sentences else "–",
        "test sentences": f"{results['test sentences']:,}",
        "references": len(content.references),
        "tunings of each": results["runs"],
        "decoder": results["decoder"],
    }
    return _ENVIRONMENT.get_template("page.html").render(
        content=content,
        manifest=manifest,
        policy=POLICY,
        style=Markup(STYLE),
        headline=headline(results),
        best=best,
        origin=_origin(content, manifest),
        facts=facts.items(),
        sections=_sections(report),
        data=json_text(explorer_data(content, report.breakdown)),
        script=Markup(SCRIPT),
    )


def _origin(content: Content, manifest: dict[str, object]) -> list[str]:
    """The experiment, its text and its date, for the line below the title."""
    title = [content.title] if content.languages else []
    date = manifest.get("date")
    return [*title, ", ".join(content.corpus), str(date) if date else ""]


def _sections(report: ReportData) -> list[_Written]:
    written = []
    for name in sorted(SECTIONS.names(), key=lambda name: (SECTIONS[name].POSITION, name)):
        section = SECTIONS[name]
        values = section.values(report)
        if values is not None:
            template = _ENVIRONMENT.from_string('{% import "macros.html" as m %}' + section.TEMPLATE)
            text = template.render(content=report.content, results=report.results, **values)
            written.append(_Written(name, section.TITLE, Markup(text)))
    return written


def json_text(data: dict[str, object]) -> Markup:
    """JSON for a script element; no text in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", chr(92) + "u003c"))


def _language(text: str) -> Markup:
    """The attribute ``lang`` of a text whose script shows the language."""
    language = script_language(text)
    return Markup(f' lang="{language}"' if language else "")


def _environment() -> Environment:
    made = Environment(
        autoescape=True,
        loader=FileSystemLoader(_HERE / "templates"),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters |= {
        "decimal": decimal,
        "signed": signed,
        "p_value": p_value,
        "language": _language,
        "numbered": enumerate,
    }
    made.globals["SIGNIFICANT"] = SIGNIFICANT
    return made


_ENVIRONMENT = _environment()
