"""Parallel text and word alignment."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from aligners import with_aligner

from lscfg.cli import main
from lscfg.corpus.align import HEURISTICS, AlignmentSettings, BothWays, align, align_both_ways
from lscfg.corpus.aligner import ALIGNERS
from lscfg.corpus.parallel import read_parallel
from lscfg.demo import generate
from lscfg.errors import InputError
from lscfg.io.write import write_lines


def align_in_turn(*arguments):
    """Both directions in one process, whose start takes most of the time of a small text."""
    return align(*arguments, jobs=1)


def files(tmp_path, src, tgt):
    write_lines(tmp_path / "f", src)
    write_lines(tmp_path / "e", tgt)
    return tmp_path / "f", tmp_path / "e"


def test_sides_of_different_length(tmp_path):
    with pytest.raises(InputError, match=r"e: 1 line, but .*f has 2"):
        read_parallel(*files(tmp_path, ["a", "b"], ["x"]))


@pytest.mark.parametrize("bad", ["", "  ", "a\tb", "a ||| b", "a [X] b", "[X,1]", "a\x00"])
def test_bad_sentences_name_file_and_line(tmp_path, bad):
    with pytest.raises(InputError, match="f:2: "):
        read_parallel(*files(tmp_path, ["a", bad], ["x", "y"]))
    with pytest.raises(InputError, match="e:1: "):
        read_parallel(*files(tmp_path, ["a", "b"], [bad, "y"]))


def test_brackets_and_bars_in_words_are_allowed(tmp_path):
    lines = ["[ a ]", "a|b || [x", "x] [ ]"]
    assert read_parallel(*files(tmp_path, lines, lines)) == (lines, lines)


def test_empty_corpus(tmp_path):
    with pytest.raises(InputError, match="empty"):
        read_parallel(*files(tmp_path, [], []))


@pytest.fixture(scope="module")
def phrases():
    return tuple(zip(*generate(seed=3, train=300, dev=1, test=1).train, strict=True))


@pytest.mark.parametrize("model", ALIGNERS.names())
def test_alignment_finds_the_words_of_a_simple_language(model):
    pairs = [("casa roja", "red house"), ("casa verde", "green house"), ("casa", "house"), ("flor roja", "red flower")]
    pairs += [("flor verde", "green flower"), ("flor", "flower"), ("roja", "red"), ("verde", "green")]
    links = align_in_turn(*zip(*pairs * 20, strict=True), AlignmentSettings(model))
    assert links[:4] == ["0-1 1-0", "0-1 1-0", "0-0", "0-1 1-0"]


@pytest.mark.parametrize("model", ALIGNERS.names())
def test_alignment_is_the_same_in_any_run(phrases, model, monkeypatch):
    settings = with_aligner(model, iterations=20)
    links = align(*phrases, settings, jobs=1)
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    assert align(*phrases, settings, jobs=2) == links


def test_an_interruption_does_not_wait_for_the_alignment():
    """Whose sweeps would take days; and its processes are gone, however late whoever reaps them says so."""
    program = """
import os, signal, threading, time
from multiprocessing import active_children
from lscfg.corpus.align import AlignmentSettings, align
from lscfg.corpus.aligner import ALIGNERS

ENDLESS = AlignmentSettings(aligner=ALIGNERS["eflomal"].Settings(iterations=10**9))
waitpid = os.waitpid

def slow_waitpid(pid, options):
    ended = waitpid(pid, options)
    if ended[0]:
        time.sleep(0.2)
    return ended

def interrupt():
    while len(active_children()) < 2:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

os.waitpid = slow_waitpid
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=interrupt).start()
try:
    align(["una casa", "la casa"] * 50, ["a house", "the house"] * 50, ENDLESS)
except KeyboardInterrupt:
    print("interrupted", len(active_children()))
"""
    run = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.stdout == "interrupted 0\n", run.stderr


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_the_aligner_ends_with_its_parent(how):
    program = """
import os, threading, time
from multiprocessing import active_children
from pathlib import Path
from lscfg.corpus.align import AlignmentSettings, align
from lscfg.corpus.aligner import ALIGNERS

