"""Damage to files: of their bytes, and of the arrays of those that are safetensors files."""

from __future__ import annotations

import json
import random
import struct

_TELLING = [
    b"",
    b"-",
    b"\n",
    b"\t",
    b" ",
    b"9",
    b"0",
    b"\\",
    b"=",
    b"|||",
    b"[X,1]",
    b"\xff",
    b"\0",
    b"nan",
    b"1e999",
    b",",
]
_TELLING += [b'"', b"[", b"{", b"\xc2\xa0", b"\xe2\x80\xa8", b"99999999999", b"-1"]

_NUMBERS = [0, 1, -1, 2, 7, 127, 255, 2**15, 2**31 - 1, -(2**31), 2**31, 2**53, 2**63 - 1, -(2**63)]


def mutate(data: bytes, rng: random.Random) -> bytes:
    """The bytes with one to four changes: a bit, a byte, a telling string, a part left out, said twice or moved."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        size = len(changed)
        at = rng.randrange(size + 1)
        length = rng.randint(1, 30)
        match rng.randrange(6):
            case 0 if at < size:
                changed[at] ^= 1 << rng.randrange(8)
            case 1 if at < size:
                changed[at] = rng.randrange(256)
            case 2:
                changed[at : at + rng.randint(0, 2)] = rng.choice(_TELLING)
            case 3:
                del changed[at : at + length]
            case 4:
                changed[at:at] = changed[at : at + length]
            case _:
                piece = bytes(changed[at : at + length])
                del changed[at : at + length]
                to = rng.randrange(len(changed) + 1)
                changed[to:to] = piece
    return bytes(changed)


def mutate_tensors(data: bytes, rng: random.Random) -> bytes:
    """A safetensors file with one to three changes to its header or to numbers of its arrays."""
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + size]), bytearray(data[8 + size :])
    names = [name for name in header if name != "__metadata__"]
    for _ in range(rng.randint(1, 3)):
        name = rng.choice(names)
        entry = header.get(name)
        if entry is None:
            continue
        match rng.randrange(10):
            case 0:
                del header[name]
            case 1:
                entry["dtype"] = rng.choice(["I8", "I32", "I64", "F32", "F64", "U8", "BOOL", "BF16"])
            case 2:
                entry["shape"] = rng.choice([[], [0], [*entry["shape"], 1], [1, *entry["shape"]], entry["shape"][::-1]])
            case 3:
                other = header.get(rng.choice(names))
                if other is not None:
                    header[name], other_entry = other, dict(entry)
                    other.update(dict(other))
                    header[name] = dict(other)
                    other.update(other_entry)
            case 4:
                metadata = header.setdefault("__metadata__", {})
                key = rng.choice([*metadata, "new"])
                metadata[key] = rng.choice(["", "{}", "[", "7", "null", "[" * 5000, '{"a": 1e999}', str(rng.random())])
            case _:
                _change_number(entry, body, rng)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + bytes(body)


def _change_number(entry: dict, body: bytearray, rng: random.Random) -> None:
    begin, end = entry["data_offsets"]
    kind = {"I32": "<i", "I64": "<q", "F64": "<d", "F32": "<f", "U8": "<B"}.get(entry["dtype"])
    if kind is None or end <= begin:
        return
    width = struct.calcsize(kind)
    count = (end - begin) // width
    at = begin + width * rng.randrange(max(count, 1))
    if at + width > len(body):
        return
    if kind in ("<d", "<f"):
        value: float = rng.choice([0.0, -1.0, 1e30, 1e-30, float("nan"), float("inf"), -float("inf"), rng.random()])
    else:
        near = struct.unpack_from(kind, body, at)[0] + rng.choice([-2, -1, 1, 2])
        value = rng.choice([near, near, *_NUMBERS])
        bits = 8 * width
        value &= (1 << bits) - 1
        if kind != "<B" and value >> (bits - 1):
            value -= 1 << bits
    struct.pack_into(kind, body, at, value)
