"""The kernel compiled without Python: for programs in C, other compilers and sanitizers."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lscfg.adapter import compile_adapter, kernel_facts, link

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = f"-I{ROOT / 'plugin' / 'include'}"
INTERNAL = f"-I{ROOT / 'plugin'}"  # for the kernel itself
FACTS = kernel_facts(ROOT / "plugin")
KERNEL = [path for layer in FACTS["layers"] for path in sorted((ROOT / "plugin" / layer).glob("*.c"))]
PROGRAMS = ROOT / "tests" / "c"
STRICT = ["-Wall", "-Wextra", "-Werror"]
# leaks too, where the machine can look for them
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


def arguments(program: str, model: str) -> list[str | Path]:
    """Arguments of a program of tests/c for one of the fuzzed models."""
    found = {"kernel_test": [PROGRAMS / "grammar.txt", "a b c a q"], "corpus_test": []}
    return [ROOT / "tests" / "fuzz" / "corpus" / "model" / model, *found[program]]


def needs(program: str) -> str:
    """The program's path; the test is skipped where there is none."""
    found = shutil.which(program)
    if not found:
        pytest.skip(f"{program} is not installed")
    return found


def run(*command: str | Path, **options) -> subprocess.CompletedProcess:
    """Runs a program that must succeed; its output is the failure's message."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", **options)
    assert done.returncode == 0, f"{command[0]} {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-6000:]}"
    return done


def compile_files(folder: Path, compiler: str, sources: list[Path], *flags: str) -> list[Path]:
    """Compiles C sources to object files, on all cores; two folders may have files of one name."""
    objects = [folder / f"{path.parent.name}-{path.stem}.o" for path in sources]

    def compile_one(source: Path, made: Path) -> None:
        run(compiler, *FACTS["flags"], *flags, INCLUDE, INTERNAL, "-c", source, "-o", made)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, sources, objects))
    return objects


def kernel_objects(compiler: str, *flags: str) -> list[Path]:
    """Compiles the kernel once for all tests and runs: build/objects keeps the objects until a source changes."""
    headers = sorted((ROOT / "plugin").rglob("*.h"))
    version = run(compiler, "--version").stdout
    key = hashlib.sha256(repr([version, FACTS["flags"], flags]).encode())
    for path in [*KERNEL, *headers]:
        key.update(path.read_bytes())
    name = "-".join(["kernel", *(flag.strip("-").split("=")[0] for flag in flags if flag.startswith(("-O", "-fs")))])
    folder = ROOT / "build" / "objects" / name
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = folder / "key"
        if not stamp.exists() or stamp.read_text() != key.hexdigest():
            stamp.unlink(missing_ok=True)
            for path in folder.glob("*.o"):
                path.unlink()
            compile_files(folder, compiler, KERNEL, *flags)
            stamp.write_text(key.hexdigest())
    return [folder / f"{path.parent.name}-{path.stem}.o" for path in KERNEL]


def sanitized_objects() -> list[Path] | None:
    """The objects that ``make sanitize`` has compiled, if no source is newer."""
    done = ROOT / "build" / "sanitized" / "done"
    sources = [*KERNEL, *(ROOT / "plugin").rglob("*.h"), ROOT / "plugin" / "include" / "kernel.json"]
    if not done.exists() or max(path.stat().st_mtime for path in sources) > done.stat().st_mtime:
        return None
    objects = [next(done.parent.glob(f"objects/*/plugin/{path.parent.name}/{path.stem}.o"), None) for path in KERNEL]
    return None if None in objects else objects


def has_sanitizers(folder: Path, compiler: str) -> bool:
    """True if programs of the compiler can be linked with sanitizers, and run."""
    (folder / "empty.c").write_text("int main(void) { return 0; }\n")
    made = subprocess.run(
        [compiler, *SANITIZERS, folder / "empty.c", "-o", folder / "empty"], capture_output=True, check=False
    )
    return made.returncode == 0 and subprocess.run([folder / "empty"], capture_output=True, check=False).returncode == 0


def stub_driver(decoder: str, folder: Path, *warnings: str) -> Path:
    """Compiles a plug-in against our own stand-ins for a decoder's headers, with the driver that calls it.

    Args:
        decoder: folder of ``tests/plugin_stubs``; folder: of the program; warnings: flags besides ``STRICT``.
    """
    stubs, flags = ROOT / "tests" / "plugin_stubs" / decoder, os.environ.get("STUB_FLAGS", "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", f"{os.environ.get('CC', 'gcc')} {flags}")
        patch.setenv("CXX", " ".join([os.environ.get("CXX", "g++"), flags, *STRICT, *warnings]))
        objects = compile_adapter(decoder, [f"-I{stubs}"], folder)
        parts = [str(stubs / "driver.cc"), *map(str, objects), "-lm", "-lpthread"]
        link(["-std=c++14", f"-I{stubs}", *parts], folder / f"{decoder}_driver")
    return folder / f"{decoder}_driver"
