"""Lattices and rules in requests to ``lscfg serve``: answers, limits, and refusals by sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from asgi import Client
from services import prepared_bundle

from lscfg.decode.terms import Term
from lscfg.serve.settings import ServeSettings

pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")

LATTICE = "((('una',0.5,1),('la',0.25,1)),(('casa',1),('zapato',1)),(('roja',3,1),('*EPS*',1)))"
RULE = "[X] ||| zapato ||| shoe ||| EgivenF=0.5"


@pytest.fixture(scope="module")
def client(bundle: Path) -> Client:
    return Client(bundle)


def ask(client: Client, **query: Any) -> tuple[int, Any]:
    answer = client.post("/translate", query)
    found = answer.json()
    return answer.status_code, found.get("error") or found["translations"]


def test_a_lattice_of_one_path_is_the_sentence(client: Client) -> None:
    words = "la zapato roja"
    line = "(" + "".join(f"(('{word}',1),)," for word in words.split()) + ")"
    status, (lattice,) = ask(client, source=line, input="plf", kbest=5, derivations=True)
    assert status == 200
    _, (sentence,) = ask(client, source=words, input="text", kbest=5, derivations=True)
    for key, value in sentence.items():
        assert lattice[key] == (pytest.approx(value) if key == "score" else value)
    assert lattice["source_words"] == words and lattice["unknown"] == ["zapato"]


def test_the_answer_contains_the_path(client: Client) -> None:
    """Costs without weights do not count; unknown words are those of the path."""
    status, found = ask(client, source=[LATTICE, "((('zapato',2),('la',1)),(('x',1),))"], input="plf")
    assert status == 200
    assert found[0]["source_words"].split()[1] == "casa" and found[0]["unknown"] == []
    assert {*found[1]["unknown"]} == {word for word in found[1]["source_words"].split() if word != "la"}


def test_rules_of_a_request(client: Client) -> None:
    """Rules count in their request only, as many sentences as it has, and with terms."""
    query = {"source": ["la zapato", "una zapato roja"], "grammar": [RULE, "[X] ||| la zapato ||| the shoe |||"]}
    for _ in range(2):
        status, found = ask(client, **query, kbest=1)
        assert status == 200 and not any(one["unknown"] for one in found)
        assert found[1]["translation"] == "a red shoe"
        status, found = ask(client, source="la zapato")
        assert found[0]["unknown"] == ["zapato"]
    _, (one,) = ask(client, source="una zapato", grammar=[RULE], glossary=[{"source": "una", "target": "one"}])
    assert one["translation"] == "one shoe" and one["terms"][0]["form"] == "one"
    _, (one,) = ask(client, source="((('zapato',1),),)", input="plf", grammar=[RULE])
    assert one["translation"] == "shoe"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"source": "casa"}, "source[0]: lattice, column 1: expected (, found 'casa'"),
        ({"source": [LATTICE, LATTICE[:-1]]}, "source[1]: lattice, column"),
        ({"source": "((('casa',nan,1),),)"}, "source[0]: lattice, column 11: expected a finite number"),
        ({"source": "((('casa',1e400,1),),)"}, "source[0]: lattice, column 11: expected a finite number"),
        ({"source": "((('casa',0),),)"}, "source[0]: lattice, column 11: expected the number of states"),
        ({"source": "((('casa',2),),)"}, "source[0]: lattice, state 1 of 1"),
        ({"source": "((('[X]',1),),)"}, "source[0]: lattice, column 4: "),
        ({"source": "((('[a,1]',1),),)"}, "source[0]: lattice, column 4: "),
        ({"source": "()"}, "source[0]: a lattice without an arc from its first state"),
        ({"source": "((),(('a',1),))"}, "source[0]: a lattice without an arc from its first state"),
        ({"source": LATTICE, "details": True}, "details does not apply to lattices"),
        ({"source": LATTICE, "keep": ["casa"]}, "keep does not apply to lattices"),
        ({"source": LATTICE, "xml_input": "ignore"}, "xml_input does not apply to lattices"),
        ({"source": LATTICE, "raw": True}, "raw: the system has no preparation"),
        ({"source": LATTICE, "input": "cn"}, "input must be text or plf"),
        ({"source": LATTICE, "input": ["plf"]}, "input must be text or plf"),
        ({"source": LATTICE, "input": None}, "input must be text or plf"),
        (
            {"source": LATTICE, "input": "text"},
            "source[0]: a lattice of cdec's, not words; requests of the service send",
        ),
        ({"source": '<seg grammar="/etc/hosts">casa</seg>', "input": "text"}, "source[0]: a segment of cdec's, not"),
        ({"source": '<seg grammar="/etc/hosts">casa</seg>'}, "source[0]: lattice, column 1"),
        ({"source": LATTICE, "grammar": "/etc/hosts"}, "grammar must be a list of rules"),
        ({"source": LATTICE, "grammar": ["/etc/hosts"]}, "source[0]: grammar[0]: expected '[X] |||"),
        ({"source": LATTICE, "grammar": [RULE, RULE[:12]]}, "source[0]: grammar[1]: expected '[X] |||"),
        ({"source": LATTICE, "grammar": [RULE, ""]}, "source[0]: grammar[1]: expected one rule"),
        ({"source": LATTICE, "grammar": [RULE, 1]}, "grammar[1] must be a text"),
        ({"source": LATTICE, "grammar": [f"{RULE}\n{RULE}"]}, "grammar[0] contains a NUL character or a line break"),
        ({"source": LATTICE, "grammar": ["[X] ||| a ||| b ||| P=nan"]}, "source[0]: grammar[0]: 'P=nan' is not a"),
        (
            {"source": LATTICE, "grammar": [RULE, "[Y] ||| a ||| b |||"]},
            "source[0]: grammar[1]: no rule can use or fill",
        ),
        (
            {"source": LATTICE, "grammar": ["[X] ||| a [Y,1] ||| b [1] |||"]},
            "source[0]: grammar[0]: no rule can use or fill [Y]",
        ),
        ({"source": LATTICE, "grammar": ["[X] ||| [X,1] ||| [1] |||"]}, "source[0]: grammar: rules whose source side"),
        (
            {"source": LATTICE, "grammar": ["[X] ||| casa ||| home ||| LanguageModel=1"]},
            "source[0]: the feature LanguageModel comes from the grammar and from the language model LanguageModel; ",
        ),
        (
            {"source": LATTICE, "grammar": ["[X] ||| casa ||| home ||| LatticeCost_0=1 PassThrough=1e308"]},
            "source[0]: ",
        ),
    ],
)
def test_refusals(client: Client, query: dict[str, Any], message: str) -> None:
    assert ask(client, **{"input": "plf", **query}) == (400, Begins(message))


class Begins(str):
    """Equals all texts that begin with it, and name no file."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other.startswith(str(self)) and "cdec.ini" not in other

    __hash__ = str.__hash__


