"""Comparisons of wanted translations over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from services import prepared_bundle

pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")

from asgi import Client

from lscfg.bundle.system import open_system
from lscfg.study.comparison import comparison_object


def test_the_answer_is_the_comparison_of_the_decoder(bundle: Path) -> None:
    client, system = Client(bundle), open_system(bundle)
    decoder = system.decoder()
    for wanted, verdict in (("the red x", "same"), ("red the x", "model"), ("the red box", "unreachable")):
        found = client.post("/whynot", {"source": "la x roja", "wanted": wanted})
        assert found.status_code == 200, found.text
        assert found.json() == comparison_object(decoder.why_not("la x roja", wanted, system.weights))
        assert found.json()["verdict"] == verdict


def test_raw_text_is_prepared_and_restored(system: Path, tmp_path: Path) -> None:
    client = Client(prepared_bundle(system, tmp_path))
    best = client.post("/translate", {"source": "La casa roja"}).json()["translations"][0]["translation"]
    found = client.post("/whynot", {"source": "La casa roja", "wanted": best}).json()
    assert (found["verdict"], found["wanted"], found["chosen"]) == ("same", best, best)
    found = client.post("/whynot", {"source": "La casa roja", "wanted": "The red hut"}).json()
    assert (found["verdict"], found["wanted"], found["chosen"]) == ("unreachable", "The red hut", best)
    assert [(rule["source"], rule["target"]) for rule in found["missing"]] == [("casa", "hut")]


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        ({"source": "a"}, 400, "wanted must be a text"),
        ({"source": " ", "wanted": "x"}, 400, "the sentence has 0 words"),
        ({"source": "a", "wanted": "x", "want": "y"}, 400, "no key 'want' (did you mean wanted?)"),
        ({"source": "a " * 200, "wanted": "x"}, 413, "has 200 words"),
        ({"source": "a", "wanted": "x " * 61}, 400, "the wanted translation has 61 words; 1 to 60 can be compared"),
        ({"source": "a", "wanted": "x\0"}, 400, "U+0000"),
    ],
)
def test_bad_requests_are_refused(bundle: Path, content: Any, status: int, message: str) -> None:
    found = Client(bundle).post("/whynot", content)
    assert found.status_code == status and message in found.json()["error"], found.text


def test_the_description_names_the_path(bundle: Path) -> None:
    client = Client(bundle)
    found = client.get("/openapi.json").json()["paths"]["/whynot"]["post"]
    assert found["requestBody"]["content"]["application/json"]["schema"]["required"] == ["source", "wanted"]
    assert client.get("/whynot").status_code == 405
