"""The C extension and the list of packages; everything else is in pyproject.toml."""

import sys
import tomllib
from pathlib import Path

from setuptools import find_packages, setup

if sys.platform == "win32":
    sys.exit(
        "lscfg runs on Linux and macOS. On Windows, install it inside WSL: https://learn.microsoft.com/windows/wsl"
    )

FOLDERS = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-dir"]

packages = find_packages(include=["lscfg", "lscfg.*"])
for package, folder in FOLDERS.items():
    packages += [package, *(f"{package}.{name}" for name in find_packages(folder))]

setup(packages=packages, cffi_modules=["plugin/build_kernel.py:ffibuilder"])
