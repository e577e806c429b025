"""Corrections over HTTP: stored, obeyed by the next request of any worker, and undone."""

from __future__ import annotations

import asyncio
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from little_experiment import run_lscfg
from services import little_preparation, prepared_bundle

pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")

from asgi import Client, InProcess

from lscfg.api.decoder import Decoder
from lscfg.decode.memory import JOURNAL
from lscfg.decode.terms import Term
from lscfg.errors import InputError
from lscfg.prepare.sides import SideRecipe
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.serve.application import ROUTES
from lscfg.serve.corrections import MOST_LISTED, PAGING
from lscfg.serve.corrections import ROUTES as OWN_ROUTES
from lscfg.serve.stored import sentence_count, stored_source


@pytest.fixture(scope="module")
def raw(system: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    return prepared_bundle(system, folder)


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
    assert "\nlscfg_corrections_stored_total 1\n" in client.get("/metrics").text
    assert "\nlscfg_corrections_removed_total 1\n" in other.get("/metrics").text
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


@pytest.mark.parametrize(
    "source", ["La casa ! la flor", "La casa ? zapato roja", "zapato roja", "zapato ! roja", "La casa roja", "ROMA"]
)
def test_a_listed_correction_can_be_stored_and_removed(raw: Path, tmp_path: Path, source: str) -> None:
    """Restoring raises words after an inner end, and unknown words, which would make another source."""
    client = Client(raw, memory=tmp_path)
    number = client.post("/corrections", {"source": source, "target": "the hut"}).json()["id"]
    (listed,) = client.get("/corrections").json()["corrections"]
    found = client.post("/corrections", {key: listed[key] for key in ("source", "target")})
    assert found.status_code == 200 and found.json()["id"] == number, (listed, found.text)
    found = client("DELETE", f"/corrections/{number}", params={"source": listed["source"]})
    assert found.status_code == 200, (listed, found.text)


@pytest.mark.parametrize("casing", ["lower", "none"])
@pytest.mark.parametrize(
    "text", ['"Halt!" rief er.', "Wer? fragte sie.", "Nanu! wieso? fragte er!", "Nein.", 'Er rief: "Halt!"']
)
def test_the_text_of_a_stored_source_is_one_sentence(casing: str, text: str) -> None:
    pytest.importorskip("sacremoses")
    recipe = SideRecipe("de", "nfc", casing, "moses", TOKENISERS["moses"].Settings(), marked=False)
    side = recipe.side()
    assert stored_source(side.encode(text), side).capitalize() == text.capitalize()
    assert sentence_count(stored_source(side.encode(text), side), side) == 1


@pytest.mark.parametrize("source", [" La casa roja", "La casa roja\n\n", "\n\n  La casa roja \n"])
def test_blanks_and_line_ends_are_no_sentences(raw: Path, tmp_path: Path, source: str) -> None:
    client = Client(raw, memory=tmp_path)
    found = client.post("/corrections", {"source": source, "target": "the hut"})
    assert found.status_code == 200, found.text
    assert answer(client, "La casa roja")["memory"]["id"] == 1
    found = client.post("/whynot", {"source": source, "wanted": "the hut"})
    assert found.status_code == 200, found.text


def test_keys_numbers_and_paths(bundle: Path, tmp_path: Path) -> None:
    client = Client(bundle, memory=tmp_path, keys=("secret",))
    pair = {"source": "la casa", "target": "the hut"}
    refused = {
        method: client(method, path, json=content)
        for method, path, content in (("POST", "/corrections", pair), ("GET", "/corrections", {"api_key": "secret"}),
                                      ("DELETE", "/corrections/1", {"api_key": "secret"}))
    }  # fmt: skip
    assert {one.status_code for one in refused.values()} == {403}
    ways = {method: one.json()["error"].partition("; ")[2] for method, one in refused.items()}
    header = "send it as the header Authorization: Bearer KEY"
    assert ways == {"POST": "send it as api_key", "GET": header, "DELETE": header}
    assert client.post("/corrections", {**pair, "api_key": "secret"}).json()["id"] == 1
    for scheme in ("Bearer", "bearer", "BEARER "):  # RFC 9110 compares schemes without case
        assert client.get("/corrections", headers={"authorization": f"{scheme} secret"}).status_code == 200, scheme
    assert client.get("/corrections", headers={"authorization": "Basic secret"}).status_code == 403
    for number in ("0", "2", "x", "-1", "1" * 30, "\u0661"):
        found = client("DELETE", f"/corrections/{number}", headers={"authorization": "Bearer secret"})
        assert found.status_code == 404, number
    assert client("DELETE", "/corrections/1", headers={"authorization": "Bearer secret"}).json() == {"undone": 1}
    for path, methods in OWN_ROUTES.items():
        found = client("PUT", path.replace("{id}", "1"))
        assert found.status_code == 405 and found.headers["allow"] == ", ".join(methods)
        assert f"takes {' or '.join(methods)}, not PUT" in found.json()["error"]
    described = client.get("/openapi.json").json()["paths"]
    assert {path: tuple(map(str.upper, described[path])) for path in OWN_ROUTES} == OWN_ROUTES
    without = Client(bundle)
    assert without.post("/corrections", pair).status_code == 404
    assert not {*OWN_ROUTES} & {*without.get("/openapi.json").json()["paths"], *ROUTES}
    assert "memory" not in answer(without, "la casa")


class Slow(InProcess):
    """A pool that takes a while."""

    async def call(self, function: Any, block: Any, size: int) -> Any:
        await asyncio.sleep(0.1)
        return await super().call(function, block, size)


@pytest.mark.parametrize(("method", "path"), [("GET", "/corrections"), ("DELETE", "/corrections/1")])
def test_a_large_body_that_nobody_needs_is_refused(bundle: Path, tmp_path: Path, method: str, path: str) -> None:
    found = Client(bundle, Slow(), memory=tmp_path)(method, path, headers={"content-length": "2000000"})
    assert found.status_code == 413 and found.json()["error"].startswith("the request is larger than")


@pytest.mark.parametrize("source", ["la casa\tuna flor", " la casa \t\t una flor\n"])
def test_the_cells_of_a_row_are_several_sentences(raw: Path, tmp_path: Path, source: str) -> None:
    found = Client(raw, memory=tmp_path).post("/corrections", {"source": source, "target": "the hut"})
    assert found.status_code == 400 and found.json()["error"].startswith("correction: source: 2 sentences; store")


def test_a_removal_may_name_the_source(bundle: Path, raw: Path, tmp_path: Path) -> None:
    """A client whose number belongs to another folder of corrections removes nothing."""
    for number, (folder, other) in enumerate(((raw, "La  CASA roja"), (bundle, " la casa  roja"))):
        client = Client(folder, memory=tmp_path / str(number))
        for source in ("la casa roja", "una flor"):
            assert client.post("/corrections", {"source": source, "target": "the hut"}).status_code == 200
        for source in ("una flor", "", "la casa"):
            found = client("DELETE", "/corrections/1", params={"source": source})
            assert found.status_code == 409
            wanted = f"correction 1 belongs to another source than {source!r}; GET /corrections lists the corrections"
            assert found.json()["error"] == wanted
        assert len(client.get("/corrections").json()["corrections"]) == 2
        assert client("DELETE", "/corrections/1", params={"source": other}).json() == {"undone": 1}
        for _ in range(2):
            assert client("DELETE", "/corrections/1", params={"source": other}).status_code == 404
        assert [one["id"] for one in client.get("/corrections").json()["corrections"]] == [2]
        for query, message in (
            ("sources=a", "no parameter 'sources' (did you mean source?); the only one is source"),
            ("source=una+flor&source=una+flor", "source must be one text"),
        ):
            found = client("DELETE", f"/corrections/2?{query}")
            assert found.status_code == 400 and found.json()["error"] == message
        described = client.get("/openapi.json").json()["paths"]["/corrections/{id}"]["delete"]["parameters"]
        assert [(one["name"], one["in"]) for one in described] == [("id", "path"), ("source", "query")]
        assert client("DELETE", "/corrections/2").json() == {"undone": 2}


def test_a_source_whose_full_stop_is_apart_is_the_same(bundle: Path, tmp_path: Path) -> None:
    """A glossary can part a full stop from the last word, so that the correction of ``roja .`` answers ``roja.``."""
    client = Client(bundle, memory=tmp_path)
    client.post("/corrections", {"source": "la casa roja .", "target": "the hut ."})
    assert client("DELETE", "/corrections/1", params={"source": "la casa roja."}).json() == {"undone": 1}


# ---- the list ----


def test_the_list_has_pages_and_no_undone_pair(raw: Path, tmp_path: Path) -> None:
    """Page after page, for every length, gives the pairs that are not undone, as an independent count of them."""
    client = Client(raw, memory=tmp_path)
    assert client.get("/corrections").json() == {"corrections": [], "next": None}
    kept, begin = {}, datetime.now(UTC).replace(microsecond=0)
    for k in range(7):
        number = client.post("/corrections", {"source": "Una flor " * (k + 1), "target": f"The HUT {k}"}).json()["id"]
        kept[number] = (("Una flor" + " una flor" * k), f"The HUT {k}")
    for number in (1, 4, 7):
        assert client("DELETE", f"/corrections/{number}").status_code == 200
        del kept[number]
    for limit in (1, 2, 3, 4, 5, MOST_LISTED):
        after, found = 0, []
        while after is not None:
            page = client.get(f"/corrections?limit={limit}&after={after}").json()
            assert 0 < len(page["corrections"]) <= limit
            found += page["corrections"]
            after = page["next"]
        assert [(one["id"], (one["source"], one["target"])) for one in found] == list(kept.items())
        assert all(begin <= datetime.fromisoformat(one["time"]) <= datetime.now(UTC) for one in found)
    described = client.get("/openapi.json").json()["paths"]["/corrections"]["get"]
    schema = described["responses"]["200"]["content"]["application/json"]["schema"]
    assert schema["required"] == [*page] and [one["name"] for one in described["parameters"]] == [*PAGING]
    assert schema["properties"]["corrections"]["items"]["required"] == [*page["corrections"][0]]
    assert client.get("/corrections?after=99").json() == {"corrections": [], "next": None}


@pytest.mark.parametrize(
    "query",
    ["limit=0", f"limit={MOST_LISTED + 1}", "limit=", "limit=1&limit=2", "after=-1", "after=x", "after=" + "9" * 40],
)
def test_bad_pages_are_refused(bundle: Path, tmp_path: Path, query: str) -> None:
    client = Client(bundle, memory=tmp_path)
    found = client.get(f"/corrections?{query}")
    assert found.status_code == 400 and "must be one whole number from" in found.json()["error"]
    assert "no parameter 'limits' (did you mean limit?)" in client.get("/corrections?limits=3").json()["error"]


def test_the_list_needs_the_key_and_a_whole_journal(bundle: Path, tmp_path: Path) -> None:
    client = Client(bundle, memory=tmp_path, keys=("secret",))
    assert client.get("/corrections").status_code == 403
    line = {"id": 1, "source": "la casa", "target": "that hut", "links": [[0, 0], [1, 1]]}  # without a time
    (tmp_path / JOURNAL).write_text(json.dumps(line) + "\n")
    headers = {"authorization": "Bearer secret"}
    wanted = {"id": 1, "source": "la casa", "target": "that hut", "time": None}
    assert client.get("/corrections", headers=headers).json() == {"corrections": [wanted], "next": None}
    assert client("HEAD", "/corrections", headers=headers).status_code == 200
    for bad in ("no JSON", json.dumps({**line, "id": 2, "time": "yesterday"})):
        (tmp_path / JOURNAL).write_text(json.dumps(line) + f"\n{bad}\n")
        found = client.get("/corrections", headers=headers)
        assert found.status_code == 500 and str(tmp_path) not in found.text
    assert Client(bundle).get("/corrections").status_code == 404


def test_a_glossary_of_the_service_counts_after_that_of_the_request(raw: Path) -> None:
    client = Client(raw, glossary=(Term("roja", ("crimson",)), Term("casa", ("hut",))))
    found = answer(client, "La casa roja", glossary=[{"source": "casa", "target": "cabin"}])
    assert "crimson" in found["translation"] and "cabin" in found["translation"] and "hut" not in found["translation"]


def test_terms_of_the_service_are_not_divided(raw: Path) -> None:
    client = Client(raw, glossary=(Term("casa! Roja", ("crimson",)),))
    found = client.post("/translate", {"q": "La casa! Roja", "source": "es", "target": "en"})
    assert found.json()["translatedText"] == "The crimson"


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


# ---- words that are taught, and instructions that exclude each other ----


def test_taught_words_are_not_unknown(raw: Path, tmp_path: Path) -> None:
    client = Client(raw, memory=tmp_path)
    term = {"source": "zapato", "target": "shoe"}
    for more in ({"glossary": [term]}, {"keep": ["zapato"]}, {"choices": [{"span": [1, 2], "target": "shoe"}]}):
        found = answer(client, "la zapato roja", details=True, **more)
        assert found["unknown"] == [] and not any(word["unknown"] for word in found["details"]["words"]), more
    libre = client.post("/translate", {"q": "la zapato roja", "source": "auto", "glossary": [term]}).json()
    assert libre["unknown"] == [] and libre["detectedLanguage"]["confidence"] == 100
    before = answer(client, "zapato zapato", details=True)
    assert before["unknown"] == ["zapato"] and all(word["unknown"] for word in before["details"]["words"])
    assert client.get("/health").json()["unknown"] == 2
    number = client.post("/corrections", {"source": "la zapato", "target": "the shoe"}).json()["id"]
    for text in ("la zapato", "una zapato roja"):  # the pair itself, and its rules
        found = answer(client, text, details=True)
        assert found["unknown"] == [] and not any(word["unknown"] for word in found["details"]["words"]), text
    client("DELETE", f"/corrections/{number}")
    assert answer(client, "una zapato")["unknown"] == ["zapato"]


def test_conflicts_are_warnings_of_every_kind_of_answer(raw: Path, tmp_path: Path) -> None:
    client = Client(raw, memory=tmp_path)
    client.post("/corrections", {"source": "La casa roja", "target": "The crimson HUT"})
    glossary = [{"source": "casa", "target": "house"}]
    wanted = ["the term for 'casa' excluded the correction 1"]
    assert answer(client, "La casa roja", glossary=glossary)["warnings"] == wanted
    assert answer(client, "La casa roja")["warnings"] == []
    found = client.post("/translate", {"q": ["una flor", "La casa roja"], "glossary": glossary}).json()
    assert found["warnings"] == [[], wanted]
    form = {"glossary": json.dumps(glossary)}
    made = client("POST", "/translate_file", files={"file": ("a.txt", b"\n" + b"La casa roja\n" * 7)}, data=form).json()
    assert made["warnings"] == [f"lines 2, 3 and 5 more: {wanted[0]}"]


# ---- a journal that is damaged while the service runs ----


def test_a_journal_that_becomes_damaged_is_told_by_health_and_log(
    raw: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client, journal = Client(raw, memory=tmp_path), tmp_path / JOURNAL
    pair = {"source": "La casa roja", "target": "The crimson HUT"}
    assert client.post("/corrections", pair).status_code == 200
    assert client.get("/health").json()["corrections"] == "on"
    good = journal.read_bytes()
    journal.write_bytes(good + b"no JSON\n")
    for _ in range(2):
        assert answer(client, "La casa roja")["translation"] == "The crimson HUT"  # what was read stays
    assert (
        client.get("/health").json()["corrections"] == "damaged; see the log" and client.get("/health").json()["ready"]
    )
    places = [record.getMessage() for record in caplog.records if f"{journal}:2: " in record.getMessage()]
    assert len(places) == 1  # once, though every request meets it
    for refused in (
        client.post("/corrections", {"source": "una flor", "target": "x"}),
        client("DELETE", "/corrections/1"),
    ):
        assert refused.status_code == 500 and "its log names the file" in refused.json()["error"]
        assert str(tmp_path) not in refused.text and JOURNAL not in refused.text
    journal.write_bytes(good)
    assert answer(client, "La casa roja")["translation"] == "The crimson HUT"
    assert client.get("/health").json()["corrections"] == "on"
    journal.unlink()
    assert answer(client, "La casa roja")["translation"] == "The crimson HUT"
    assert client.get("/health").json()["corrections"] == "damaged; see the log"


def test_no_page_of_any_origin_may_store_corrections(raw: Path, tmp_path: Path) -> None:
    run = run_lscfg("serve", raw, "--corrections", tmp_path / "new", "--cors", "*", "--port", "0")
    assert run.returncode == 1 and "--cors '*'" in run.stderr and not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cors", "foo"], "--cors 'foo': not an origin"),
        (["--cors", "https://a.example/page"], "--cors 'https://a.example/page': not an origin"),
        (["--public-name", "a/b"], "--public-name 'a/b': not the name of a host"),
        (["--public-name", "a.example:80"], "--public-name 'a.example:80': not the name of a host"),
    ],
)
def test_options_that_could_never_work_are_refused(raw: Path, words: list[str], said: str) -> None:
    run = run_lscfg("serve", raw, *words, "--port", "0")
    assert run.returncode == 1 and said in run.stderr


