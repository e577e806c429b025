"""The C extension and the list of packages; everything else is in pyproject.toml."""

import sys

# Before every other import, and before pip looks for packages: with an older Python, old versions of pip download one
# release of NumPy after the other in search of one that fits.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        f"lscfg needs Python 3.11 or newer; {sys.executable} is Python {'.'.join(map(str, sys.version_info[:3]))}. "
        "Name a newer one: make demo PYTHON=python3.12, or python3.12 -m venv .venv"
    )

import tomllib
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

if sys.platform == "win32":
    sys.exit(
        "lscfg runs on Linux and macOS. On Windows, install it inside WSL: https://learn.microsoft.com/windows/wsl"
    )


class FreshBuild(build_py):
    """Leaves out files of an earlier build in build/, which would ship files deleted since."""

    def run(self) -> None:
        folder = Path(self.build_lib)
        if len(folder.parts) > 1 and folder.parts[0] == "build":
            for path in folder.rglob("*"):
                if path.is_file() and not path.name.startswith("_kernel"):  # which is compiled only if it has changed
                    path.unlink()
        super().run()


FOLDERS = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-dir"]

packages = find_packages(include=["lscfg", "lscfg.*"])
for package, folder in FOLDERS.items():
    packages += [package, *(f"{package}.{name}" for name in find_packages(folder))]

setup(packages=packages, cmdclass={"build_py": FreshBuild}, cffi_modules=["plugin/build_kernel.py:ffibuilder"])
