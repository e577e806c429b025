"""Fixtures of the tests of experiments: a little corpus."""

import pytest
from little_experiment import TOML

from lscfg.demo import generate, write


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """A folder with the corpus and ``e.toml``, an experiment on it; tests write other experiments beside it."""
    folder = tmp_path_factory.mktemp("corpus")
    write(generate(seed=2, train=1200, dev=40, test=40), folder)
    (folder / "e.toml").write_text(TOML)
    return folder
