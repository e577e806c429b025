"""Names of columns in data sets of Hugging Face, and their choice by a user."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.settings import Declared, setting

STRUCT = "translation"
"""Column with a field for each language."""

LANGUAGES, TEXTS = ("language", "lang", "locale", "languages"), ("text", "translation", "sentence", "value", "texts")
"""Names of the fields of a list of translations."""


@dataclass(frozen=True)
class FieldSettings(Declared):
    """Choice of columns."""

    source_field: str = setting("", "column of the source sentence", shown=f"that of its language, first in `{STRUCT}`")
    target_field: str = setting("", "column of its translation", shown=f"that of its language, first in `{STRUCT}`")
