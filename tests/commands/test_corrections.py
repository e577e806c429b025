"""``lscfg inspect corrections``: list, export and removal, also while a service uses the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from lscfg.cli import main
from lscfg.decode.memory import Memory

PAIRS = [("La casa roja", "The Red Palace"), ("una flor", "a lily, twice"), ("una casa", 'a "hut"')]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    memory = Memory(tmp_path / "store", lambda source, target: [(0, 0)])
    for source, target in PAIRS:
        memory.add(source, target)
    return tmp_path / "store"


def test_list_and_removal(store: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    assert main(["inspect", "corrections", str(store)]) == 0
    head, *rows = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert head == ["id", "time", "source", "target"]
    assert [(row[0], *row[2:]) for row in rows] == [(str(k), *pair) for k, pair in enumerate(PAIRS, 1)]
    assert [row[1] for row in rows] == [pair.time for pair in Memory(store).pairs]
    assert main(["inspect", "corrections", str(store), "--undo", "3", "1", "3"]) == 0
    assert "1 correction left" in caplog.text
    assert [pair.id for pair in Memory(store).pairs] == [2]


def test_requests_are_exported_for_a_system_only(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The words of a prepared system would be prepared again."""
    assert main(["inspect", "corrections", str(store), "--format", "jsonl"]) == 1
    out, err = capsys.readouterr()
    assert not out and "--format jsonl needs SYSTEM, whose preparation restores the text" in err


@pytest.mark.parametrize("number", ["1", "9", "0", "-1"])
def test_unknown_and_removed_ids_are_refused(number: str, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """None of the ids of a refused line is removed."""
    Memory(store).undo(1)
    before = (store / "corrections.jsonl").read_bytes()
    assert main(["inspect", "corrections", str(store), "--undo", "2", number]) == 1
    message = f"no correction {number}; lscfg inspect corrections lists the ids"
    assert capsys.readouterr().err == f"lscfg inspect: {store / 'corrections.jsonl'}: {message}\n"
    assert (store / "corrections.jsonl").read_bytes() == before


@pytest.mark.parametrize("words", [[], ["--undo", "1"], ["--format", "jsonl"]])
def test_folders_without_corrections_are_refused(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", "corrections", str(tmp_path), *words]) == 1
    assert "contains no corrections.jsonl; name a folder of lscfg serve --corrections" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["x", "3", "[]", '{"source": "a"}', '{"source": 1, "target": "b"}', ""])
def test_bad_lines_are_named(line: str, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lines").write_text(f'{{"source": "a", "target": "b"}}\n{line}\n')
    before = (store / "corrections.jsonl").read_bytes()
    assert main(["inspect", "corrections", str(store), "--add", str(tmp_path / "lines")]) == 1
    assert "--add needs SYSTEM, which aligns the corrections" in capsys.readouterr().err
    assert main(["inspect", "corrections", str(store), str(store), "--add", str(tmp_path / "lines")]) == 1
    assert f'{tmp_path / "lines"}:2: expected {{"source": "…", "target": "…"}}' in capsys.readouterr().err
    assert (store / "corrections.jsonl").read_bytes() == before


def test_a_system_needs_a_configuration(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "corrections", str(store), str(tmp_path)]) == 1
    assert "has neither bundle.json nor cdec.ini" in capsys.readouterr().err
