"""Skipped tests that continuous integration accepts; every other skip is an error there.

A test that skips itself for a missing package would otherwise pass unseen for ever. ``make test`` installs every
package of the extra ``test``, so no package is on the list unless some platform lacks it.

``conftest.py`` registers this module where the environment sets ``CI`` or the option ``--listed-skips`` is given.
"""

import re
from collections.abc import Iterator

import pytest

ACCEPTED = (
    # programs and data that a machine may lack
    r"no cdec\b.*",
    r"no program \S+ \((CDEC|MOSES)_ROOT\)",
    r"no Moses: MOSES_ROOT is not set",
    r"no reference runs of cdec .*",
    r"no corpora and reference results next to the checkout \(\.\./shared\)",
    r"\S+/shared/data/\S+ is not there",
    r"no chromium on PATH to .*",
    r"no node on PATH to .*",
    r"LSCFG_AXE does not name axe\.min\.js of axe-core",
    r"no torch; see experiments/requirements-neural\.txt",
    r"FANG_ROOT does not name the folder of the original program",
    r"(clang|clang\+\+|clang-format|valgrind) is not installed",
    r"no cross-compiler: .*",
    r"no locale with a comma: .*",
    # systems: sil-thot has no wheel for Linux on ARM
    r"no sil-thot",
    r"no /dev/full to be a full disk",
    r"needs /proc",
    r"a file system without exchange of names",
    r"orphans are found by what Linux has",
    r"only Linux tells a process that its parent has died",
    r"the harnesses hand models over in files of memory, which Linux has",
    r"the compiler has no sanitizers",
    r"a sanitizer reserves more than the limit",
    r"this machine is one",
    # an editable install takes the place that the test would fill
    r"lscfg is installed in this Python, and its kernel is taken",
)
"""Patterns of whole reasons."""


def accepted(reason: str) -> bool:
    """True if the reason of a skip is on the list."""
    reason = reason.removeprefix("Skipped: ")
    return any(re.fullmatch(pattern, reason, re.DOTALL) for pattern in ACCEPTED)


def _refuse(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Makes an error of a skip that is not on the list."""
    if report.skipped and not hasattr(report, "wasxfail") and isinstance(report.longrepr, tuple):
        path, line, reason = report.longrepr
        if not accepted(reason):
            report.outcome = "failed"
            report.longrepr = (
                f"{path}:{line}: {reason}\nThis skip is not on the list in tests/support/skips.py: install what the "
                "test needs, or add the reason."
            )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Judges a skipped test."""
    report = yield
    _refuse(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    """Judges a skipped file."""
    report = yield
    _refuse(report)
    return report
