"""The content of an installation, the systems that it runs on, and messages about missing parts."""

import json
import os
import platform
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from lscfg.extras import installed_versions

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LEFT_OUT = shutil.ignore_patterns("*.egg-info", "*.so", "__pycache__")
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_{kind}(sys.argv[1]))"
NONE_OF_THE_EXTRAS = """
import sys
from lscfg.extras import EXTRAS
for modules in EXTRAS.values():
    sys.modules.update(dict.fromkeys(modules))  # an import of what is None fails
"""
EVERY_MODULE = """
import importlib, pkgutil, lscfg
assert lscfg.__file__.startswith(sys.argv[1]), lscfg.__file__
for module in pkgutil.walk_packages(lscfg.__path__, "lscfg."):
    if module.name != "lscfg.__main__":
        importlib.import_module(module.name)
"""


def python(*arguments, cwd=None, **environment):
    """A run of this Python that finds no checkout."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_PRELOAD")}
    command = [sys.executable, "-P", *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, env=inherited | environment, capture_output=True, text=True, check=False, timeout=300
    )


def built(kind, source, folder):
    """A source archive or a wheel."""
    # -O0: other tests check the compiled kernel.
    run = python("-c", BUILD.format(kind=kind), folder, cwd=source, CFLAGS="-O0", PYTHONWARNINGS="ignore")
    assert run.returncode == 0, run.stderr[-2000:]
    return folder / run.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Made from a source archive, as for a user; the Makefile has made one."""
    folder = tmp_path_factory.mktemp("wheel")
    (folder / "checkout").mkdir()
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / "checkout")
    for name in ("lscfg", "tuning", "cdec_bridge", "moses_bridge", "plugin"):
        shutil.copytree(ROOT / name, folder / "checkout" / name, ignore=LEFT_OUT)
    if made := os.environ.get("LSCFG_WHEEL"):
        return Path(shutil.copy(made, folder))
    archive = built("sdist", folder / "checkout", folder)
    subprocess.run(["tar", "-xzf", archive, "-C", folder], check=True)  # Python unpacks safely from 3.11.4 on only
    (unpacked,) = folder.glob("lscfg-*/")
    return built("wheel", unpacked, folder)


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of an installation; the packages that lscfg needs are those of this Python."""
    folder = tmp_path_factory.mktemp("installed")
    run = python("-m", "pip", "install", "--no-deps", "--no-index", "--quiet", "--target", folder, wheel)
    assert run.returncode == 0, run.stderr
    return folder


def test_one_wheel_serves_all_versions_of_python(wheel):
    python_tag, abi_tag, platform_tag = wheel.stem.split("-")[-3:]
    assert (python_tag, abi_tag) == ("cp311", "abi3") and platform_tag != "any"


def test_a_wheel_holds_lscfg_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0] for name in names} == {"lscfg", f"lscfg-{wheel.name.split('-')[1]}.dist-info"}
    for top in ("lscfg", "tuning", "cdec_bridge", "moses_bridge"):
        for path in (ROOT / top).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            assert (name if top == "lscfg" else f"lscfg/{name}") in names
    report = [path for end in ("css", "js", "html") for path in (ROOT / "tuning" / "report").rglob(f"*.{end}")]
    assert len(report) > 4 and {f"lscfg/{path.relative_to(ROOT).as_posix()}" for path in report} <= {*names}
    kernel = json.loads((ROOT / "plugin" / "include" / "kernel.json").read_text("utf-8"))
    for part in (*kernel["decoder"], "include", "adapter", "cdec", "moses"):
        for path in (ROOT / "plugin" / part).rglob("*.[ch]*"):
            assert f"lscfg/sources/{path.relative_to(ROOT / 'plugin').as_posix()}" in names
    assert {"lscfg/_kernel.abi3.so", "lscfg/py.typed", "lscfg/sources/include/kernel.json"} <= set(names)


def test_an_installation_runs_and_imports_every_module(installed):
    version = python("-m", "lscfg", "--version", PYTHONPATH=str(installed))
    assert version.stdout == f"lscfg {installed.glob('lscfg-*.dist-info').__next__().name.split('-')[1][:-5]}\n"
    run = python("-c", "import sys" + EVERY_MODULE, installed, PYTHONPATH=str(installed))
    assert run.returncode == 0, run.stderr


def test_an_editable_install_finds_every_folder(wheel, tmp_path):
    """Without a kernel, which setuptools would compile; by the import hook, whose rows are those of package-dir."""
    checkout = wheel.parent / "checkout"
    (checkout / "setup.py").write_text((checkout / "setup.py").read_text().partition(", cffi_modules=")[0] + ")\n")
    run = python("-c", BUILD.format(kind="editable"), tmp_path, cwd=checkout, PYTHONWARNINGS="ignore")
    assert run.returncode == 0, run.stderr[-2000:]
    shutil.unpack_archive(tmp_path / run.stdout.split()[-1], tmp_path / "site", "zip")
    names = ("lscfg", "lscfg.tuning.evaluate", "lscfg.cdec_bridge.commands", "lscfg.moses_bridge.rule_table")
    code = f"import site; site.addsitedir({str(tmp_path / 'site')!r}); from importlib.util import find_spec\n"
    run = python("-I", "-S", "-c", f"{code}for name in {names}: print(find_spec(name).origin)")
    files = (
        "lscfg/__init__.py",
        "tuning/evaluate.py",
        "cdec_bridge/commands/__init__.py",
        "moses_bridge/rule_table.py",
    )
    assert run.stdout.split() == [str(checkout / file) for file in files], run.stderr


def test_a_checkout_without_a_kernel_names_the_cure(wheel, tmp_path):
    path = {"PYTHONPATH": str(wheel.parent / "checkout")}
    run = python("-I", "-c", f"import sys; sys.path.insert(0, {path['PYTHONPATH']!r}); import lscfg.kernel")
    if "installed" in run.stderr or run.returncode == 0:
        pytest.skip("lscfg is installed in this Python, and its kernel is taken")
    assert run.stderr.endswith("the C kernel is not built: pip install . (in a checkout: pip install -e .)\n")


# ---- other machines ----


def needs(extra="", **environment):
    """Names of the packages that are installed there."""
    lines = [*PROJECT["dependencies"], *(PROJECT["optional-dependencies"][extra] if extra else [])]
    found = map(Requirement, lines)
    return [need.name for need in found if need.marker is None or need.marker.evaluate(environment)]


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_there_is_one_kenlm(version):
    expected = "kenlm" if version in ("3.11", "3.12") else "ufal-kenlm"
    assert [name for name in needs(python_version=version) if "kenlm" in name] == [expected]


def test_versions_of_what_is_not_installed_are_left_out():
    found = installed_versions(["numpy", "no-such-package"])
    assert [*found] == ["numpy"] and found["numpy"][0].isdigit()


def test_a_decoder_needs_few_packages(installed):
    assert {*needs(python_version="3.11")} == {"numpy", "cffi", "safetensors", "tqdm", "kenlm"}
    modules = (
        "decode.decoder",
        "decode.analysis",
        "bundle.pack",
        "serve.translator",
        "cdec_bridge.library",
        "moses_bridge.program",
        "kernel.lm",
    )
    code = NONE_OF_THE_EXTRAS + f"import {', '.join(f'lscfg.{name}' for name in modules)}"
    run = python("-c", code, PYTHONPATH=str(installed))
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("estimate --help", "lscfg estimate: this needs scipy: pip install 'lscfg[train]'"),
        ("run {file} -o {folder}", "lscfg run: this needs sacrebleu: pip install 'lscfg[train]'"),
        ("demo -o {folder}", "lscfg demo: this needs sacrebleu: pip install 'lscfg[train]'"),
        ("serve {folder}", "lscfg serve: this needs starlette: pip install 'lscfg[serve]'"),
    ],
)
def test_a_command_without_its_extra_names_it(installed, tmp_path, arguments, line):
    (tmp_path / "e.toml").write_text("")
    given = arguments.format(file=tmp_path / "e.toml", folder=tmp_path / "out").split()
    code = NONE_OF_THE_EXTRAS + f"from lscfg.cli import main; sys.exit(main({given}))"
    run = python("-c", code, PYTHONPATH=str(installed))
    assert (run.returncode, run.stderr) == (1, line + "\n")


def test_extras_are_declared_where_they_are_named(installed):
    """Each module that an extra is to bring is of one of its packages."""
    from importlib.metadata import packages_distributions

    from lscfg.extras import EXTRAS

    declared = {extra: {Requirement(line).name for line in PROJECT["optional-dependencies"][extra]} for extra in EXTRAS}
    known = packages_distributions()
    for extra, modules in EXTRAS.items():
        assert {known[module][0].lower() for module in modules} == declared[extra]
    (metadata,) = installed.glob("*.dist-info/METADATA")
    assert set(Parser().parsestr(metadata.read_text("utf-8")).get_all("Provides-Extra")) == {*EXTRAS, "test", "docs"}


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["grammar", "--help"], ["run", "--help"]])
def test_a_system_that_does_not_tell_our_processors(installed, arguments):
    """As macOS."""
    code = f"import os, sys; del os.sched_getaffinity; from lscfg.cli import main; sys.exit(main({arguments}))"
    run = python("-c", code, PYTHONPATH=str(installed))
    assert (run.returncode, run.stderr) == (0, "")


def test_windows_is_refused_in_one_line(tmp_path):
    code = "import sys, setuptools; sys.platform = 'win32'; exec(open('setup.py').read())"
    run = python("-c", code, cwd=ROOT)
    assert (
        run.returncode == 1 and run.stderr.startswith("lscfg runs on Linux and macOS") and run.stderr.count("\n") == 1
    )


def test_the_kernel_compiles_for_arm(tmp_path):
    """A processor without the wide registers of x86."""
    if platform.machine() == "aarch64":
        pytest.skip("this machine is one")
    compiler = shutil.which("aarch64-linux-gnu-gcc")
    if compiler is None:
        pytest.skip("no cross-compiler: apt install gcc-aarch64-linux-gnu")
    plugin = ROOT / "plugin"
    kernel = json.loads((plugin / "include" / "kernel.json").read_text("utf-8"))
    files = [str(path) for layer in kernel["layers"] for path in sorted((plugin / layer).glob("*.c"))]
    assert len(files) > 30
    flags = [*kernel["flags"], "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{plugin}", f"-I{plugin / 'include'}"]
    run = subprocess.run([compiler, *flags, *files], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
