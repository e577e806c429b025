"""cdec in several processes; a program that answers like cdec takes its place."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path

import pytest

from lscfg import log
from lscfg.cdec_bridge.decoder import CdecDecoder
from lscfg.cdec_bridge.processes import CdecProcesses
from lscfg.cli import main
from lscfg.decode.host import DECODER_HOSTS
from lscfg.errors import InputError, LscfgError
from lscfg.formats.segments import grammars_of_lines, numbered

# Echoes each segment in capitals; dies at the word "boom", says nothing of "silent".
PROGRAM = """
import os, re, signal, sys
for line in sys.stdin:
    number, text = re.fullmatch(r'<seg id="(\\d+)"[^>]*>(.*)</seg>\\n', line).groups()
    if "boom" in text:
        print("boom it goes", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if "silent" not in text:
        print(f"{number} ||| {text.upper()} ||| A=1 ||| -1", flush=True)
"""


def interpreted(code: str) -> str:
    """A program in this Python; the first line names sh, since a path after ``#!`` must not contain blanks."""
    return f"#!/bin/sh\n'''exec' {shlex.quote(sys.executable)} \"$0\" \"$@\"\n' '''\n{code}"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "cdec"
    path.write_text(interpreted(PROGRAM))
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


@pytest.mark.usefixtures("terminal")
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


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interruption_ends_all_processes(program, jobs):
    """The first sentence, once all have started, interrupts its cdec, as Ctrl-C does; the other would take a minute."""
    folder = program.parent / "started"
    folder.mkdir()
    acts = f"""import os, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background job ignores it
open(os.path.join({str(folder)!r}, str(os.getpid())), "w").close()
for line in sys.stdin:
    for _ in range(6000):
        if "wait" not in line and len(os.listdir({str(folder)!r})) == {jobs}:
            break
        time.sleep(0.01)
    else:
        open(os.path.join({str(folder)!r}, "went on"), "w").close()
    os.kill(os.getpid(), signal.SIGINT)
"""
    program.write_text(interpreted(acts))
    with pytest.raises(KeyboardInterrupt):
        decode(program, ["stop", "wait", "a", "b"], jobs)
    started = [path.name for path in folder.iterdir()]
    assert len(started) == jobs and "went on" not in started
    for pid in started:
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_progress_is_moved_by_one_thread_at_a_time(program, monkeypatch):
    def slow(items, what, total):
        for item in items:
            time.sleep(0.002)  # a terminal that is slow lets other threads run meanwhile
            yield item

    monkeypatch.setattr(log, "progress", slow)
    sentences = [f"w{n}" for n in range(60)]
    assert decode(program, sentences, 4) == [[s.upper()] for s in sentences]


@pytest.mark.usefixtures("terminal")
def test_all_sentences_deadly(program, capsys):
    assert decode(program, ["boom", "boom"]) == [[], []]
    assert capsys.readouterr().err.count("SIGSEGV") == 2


@pytest.mark.usefixtures("terminal")
def test_a_list_that_was_cut_is_made_again(program, capsys):
    """The first process dies after two of three lines of "b", without a cause in the sentence."""
    died = program.parent / "died"
    program.write_text(
        interpreted(PROGRAM)
        + f"""
    for rank in 2, 3:
        if "b" in text and not os.path.exists({str(died)!r}):
            open({str(died)!r}, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        print(f"{{number}} ||| {{text.upper()}} {{rank}} ||| A=1 ||| -1", flush=True)
"""
    )
    lists = CdecProcesses(program, program.parent / "cdec.ini", k=3).decode(["a", "b", "c"])
    assert died.exists()
    assert [[line.split(" ||| ")[1] for line in found] for found in lists] == [
        [word, f"{word} 2", f"{word} 3"] for word in "ABC"
    ]
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("terminal")
def test_a_list_that_kills_is_not_kept(program, capsys):
    text = program.read_text()
    program.write_text(text + "    if 'cut' in text:\n        os.kill(os.getpid(), signal.SIGKILL)\n")
    lists = CdecProcesses(program, program.parent / "cdec.ini", k=3).decode(["a", "cut", "c"])
    assert [len(found) for found in lists] == [1, 0, 1]
    assert "signal SIGKILL at sentence 2" in capsys.readouterr().err


@pytest.mark.usefixtures("terminal")
def test_what_the_library_warns_of_is_passed_on_once(program, capsys):
    said = [
        "[lscfg] warning: sentence 1 is a lattice",
        "[lscfg] 3 sentences, 5 edges with latent features, 10 unmatched",
        "[lscfg] 3 sentences, 5 edges with latent features, 0 unmatched; 1 sentences without latent features",
        "[lscfg] 3 sentences, 5 edges with latent features, 0 unmatched",
        "something of cdec's",
    ]
    program.write_text(program.read_text() + f"print(*{said!r}, sep='\\n', file=sys.stderr)\n")
    decoder = CdecDecoder(program.parent / "cdec.ini", program, jobs=2)
    for _ in range(2):
        decoder.decode(["a", "b", "c"], {}, 1)
    told = [line for line in capsys.readouterr().err.splitlines() if "in cdec" in line]
    assert sorted(told) == [
        "[lscfg] warning: in cdec: 3 sentences, 1 sentences without latent features",
        "[lscfg] warning: in cdec: 3 sentences, 10 unmatched",
        "[lscfg] warning: in cdec: sentence 1 is a lattice",
    ]


@pytest.mark.usefixtures("terminal")
def test_a_bad_end_after_the_last_sentence(program, capsys):
    program.write_text(program.read_text() + "print('farewell', file=sys.stderr)\nsys.exit(3)\n")
    lists = CdecProcesses(program, program.parent / "cdec.ini").decode(["a", "b"])
    assert [len(found) for found in lists] == [1, 1]
    assert "cdec ended with status 3 after its last sentence (farewell)" in capsys.readouterr().err


@pytest.mark.usefixtures("terminal")
def test_a_program_that_is_not_cdec(program, capsys):
    program.write_text("#!/bin/sh\necho hello\n")
    assert CdecProcesses(program, program.parent / "cdec.ini", jobs=2).decode(["a", "b", ""]) == [[], [], []]
    assert "translates none of the sentences; is it cdec" in capsys.readouterr().err


def test_a_program_that_does_not_start(program):
    program.write_text("#!/bin/sh\necho '[lscfg] no model' >&2\nexit 134\n")
    with pytest.raises(LscfgError, match=r"ended with status 134: \[lscfg\] no model"):
        decode(program, ["a", "b"])


def test_the_error_is_of_the_process_that_failed_by_itself(program):
    """The first process, asked without a sentence for the cause, is killed when the second one fails."""
    first = program.parent / "first"
    program.write_text(
        interpreted(f"""
import os, sys, time
text = sys.stdin.read()
while "b" in text and not os.path.exists({str(first)!r}):
    time.sleep(0.01)
if not text and not os.path.exists({str(first)!r}):
    open({str(first)!r}, "w").close()
    time.sleep(60)
print("[lscfg] no model", file=sys.stderr)
sys.exit(134)
""")
    )
    with pytest.raises(LscfgError, match=r"ended with status 134: \[lscfg\] no model"):
        decode(program, ["a", "b"], jobs=2)


def test_decoder_uses_several_processes(program, monkeypatch):
    lists = CdecDecoder(program.parent / "cdec.ini", program, jobs=2).decode(["a", "boom", "b"], {}, 1)
    assert [found[0].text for found in lists] == ["A", "", "B"]
    monkeypatch.setenv("CDEC_ROOT", str(program.parent))
    started = program.parent / "started"
    program.write_text(program.read_text() + f"print('one', file=open({str(started)!r}, 'a'))\n")
    with DECODER_HOSTS["cdec"].open(program.parent / "cdec.ini", 3) as decoder:  # as tunings and experiments do
        lists = decoder.decode(["a", "b", "c", "d", "e"], {}, 1)
    assert [found[0].text for found in lists] == ["A", "B", "C", "D", "E"]
    assert started.read_text() == "one\n" * 3


@pytest.mark.usefixtures("terminal")
def test_sentences_without_a_translation_are_told(program, capsys):
    assert decode(program, ["a", "", "silent", "boom", "silent too"]) == [["A"], [], [], [], []]
    message = capsys.readouterr().err
    assert "cdec translates 2 of 4 sentences into nothing, first sentence 3; can its grammar parse them?" in message


def test_output_that_is_not_utf_8_is_refused(program):
    """A grammar of another encoding, whose bytes cdec repeats."""
    program.write_text(interpreted("import sys\nsys.stdout.buffer.write(b'0 ||| caf\\xe9 ||| A=1 ||| -1\\n')\n"))
    with pytest.raises(InputError, match="cdec's output for sentence 1 is not UTF-8, as when a grammar has another"):
        decode(program, ["a"])


def test_lists_keep_the_ids_of_segments(program, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CDEC_ROOT", str(tmp_path))
    (tmp_path / "text").write_text('<seg id="9">a</seg>\n\n<seg id="4">b</seg>\n')
    words = ["cdec", "decode", str(tmp_path / "text"), "-c", str(tmp_path / "cdec.ini"), "-o", str(tmp_path / "out")]
    assert main([*words, "-k", "1"]) == 0
    assert (tmp_path / "out").read_text() == "9 ||| A ||| A=1 ||| -1\n4 ||| B ||| A=1 ||| -1\n"
    (tmp_path / "text").write_text('<seg id="1">a</seg>\nb\n')
    assert main([*words, "-k", "1"]) == 1
    assert "text:2: has the id 1 of line 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("a </seg> b", "contains </seg>, where cdec ends the sentence"),
        ("</SEG> b", "contains </seg>"),
        ("a \0 b", "contains a NUL byte"),
        ("<seg id=1>a", "does not end with </seg>"),
        ("<seg id=1>a </seg> b</seg>", "contains </seg>"),
    ],
)
def test_lines_that_cdec_would_cut_are_refused(program, tmp_path, monkeypatch, capsys, line, fault):
    monkeypatch.setenv("CDEC_ROOT", str(tmp_path))
    (tmp_path / "text").write_text(f"a\n{line}\n")
    with pytest.raises(InputError, match=f"text:2: .*{fault}"):
        DECODER_HOSTS["cdec"].check_source(["a", line], "text", program.parent / "cdec.ini")
    for action in ("decode", "forest"):
        words = ["cdec", action, str(tmp_path / "text"), "-c", str(tmp_path / "cdec.ini"), "-o", str(tmp_path / "out")]
        assert main([*words, *(["--library", str(program)] if action == "forest" else [])]) == 1
        assert fault in capsys.readouterr().err


