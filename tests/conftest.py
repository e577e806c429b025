"""What all tests share: where optional material lies."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run: a change is judged by its own failures. HYPOTHESIS_PROFILE=default draws new ones.
# No deadlines: how long an example takes says more of the machine than of the code.
settings.register_profile("default", settings.get_profile("default"), deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# Assertions of the shared modules are explained like those of the tests.
pytest.register_assert_rewrite(*(path.stem for path in (Path(__file__).parent / "support").glob("*.py")))

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of corpora and reference results beside the checkout; tests that need it are skipped without it."""
    if not SHARED.is_dir():
        pytest.skip("no corpora and reference results beside the checkout (../shared)")
    return SHARED
