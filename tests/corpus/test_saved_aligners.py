"""Aligners that are kept: the same links again, other text without training, and files that are not taken on trust."""

import os
import pty
import shlex
import shutil
import subprocess
import sys
import termios
from importlib.metadata import EntryPoint, EntryPoints

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from lscfg.cli import main
from lscfg.corpus.align import AlignmentSettings, align_both_ways, align_with
from lscfg.corpus.aligner import ALIGNERS, Aligner
from lscfg.corpus.open_aligner import OpenAligner
from lscfg.corpus.saved import check_can_be_saved, unpack_aligner
from lscfg.demo import generate
from lscfg.errors import InputError
from lscfg.io.read import read_lines
from lscfg.io.tensors import load
from lscfg.io.write import write_lines


@pytest.fixture(scope="module")
def text():
    """Both sides of a corpus, and of other text of the same kind."""
    corpus = generate(seed=3, train=600, dev=60, test=1)
    return tuple(zip(*corpus.train, strict=True)), tuple(zip(*corpus.dev, strict=True))


def agreement(one, other):
    """F1 of the links of two alignments."""
    pairs = [(set(a.split()), set(b.split())) for a, b in zip(one, other, strict=True)]
    return 2 * sum(len(a & b) for a, b in pairs) / sum(len(a) + len(b) for a, b in pairs)


@pytest.mark.parametrize("aligner", ALIGNERS.names())
def test_a_saved_aligner_aligns_other_text_without_training(text, aligner, tmp_path):
    train, other = text
    trained = align_both_ways(*train, AlignmentSettings(aligner), save=tmp_path / "m").joined("union")
    saved = align_with(tmp_path / "m", *train).joined("union")
    if aligner == "fast-align":
        assert saved == trained  # its links follow from its parameters
    else:
        assert 0.85 < agreement(saved, trained) < 1  # eflomal's training returns the links of its samples
    opened = OpenAligner(tmp_path / "m")
    pairs = [*zip(*other, strict=True)][:5]
    for source, target in pairs:
        alone = align_with(tmp_path / "m", [source], [target]).joined("grow-diag-final-and")
        assert " ".join(f"{i}-{j}" for i, j in opened(source.split(), target.split())) == alone[0]
    joint = align_both_ways(*(a + b for a, b in zip(train, other, strict=True)), AlignmentSettings(aligner))
    assert agreement(align_with(tmp_path / "m", *other).joined("union"), joint.joined("union")[600:]) > 0.85


@pytest.mark.parametrize("aligner", ALIGNERS.names())
def test_saved_aligners_and_their_links_are_the_same_for_any_number_of_jobs(text, aligner, tmp_path):
    train, other = text
    for jobs in (1, 2):
        align_both_ways(*train, AlignmentSettings(aligner), jobs, tmp_path / f"m{jobs}")
    assert (tmp_path / "m1").read_bytes() == (tmp_path / "m2").read_bytes()
    links = align_with(tmp_path / "m1", *other, jobs=1).joined("union")
    assert align_with(tmp_path / "m1", *other, jobs=2).joined("union") == links
    backwards = align_with(tmp_path / "m1", *(side[::-1] for side in other)).joined("union")
    assert backwards[::-1] == links  # each pair for itself


@pytest.mark.parametrize("aligner", ["fast-align", "eflomal"])
def test_an_aligner_whose_files_were_cut_is_not_saved(text, aligner, tmp_path):
    """The program that writes the files does not notice that they reach a limit."""
    for name, lines in zip("st", text[0], strict=True):
        write_lines(tmp_path / name, lines)
    command = f"align s t -o links --save model --aligner {aligner} --jobs 1"
    limited = shlex.join([sys.executable, "-m", "lscfg", *command.split()])
    ran = subprocess.run(["sh", "-c", f"ulimit -f 64; {limited}"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 1 and "too few for an aligner; raise the limit" in ran.stderr, ran.stderr
    assert not (tmp_path / "model").exists()


def test_an_aligner_that_cannot_be_unpacked_names_the_folder(text, tmp_path, monkeypatch):
    align_both_ways(*text[0], AlignmentSettings("fast-align"), save=tmp_path / "model")
    with pytest.raises(InputError, match=r"cannot unpack the aligner .*; free some room, or set TMPDIR"):
        unpack_aligner(tmp_path / "model", tmp_path / "missing")


def test_a_saved_aligner_holds_no_sentence_of_its_training(text, tmp_path):
    align_both_ways(*text[0], AlignmentSettings(), save=tmp_path / "m")
    content = (tmp_path / "m").read_bytes()
    assert not any(line.encode() in content for side in text[0] for line in side if line.count(" ") > 2)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small corpus, its alignment and its aligner."""
    folder = tmp_path_factory.mktemp("made")
    write_lines(folder / "f", ["una casa", "la casa", "la flor"] * 5)
    write_lines(folder / "e", ["a house", "the house", "the flower"] * 5)
    files = [str(folder / name) for name in ("f", "e", "links", "m")]
    assert main(["align", *files[:2], "-o", files[2], "--save", files[3], "--quiet"]) == 0
    return folder


@pytest.fixture
def saved(made, tmp_path, monkeypatch):
    """Copy of these files in the working folder."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def changed(arrays, metadata, change):
    """Writes the aligner with one thing changed."""
    name = "direct/model.params"
    del arrays["checksum"], metadata["checksum"]  # so that other checks see the change
    if change == "a byte":
        arrays[name] = arrays[name] ^ np.uint8(1)
    elif change == "an array less":
        del arrays[name]
    elif change == "a name":
        arrays["../model.params"] = arrays.pop(name)
    elif change == "a type":
        arrays[name] = arrays[name].astype(np.int32)
    elif change in ("aligner", "format", "lscfg"):
        metadata[change] = "other"
    save_file(arrays, "bad", metadata)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("a byte", "not a whole aligner: its content differs from what was written; make it again"),
        ("an array less", "not a whole aligner"),
        ("a name", "not a whole aligner: array '../model.params' does not belong to an aligner"),
        ("a type", "not a whole aligner: array 'direct/model.params' does not belong to an aligner"),
        ("aligner", "comes from the unknown aligner 'other'; known aligners: eflomal, fast-align"),
        ("format", "the aligner has format other"),
        ("lscfg", "not an lscfg aligner file"),
    ],
)
def test_a_changed_file_is_refused(saved, capsys, change, message):
    changed(load_file("m"), load("m", "aligner", [])[1], change)
    assert main(["align", "f", "e", "-o", "other", "--model", "bad"]) == 1
    assert f"bad: {message}" in capsys.readouterr().err
    assert not (saved / "other").exists()


