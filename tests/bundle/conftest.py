"""A little system in the folder of an experiment."""

import shutil

import pytest
from services import little_system


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return little_system(tmp_path_factory.mktemp("original"))


@pytest.fixture
def system(original, tmp_path):
    """A copy that a test may change, with a folder as ``lscfg run`` leaves it."""
    folder = tmp_path / "experiment"
    shutil.copytree(original, folder)
    place = folder / "systems" / "LITTLE"
    place.mkdir(parents=True)
    ini = (folder / "cdec.ini").read_text()
    for name in ("g.gz", "lm.arpa", "spectral.lscfg"):
        ini = ini.replace(name, f"../../{name}")
    (place / "cdec.ini").write_text(ini)
    (folder / "weights").rename(place / "weights")
    return place
