"""Corrections that contain an address or placeholder as it is, whatever its words are."""

from __future__ import annotations

from pathlib import Path

import pytest
from services import prepared_bundle

pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")

from asgi import Client

KEEP = {"source": "casa roja", "mode": "keep"}


@pytest.fixture(scope="module")
def words_bundle(system: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle whose target side writes some words of addresses with capitals."""
    folder = tmp_path_factory.mktemp("words")
    raw = (
        "La casa en roma.\nEn la casa una flor, y juan.\n" * 20,
        "The house in Roma.\nIn the house a flower, and Juan, S and the Page.\n" * 20,
    )
    return prepared_bundle(system, folder, raw, "words")


@pytest.mark.parametrize(
    ("source", "target", "terms"),
    [
        ("Una flor juan@example.com y la casa.", "A flower juan@example.com-pe the house.", []),
        ("La casa https://www.example.org/page roja", "The https://www.example.org/page house", []),
        ("La casa %s roja", "The red %s house", []),
        ("La casa %s roja %s", "The red %s %s house", []),
        ("La casa roja", "The casa roja-pe", [KEEP]),
    ],
)
def test_a_correction_with_the_kept_text_is_used(
    source: str, target: str, terms: list[dict[str, str]], words_bundle: Path, tmp_path: Path
) -> None:
    client = Client(words_bundle, memory=tmp_path)
    number = client.post("/corrections", {"source": source, "target": target}).json()["id"]
    query = {"source": source, "glossary": terms} if terms else {"source": source}
    (found,) = client.post("/translate", query).json()["translations"]
    assert (found["translation"], found["memory"]["id"], found["warnings"]) == (target, number, [])


@pytest.mark.parametrize(
    ("source", "target", "part"),
    [
        ("Una flor juan@example.com y la casa.", "A flower ana@example.com the house.", "juan@example.com"),
        ("La casa %s roja %s", "The red %s house", "%s"),
    ],
)
def test_a_correction_without_the_kept_text_is_excluded_by_the_text_as_typed(
    source: str, target: str, part: str, words_bundle: Path, tmp_path: Path
) -> None:
    client = Client(words_bundle, memory=tmp_path)
    number = client.post("/corrections", {"source": source, "target": target}).json()["id"]
    (found,) = client.post("/translate", {"source": source}).json()["translations"]
    assert found["memory"]["id"] is None and part in found["translation"]
    assert found["warnings"] == [f"the term for {part!r} excluded the correction {number}"]
