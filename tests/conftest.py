"""What all tests share: where optional material lies."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of corpora and reference results beside the checkout; tests that need it are skipped without it."""
    if not SHARED.is_dir():
        pytest.skip("no corpora and reference results beside the checkout (../shared)")
    return SHARED
