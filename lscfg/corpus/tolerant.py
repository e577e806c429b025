"""Sentences of a stream that must not stop: a bad line counts as an empty one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lscfg.corpus.parallel import plain_fault
from lscfg.io.stream import LONGEST, STANDARD_INPUT
from lscfg.kernel import words_fault
from lscfg.log import warning


def tolerated(lines: Iterable[bytes], name: str = STANDARD_INPUT) -> Iterator[str]:
    """The sentence of each line; the empty one, with a warning, where ``check_sentences`` would refuse the line."""
    for number, line in enumerate(lines, 1):
        text = line.decode("utf-8", "replace")
        if fault := _fault(line, text):
            warning(f"{name}:{number}: {fault}; it counts as an empty line")
            text = ""
        yield text


def _fault(line: bytes, text: str) -> str | None:
    if len(line) > LONGEST:
        return f"longer than {LONGEST} bytes"
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return "not valid UTF-8"
    return plain_fault(text) or words_fault(text)