@pytest.mark.parametrize("grammar", ['grammar="g.gz"', "grammar='g.gz'", "grammar=g.gz", 'grammar = "g.gz"'])
def test_grammar_of_a_segment(grammar):
    assert grammars_of_lines([f"<seg {grammar} id=7>a b</seg>", f'<seg id="7" {grammar}>a</seg>']) == ["g.gz"]
    assert grammars_of_lines([numbered(f"<seg id=7 {grammar}>a</seg>", 3)]) == ["g.gz"]


def test_no_grammar_of_a_segment():
    for line in ('<seg id="7">grammar="g.gz"</seg>', 'a grammar="g.gz"', 'a <seg grammar="g.gz">b</seg>'):
        assert grammars_of_lines([line]) == []


def test_segments_keep_their_attributes():
    assert numbered('<seg grammar="g.gz" id="7">a b</seg>', 3) == '<seg id="3" grammar="g.gz">a b</seg>\n'
    assert numbered("<seg id=7>a</seg>", 3) == '<seg id="3">a</seg>\n'
    assert numbered("a < b", 3) == '<seg id="3">a < b</seg>\n'


def test_bad_arguments(program):
    with pytest.raises(InputError, match="jobs must be 1 or more"):
        CdecProcesses(program, program.parent / "cdec.ini", jobs=0)
    with pytest.raises(InputError, match="k must be 1 or more, not -5"):
        CdecProcesses(program, program.parent / "cdec.ini", k=-5)
    with pytest.raises(InputError, match="no such file"):
        CdecProcesses(program, program.parent / "nowhere.ini")
