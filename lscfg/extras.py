"""Modules that only some commands need, by the extra of pyproject.toml that installs them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from lscfg.errors import InputError

EXTRAS = {
    "train": (
        *("scipy", "sacrebleu", "thot", "sacremoses", "sentencepiece", "morfessor"),
        *("snowballstemmer", "jinja2", "ftfy"),
    ),
    "graph": ("faiss",),
    "parquet": ("pyarrow",),
    "xlsx": ("python_calamine",),
    "quick": ("charset_normalizer", "py3langid"),
    "completion": ("shtab",),
    "serve": ("starlette", "uvicorn", "h11", "python_multipart"),
    "cluster": ("distributed", "cryptography"),
}


def need(extra: str) -> None:
    """Checks the modules of an extra before work that would fail late.

    Raises:
        InputError: a module of the extra is missing.
    """
    for module in EXTRAS[extra]:
        if find_spec(module) is None:
            raise InputError(_cure(module, extra))


def cure(error: ImportError) -> str | None:
    """The cure of an import error, if an extra installs the module."""
    module = (error.name or "").partition(".")[0]
    return next((_cure(module, extra) for extra, modules in EXTRAS.items() if module in modules), None)


def _cure(module: str, extra: str) -> str:
    return f"this needs {module}: pip install 'lscfg[{extra}]'"


def installed_versions(packages: Iterable[str]) -> dict[str, str]:
    """Versions of the packages that are installed, by their names on PyPI."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