def test_a_damaged_journal_is_refused_at_the_start(raw: Path, tmp_path: Path) -> None:
    (tmp_path / JOURNAL).write_text("no JSON\n")
    run = run_lscfg("serve", raw, "--corrections", tmp_path, "--port", "0")
    assert run.returncode == 1 and run.stderr.count("\n") == 1
    assert f"{tmp_path / JOURNAL}:1: damaged" in run.stderr and "remove the line" in run.stderr


def test_no_error_of_a_worker_tells_a_path(raw: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever file fails, and whatever the request."""

    class Failing:
        workers, deaths, queued = 1, 0, 0

        async def call(self, function: Any, block: Any, size: int) -> Any:
            raise InputError("damaged", "/secret/place", 3)

    client = Client(raw, Failing(), memory=raw.parent / "memory")
    posts = {
        "/translate": {"source": "la casa"},
        "/detect": {"q": "la casa"},
        "/corrections": {"source": "a", "target": "b"},
    }
    found = [client.post(path, content) for path, content in posts.items()]
    found += [client.post("/translate", {"q": "la casa", "format": "html"}), client("DELETE", "/corrections/1")]
    found += [client.get("/corrections")]
    found += [client("POST", "/translate_file", files={"file": ("a.txt", b"la casa")})]
    for one in found:
        assert one.status_code == 500 and "secret" not in one.text and "its log names the file" in one.text
    assert sum("/secret/place:3: damaged" in record.getMessage() for record in caplog.records) == len(found)


def test_decode_keeps_the_typed_capitals(system: Path, tmp_path: Path) -> None:
    """Restoring the output of ``lscfg decode`` or of Python gives the text that the person typed."""
    prepared, memory = little_preparation(tmp_path), tmp_path / "memory"
    folder = tmp_path / "copy" / "systems" / "LATENT"
    shutil.copytree(system, folder)
    shutil.copytree(prepared, tmp_path / "copy" / "prepare")
    assert run_lscfg("pack", folder, "-o", tmp_path / "bundle").returncode == 0
    client = Client(tmp_path / "bundle", memory=memory)
    (tmp_path / "text").write_text("la casa roja\n")

    def decoded(option: str, path: Path) -> str:
        """The restored text of the command, which Python's decoder also writes."""
        decode = ("decode", "-c", folder / "cdec.ini", "-w", folder / "weights", tmp_path / "text")
        run = run_lscfg(*decode, f"--{option}", path, "-o", tmp_path / "out")
        assert run.returncode == 0, run.stderr
        with Decoder(folder / "cdec.ini", str(folder / "weights"), **{option: path}) as decoder:
            assert decoder.translate(["la casa roja"]) == (tmp_path / "out").read_text().splitlines()
        restored = run_lscfg("prepare", "restore", tmp_path / "copy" / "prepare", input=(tmp_path / "out").read_text())
        return restored.stdout

    for typed in ("The crimson HUT", "the iPhone of ROME", "A plain house"):
        client.post("/corrections", {"source": "La casa roja", "target": typed})
        assert decoded("corrections", memory) == typed[0].upper() + typed[1:] + "\n"
    (tmp_path / "terms").write_text("source\ttarget\nroja\tFlower\ncasa\tHouse In The HUT\n")
    found = decoded("glossary", tmp_path / "terms")
    assert "Flower" in found and "House In The HUT" in found
    (tmp_path / "terms").write_text("source\ttarget\nroja\tFlower\n")
    options = ("--glossary", tmp_path / "terms", "-k", 9, "--derivations", tmp_path / "json", "-o", tmp_path / "lists")
    assert (
        run_lscfg("decode", "-c", folder / "cdec.ini", "-w", folder / "weights", tmp_path / "text", *options).returncode
        == 0
    )
    texts = [line.split(" ||| ")[1] for line in (tmp_path / "lists").read_text().splitlines()]
    derived = json.loads((tmp_path / "json").read_text())["derivations"]
    assert texts == [one["translation"] for one in derived] and "Flower" not in " ".join(texts)
