"""Files within settings and inputs of stages are found and replaced, however deep."""

import dataclasses
from pathlib import Path

from lscfg.tuning.experiment.stage import files_in, with_files


@dataclasses.dataclass(frozen=True)
class Inner:
    """A setting with a file, and one without."""

    path: Path
    rate: float = 0.5


@dataclasses.dataclass(frozen=True)
class Plain:
    """Nothing to replace."""

    rate: float = 0.5


def test_files_are_replaced_within_everything():
    plain = Plain()
    value = {"a": [Inner(Path("x")), plain, (Path("y"), 3)], "b": "x"}
    found = with_files(value, lambda path: path / "new")
    assert found == {"a": [Inner(Path("x/new")), plain, (Path("y/new"), 3)], "b": "x"}
    assert found["a"][1] is plain
    assert [*files_in(found)] == [Path("x/new"), Path("y/new")]
