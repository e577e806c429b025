"""A bundle for services."""

import pytest
from little_experiment import run_lscfg
from services import little_system


@pytest.fixture(scope="session")
def system(tmp_path_factory):
    """A folder with a small system."""
    return little_system(tmp_path_factory.mktemp("system"))


@pytest.fixture(scope="session")
def bundle(system, tmp_path_factory):
    """The bundle of the system."""
    folder = tmp_path_factory.mktemp("bundles") / "little"
    run = run_lscfg("pack", system, "-o", folder)
    assert run.returncode == 0, run.stderr
    return folder
