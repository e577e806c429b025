"""The kernel under sanitizers: the harnesses of tests/fuzz over seeds and mutations of them, and memory that runs out.

``make fuzz`` looks for new inputs; one that breaks something belongs into the corpus.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from native import (
    INCLUDE,
    PROGRAMS,
    SANITIZERS,
    STRICT,
    arguments,
    compile_files,
    has_sanitizers,
    kernel_objects,
    needs,
    run,
    sanitized_objects,
)

HERE = PROGRAMS.parent / "fuzz"
MUTATIONS = {
    "compiled": 2000,
    "model": 400,
    "grammar": 400,
    "forest": 100,
    "parse": 100,
    "bitext": 400,
    "options": 400,
    "trees": 2000,
    "ngrams": 2000,
    "sampler": 60,
    "biparse": 150,
}


@pytest.fixture(scope="module")
def objects(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("kernel")
    if sys.platform != "linux":
        pytest.skip("the harnesses hand models over in files of memory, which Linux has")
    compiler = needs("cc")
    if not has_sanitizers(folder, compiler):
        pytest.skip("the compiler has no sanitizers")
    flags = ("-g", "-O1", *STRICT, *SANITIZERS)
    kernel = sanitized_objects() or kernel_objects(compiler, *flags)
    return [*kernel, *compile_files(folder, compiler, [HERE / "fuzz.c", HERE / "driver.c"], *flags)]


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


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("kernel_test", "low-rank3"),
        ("kernel_test", "packed"),
        ("kernel_test", "sparse"),
        ("kernel_test", "parts"),
        ("corpus_test", "context1"),
    ],
)
def test_no_failing_allocation_crashes_or_leaks(name, model, objects, tmp_path):
    kernel = [path for path in objects if path.stem not in ("fuzz-fuzz", "fuzz-driver")]
    wrap = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc"
    sources = [PROGRAMS / f"{name}.c", PROGRAMS / "failing_malloc.c"]
    program = tmp_path / name
    run("cc", "-std=c11", "-g", *SANITIZERS, wrap, INCLUDE, *sources, *kernel, "-lm", "-o", program)

    def run_failing(number: int) -> subprocess.CompletedProcess:
        command = [program, *arguments(name, model)]
        return subprocess.run(command, env={**os.environ, "FAILING": str(number)}, capture_output=True, text=True)

    allocations = int(run_failing(0).stderr)
    assert allocations > 100
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, done in enumerate(pool.map(run_failing, range(1, allocations + 1)), 1):
            assert done.returncode == 1 and "memory" in done.stderr.splitlines()[0], (number, done.stderr)
            assert "Sanitizer" not in done.stderr, (number, done.stderr)