ENDLESS = AlignmentSettings(aligner=ALIGNERS["eflomal"].Settings(iterations=10**9))

def seconds(process):
    ticks = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

def tell():
    while len(active_children()) < 2:
        time.sleep(0.01)
    while min(map(seconds, active_children())) < 0.6:  # then in the sampler
        time.sleep(0.01)
    print(*(process.pid for process in active_children()), flush=True)

threading.Thread(target=tell).start()
align(["una casa", "la casa"] * 50, ["a house", "the house"] * 50, ENDLESS)
"""
    with subprocess.Popen([sys.executable, "-P", "-c", program], stdout=subprocess.PIPE, text=True) as run:
        processes = [Path(f"/proc/{pid}/stat") for pid in run.stdout.readline().split()]
        assert len(processes) == 2
        run.send_signal(how)
        run.wait(30)
    end = time.monotonic() + 10
    while any(map(is_running, processes)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(map(is_running, processes))


def is_running(stat):
    """True if the process exists and is no zombie."""
    try:
        return stat.read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_seed_of_the_alignment(phrases):
    one, other = (align_in_turn(*phrases, with_aligner(seed=seed, iterations=20)) for seed in (1, 2**32 - 1))
    assert one != other != align_in_turn(*phrases, AlignmentSettings("fast-align"))


def test_iterations_of_the_alignment(phrases):
    """The number that eflomal takes by itself, from Östling & Tiedemann's program: 5000 / sqrt(50)."""
    phrases = [side[:50] for side in phrases]
    own = align(*phrases)
    assert align(*phrases, with_aligner(iterations=707)) == own
    assert align(*phrases, with_aligner(iterations=1)) != own
    fast = align(*phrases, AlignmentSettings("fast-align"))
    assert align(*phrases, with_aligner("fast-align", iterations=5)) == fast
    assert align(*phrases, with_aligner("fast-align", iterations=1)) != fast


@pytest.mark.parametrize("model", ALIGNERS.names())
def test_heuristics_lie_between_intersection_and_union(phrases, model):
    ordered = ("intersect", "grow-diag", "grow-diag-final-and", "grow-diag-final", "union")
    assert {*HEURISTICS} == {*ordered}
    settings = with_aligner(model, "grow-diag", iterations=2)
    both = align_both_ways(*phrases, settings, jobs=1)
    assert align_in_turn(*phrases, settings) == both.joined("grow-diag")
    intersect, *between, union = ([{*line.split()} for line in both.joined(heuristic)] for heuristic in ordered)
    assert intersect != union
    for links in between:
        assert all(few <= some <= all_ for few, some, all_ in zip(intersect, links, union, strict=True))


@pytest.mark.parametrize("model", ALIGNERS.names())
def test_doubled_blanks_do_not_shift_links(model):
    src, tgt = (
        ["una casa", "la casa", "una puerta", "la puerta"] * 10,
        ["a house", "the house", "a door", "the door"] * 10,
    )
    wide = [line.replace(" ", "  ") for line in tgt]
    settings = with_aligner(model, iterations=3)
    assert align_in_turn(src, wide, settings) == align_in_turn(src, tgt, settings)


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("model", ALIGNERS.names())
def test_pairs_that_cannot_be_aligned_stay_without_links(model, capsys):
    good = [("una casa", "a house"), ("la casa", "the house"), ("una puerta", "a door"), ("la puerta", "the door")] * 10
    bad = [("", "a house"), ("una casa", " "), ("", ""), ("casa " * 1025, "a house"), ("una casa", "house " * 1025)]
    mixed = bad[:2] + good[:20] + bad[2:4] + good[20:] + bad[4:]
    settings = with_aligner(model, iterations=5)
    links = dict(zip(mixed, align_in_turn(*zip(*mixed, strict=True), settings), strict=True))
    assert "2 sentence pairs of more than 1024 words stay without links" in capsys.readouterr().err
    assert [links[pair] for pair in bad] == [""] * 5
    alone = align_in_turn(*zip(*good, strict=True), settings)
    assert [links[pair] for pair in good[-4:]] == alone[-4:] and all(alone)
    assert align_in_turn(*zip(*bad, strict=True), settings) == [""] * 5
    assert align_in_turn([], [], settings) == []


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("model", ALIGNERS.names())
def test_longest_sentence_that_is_aligned(model, capsys):
    words = " ".join(f"w{k % 50}" for k in range(1024))
    (links,) = align([words], ["a b"], with_aligner(model, iterations=1))
    assert links and capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"model": "giza"}, "model must be one of eflomal, fast-align, not 'giza'"),
        ({"heuristic": "growing"}, "heuristic must be one of .*, not 'growing'"),
    ],
)
def test_alignment_settings_are_checked(setting, message):
    with pytest.raises(InputError, match=message):
        AlignmentSettings(**setting)


