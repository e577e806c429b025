"""Files that no command expects."""

from __future__ import annotations

import gzip
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

Maker = Callable[[Path, bytes, random.Random], None]
"""Makes the file; the bytes are those of a good one."""


def _holding(data: bytes) -> Maker:
    return lambda path, good, rng: path.write_bytes(data) and None


def _changed(change: Callable[[bytes, random.Random], bytes]) -> Maker:
    return lambda path, good, rng: path.write_bytes(change(good, rng)) and None


def _safetensors(header: bytes, size: int | None = None) -> bytes:
    return (len(header) if size is None else size).to_bytes(8, "little") + header


def _insert(good: bytes, rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(good) + 1)
    return good[:at] + data + good[at:]


def _shuffled_lines(good: bytes, rng: random.Random) -> bytes:
    lines = good.split(b"\n")
    rng.shuffle(lines)
    return b"\n".join(lines)


def _many(good: bytes, rng: random.Random) -> bytes:
    return good * min(200, 1 + (1 << 20) // max(len(good), 1))


def _folder(path: Path, good: bytes, rng: random.Random) -> None:
    path.mkdir()


def _missing(path: Path, good: bytes, rng: random.Random) -> None:
    pass


def _loop(path: Path, good: bytes, rng: random.Random) -> None:
    path.symlink_to(path.name)


def _endless(path: Path, good: bytes, rng: random.Random) -> None:
    path.symlink_to("/dev/zero")


def _null(path: Path, good: bytes, rng: random.Random) -> None:
    path.symlink_to(os.devnull)


DEEP = 5000

BAD_FILES: dict[str, Maker] = {
    "missing": _missing,
    "empty": _holding(b""),
    "a folder": _folder,
    "a link to itself": _loop,
    "an endless device": _endless,
    "an empty device": _null,
    "a newline": _holding(b"\n"),
    "many newlines": _holding(b"\n" * 10_000),
    "a blank": _holding(b" "),
    "tabs": _holding(b"\t\t\t\n\t\n"),
    "NUL bytes": _holding(bytes(1000)),
    "a program": lambda path, good, rng: path.write_bytes(Path("/bin/sh").read_bytes()[:50_000]) and None,
    "random bytes": lambda path, good, rng: path.write_bytes(rng.randbytes(5000)) and None,
    "a BOM alone": _holding(b"\xef\xbb\xbf"),
    "a BOM before it": _changed(lambda good, rng: b"\xef\xbb\xbf" + good),
    "UTF-16": _changed(lambda good, rng: good[:10_000].decode("latin-1").encode("utf-16")),
    "Latin-1": _changed(lambda good, rng: _insert(good, rng, b"caf\xe9")),
    "a surrogate": _changed(lambda good, rng: _insert(good, rng, b"\xed\xa0\x80")),
    "a NUL in it": _changed(lambda good, rng: _insert(good, rng, b"\0")),
    "carriage returns": _changed(lambda good, rng: good.replace(b"\n", b"\r\n")),
    "line separators": _changed(lambda good, rng: good.replace(b" ", "\u2028".encode())),
    "no last newline": _changed(lambda good, rng: good.rstrip(b"\n")),
    "a cut file": _changed(lambda good, rng: good[: rng.randrange(len(good) or 1)]),
    "a cut head": _changed(lambda good, rng: good[rng.randrange(len(good) or 1) :]),
    "a line less": _changed(lambda good, rng: good[good.find(b"\n") + 1 :]),
    "a line more": _changed(lambda good, rng: good + b"a b c\n"),
    "its lines in another order": _changed(_shuffled_lines),
    "twice itself": _changed(lambda good, rng: good + good),
    "many times itself": _changed(_many),
    "a word of 5 MB": _holding(b"x" * 5_000_000 + b"\n"),
    "a line of 100,000 words": _holding(b"casa " * 100_000 + b"\n"),
    "an empty line in it": _changed(lambda good, rng: good.replace(b"\n", b"\n\n", 1)),
    "bars": _holding(b"||| ||| |||\n|||\n"),
    "nonterminals": _holding(b"[X,1] [X,2] [X]\n[X,99999999999]\n"),
    "0 bytes, gz": _holding(b""),
    "gz": _changed(lambda good, rng: gzip.compress(good, mtime=0)),
    "a cut gz": _changed(lambda good, rng: gzip.compress(good, mtime=0)[:-9]),
    "a damaged gz": _changed(lambda good, rng: _insert(gzip.compress(good, mtime=0), rng, b"\xff")),
    "a gz that grows": _holding(gzip.compress(bytes(400_000_000), 9, mtime=0)),
    "brackets": _holding(b"[" * DEEP + b"]" * DEEP + b"\n"),
    "braces": _holding(b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"\n"),
    "an empty object": _holding(b"{}\n"),
    "a list": _holding(b"[1, null, -1e999, NaN]\n"),
    "a large number": _holding(b"9" * 400 + b"\n"),
    "very many digits": _holding(b"a = " + b"9" * 10_000 + b"\n"),
    "not a number": _holding(b"nan inf -inf 1e999 0x1p-20\n"),
    "minus one": _holding(b"-1\n"),
    "a table": _holding(b"[a]\nb = 1\n[a]\nb = 2\n"),
    "a long header": _holding(_safetensors(b"{}", 1 << 62)),
    "an empty header": _holding(_safetensors(b"{}")),
    "a header of brackets": _holding(_safetensors(b"[" * DEEP)),
    "an array after the end": _holding(
        _safetensors(b'{"a":{"dtype":"F64","shape":[9999999999],"data_offsets":[0,79999999992]}}')
    ),
    "metadata that are none": _holding(_safetensors(b'{"__metadata__":{"lscfg":"model","about":7}}')),
    "an ARPA of negative size": _holding(b"\\data\\\nngram 1=-5\nngram 2=-9\n\n\\1-grams:\n"),
}


def name_of(kind: str, name: str) -> str:
    """The file's name, which says whether it is compressed."""
    return f"{name.removesuffix('.gz')}.gz" if "gz" in kind else name


def kinds(rng: random.Random) -> Iterator[str]:
    """All, in another order each time."""
    names = list(BAD_FILES)
    rng.shuffle(names)
    yield from names
