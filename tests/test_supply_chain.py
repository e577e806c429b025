"""Locked versions and their hashes, the Pythons that are refused, the base image, and the list of packages."""

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tiers import is_slow_file

ROOT = Path(__file__).resolve().parents[1]
LOCKS = {path.stem: path for path in sorted((ROOT / "requirements").glob("*.txt"))}
TOML = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SYSTEMS = [("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "x86_64"), ("darwin", "arm64")]
MACHINES = [
    {"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.9", "sys_platform": system}
    | {"platform_machine": machine, "implementation_name": "cpython", "platform_python_implementation": "CPython"}
    for minor, (system, machine) in product(range(11, 15), SYSTEMS)
]
OLD = "import sys, collections; sys.version_info = collections.namedtuple('V', 'a b c')(3, 10, 13); exec(sys.argv[2])"

REFUSED = r"lscfg needs Python 3\.11 or newer; .+ is Python 3\.10\.13"


def pins(name):
    """Requirements of a lock, each with its hashes."""
    lines = re.sub(r"\\\n\s*", " ", LOCKS[name].read_text(encoding="utf-8")).splitlines()
    found = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return [(Requirement(line.partition(" --hash")[0]), re.findall(r"--hash=(\S+)", line)) for line in found]


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def versions(name, machine):
    """Versions of the packages that pip installs from a lock on a machine."""
    found = {}
    for pin, _ in pins(name):
        if pin.marker is None or pin.marker.evaluate(machine):
            assert normal(pin.name) not in found, f"{pin.name} is pinned twice on {machine}"
            found[normal(pin.name)] = str(pin.specifier).removeprefix("==")
    return found


def declared(*extras):
    """Requirements of lscfg with extras, those of extras in extras too."""
    project, names, found = TOML["project"], [*extras], []
    lines = [*project["dependencies"]]
    for name in names:
        for line in project["optional-dependencies"][name]:
            if (need := Requirement(line)).name == "lscfg":
                names.extend(need.extras)
            else:
                found.append(line)
    return [Requirement(line) for line in (*lines, *found)]


WANTED = {
    "build": [Requirement(line) for line in (*TOML["build-system"]["requires"], *TOML["dependency-groups"]["build"])],
    "test": declared("test"),
    "serve": declared("train", "serve"),
    "release": [Requirement(line) for line in TOML["dependency-groups"]["release"]],
}


def test_every_lock_is_known():
    assert {*LOCKS} == {*WANTED}


@pytest.mark.parametrize("name", WANTED)
def test_a_lock_pins_what_is_declared_on_every_machine(name):
    for machine in MACHINES:
        locked = versions(name, machine)
        for need in WANTED[name]:
            if need.marker is None or need.marker.evaluate(machine):
                cure = f"{need} is not in requirements/{name}.txt: run `make lock`"
                assert normal(need.name) in locked, cure
                assert need.specifier.contains(locked[normal(need.name)], prereleases=True), cure


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_one_version_and_its_hashes(name):
    for pin, hashes in pins(name):
        assert re.fullmatch(r"==[\w.]+", str(pin.specifier)), pin
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}", one) for one in hashes), pin


def test_locks_agree():
    """One version a package, so that Docker runs what the tests ran with."""
    for machine in MACHINES:
        tested = versions("test", machine)
        for name in ("build", "serve"):
            other = versions(name, machine)
            assert {key: value for key, value in other.items() if tested.get(key, value) != value} == {}, name


def test_ci_and_docker_compare_hashes():
    """Every package that pip downloads there; what is left comes from the checkout."""
    recipes = [*(ROOT / ".github" / "workflows").glob("*.yml"), ROOT / "docker" / "Dockerfile"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    assert "LOCKED = $(BIN)/python -m pip install --quiet --require-hashes" in makefile
    for name in ("build", "test"):
        assert re.search(rf"\$\(LOCKED\) .*-r requirements/{name}\.txt", makefile)
    lines = [line for path in recipes for line in path.read_text("utf-8").replace("\\\n", " ").splitlines()]
    called = [line for line in lines if re.search(r"\bpip3? (install|wheel|download)", line)]
    kept = ("--require-hashes", "--no-deps", "--no-index")
    assert len(called) > 4 and [line for line in called if not any(word in line for word in kept)] == []


def test_the_base_image_can_be_named_by_digest():
    text = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
    assert {*re.findall(r"^FROM (\S+) AS", text, re.M)} == {"${PYTHON_IMAGE}", "installed"}
    assert re.search(r"^ARG PYTHON_IMAGE=python:3\.\d+-slim(@sha256:[0-9a-f]{64})?$", text, re.M)
    workflow = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    assert '--build-arg PYTHON_IMAGE="$tag@$digest"' in workflow and "build/base-image.txt" in workflow


# ---- Python 3.10 ----


def old_python(folder):
    """A program that runs code as Python 3.10.13 would."""
    path = folder / "python3.10"
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -c "{OLD}" "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_setup_refuses_an_old_python_before_it_imports_anything(tmp_path):
    """As pip calls it while it gets the requirements of a build."""
    code = (ROOT / "setup.py").read_text(encoding="utf-8")
    run = subprocess.run([old_python(tmp_path), "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 1 and run.stdout == ""
    assert re.fullmatch(REFUSED + r"\. Name a newer one: .*\n", run.stderr)


def copy_makefile(folder):
    """The Makefile with the files that its rules name, and empty packages."""
    for name in ("Makefile", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, folder)
    for name in ("requirements", "plugin/include"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("lscfg", "tuning", "cdec_bridge", "moses_bridge"):
        (folder / name).mkdir()


def make(folder, *arguments):
    """A run of make."""
    if shutil.which("make") is None:
        pytest.fail("the tests need make, as README.md says")
    command = ["make", "--no-print-directory", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


@pytest.mark.parametrize("goal", ["demo", "test"])
def test_make_refuses_an_old_python_before_it_makes_anything(goal, tmp_path):
    copy_makefile(tmp_path)
    run = make(tmp_path, goal, f"PYTHON={old_python(tmp_path)}")
    first, *others = run.stderr.splitlines()
    assert run.returncode == 2 and not (tmp_path / ".venv").exists()
    assert re.fullmatch(REFUSED + r": make demo PYTHON=python3\.12", first), run.stderr
    assert all(line.startswith("make") for line in others) and "Traceback" not in run.stdout


def test_the_minimum_is_the_declared_one():
    least = TOML["project"]["requires-python"].removeprefix(">=")
    for name in ("setup.py", "Makefile"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert f"lscfg needs Python {least} or newer" in text and f"< ({least.replace('.', ', ')})" in text


# ---- builds ----


def test_make_looks_at_every_file_of_the_packages(tmp_path):
    """A changed script of a page or text of the demo is installed again."""
    (tmp_path / "show.mk").write_text("show:\n\t@echo $(SOURCES)\n")
    run = make(ROOT, "--silent", "-f", "Makefile", "-f", tmp_path / "show.mk", "show")
    assert run.returncode == 0, run.stderr
    found = {Path(name) for name in run.stdout.split()}
    endings = {path.suffix for path in found}
    assert {".py", ".c", ".h", ".cc", ".js", ".css", ".html", ".txt", ".json"} <= endings
    assert endings.isdisjoint({".pyc", ".so"}) and Path("plugin/include/kernel.json") in found


def test_an_environment_that_is_cut_short_is_made_again(tmp_path):
    """As by Debian's Python without python3-venv, which leaves an interpreter without pip."""
    copy_makefile(tmp_path)
    python = tmp_path / "python3"
    lines = ['[ "$1" = -m ] || exec ' + shlex.quote(sys.executable) + ' "$@"', 'mkdir -p "$3/bin"']
    python.write_text("\n".join(["#!/bin/sh", *lines, 'touch "$3/bin/python"', "echo no ensurepip; exit 1", ""]))
    python.chmod(0o755)
    for _ in range(2):
        run = make(tmp_path, ".venv/bin/python", f"PYTHON={python}")
        assert run.returncode == 2 and "no ensurepip" in run.stdout
        assert not (tmp_path / ".venv" / "bin" / "python").exists()


def test_recipes_select_the_slow_files_that_they_name():
    """pytest leaves slow tests out unless a mark selects them, and `make valgrind` would find none."""
    recipes = [*(ROOT / ".github" / "workflows").glob("*.yml"), ROOT / "Makefile"]
    lines = [line for path in recipes for line in path.read_text("utf-8").replace("\\\n", " ").splitlines()]
    named = [line for line in lines if any(map(is_slow_file, re.findall(r"tests/(\S+\.py)\b", line)))]
    assert len(named) > 1 and [line for line in named if " -m " not in line] == []


def test_a_build_leaves_out_files_of_an_earlier_one(tmp_path):
    copy_makefile(tmp_path)
    shutil.copytree(ROOT / "plugin", tmp_path / "plugin", dirs_exist_ok=True)
    for name in ("README.md", "LICENSE", "lscfg/version.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("lscfg", "tuning", "cdec_bridge", "moses_bridge"):
        (tmp_path / name / "__init__.py").touch()
    base = tmp_path / "build" / "lib" / "lscfg" / "sources" / "base"
    base.mkdir(parents=True)
    (base / "old.c").touch()
    command = [sys.executable, "-W", "ignore", "setup.py", "--quiet", "build_py", "--build-lib", "build/lib"]
    there = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_PRELOAD")}
    run = subprocess.run(command, cwd=tmp_path, env=there, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    wanted = {path.name for path in (ROOT / "plugin" / "base").glob("*.[ch]")}
    assert {path.name for path in base.iterdir()} == wanted and len(wanted) > 4
