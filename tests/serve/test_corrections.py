"""Corrections over HTTP: stored, obeyed by the next request of any worker, and undone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from little_experiment import run_lscfg
from services import little_preparation

pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")

from asgi import Client

from lscfg.decode.memory import JOURNAL
from lscfg.decode.terms import Term
from lscfg.serve.application import ROUTES
from lscfg.serve.corrections import ROUTES as OWN_ROUTES


@pytest.fixture(scope="module")
def raw(system: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    run = run_lscfg("pack", system, "--prepare", little_preparation(folder), "-o", folder / "bundle")
    assert run.returncode == 0, run.stderr
    return folder / "bundle"


def answer(client: Client, source: str, **query: Any) -> dict[str, Any]:
    found = client.post("/translate", {"source": source, **query})
    assert found.status_code == 200, found.text
    return found.json()["translations"][0]


def test_the_next_request_obeys_and_undo_gives_the_old_answer(raw: Path, tmp_path: Path) -> None:
    client, other = (Client(raw, memory=tmp_path) for _ in range(2))
    before = answer(client, "La casa roja")
    assert before["memory"] == {"id": None, "similar": []}
    found = client.post("/corrections", {"source": "La casa roja", "target": "The crimson  HUT"})
    assert found.status_code == 200 and {*found.json()} == {"id", "rules", "seconds"} and found.json()["id"] == 1
    for one in (client, other):
        done = answer(one, "La casa roja", details=True)
        assert done["translation"] == "The crimson HUT" and done["memory"]["id"] == 1 and done["unknown"] == []
        ranges = [done["translation"][slice(*word["range"])] for word in done["details"]["words"]]
        assert ranges == ["The", "crimson", "HUT"]
    near = answer(other, "La casa roja roja")
    assert near["memory"]["id"] is None
    ((similar),) = near["memory"]["similar"]
    assert similar == {"id": 1, "source": similar["source"], "target": "The crimson HUT", "similarity": 0.75}
    assert other("DELETE", "/corrections/1").json() == {"undone": 1}
    assert answer(client, "La casa roja") == before
    assert other("DELETE", "/corrections/1").status_code == 404


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        ({"source": "a"}, 400, "target must be a text"),
        ({"source": "a", "target": 3}, 400, "target must be a text"),
        ({"source": " ", "target": "x"}, 400, "the source is empty"),
        ({"source": "La casa. La flor.", "target": "x"}, 400, "source: 2 sentences; store each of them"),
        ({"source": "La casa\nLa flor", "target": "x"}, 400, "source: 2 sentences; store each of them"),
        ({"source": "a", "target": ""}, 400, "the target is empty"),
        ({"source": "a", "target": "x", "targets": "y"}, 400, "no key 'targets' (did you mean target?)"),
        ({"source": "a " * 200, "target": "x"}, 413, "source: has 200 words"),
        ({"source": "a\0", "target": "x"}, 400, "NUL"),
        ({"source": "a", "target": "x\0"}, 400, "NUL"),
    ],
)
def test_bad_corrections_are_refused(raw: Path, tmp_path: Path, content: Any, status: int, message: str) -> None:
    found = Client(raw, memory=tmp_path).post("/corrections", content)
    assert found.status_code == status and message in found.json()["error"], found.text
    assert (tmp_path / JOURNAL).read_bytes() == b""


def test_keys_numbers_and_paths(bundle: Path, tmp_path: Path) -> None:
    client = Client(bundle, memory=tmp_path, keys=("secret",))
    pair = {"source": "la casa", "target": "the hut"}
    assert client.post("/corrections", pair).status_code == 403
    assert client.post("/corrections", {**pair, "api_key": "secret"}).json()["id"] == 1
    assert client("DELETE", "/corrections/1").status_code == 403
    for number in ("0", "2", "x", "-1", "1" * 30, "\u0661"):
        found = client("DELETE", f"/corrections/{number}", headers={"authorization": "Bearer secret"})
        assert found.status_code == 404, number
    assert client("DELETE", "/corrections/1", headers={"authorization": "Bearer secret"}).json() == {"undone": 1}
    assert client.get("/corrections").status_code == 405
    described = client.get("/openapi.json").json()["paths"]
    assert {path: next(iter(described[path])).upper() for path in OWN_ROUTES} == OWN_ROUTES
    without = Client(bundle)
    assert without.post("/corrections", pair).status_code == 404
    assert not {*OWN_ROUTES} & {*without.get("/openapi.json").json()["paths"], *ROUTES}
    assert "memory" not in answer(without, "la casa")


def test_a_glossary_of_the_service_counts_after_that_of_the_request(raw: Path) -> None:
    client = Client(raw, glossary=(Term("roja", ("crimson",)), Term("casa", ("hut",))))
    found = answer(client, "La casa roja", glossary=[{"source": "casa", "target": "cabin"}])
    assert "crimson" in found["translation"] and "cabin" in found["translation"] and "hut" not in found["translation"]


def test_the_command_refuses_a_bad_glossary_and_decode_reads_the_memory(system: Path, tmp_path: Path) -> None:
    (tmp_path / "terms.tsv").write_text("source\ttarget\na\n")
    run = run_lscfg("serve", system, "--glossary", tmp_path / "terms.tsv", "--port", "0")
    assert run.returncode == 1 and "terms.tsv:2: the term 'a' has no target" in run.stderr
    line = {"id": 1, "source": "la casa", "target": "that hut", "links": [[0, 0], [1, 1]]}
    (tmp_path / JOURNAL).write_text(json.dumps(line) + "\n")
    (tmp_path / "text").write_text("la casa\n")
    decode = ("decode", "-c", system / "cdec.ini", "-w", system / "weights", tmp_path / "text", "--corrections")
    run = run_lscfg(*decode, tmp_path)
    assert run.returncode == 0 and run.stdout == "that hut\n", run.stderr
    run = run_lscfg(*decode, tmp_path / "none")
    assert run.returncode == 1 and "contains no corrections.jsonl" in run.stderr
