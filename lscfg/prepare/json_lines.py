"""JSON lines, as data sets of Hugging Face are: an object per line, or one list of objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from lscfg.errors import InputError
from lscfg.json_text import parse_json
from lscfg.prepare.encoded import EncodedSettings, decoding_fault, encoded_lines
from lscfg.prepare.fields import LANGUAGES, STRUCT, TEXTS, FieldSettings
from lscfg.prepare.reader import NO_TRANSLATION, RawPair, TextReader, list_languages, sides_of

NO_OBJECT = "not a JSON object"
"""The fault of a line that is not JSON, or no object."""


@dataclass(frozen=True)
class JsonSettings(FieldSettings, EncodedSettings):
    """Choice of fields, and the encoding."""


class JsonLines(TextReader[JsonSettings]):
    """JSON lines."""

    HELP = "JSON objects, one per line or in a list, with a field translation or two fields of text"
    VERSION = 2
    Settings = JsonSettings
    ENDINGS = ("json", "ndjson")

    def read_pairs(
        self, files: Sequence[Path], languages: tuple[str, str], settings: JsonSettings
    ) -> Iterator[RawPair]:
        """Reads objects; one without one of the sentences has a fault.

        Raises:
            InputError: a file cannot be read or is not in its encoding, or no object has both sentences.
        """
        wanted = settings.source_field, settings.target_field
        for path in files:
            good = read = 0
            names = Counter[str]()
            for number, row in json_rows(encoded_lines(path, settings.encoding), path):
                read += 1
                found = texts_of(row)
                names.update(found.keys())
                source, target = _chosen(found, languages, wanted)
                fault = "" if isinstance(row, Mapping) else NO_OBJECT
                if not fault and (source is None or target is None):
                    fault = NO_TRANSLATION
                if not fault and settings.encoding:
                    fault = decoding_fault(source or "", target or "")
                good += not fault
                yield RawPair(str(path), number, source or "", target or "", fault)
            if read and not good:
                sides = " and ".join(name or language for name, language in zip(wanted, languages, strict=True))
                raise InputError(
                    f"no object contains text in both {sides}; fields of text: {list_languages(names)}", path
                )


def json_rows(lines: Iterable[str], path: Path) -> Iterator[tuple[int, Any]]:
    """The values of a file with their lines, or with their numbers if the file is one list; None: a line is not JSON.

    Raises:
        InputError: the file is one list and no JSON.
    """
    numbered = enumerate(lines, 1)
    begin, first = next(((number, line) for number, line in numbered if line.strip()), (1, ""))
    rest = (line for _, line in numbered)
    if first.lstrip().startswith("["):
        try:
            rows = parse_json("\n".join(chain([first], rest)), nan=True)
        except ValueError as error:
            raise InputError(f"not JSON, or cut off: {error}", path) from error
        yield from enumerate(rows, 1)
        return
    for number, line in enumerate(chain([first], rest), begin):
        if line.strip():
            try:
                yield number, parse_json(line, nan=True)
            except ValueError:
                yield number, None


def texts_of(row: object) -> dict[str, str]:
    """The texts of an object by their names; a name with a dot is of a field within another. Other values have none.

    A field ``translation`` comes first. A list of languages and texts counts as one field for each language.
    """
    found: dict[str, str] = {}
    if not isinstance(row, Mapping):
        return found
    for name in sorted(row, key=lambda name: name != STRUCT):
        value = row[name]
        if isinstance(value, str):
            found.setdefault(name, value)
        elif isinstance(value, Mapping):
            if (listed := _listed(value)) is not None:
                found |= {f"{name}.{language}": text for language, text in listed}
            found |= {f"{name}.{part}": text for part, text in value.items() if isinstance(text, str)}
        elif isinstance(value, list):
            for part in value:
                if isinstance(part, Mapping):
                    tag, text = (next((part[key] for key in keys if key in part), None) for keys in (LANGUAGES, TEXTS))
                    if isinstance(tag, str) and isinstance(text, str):
                        found.setdefault(f"{name}.{tag}", text)
    return found


def _listed(value: Mapping[str, Any]) -> list[tuple[str, str]] | None:
    """Languages and texts of an object of two lists; None if it is another object."""
    tags, texts = (
        next((value[key] for key in keys if isinstance(value.get(key), list)), None) for keys in (LANGUAGES, TEXTS)
    )
    if tags is None or texts is None or len(tags) != len(texts):
        return None
    pairs = zip(tags, texts, strict=True)
    return [(tag, text) for tag, text in pairs if isinstance(tag, str) and isinstance(text, str)]


def _chosen(
    found: Mapping[str, str], languages: tuple[str, str], wanted: tuple[str, str]
) -> tuple[str | None, str | None]:
    """The two texts of an object."""
    names = list(found)
    sides = sides_of(tuple(name.rpartition(".")[2] for name in names), languages)
    texts: list[str | None] = []
    for name, side in zip(wanted, sides, strict=True):
        named = next((one for one in names if name in (one, one.rpartition(".")[2])), None) if name else None
        key = named if name else None if side is None else names[side]
        texts.append(None if key is None else found[key])
    return texts[0], texts[1]
