"""The C extension; everything else is in pyproject.toml (cffi's hook has no place there)."""

from setuptools import setup

setup(cffi_modules=["plugin/build_kernel.py:ffibuilder"])
