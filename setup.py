"""The C extension; everything else is in pyproject.toml (cffi's hook has no place there)."""

import sys

from setuptools import setup

if sys.platform == "win32":
    sys.exit(
        "lscfg runs on Linux and macOS. On Windows, install it inside WSL: https://learn.microsoft.com/windows/wsl"
    )

setup(cffi_modules=["plugin/build_kernel.py:ffibuilder"])
