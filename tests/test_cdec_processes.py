"""cdec in several processes; a program that answers like cdec takes its place."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cdec_bridge.decoder import CdecDecoder
from cdec_bridge.processes import CdecProcesses, numbered
from lscfg.errors import InputError, LscfgError
from tuning.decoders import open_decoder

# Echoes each segment in capitals; dies at the word "boom", says nothing of "silent".
PROGRAM = """#!{python}
import os, re, signal, sys
for line in sys.stdin:
    number, text = re.fullmatch(r'<seg id="(\\d+)"[^>]*>(.*)</seg>\\n', line).groups()
    if "boom" in text:
        print("boom it goes", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if "silent" not in text:
        print(f"{{number}} ||| {{text.upper()}} ||| A=1 ||| -1", flush=True)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "cdec"
    path.write_text(PROGRAM.format(python=sys.executable))
    os.chmod(path, 0o755)
    (tmp_path / "cdec.ini").write_text("formalism=scfg\n")
    return path


def decode(program: Path, sentences: list[str], jobs: int = 1) -> list[list[str]]:
    lists = CdecProcesses(program, program.parent / "cdec.ini", jobs=jobs).decode(sentences)
    return [[line.split(" ||| ")[1] for line in lines] for lines in lists]


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_output_is_in_order(program, jobs):
    sentences = [f"w{n}" for n in range(20)] + ["", "silent", "z"]
    assert decode(program, sentences, jobs) == [[s.upper()] for s in sentences[:20]] + [[], [], ["Z"]]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("at", [0, 1, 2, 5])
def test_a_deadly_sentence_costs_only_itself(program, capsys, jobs, at):
    sentences = ["a", "silent", "b", "c", "silent", "d"]
    sentences[at] = "boom here"
    expected = [[] if "boom" in s or s == "silent" else [s.upper()] for s in sentences]
    assert decode(program, sentences, jobs) == expected
    message = capsys.readouterr().err
    assert message.count("signal SIGSEGV") == 1
    assert f"at sentence {at + 1}, which gets no translation: boom here (boom it goes)" in message


def test_all_sentences_deadly(program, capsys):
    assert decode(program, ["boom", "boom"]) == [[], []]
    assert capsys.readouterr().err.count("SIGSEGV") == 2


def test_a_program_that_does_not_start(program):
    program.write_text("#!/bin/sh\necho '[lscfg] no model' >&2\nexit 134\n")
    with pytest.raises(LscfgError, match=r"ended with status 134: \[lscfg\] no model"):
        decode(program, ["a", "b"])


def test_decoder_uses_several_processes(program, monkeypatch):
    lists = CdecDecoder(program.parent / "cdec.ini", program, jobs=2).decode(["a", "boom", "b"], {}, 1)
    assert [found[0].text for found in lists] == ["A", "", "B"]
    monkeypatch.setenv("CDEC_ROOT", str(program.parent))
    started = program.parent / "started"
    program.write_text(program.read_text() + f"print('one', file=open({str(started)!r}, 'a'))\n")
    with open_decoder("cdec", program.parent / "cdec.ini", 3) as decoder:  # as tunings and experiments do
        lists = decoder.decode(["a", "b", "c", "d", "e"], {}, 1)
    assert [found[0].text for found in lists] == ["A", "B", "C", "D", "E"]
    assert started.read_text() == "one\n" * 3


def test_segments_keep_their_attributes():
    assert numbered('<seg grammar="g.gz" id="7">a b</seg>', 3) == '<seg id="3" grammar="g.gz">a b</seg>\n'
    assert numbered("<seg id=7>a</seg>", 3) == '<seg id="3">a</seg>\n'
    assert numbered("a < b", 3) == '<seg id="3">a < b</seg>\n'


def test_bad_arguments(program):
    with pytest.raises(InputError, match="jobs must be 1 or more"):
        CdecProcesses(program, program.parent / "cdec.ini", jobs=0)
    with pytest.raises(InputError, match="no such file"):
        CdecProcesses(program, program.parent / "nowhere.ini")
