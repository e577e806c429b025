"""``lscfg decode -`` in a pipe: each line is answered before the next one comes."""

import itertools
import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lscfg.cli import main
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines

LINES = ["una casa", "una casa roja", "la casa", "", "otra casa"]
OUT = ["a house", "a house red", "the house", "", "otra house"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A grammar with its configuration; the working folder."""
    monkeypatch.chdir(tmp_path)
    words = {"una": "a", "la": "the", "casa": "house", "roja": "red"}
    write_lines("g", [f"[X] ||| {f} ||| {e} ||| P=1" for f, e in words.items()])
    write_lines("cdec.ini", ["formalism=scfg", "grammar=g", "add_pass_through_rules=true"])
    write_lines("weights", ["P 1", "PassThrough -1"])
    return tmp_path


@contextmanager
def decoding(*words):
    """A process that decodes standard input; it is killed if it does not answer."""
    command = [sys.executable, "-P", "-m", "lscfg", "decode", "-c", "cdec.ini", "-w", "weights", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        timer = threading.Timer(120, process.kill)
        timer.start()
        yield process
        if process.stdin and not process.stdin.closed:
            process.stdin.close()
        process.wait()
        timer.cancel()


def ask(process, line):
    """The next line of output, after this one of input."""
    process.stdin.write(line + b"\n")
    process.stdin.flush()
    return process.stdout.readline()


@pytest.mark.parametrize("words", [["-"], ["/dev/stdin"], ["-", "--jobs", "2"], ["-", "--jobs", "3"]], ids=" ".join)
def test_each_line_is_translated_before_the_next_one_comes(folder, words):
    with decoding(*words) as process:
        for line, translation in zip(LINES, OUT, strict=True):
            assert ask(process, line.encode()) == translation.encode() + b"\n"
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_many_lines_keep_their_order(folder, jobs):
    lines = [f"w{n} casa" for n in range(2000)]
    with decoding("-", "--jobs", jobs) as process:
        out, _ = process.communicate("\n".join(lines).encode())
    assert out.decode().splitlines() == [line.replace("casa", "house") for line in lines]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_bad_line_counts_as_empty_and_the_stream_goes_on(folder, jobs):
    bad = [b"una \xff casa", b"una\tcasa", b"una [X] casa", "una\u00a0casa".encode(), b"((('a',0,1),)"]
    with decoding("-", "--jobs", jobs) as process:
        for line in bad:
            assert ask(process, line) == b"\n"
            assert ask(process, b"la casa") == b"the house\n"
        process.stdin.close()
        told = process.stderr.read().decode()
    assert process.returncode == 0
    for number, fault in enumerate(("not valid UTF-8", "", "", "", "lattice, column 14: expected ("), 1):
        assert f"standard input:{2 * number - 1}: {fault}" in told
    assert told.count("it counts as an empty line") == len(bad)


def test_a_mark_is_skipped_and_a_long_line_is_bad(folder):
    with decoding("-") as process:
        assert ask(process, "\ufeffuna casa".encode()) == b"a house\n"
        assert ask(process, b"casa " * 300_000) == b"\n"
        assert ask(process, b"una casa") == b"a house\n"
        process.stdin.close()
        told = process.stderr.read().decode()
    assert "standard input:1: " not in told and "2: longer than 1048576 bytes" in told


def test_lists_and_derivations_of_a_stream(folder):
    with decoding("-", "-k", "2", "--unique", "--derivations", "d.gz") as process:
        out, _ = process.communicate(b"una casa\nla\n")
    assert out.decode().splitlines()[0].split(" ||| ")[:2] == ["0", "a house"]
    found = [json.loads(line) for line in read_lines("d.gz")]
    assert [line["id"] for line in found] == [0, 1] and found[1]["derivations"][0]["translation"] == "the"


def test_a_stream_into_a_file(folder):
    for output in ("out", "out.gz"):
        with decoding("-", "-o", output) as process:
            process.communicate("\n".join(LINES).encode())
        assert process.returncode == 0
    assert read_lines("out") == read_lines("out.gz") == OUT


def test_standard_input_is_not_overwritten(folder):
    write_lines("text", LINES)
    command = [sys.executable, "-P", "-m", "lscfg", "decode", "-", "-c", "cdec.ini", "-w", "weights", "-o", "text"]
    with open("text", "rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "is also an input" in done.stderr
    assert read_lines("text") == LINES


def test_a_reader_that_goes_away_ends_the_stream(folder):
    with decoding("-", "--jobs", "2") as process:
        assert ask(process, b"casa") == b"house\n"
        process.stdout.close()
        for _ in range(1000):
            try:
                process.stdin.write(b"casa\n")
                process.stdin.flush()
            except BrokenPipeError:
                break
        with suppress(BrokenPipeError):
            process.stdin.close()
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_does_not_end_other_outputs(folder, unbuffered):
    """Without other outputs, the command ends."""
    write_lines("text", LINES)
    command = [sys.executable, "-P", "-m", "lscfg", "decode", "text", "-c", "cdec.ini", "-w", "weights", "--jobs", "1"]
    reading, writing = os.pipe()
    os.close(reading)
    told = []
    for more in ([], ["--derivations", "d"]):
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        pipe = subprocess.PIPE
        done = subprocess.run([*command, *more], stdout=writing, stderr=pipe, text=True, env=environment, check=False)
        assert done.returncode == 0 and "Traceback" not in done.stderr
        told.append("the reader of standard output has left; the other outputs are still written" in done.stderr)
    os.close(writing)
    assert told == [False, True] and len(read_lines("d")) == len(LINES)


def test_an_interrupted_file_leaves_its_first_translations(folder, monkeypatch, capsys):
    """On standard output; a file, which would not show that it is cut, is not written."""
    whole = EmbeddedDecoder.translate

    def interrupted(*words, **options):
        yield from itertools.islice(whole(*words, **options), 2)
        raise KeyboardInterrupt

    monkeypatch.setattr(EmbeddedDecoder, "translate", interrupted)
    write_lines("text", LINES)
    decode = ["decode", "text", "-c", "cdec.ini", "-w", "weights"]
    assert main(decode) == main([*decode, "-o", "out"]) == 130
    out, told = capsys.readouterr()
    assert out.splitlines() == OUT[:2] and not Path("out").exists()
    assert told.splitlines()[-1] == "lscfg decode: interrupted"


def test_a_file_gives_what_the_stream_gives(folder):
    write_lines("text", LINES)
    assert main(["decode", "text", "-c", "cdec.ini", "-w", "weights", "-o", "out", "--derivations", "d"]) == 0
    assert read_lines("out") == OUT
    with open("text", "rb") as file, decoding("-", "--derivations", "e") as process:
        out, _ = process.communicate(file.read())
    assert out.decode().splitlines() == OUT
    assert Path("d").read_bytes() == Path("e").read_bytes()
