"""Locked versions and their hashes, the Pythons that are refused, the base image, and the list of packages."""

import re
import shutil
import stat
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path

import pytest
from packaging.requirements import Requirement

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

REFUSED = r"lscfg needs Python 3\.11 or newer; \S+ is Python 3\.10\.13"


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
    kept = ("--require-hashes", "--no-deps", "--no-index", "*.whl")
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
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -P -c "{OLD}" "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_setup_refuses_an_old_python_before_it_imports_anything(tmp_path):
    """As pip calls it while it gets the requirements of a build."""
    code = (ROOT / "setup.py").read_text(encoding="utf-8")
    run = subprocess.run([old_python(tmp_path), "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 1 and run.stdout == ""
    assert re.fullmatch(REFUSED + r"\. Name a newer one: .*\n", run.stderr)


@pytest.mark.parametrize("goal", ["demo", "test"])
def test_make_refuses_an_old_python_before_it_makes_anything(goal, tmp_path):
    if shutil.which("make") is None:
        pytest.fail("the tests need make, as README.md says")
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    for name in ("pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("plugin", "lscfg", "tuning", "cdec_bridge", "moses_bridge"):
        (tmp_path / name).mkdir()
    shutil.copytree(ROOT / "plugin" / "include", tmp_path / "plugin" / "include")
    command = ["make", goal, f"PYTHON={old_python(tmp_path)}"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    first, *others = run.stderr.splitlines()
    assert run.returncode == 2 and not (tmp_path / ".venv").exists()
    assert re.fullmatch(REFUSED + r": make demo PYTHON=python3\.12", first), run.stderr
    assert all(line.startswith("make") for line in others) and "Traceback" not in run.stdout


def test_the_minimum_is_the_declared_one():
    least = TOML["project"]["requires-python"].removeprefix(">=")
    for name in ("setup.py", "Makefile"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert f"lscfg needs Python {least} or newer" in text and f"< ({least.replace('.', ', ')})" in text
