"""The harnesses of tests/fuzz with the compiler that is there: all seeds and mutations of them, under sanitizers.

``make fuzz`` looks for new inputs; one that breaks something belongs into the corpus.
"""

from pathlib import Path

import pytest
from native import INCLUDE, KERNEL, SANITIZERS, STRICT, compile_files, has_sanitizers, needs, run

HERE = Path(__file__).resolve().parent / "fuzz"
MUTATIONS = {"model": 400, "grammar": 400, "forest": 200, "parse": 200, "bitext": 400}


@pytest.fixture(scope="module")
def objects(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("kernel")
    compiler = needs("cc")
    if not has_sanitizers(folder, compiler):
        pytest.skip("the compiler has no sanitizers")
    shared = [HERE / "fuzz.c", HERE / "driver.c"]
    return compile_files(folder, compiler, [*KERNEL, *shared], "-g", "-O1", *STRICT, *SANITIZERS)


def test_every_harness_has_seeds():
    names = {path.stem.removeprefix("fuzz_") for path in HERE.glob("fuzz_*.c")}
    assert names == set(MUTATIONS) == {path.name for path in (HERE / "corpus").iterdir()}


@pytest.mark.parametrize("name", MUTATIONS)
def test_mutated_corpus(name, objects, tmp_path):
    seeds = sorted((HERE / "corpus" / name).iterdir())
    assert seeds
    program = tmp_path / name
    run("cc", "-std=c11", "-g", *STRICT, *SANITIZERS, INCLUDE, HERE / f"fuzz_{name}.c", *objects, "-lm", "-o", program)
    run(program, str(MUTATIONS[name]), *seeds, cwd=tmp_path)