def test_limits(bundle: Path) -> None:
    client = Client(bundle, settings=ServeSettings(max_words=5, max_characters=10))
    long = "(" + "(('casa',1),)," * 5 + ")"
    assert ask(client, source=long, input="plf")[0] == 200  # characters of a lattice are no limit
    for line, message in (
        (long[:-1] + "(('casa',1),),)", "source[0]: a lattice of 7 states; at most 6 are translated"),
        (f"(({'(1,1),' * 3001}),)".replace("1,1", "'a',1"), "source[0]: a lattice of 3001 arcs; at most 3000"),
    ):
        assert ask(client, source=line, input="plf") == (413, Begins(message))
    assert ask(client, source="casa", grammar=[RULE] * 10_001)[0] == 413
    assert ask(client, source="casa", grammar=[f"{RULE} {'P' * 2000}=1"])[0] == 400


def test_raw_lattices_are_prepared(system: Path, tmp_path: Path) -> None:
    """Each arc is raw text of one word; the translation is restored."""
    client = Client(prepared_bundle(system, tmp_path))
    _, (one,) = ask(client, source="((('La',1),('Una',1)),(('casa',1),))", input="plf")
    _, both = ask(client, source=["La casa", "Una casa"])
    (same,) = (other for other in both if other["words"] == one["words"])
    assert (one["translation"], one["source_words"]) == (same["translation"], same["source_words"])
    _, (words,) = ask(client, source="((('la',1),('una',1)),(('casa',1),))", input="plf", raw=False)
    assert words["translation"] == one["words"]
    for arc in ("la casa", " "):
        status, _ = ask(client, source=f"((('{arc}',1),),)", input="plf")
        assert status == 400


def test_numbers_in_rules_keep_their_form(system: Path, tmp_path: Path) -> None:
    client = Client(prepared_bundle(system, tmp_path))
    rules = ["[X] ||| 1.234,5 ||| many |||"]
    _, (one, other) = ask(client, source=["la casa 1.234,5", "la casa 2.345,5"], grammar=rules)
    assert "many" in one["translation"].split() and "2,345.5" in other["translation"].split()


def test_glossaries_of_the_service_do_not_apply(bundle: Path, tmp_path: Path) -> None:
    client = Client(bundle, glossary=(Term("casa", ("home",)),), memory=tmp_path)
    assert client.post("/corrections", {"source": "una casa", "target": "x"}).status_code == 200
    status, (one,) = ask(client, source="((('una',1),),(('casa',1),))", input="plf")
    assert (status, one["translation"], one["terms"]) == (200, "a house", [])
    assert one["memory"] == {"id": None, "similar": []}
    assert one["warnings"] == ["the service's glossary and corrections do not apply to lattices"]
