"""Corrections that the command line lists, exports, adds and removes while a service uses them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from asgi import Client
from services import Service, prepared_bundle

from lscfg.cli import main
from lscfg.decode.memory import Memory

pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")

PAIRS = [("La casa roja", "The Red Palace"), ("una flor", "a lily, twice"), ("una casa", 'a "hut"')]


def test_commands_and_a_service_share_a_folder(
    system: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exported corrections are requests that another service accepts; workers notice a removal at the next request."""
    bundle = prepared_bundle(system, tmp_path)

    def exported(folder: str) -> list[str]:
        command = ["inspect", "corrections", str(tmp_path / folder), str(bundle), "--format", "jsonl"]
        assert main(command) == 0
        return capsys.readouterr().out.splitlines()

    with Service(bundle, "--corrections", tmp_path / "one", "-j", 2) as service:
        for source, target in PAIRS:
            body = json.dumps({"source": source, "target": target}).encode()
            assert service.request("POST", "/corrections", body)[0] == 200
        lines = exported("one")
        assert [json.loads(line) for line in lines[:2]] == [
            {"source": source.capitalize(), "target": target} for source, target in PAIRS[:2]
        ]
        assert main(["inspect", "corrections", str(tmp_path / "one"), "--undo", "2"]) == 0
        for _ in range(4):  # each worker
            _, found = service.translate(source="una flor")
            assert found["translations"][0]["memory"]["id"] is None
        assert service.request("DELETE", "/corrections/2")[0] == 404
        _, listed = service.request("GET", "/corrections")
        assert [one["id"] for one in listed["corrections"]] == [1, 3]
    client = Client(bundle, memory=tmp_path / "two")
    for line in lines:
        assert client.post("/corrections", json.loads(line)).status_code == 200
    assert exported("two") == lines
    (tmp_path / "three").mkdir()
    (tmp_path / "lines").write_text("".join(f"{line}\n" for line in lines))
    add = ["inspect", "corrections", str(tmp_path / "three"), str(bundle), "--add", str(tmp_path / "lines")]
    assert main(add) == main(add) == 0  # what is stored already counts once
    assert exported("three") == lines
    stored = [Memory(tmp_path / name).pairs for name in ("two", "three")]
    assert [pair._replace(time="") for pair in stored[0]] == [pair._replace(time="") for pair in stored[1]]
    (tmp_path / "four").mkdir()
    words = ["inspect", "corrections", str(tmp_path / "four"), str(system)]
    assert main([*words, "--add", str(tmp_path / "lines")]) == main([*words, "--format", "jsonl"]) == 0
    assert capsys.readouterr().out.splitlines() == lines  # a system of words keeps capitals as typed
    (tmp_path / "lines").write_text(f'{lines[0]}\n{{"source": "a. B.", "target": "c"}}\n')
    assert main(add) == 1
    assert f"{tmp_path / 'lines'}:2: " in capsys.readouterr().err


def test_an_export_can_be_added_whatever_ends_within_its_sentences(
    system: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = prepared_bundle(system, tmp_path)
    for source in ("La casa ! la flor", "zapato ? roja", "\nUna flor\n"):
        found = Client(bundle, memory=tmp_path / "one").post("/corrections", {"source": source, "target": "the hut"})
        assert found.status_code == 200, found.text
    assert main(["inspect", "corrections", str(tmp_path / "one"), str(bundle), "--format", "jsonl"]) == 0
    (tmp_path / "lines").write_text(capsys.readouterr().out)
    (tmp_path / "two").mkdir()
    assert main(["inspect", "corrections", str(tmp_path / "two"), str(bundle), "--add", str(tmp_path / "lines")]) == 0
    one, two = (Memory(tmp_path / name).pairs for name in ("one", "two"))
    assert [(pair.source, pair.target) for pair in one] == [(pair.source, pair.target) for pair in two]
