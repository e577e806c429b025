"""Damage to files, drawn from a ``random.Random``: the same generator gives the same damage."""

from __future__ import annotations

import json
import math
from random import Random
from typing import Any

INTERESTING = (0, 1, -1, 2, 3, 127, 255, 2**15, 2**31 - 1, -(2**31), 2**32, 2**40, 2**62, 2**63 - 1, -(2**63))
"""Whole numbers at which ranges and sizes end."""

SIZES = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "U16": 2, "U8": 1}
"""Types that lscfg's files hold, and the bytes of a value."""

TYPES = (*SIZES, "BF16", "F16", "U64", "BOOL", "F8_E4M3", "X9")

VALUES: tuple[Any, ...] = (None, True, -1, 0, 1.5, 1e400, 10**400, "", "x", [], [1], {}, {"a": 1}, [[]], "nan")
"""Values of JSON for places that expect another type."""

TELLING = ("", "-", "\n", "\t", " ", "9", "0", "\\", "=", "|||", "[X,1]", "\0", "nan", "1e999", ",", '"', "[", "{")
TELLING += ("\N{NO-BREAK SPACE}", "\N{LINE SEPARATOR}", "99999999999", "-1")
"""Strings with a meaning in one of the text formats."""


def mutate_text(seed: bytes, rng: Random) -> bytes:
    """A text with one to four changes: a byte, a telling string, a part left out, said twice or moved."""
    data = bytearray(seed)
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randrange(len(data) + 1), rng.randint(1, 30)
        piece = data[at : at + length]
        match rng.randrange(5):
            case 0:
                data[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                data[at : at + rng.randint(0, 2)] = rng.choice(TELLING).encode()
            case 2:
                data[at:at] = piece
            case 3:
                del data[at : at + length]
            case _:
                del data[at : at + length]
                to = rng.randrange(len(data) + 1)
                data[to:to] = piece
    return bytes(data)


def mutations(seed: bytes, rng: Random) -> bytes:
    """A file of any kind with a few bytes changed, cut out, repeated, put in or cut off."""
    data = bytearray(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        at = rng.randrange(len(data) + 1)
        length = rng.choice((1, 2, 4, 8, rng.randrange(1, 64)))
        match rng.randrange(6):
            case 0:
                data[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                data[at : at + 1] = bytes([data[at] ^ 1 << rng.randrange(8)] if at < len(data) else [])
            case 2:
                number = rng.choice(INTERESTING) + rng.randrange(-2, 3)
                data[at : at + length] = number.to_bytes(16, "little", signed=True)[:length]
            case 3:
                del data[at : at + length]
            case 4:
                data[at:at] = data[at : at + length]
            case _ if rng.random() < 0.2:
                del data[at:]
    return bytes(data)


def mutate_arrays(seed: bytes, rng: Random) -> bytes:
    """A safetensors file whose structure mostly still holds, with other values, arrays or metadata."""
    metadata, arrays = split_file(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if rng.random() < 0.15:
            _change_metadata(metadata, rng)
        elif arrays:
            _change_array(arrays, rng.choice(sorted(arrays)), rng)
    return join_file(metadata, arrays)


def split_file(seed: bytes) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Metadata, and type, shape and bytes of each array; without the checksum, so that other checks see a change."""
    length = int.from_bytes(seed[:8], "little")
    header, body = json.loads(seed[8 : 8 + length]), seed[8 + length :]
    metadata = header.pop("__metadata__", {})
    metadata.pop("checksum", None)
    header.pop("checksum", None)
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        arrays[name] = [entry["dtype"], entry["shape"], bytearray(body[begin:end])]
    return metadata, arrays


def join_file(metadata: dict[str, Any], arrays: dict[str, list[Any]]) -> bytes:
    """The file of these parts, those of wide values first, as ``lscfg.io.tensors`` has them."""
    header: dict[str, Any] = {"__metadata__": metadata}
    body = b""
    for name in sorted(arrays, key=lambda name: (-SIZES.get(arrays[name][0], 1), name)):
        dtype, shape, data = arrays[name]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + body


def _change_array(arrays: dict[str, list[Any]], name: str, rng: Random) -> None:
    dtype, shape, data = arrays[name]
    width = SIZES.get(dtype, 1)
    values = len(data) // width
    match rng.randrange(12):
        case 0:
            del arrays[name]
        case 1:
            arrays[rng.choice(["", "other", name + "x", rng.choice(sorted(arrays))])] = [dtype, shape, data]
        case 2:
            arrays[name][0] = rng.choice(TYPES)
        case 3:
            arrays[name][1] = _reshaped(shape, rng)
        case 4 if values and shape:  # rows fewer or more
            row = len(data) // shape[0] if shape[0] else 0
            if rng.random() < 0.5 and shape[0]:
                arrays[name] = [dtype, [shape[0] - 1, *shape[1:]], data[: len(data) - row]]
            else:
                arrays[name] = [dtype, [shape[0] + 1, *shape[1:]], data + data[len(data) - row :]]
        case 5:
            arrays[name] = [dtype, [0, *shape[1:]], bytearray()]
        case 6 if values > 1:  # two values change places
            a, b = (width * rng.randrange(values) for _ in range(2))
            data[a : a + width], data[b : b + width] = data[b : b + width], data[a : a + width]
        case 7 if values > 1:  # one becomes another
            a, b = (width * rng.randrange(values) for _ in range(2))
            data[a : a + width] = data[b : b + width]
        case 8 if values:  # a little more or less
            a = width * rng.randrange(values)
            number = int.from_bytes(data[a : a + width], "little") + rng.choice((-2, -1, 1, 2))
            data[a : a + width] = (number % 256**width).to_bytes(width, "little")
        case 9 if values:
            a = width * rng.randrange(values)
            data[a : a + width] = bytes(rng.randrange(256) for _ in range(width))
        case _ if values:
            a = width * rng.randrange(values)
            data[a : a + width] = (rng.choice(INTERESTING) % 256**width).to_bytes(width, "little")


def _reshaped(shape: list[int], rng: Random) -> list[int]:
    size = math.prod(shape)
    others = [
        [size],
        [1, size],
        [size, 1],
        [0],
        [],
        [*shape, 1],
        shape[::-1],
        [2**31],
        [2**62, 2**62],
        [*shape[:-1], -1],
    ]
    return rng.choice(others)


def _change_metadata(metadata: dict[str, Any], rng: Random) -> None:
    key = rng.choice(sorted(metadata))
    match rng.randrange(6):
        case 0:
            del metadata[key]
            metadata["none"] = "none"  # so that there always is something to change
        case 1:
            metadata[key] = rng.choice(["", "0", "-1", "{}", "[]", "null", "{", "9" * 5000, "[" * 20_000, "\x00", "é"])
        case 2:
            metadata[key] = mutations(str(metadata[key]).encode(), rng).decode("utf-8", "replace")
        case _:
            try:
                metadata[key] = json.dumps(_changed_json(json.loads(metadata[key]), rng))
            except ValueError:
                metadata[key] = json.dumps(rng.choice(VALUES))


def mutate_json(seed: bytes, rng: Random) -> bytes:
    """A JSON file with one value changed, left out or of another type, or with its text changed."""
    if rng.random() < 0.2:
        return mutate_text(seed, rng)
    value = json.loads(seed)
    for _ in range(rng.choice((1, 1, 2))):
        value = _changed_json(value, rng)
    return json.dumps(value).encode()


def mutate_lines(seed: bytes, rng: Random) -> bytes:
    """A file of JSON lines with one line changed as a JSON file."""
    lines = seed.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    return b"".join([*lines[:at], mutate_json(lines[at], rng) + b"\n", *lines[at + 1 :]])


def _changed_json(value: Any, rng: Random) -> Any:
    """The value with one thing somewhere in it changed."""
    if not value or not isinstance(value, (dict, list)) or rng.random() < 0.1:
        return rng.choice(VALUES)
    if isinstance(value, list):
        at = rng.randrange(len(value))
        return [*value[:at], *([] if rng.random() < 0.2 else [_changed_json(value[at], rng)]), *value[at + 1 :]]
    key = rng.choice(sorted(value))
    if rng.random() < 0.2:
        return {name: other for name, other in value.items() if name != key}
    return value | {key if rng.random() < 0.9 else "other": _changed_json(value[key], rng)}
