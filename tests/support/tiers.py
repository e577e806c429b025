"""Marks of tests by file, name and fixture, and the two tiers that follow from the marks.

``make test`` runs the quick tests: no compiler, no network, no other program. ``make test-slow`` runs the others.
``make sanitize`` repeats the quick tests of the C kernel.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase, translate

MARKS = {
    "compiles": ("kernel/test_c_interface.py::*", "kernel/test_fuzz.py::*", "*/test_*_stubs.py::*"),
    "installs": ("test_install.py::*",),
    "browser": ("tuning/test_report.py::test_in_a_browser*",),
    "site": ("test_documents.py::test_the_site_can_be_made", "test_tutorial.py::test_the_cells_run"),
    "cluster": (
        "*/test_cluster*.py::*",
        "*/test_sample_cluster.py::*",
        "induce/test_biparse_shards.py::test_a_cluster*",
    ),
    "hosts": ("moses_bridge/test_moses_plugin.py::*", "tuning/test_hosts.py::test_*_optimisers_raise_bleu*"),
    "runs": (
        "tuning/experiment/test_experiment.py::*",
        "tuning/experiment/test_raw_text.py::test_a_run*",
        "tuning/experiment/test_quick_run.py::*",
        "tuning/experiment/test_learning_curve.py::test_a_run*",
        "tuning/experiment/test_damaged_cache.py::*",
        "tuning/experiment/test_latent_starts.py::*",
        "tuning/experiment/test_*.py::test_an_experiment_runs_with*",
        "tuning/experiment/test_bad_settings.py::test_more_states_than_fit*",
        "tuning/experiment/test_margin_run.py::test_margin_is_a_system",
        "tuning/experiment/test_plan.py::test_the_plan_says*",
        "tuning/experiment/test_sampled_run.py::*",
        "corpus/test_saved_aligners.py::*",
        "corpus/test_corpus.py::test_iterations_of_the_alignment",
    ),
    "neural": ("experiments/test_neural.py::test_two_epochs*",),
    "attack": (
        "test_attack.py::test_a_few*",
        "test_attack.py::test_the_harness*",
        "parallel/test_orphans.py::*",
        "decode/test_memory.py::test_killed_writers*",
        "markup/test_many_documents.py::*",
        "serve/test_crowds.py::*",
        "io/test_json_files.py::test_wrong_values_*",
    ),
}
"""Patterns of test ids, from the folder tests/ on."""

FIXTURES = {
    ("hosts", "cdec_bridge"): {"tree", "library", "cdec"},
    ("browser", "tuning"): {"tab"},
    ("browser", "serve"): {"tab", "window"},
}
"""Fixtures whose tests, in one folder, get a mark."""

_ANY = {mark: re.compile("|".join(map(translate, patterns))) for mark, patterns in MARKS.items()}
_MARKED = re.compile("|".join(pattern.pattern for pattern in _ANY.values()))
"""Most tests match no pattern, and one expression says so at once: this runs for each test of each worker."""

SLOW = {*MARKS, "nightly"}
"""Marks of the slow tier."""

KERNEL = ("context", "decode", "estimate", "extract", "formats", "grammar", "induce", "kernel", "lm", "model", "study")
"""Folders whose quick tests call the C kernel in many ways."""


def marks(test: str, fixtures: Iterable[str], own: Iterable[str]) -> set[str]:
    """Marks to add to a test.

    Args:
        test: id from the folder tests/ on, as ``kernel/test_fuzz.py::test_mutated_corpus[model]``.
        fixtures: names of its fixtures.
        own: marks in its source.
    """
    folder = test.partition("/")[0]
    found = {mark for mark, pattern in _ANY.items() if pattern.match(test)} if _MARKED.match(test) else set()
    found |= {mark for (mark, top), names in FIXTURES.items() if top == folder and not names.isdisjoint(fixtures)}
    if SLOW & {*found, *own}:
        found.add("slow")
    elif folder in KERNEL:
        found.add("kernel")
    return found


def is_slow_file(path: str) -> bool:
    """True if all tests of a file are slow.

    Args:
        path: from the folder tests/ on.
    """
    return any(
        pattern.endswith("::*") and fnmatchcase(path, pattern[:-3]) for found in MARKS.values() for pattern in found
    )