def test_what_is_written_is_told(saved, capsys):
    line = "align f e --heuristic union,intersect -o a.{heuristic} --save m2"
    assert main(shlex.split(line)) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[-3:] == [f"[lscfg] wrote {name}" for name in ("a.union", "a.intersect", "m2")]


def test_several_heuristics_of_one_training(saved):
    main(shlex.split("align f e -o one.{heuristic} --heuristic union,intersect --quiet"))
    main(shlex.split("align f e -o two.u -o two.i --heuristic union,intersect --model m --quiet"))
    main(shlex.split("align f e -o three.i --heuristic intersect --quiet"))
    main(shlex.split("align f e -o four.i --set heuristics=intersect --quiet"))
    assert read_lines("one.union") == read_lines("links")
    assert read_lines("one.intersect") == read_lines("three.i") == read_lines("four.i")
    assert len(read_lines("two.u")) == len(read_lines("two.i")) == 15


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "-o a --heuristic union,intersect",
            "1 outputs for 2 heuristics; give one -o for each",
        ),
        ("-o a -o b", "2 outputs for 1 heuristics"),
        ("-o new -o new --heuristic union,intersect", "new: would be written twice"),
        ("-o {heuristic} --heuristic union,intersect", "union: is also an input and would be overwritten"),
        ("-o a --model m --save n", "--save keeps a trained aligner, and --model trains none"),
        ("-o a --model m --set seed=2", "--set seed is for training"),
        ("-o a --model m --set heuristic=union", "unknown key 'heuristic'; known keys: model, heuristics (did"),
        ("-o a --set heuristic=union", "unknown key 'heuristic'; known keys: model, heuristics, iterations"),
        ("-o a --model m --aligner eflomal", "--aligner is for training"),
        ("-o a --model fast-align", "choose the kind by --aligner fast-align"),
        ("-o a --model f", "f: not a safetensors file"),
        ("-o a --save a", "a: would be written twice"),
        ("-o m --model m", "m: is also an input and would be overwritten"),
    ],
)
def test_options_that_do_not_go_together(saved, capsys, line, message):
    (saved / "union").write_bytes((saved / "e").read_bytes())
    target = "union" if "{" in line else "e"
    assert main(["align", "f", target, *shlex.split(line)]) == 1
    assert message in capsys.readouterr().err
    assert not (saved / "a").exists() and not (saved / "new").exists()


@pytest.mark.parametrize("heuristics", ["all", "union,all", "union,union", ""])
def test_bad_heuristics(saved, heuristics):
    with pytest.raises(SystemExit):
        main(["align", "f", "e", "-o", "a", "--heuristic", heuristics])


class Able(Aligner):
    """An aligner that aligns other text, too."""

    def align_text(self, src, tgt, saved):
        return []


class Unable(Aligner):
    """An aligner that has no parameters to save."""


def test_an_aligner_that_cannot_be_saved_names_those_that_can(monkeypatch):
    group = ALIGNERS.group
    rows = EntryPoints(
        EntryPoint(kind.__name__.lower(), f"{__name__}:{kind.__name__}", group) for kind in (Able, Unable)
    )
    monkeypatch.setattr(ALIGNERS, "_group", lambda: rows)
    monkeypatch.setattr(EntryPoint, "load", lambda row: {"able": Able, "unable": Unable}[row.name])
    check_can_be_saved("able")
    with pytest.raises(InputError, match=r"the aligner unable cannot be saved, .*; able can"):
        check_can_be_saved("unable")


def test_held_out_trees_without_another_training(saved):
    """The recipe of docs/reference/commands.md."""
    write_lines("dev.f", ["una flor"])
    write_lines("dev.e", ["a flower"])
    for line in (
        "derive f e links -o deriv",
        "estimate mle deriv -o model",
        "align --model m dev.f dev.e -o dev.al",
        "derive dev.f dev.e dev.al -o dev.deriv",
        "inspect choices model --train deriv --held-out dev.deriv -o table",
    ):
        assert main([*shlex.split(line), "--quiet"]) == 0
    assert read_lines("dev.al") == ["0-0 1-1"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_terminal_shows_how_far_the_training_is(saved, jobs):
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    command = [sys.executable, "-P", "-m", "lscfg", "align", "f", "e", "-o", "a", "--jobs", str(jobs)]
    subprocess.run(command, stderr=theirs, check=True)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 1 << 16):
            shown += part
    except OSError:  # the end of a terminal
        pass
    os.close(ours)
    assert b"aligning:   0%" in shown
