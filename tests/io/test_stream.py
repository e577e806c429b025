"""Lines that come over time."""

import gzip
import os

import pytest

from lscfg.errors import InputError
from lscfg.io import stream
from lscfg.io.stream import LineStream


@pytest.fixture
def pipe():
    """A stream, and a function that writes to it; None ends it."""
    reading, writing = os.pipe()

    def write(data):
        os.close(writing) if data is None else os.write(writing, data)

    yield LineStream(reading), write
    os.close(reading)


def test_a_line_is_there_before_the_next_one(pipe):
    lines, write = pipe
    assert not lines.ready()
    write(b"una")
    assert not lines.ready()
    write(b" casa\r\nla")
    assert lines.ready() and next(lines) == b"una casa"
    assert not lines.ready()
    write(b"\n\nrest")
    assert [next(lines), next(lines)] == [b"la", b""]
    write(None)
    assert lines.ready() and [*lines] == [b"rest"]
    assert lines.ready() and [*lines] == []


def test_a_byte_order_mark_is_no_part_of_the_first_line(pipe):
    lines, write = pipe
    write(b"\xef\xbb\xbf")
    assert not lines.ready()
    write(b"una\n\xef\xbb\xbfcasa\n")
    assert [next(lines), next(lines)] == [b"una", b"\xef\xbb\xbfcasa"]
    write(None)


def test_a_stream_of_a_byte_order_mark_alone(pipe):
    lines, write = pipe
    write(b"\xef\xbb\xbf")
    write(None)
    assert [*lines] == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(b"casa\n" * 99, mtime=0), "standard input: compressed by gzip; decompress it on the way"),
        ("una casa\n".encode("utf-16"), "standard input:1: not valid UTF-8; looks like UTF-16: iconv"),
        (b"una\rcasa\r", "standard input:1: lines end in a carriage return alone"),
    ],
)
def test_a_stream_that_is_no_text(pipe, data, message):
    lines, write = pipe
    write(data)
    write(None)
    with pytest.raises(InputError) as caught:
        list(lines)
    assert message in str(caught.value)


def test_an_empty_stream(pipe):
    lines, write = pipe
    write(None)
    assert [*lines] == []


def test_a_long_line_is_cut_and_the_next_one_whole(pipe, monkeypatch):
    monkeypatch.setattr(stream, "LONGEST", 10)
    lines, write = pipe
    for part in (b"a" * 8, b"b" * 8, b"c" * 8):
        write(part)
        assert not lines.ready()
    write(b"d\nnext\n")
    line = next(lines)
    assert line.startswith(b"a" * 8 + b"bbb") and len(line) > 10
    assert next(lines) == b"next"
    write(None)


def test_pipes_that_do_not_wait_are_waited_for(pipe):
    lines, write = pipe
    os.set_blocking(lines.fileno(), False)
    assert not lines.ready()
    write(b"a\n")
    assert next(lines) == b"a"
    write(None)


def test_files_are_streams_too(tmp_path):
    (tmp_path / "text").write_bytes(b"a\nb")
    with open(tmp_path / "text", "rb") as file:
        lines = LineStream(file.fileno())
        assert lines.ready() and [*lines] == [b"a", b"b"]


def test_what_cannot_be_read_is_named(tmp_path):
    descriptor = os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(InputError, match="standard input: cannot read: Is a directory"):
        next(LineStream(descriptor))
    os.close(descriptor)
