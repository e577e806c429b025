"""Sentences of a stream that must not stop: a bad line counts as an empty one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from lscfg.corpus.parallel import plain_fault
from lscfg.io.stream import LONGEST, STANDARD_INPUT
from lscfg.kernel import words_fault
from lscfg.log import warning


def words_only(line: str) -> str | None:
    """Describes the fault of a line that does not consist of words; None if the line is good."""
    return plain_fault(line) or words_fault(line)


def tolerated(lines: Iterable[bytes], fault: Callable[[str], str | None] = words_only) -> Iterator[str]:
    """The sentence of each line of standard input; the empty one, with a warning, for a bad line.

    Args:
        fault: describes the fault of a line; None for a good line.
    """
    for number, line in enumerate(lines, 1):
        text = line.decode("utf-8", "replace")
        if found := _fault(line) or fault(text):
            warning(f"{STANDARD_INPUT}:{number}: {found}; it counts as an empty line")
            text = ""
        yield text


def _fault(line: bytes) -> str | None:
    if len(line) > LONGEST:
        return f"longer than {LONGEST} bytes"
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return "not valid UTF-8"
    return None
