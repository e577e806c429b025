"""The section on the origin of the results: versions, input files, and the experiment file."""

from __future__ import annotations

from lscfg.tuning.report.section import ReportData, ReportSection


class ProvenanceSection(ReportSection):
    """Versions, hashes of files, and the experiment file."""

    TITLE, POSITION = "Provenance", 100
    TEMPLATE = """
<p>{{ manifest.platform }}</p><p>Command: <code>{{ manifest.command | join(" ") }}</code></p>
{% call m.table(["package", "version"], "Versions.", text=(0, 1)) %}
{% for name, version in versions %}
<tr><th scope="row">{{ name }}</th><td class="text">{{ version }}</td></tr>
{% endfor %}
{% endcall %}
<details><summary>Input files (SHA-256)</summary>
{% call m.table(["file", "SHA-256"], "All inputs of the results.", text=(0, 1)) %}
{% for name, value in files %}
<tr><th scope="row">{{ name }}</th><td class="text wrap"><code>{{ value }}</code></td></tr>
{% endfor %}
{% endcall %}
</details>
<details><summary>The experiment file</summary><pre tabindex=0>{{ manifest.experiment }}</pre></details>
"""

    def values(self, report: ReportData) -> dict[str, object]:
        """Versions and hashes."""
        manifest = report.manifest
        return {
            "manifest": manifest,
            "versions": {"lscfg": manifest["lscfg"], "Python": manifest["python"], **manifest["packages"]}.items(),
            "files": (manifest["sha256"] | manifest["decoder"]).items(),
        }
