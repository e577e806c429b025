"""``lscfg grammar``, ``context`` and ``estimate`` refuse what they would otherwise ignore or lose."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lscfg import cli
from lscfg.io.read import split_fields

PAIRS = [("f", "e")] * 6 + [("f", "g")] * 5 + [("h", "e")] * 60


def read(path: Path) -> list[str]:
    return path.read_text().splitlines()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Text, links, derivations, a model and two forests, in the working directory."""
    monkeypatch.chdir(tmp_path)
    for name, side in (("s", 0), ("t", 1)):
        Path(name).write_text("".join(f"{pair[side]}\n" for pair in PAIRS))
    Path("a").write_text("0-0\n" * len(PAIRS))
    forest = '{"nodes": [["S", [0, 1]]], "edges": [{"head": 0, "tails": [], "source": "x"}], "words": ["a"]}\n'
    Path("forests").write_text(forest * 2)
    assert cli.main(["derive", "s", "t", "a", "-o", "d"]) == 0
    assert cli.main(["estimate", "mle", "d", "-o", "m"]) == 0
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_barred_rules_take_no_place_of_others() -> None:
    for most, sources in ((0, ["f", "h"]), (1, ["f", "h"])):
        words = f"grammar hiero s t a -o g --set significance=0 --max-targets {most}"
        assert cli.main(words.split()) == 0
        assert sorted({line.split(" ||| ")[1] for line in read(Path("g"))}) == sources


@pytest.mark.usefixtures("folder")
def test_a_joined_grammar_is_checked_and_adds_each_rule_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("junk").write_text("[X] ||| f ||| e ||| F=1\nplain text\n")
    assert cli.main(["grammar", "minimal", "d", "-o", "g", "--join", "junk"]) == 1
    assert "junk:2: expected '[X] |||" in capsys.readouterr().err and not Path("g").exists()
    Path("glue").write_text(
        "# a comment\n\n[S] ||| [S,1] [X,2] ||| [1] [2] ||| G=1\n[S] ||| [S,1] [X,2] ||| [S,1] [X,2] ||| G=2\n"
    )
    assert cli.main(["grammar", "minimal", "d", "-o", "g", "--join", "glue"]) == 0
    assert [line for line in read(Path("g")) if "[X,2]" in line] == ["[S] ||| [S,1] [X,2] ||| [1] [2] ||| G=1"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("grammar sampled forests -o g --set max_targets=1", "--set max_targets= needs text"),
        ("grammar sampled forests -o g --max-targets 0", "--max-targets needs source, target and alignments"),
        ("grammar sampled forests -o g --oov", "--oov needs"),
        ("grammar hiero i --per-sentence p --filter s --oov", "an index gives only grammars of sentences"),
        ("grammar hiero i --per-sentence p --filter s --max-targets 0", "an index gives only grammars of sentences"),
        ("grammar hiero i --per-sentence p --filter s --format moses", "an index gives only grammars of sentences"),
        ("grammar hiero i --per-sentence p --filter s --settings x.toml", "an index gives only grammars of sentences"),
        ("grammar sampled s t a long -o g --sweeps 1 --set alignments=chosen", "long has more"),
        ("grammar hiero s t a -o g --memory 1 --filter s --oov", "--oov needs rules with labels (lscfg derive"),
        ("grammar sampled s t a -o g --write trace=c --write trace=p", "--write trace=p: trace already goes to c"),
        ("grammar hiero s t a -o g.gz --format index", "g.gz: decoders map an index, which cannot be compressed"),
        ("grammar hiero s t a -o g.compiled", "g.compiled: only lscfg pack writes compiled files"),
        ("grammar minimal d --sizes --format moses", "--format moses needs an output (-o)"),
        ("grammar biparsed s t a --write derivations=g.trees", "g.trees: only trees as text may end in .trees"),
        ("grammar biparsed s t a --passes 1 --write boundary=g.gz", "g.gz: decoders map a model, which cannot be"),
        ("grammar sampled s t a --write derivations=g.trees.gz", "g.trees.gz: only trees as text may end in .trees"),
        ("derive s t a -o g.trees", "g.trees: only trees as text may end in .trees; choose another name"),
        ("derive s t a -o g.trees.gz --labels 2", "g.trees.gz: only trees as text may end in .trees"),
        ("compress m --sparse 0.1 --tolerance 0.5 -o c", "--tolerance belongs to --cp"),
        ("estimate em d -m 2 --set held_out=0.001 -o m2", "held_out = 0.001 of 71 sentences is none"),
    ],
)
def test_what_would_be_ignored_is_refused(command: str, fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("long").write_text(Path("a").read_text() + "0-0\n")
    Path("x.toml").write_text("[hiero]\nmax_targets = 1\n")
    assert cli.main(["grammar", "hiero", "s", "t", "a", "-o", "i", "--format", "index", "--max-targets", "0"]) == 0
    capsys.readouterr()
    assert cli.main(command.split()) in (1, 2)
    found = capsys.readouterr().err
    assert fault in found and "fault in lscfg" not in found
    assert not re.findall(r"\b[gcp]\b", " ".join(path.name for path in Path().iterdir()))


@pytest.mark.usefixtures("folder")
def test_counts_for_moses_are_those_of_the_whole_text() -> None:
    Path("text").write_text("f\n")
    command = ["grammar", "hiero", "s", "t", "a", "--format", "moses"]
    assert cli.main([*command, "-o", "whole/table"]) == 0
    assert cli.main([*command, "--filter", "text", "-o", "part/table"]) == 0
    whole, part = read(Path("whole/table")), read(Path("part/table"))
    assert [line.split(" ||| ")[:2] for line in part] == [["f [X]", "e [X]"], ["f [X]", "g [X]"]]
    assert part == whole[:2]
    assert [split_fields(line)[4] for line in part] == ["66 11 6", "5 11 5"]  # target side, source side, rule


@pytest.mark.usefixtures("folder")
def test_a_rule_table_does_not_overwrite_itself_with_glue(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["grammar", "minimal", "d", "--format", "moses", "-o", "out/glue-grammar"]) == 1
    assert "out/glue-grammar: Moses' glue rules go into the file glue-grammar" in capsys.readouterr().err
    assert not [*Path("out").iterdir()]


@pytest.mark.parametrize("model", ["loglinear", "joint --set k=1"])
def test_a_context_model_that_diverges_is_not_written(
    model: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("s").write_text("k f\nw f\n" * 30)
    Path("t").write_text("k e\nw g\n" * 30)
    Path("a").write_text("0-0 1-1\n" * 60)
    assert cli.main(["derive", "s", "t", "a", "-o", "d"]) == 0
    assert cli.main(["estimate", "mle", "d", "-o", "m"]) == 0
    words = f"context m s --derivations d --model {model} --set rate=1e30 --set min_count=1 -o c"
    assert cli.main(words.split()) == 1
    assert "the context model diverged" in capsys.readouterr().err and not (folder / "c").exists()