@pytest.mark.parametrize("iterations", [10**9 + 1, 2**31 - 1, 99999999999])
def test_more_iterations_than_eflomal_can_count_are_refused(iterations):
    with pytest.raises(InputError, match="iterations must be at most 1000000000"):
        with_aligner("eflomal", iterations=iterations)


@pytest.mark.parametrize("model", ["eflomal", "fast-align"])
def test_pairs_without_links_are_counted(model, caplog):
    """eflomal links nothing in a text of three equal pairs."""
    lines = align_in_turn(["a b c"] * 3 + [""], ["A B C"] * 3 + ["x"], with_aligner(model))
    said = [record.getMessage() for record in caplog.records if "no link" in record.getMessage()]
    cure = "the text may be too small or too uniform for eflomal: try fast-align"
    assert said == ([] if any(lines) else [f"3 of 3 sentence pairs have no link by union; {cure}"])
    assert any(lines) == (model != "eflomal")


@pytest.mark.parametrize(("aligner", "cure"), [("eflomal", ": try fast-align"), ("fast-align", "")])
def test_another_aligner_is_the_cure_of_eflomal_only(caplog, aligner, cure):
    assert BothWays([[]], [[]], [(1, 1)], aligner).joined("union") == [""]
    cause = f"the text may be too small or too uniform for {aligner}{cure}"
    assert caplog.messages == [f"1 of 1 sentence pairs have no link by union; {cause}"]


def test_cures_fit_the_place(tmp_path, capsys):
    """A sentence on the command line has no pair, and lscfg decode reads lattices itself."""
    (tmp_path / "g").write_text("[X] ||| a ||| x ||| A=1\n")
    (tmp_path / "cdec.ini").write_text(f"formalism=scfg\ngrammar={tmp_path / 'g'}\n")
    (tmp_path / "w").write_text("A 1\n")
    (tmp_path / "t").write_text('<seg id="1">a <seg id="2">a</seg></seg>\n<seg id="1"><seg id="2">a</seg></seg>\n')
    ini = str(tmp_path / "cdec.ini")
    for empty in ("", " "):
        assert main(["inspect", "sentence", ini, empty]) == 1
        assert capsys.readouterr().err == "lscfg inspect: SENTENCE is empty; give the words of a sentence\n"
    assert main(["inspect", "sentence", ini, "((('a',1,1),),)"]) == 1
    assert "a lattice of cdec's, not words; only lscfg decode" in capsys.readouterr().err
    assert main(["decode", str(tmp_path / "t"), "-c", ini, "-w", str(tmp_path / "w")]) == 1
    said = capsys.readouterr().err
    assert "t:2: a segment of cdec's, not words; a line has one segment" in said and "forest" not in said
    (tmp_path / "t").write_text("a\n")
    text, deriv, model = (str(tmp_path / name) for name in ("t", "deriv", "model"))
    (tmp_path / "links").write_text("0-0\n")
    assert main(["derive", text, text, str(tmp_path / "links"), "-o", deriv]) == 0
    assert main(["estimate", "mle", deriv, "-o", model]) == 0
    (tmp_path / "t").write_text("((('a',1,1),),)\n")
    assert main(["inspect", "marginals", model, str(tmp_path / "t"), "-o", str(tmp_path / "out")]) == 1
    assert "let cdec parse it with lscfg cdec forest, and give --forests" in capsys.readouterr().err
