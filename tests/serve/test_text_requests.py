"""LibreTranslate's interface, files, the page and the descriptions of the service, without a server."""

import json
import re
import urllib.parse
from dataclasses import replace

import pytest
from limits import time_limit
from services import prepared_bundle

pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")

from asgi import Client, InProcess

from lscfg.serve import documents
from lscfg.serve.application import ROUTES
from lscfg.serve.description import ShownScore, experiment_scores
from lscfg.serve.documents import FileStore, StoredFile
from lscfg.serve.libre import KEYS
from lscfg.serve.page import FILES
from lscfg.serve.query import KEYS as OWN_KEYS
from lscfg.serve.service import _scores_of
from lscfg.serve.settings import ServeSettings
from lscfg.serve.texts import LanguagePair, SplitText, is_private, language_facts, split_cells

JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def raw_bundle(system, tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    return prepared_bundle(system, folder)


@pytest.fixture(scope="module")
def client(raw_bundle):
    return Client(raw_bundle)


# ---- clients of LibreTranslate, as they send their requests ----


def test_weblate(client):
    """It compares languages first, and sends a form."""
    assert client.get("/languages").json() == [
        {"code": "es", "name": "Spanish", "targets": ["en"]},
        {"code": "en", "name": "English", "targets": []},
    ]
    sent = urllib.parse.urlencode({"api_key": "", "q": "La casa roja", "source": "es", "target": "en"})
    answer = client("POST", "/translate", content=sent, headers=FORM | {"user-agent": "Weblate/5.8"})
    assert answer.status_code == 200 and answer.json()["translatedText"] == "The red house"
    sent = '{"api_key": "", "q": "La casa roja", "source": "es", "target": "en"}'
    assert client("POST", "/translate", content=sent, headers=JSON).json() == answer.json()


def test_omegat(client):
    sent = '{"q":"una flor","source":"es","target":"en","format":"text","api_key":""}'
    answer = client("POST", "/translate", content=sent, headers={"content-type": "application/json; charset=UTF-8"})
    assert answer.json() == {"translatedText": "A flower", "unknown": [], "warnings": []}
    sent = sent.replace('"en"', '"en-GB"').replace('"es"', '"ES"')
    assert client("POST", "/translate", content=sent, headers=JSON).status_code == 200


def test_libretranslatepy(client):
    """It sends forms by urllib, and a body with GET."""
    assert client("GET", "/languages", content="", headers=FORM).status_code == 200
    sent = urllib.parse.urlencode({"q": "la flor", "source": "auto", "target": "en", "timeout": ""})
    assert client("POST", "/translate", content=sent, headers=FORM).json()["error"].startswith("no key 'timeout'")
    sent = urllib.parse.urlencode({"q": "la flor", "source": "auto", "target": "en"})
    answer = client("POST", "/translate", content=sent, headers=FORM).json()
    assert answer["translatedText"] == "The flower"
    assert answer["detectedLanguage"] == {"language": "es", "confidence": 100.0}
    detected = client("POST", "/detect", content="q=la+flor", headers=FORM).json()
    assert detected[0] == {"language": "es", "confidence": 100.0}
    file = {"file": ("text.txt", b"una casa\nla flor")}
    made = client("POST", "/translate_file", files=file, data={"source": "es", "target": "en"}).json()
    assert client.get(made["translatedFileUrl"]).text == "A house\nThe flower"


def test_a_browser_extension(raw_bundle):
    """It asks in advance whether it may, and then for alternatives."""
    origin = "moz-extension://d8b6"
    client = Client(raw_bundle, origins=[origin])
    head = {"origin": origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type"}
    allowed = client("OPTIONS", "/translate", headers=head)
    assert allowed.status_code == 200 and allowed.headers["access-control-allow-origin"] == origin
    sent = {"q": "la casa roja", "source": "auto", "target": "en", "format": "text", "alternatives": 3, "secret": ""}
    answer = client.post("/translate", sent, headers={"origin": origin})
    assert answer.headers["access-control-allow-origin"] == origin
    found = answer.json()
    assert found["translatedText"] == "The red house"
    assert 1 <= len(found["alternatives"]) <= 3 and "The red house" not in found["alternatives"]


def test_an_origin_may_be_given_as_people_type_it(raw_bundle):
    client = Client(raw_bundle, origins=["https://Friend.example:443/"])
    for origin, allowed in (("https://friend.example", True), ("https://friend.example.x", False)):
        answer = client.post("/translate", {"q": "la flor"}, headers={"origin": origin})
        found = answer.headers.get("access-control-allow-origin")
        assert (answer.status_code == 200, found == origin) == (allowed, allowed), origin


# ---- texts ----


def test_a_text_of_many_sentences_keeps_what_is_between_them(client):
    found = client.post("/translate", {"q": "La casa . La flor x .\n\n  una flor\n", "details": True}).json()
    assert re.fullmatch(r"\S.+ \S.+\n\n  A flower\n", found["translatedText"])
    assert "x" in found["unknown"] and found["detectedLanguage"]["language"] == "es"
    rows = found["sentences"]
    assert "".join(row["source"] + row["gap"] for row in rows) == "La casa . La flor x .\n\n  una flor\n"
    assert "".join(row["translation"] + row["after"] for row in rows) == found["translatedText"]


def test_a_list_gets_a_list(client):
    found = client.post("/translate", {"q": ["la casa", "", "la flor"], "alternatives": 1}).json()
    assert found["translatedText"] == ["The house", "", "The flower"]
    assert found["unknown"] == [[], [], []] and len(found["alternatives"]) == len(found["detectedLanguage"]) == 3


def test_html_keeps_its_tags(client):
    sent = {"q": "<p>la <b>casa</b></p><script>la casa</script>", "format": "html", "source": "es", "target": "en"}
    assert client.post("/translate", sent).json()["translatedText"] == (
        "<p>The <b>house</b></p><script>la casa</script>"
    )


def test_tags_follow_their_words(client):
    """The adjective and the noun change places, and so do their tags."""
    sent = {"q": "<p>la <b>casa</b> <i class=x>roja</i></p><p><b>una casa</b> roja</p>", "format": "html"}
    found = client.post("/translate", sent).json()
    wanted = "<p>The <i class=x>red</i> <b>house</b></p><p><b>A</b> red house</p>"  # of two equal places the shorter
    assert found["translatedText"] == wanted
    assert "details" not in json.dumps(found)
    unit = "<trans-unit id='1'><source>la <g id='1'>casa</g> <x id='2'/>roja</source></trans-unit>"
    data = f"<xliff version='1.2'><file source-language='es'>{unit}</file></xliff>".encode()
    assert "The <x id='2'/>red <g id='1'>house</g></target>" in send(client, "a.xlf", data, "?download=1").text


@pytest.mark.parametrize(
    ("sent", "status", "message"),
    [
        ({"q": "la", "target": "fr"}, 400, "target: 'fr' is not supported; this system translates es to en"),
        ({"q": "la", "source": "en"}, 400, "source: 'en' is not supported"),
        ({"q": "la", "source": 3}, 400, "source must be the code"),
        ({"q": 3}, 400, "q must be a text"),
        ({"q": ["la", None]}, 400, r"q\[1\] must be a text"),
        ({"q": []}, 400, "q is an empty list"),
        ({"q": "la\ud800"}, 400, "q contains half of a surrogate"),
        ({"q": "la", "format": "xml"}, 400, "format must be text or html"),
        ({"q": "la", "alternatives": -1}, 400, "alternatives must be a whole number from 0 to 10"),
        ({"q": "la", "alternatives": 11}, 400, "alternatives must be"),
        ({"q": "la", "alternatives": True}, 400, "alternatives must be"),
        ({"q": "la", "taget": "en"}, 400, r"no key 'taget' \(did you mean target\?\)"),
        ({"q": "la", "details": 1}, 400, "details must be true or false"),
        ({"q": ["la"] * 101}, 413, "101 texts; at most 100"),
        ({"q": "la\n" * 101}, 413, "101 sentences; at most 100"),
        ({"q": "la\n" * 50, "alternatives": 10}, 413, "550 translations; at most 200"),
        ({"q": "a" * 6000}, 413, "q: has 6000 characters; at most 5000"),
        ({"source": "la", "api_key": "x"}, 200, ""),
    ],
)
def test_refusals_name_the_fault(client, sent, status, message):
    answer = client("POST", "/translate", content=json.dumps(sent), headers=JSON)
    assert answer.status_code == status
    assert re.match(message, answer.json().get("error", "")), answer.json()


def test_too_many_sentences_are_counted_in_linear_time(client):
    """No other request gets its turn while the service counts."""
    with time_limit():
        answer = client.post("/translate", {"q": "La. " * 240_000})
    assert answer.status_code == 413 and answer.json()["error"].startswith("240000 sentences; at most 100")


def test_the_limit_of_listed_translations_leaves_texts_without_alternatives(raw_bundle):
    """As the page sends a text of as many sentences as the service promises."""
    client = Client(raw_bundle, settings=ServeSettings(max_sentences=6, max_translations=5))
    sent = {"q": "la casa\n" * 6, "details": True}
    assert client.post("/translate", {**sent, "alternatives": 1}).status_code == 413
    assert client.post("/translate", {**sent, "alternatives": 0}).json()["translatedText"] == "The house\n" * 6


def test_encodings_that_html_in_a_request_declares_do_not_count(client):
    text = '<meta charset="latin1"><p>\u4e00 la casa</p>'
    found = client.post("/translate", {"q": text, "format": "html", "source": "es", "target": "en"}).json()
    assert found["translatedText"].startswith('<meta charset="latin1"><p>') and "\u4e00" in found["translatedText"]


FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "application/json")


@pytest.mark.parametrize("path", ["/translate", "/detect"])
@pytest.mark.parametrize("kind", FORM_TYPES)
@pytest.mark.parametrize("text", ["una habitación é", "\u65e5\u672c & + 100 % \u00e9\u00ff", "\U0001f600 la casa"])
def test_text_of_every_kind_of_content_is_utf_8_or_refused(client, path, kind, text):
    """Raw bytes, as curl -d sends them, and percent-encoded ones mean the same; other encodings are never guessed."""

    def sent(encode):
        if kind == FORM_TYPES[0]:
            return b"q=" + encode(text.replace("%", "%25").replace("&", "%26").replace("+", "%2B"))
        if kind == FORM_TYPES[1]:
            return b'--b\r\nContent-Disposition: form-data; name="q"\r\n\r\n' + encode(text) + b"\r\n--b--\r\n"
        return b'{"q": "' + encode(text) + b'"}'

    answer = client("POST", path, content=sent(str.encode), headers={"content-type": kind})
    assert answer.json() == client.post(path, {"q": text}).json() and answer.status_code == 200
    if kind == FORM_TYPES[0]:
        quoted = urllib.parse.urlencode({"q": text})
        assert client("POST", path, content=quoted, headers={"content-type": kind}).json() == answer.json()
    for other in ("latin-1", "utf-16-le"):
        data = sent(lambda string, other=other: string.encode(other, "replace") + b"\xe9")
        refused = client("POST", path, content=data, headers={"content-type": kind})
        assert refused.status_code == 400 and "not UTF-8" in refused.json()["error"], other
    if kind == FORM_TYPES[0]:
        refused = client("POST", path, content=b"q=%e9", headers={"content-type": kind})
        assert refused.status_code == 400 and "not UTF-8" in refused.json()["error"]


def test_a_field_of_a_form_may_be_as_long_as_the_request(raw_bundle):
    client = Client(raw_bundle, settings=ServeSettings(max_request=1 << 22))
    part = b'--b\r\nContent-Disposition: form-data; name="q"\r\n\r\n' + b"la casa\n" * 150_000 + b"\r\n--b--\r\n"
    answer = client("POST", "/translate", content=part, headers={"content-type": FORM_TYPES[1]})
    assert answer.status_code == 413 and answer.json()["error"].startswith("150000 sentences; at most 100")


def test_every_text_counts_for_the_retirement_of_its_worker(raw_bundle, tmp_path):
    """Workers remember words, so a path whose words count for nothing would let them grow without end."""

    class Counting(InProcess):
        bytes = 0

        async def call(self, function, block, size):
            self.bytes += size
            return await super().call(function, block, size)

    pool = Counting()
    client = Client(raw_bundle, pool, memory=tmp_path)
    text = "la casa roja una flor"
    for path, content in (
        ("/translate", {"source": text}),
        ("/translate", {"q": text}),
        ("/translate", {"q": f"<b>{text}</b>", "format": "html"}),
        ("/detect", {"q": text}),
        ("/corrections", {"source": text, "target": text}),
        ("/whynot", {"source": text, "wanted": text}),
    ):
        before = pool.bytes
        assert client.post(path, content).status_code == 200, path
        assert pool.bytes - before >= len(text), path
    posts = {path for path, methods in client.get("/openapi.json").json()["paths"].items() if "post" in methods}
    assert posts == {"/translate", "/translate_file", "/detect", "/corrections", "/whynot"}


def test_malformed_forms_are_refused(client):
    head = {"content-type": "multipart/form-data; boundary=x"}
    assert client("POST", "/translate", content=b"nonsense", headers=head).status_code == 400
    assert client("POST", "/translate", content=b"a=b", headers=FORM).json()["error"].startswith("no key 'a'")


def test_keys_are_demanded_where_the_service_has_some(raw_bundle):
    client = Client(raw_bundle, keys=("secret", "other"))
    for path in ("/translate", "/detect"):
        assert client.post(path, {"q": "la"}).status_code == 403
        assert client.post(path, {"q": "la", "api_key": "wrong"}).json() == {"error": "the API key is not valid"}
        assert client.post(path, {"q": "la", "api_key": "other"}).status_code == 200
        assert client.post(path, {"q": "la"}, headers={"authorization": "Bearer secret"}).status_code == 200
    assert client.post("/translate", {"source": "la"}).status_code == 403
    assert client.post("/translate", {"source": "la", "api_key": "secret"}).status_code == 200
    files = {"file": ("a.txt", b"la")}
    assert client("POST", "/translate_file", files=files).status_code == 403
    assert client("POST", "/translate_file", files=files, data={"api_key": "secret"}).status_code == 200
    assert client.get("/health").status_code == 200 and client.get("/system").json()["api_key"] is True


def test_the_language_of_a_text_is_one_of_the_two_or_none(client):
    def detected(text):
        return [one["language"] for one in client.post("/detect", {"q": text}).json()]

    assert detected("la casa roja")[0] == "es" and detected("the red house") == ["en"]
    assert detected("xx yy zz") == detected("") == detected("1 2 3") == []
    assert client.post("/detect", {}).json() == {"error": "q must be a text"}


def test_profiles_of_the_training_text_show_the_language(system, tmp_path):
    """Words that the grammar lacks are no hindrance; a third language is neither of the two."""
    spanish, english = ("la casa {} tiene un jardín pequeño", "el perro {} corre por la calle"), (
        "the house {} has a small garden", "the dog {} runs along the street",
    )  # fmt: skip
    raw = tuple("".join(lines[k % 2].format(f"{k}") + "\n" for k in range(240)) for lines in (spanish, english))
    client = Client(prepared_bundle(system, tmp_path, raw))

    def detected(text):
        return [one["language"] for one in client.post("/detect", {"q": text}).json()]

    assert detected("el perro tiene la casa") == ["es"]
    assert detected("The dog runs along\nthe street. The house has a garden. " * 200) == ["en"]
    assert detected("kaupungissa on yksi suuri linna, jossa") == detected("дом") == detected("7") == []


def test_private_codes_have_names(raw_bundle):
    """A language without a known code has a code of private use, which people do not see."""
    client = Client(raw_bundle)
    side = client.application.system.preparation.sides
    for number, name in enumerate(("source language", "target language")):
        sides = [*side]
        sides[number] = replace(side[number], language=("qaa", "qab")[number])
        named = replace(client.application.system.preparation, sides=tuple(sides))
        system = replace(client.application.system, preparation=named)
        one = Client(raw_bundle, system=system)
        facts = one.get("/system").json()
        assert facts[("source", "target")[number]]["name"] == name
        assert one.get("/languages").json()[number]["name"] == name
        made = one("POST", "/translate_file", files={"file": ("a.txt", b"la casa")}).json()
        assert made["name"] == ("a.en.txt", "a.translated.txt")[number]
    assert [is_private(code) for code in ("qaa", "qtz", "qua", "que", "QAB-x", "es")] == [
        True,
        True,
        False,
        False,
        True,
        False,
    ]


def test_a_system_of_words_takes_lines_and_languages(bundle):
    client = Client(bundle)
    assert client.get("/languages").json() == [] and client.post("/detect", {"q": "la"}).status_code == 400
    assert client.post("/translate", {"q": "la casa\nla flor"}).json()["translatedText"] == "the house\nthe flower"
    named = Client(bundle, languages=LanguagePair.parse("es,en"))
    assert named.get("/languages").json()[0]["code"] == "es"
    assert named.post("/detect", {"q": "the house"}).json() == [{"language": "en", "confidence": 100.0}]


@pytest.mark.parametrize("text", ["de", "de,en,fr", "de,", "us,en", "de,de"])
def test_languages_are_two_codes(text):
    with pytest.raises(ValueError, match=r"code|are both"):
        LanguagePair.parse(text)


def test_sentences_are_separated_as_the_target_writes():
    ja_en, en_ja = LanguagePair("ja", "en"), LanguagePair("en", "ja")
    assert SplitText.of("はい。いいえ。", ja_en, True, 99).joined(["Yes.", "No."]) == "Yes. No."
    assert SplitText.of("Yes. No.", en_ja, True, 99).joined(["はい。", "いいえ。"]) == "はい。いいえ。"
    assert language_facts("tlh")["name"] == "tlh"


@pytest.mark.parametrize(
    ("direction", "codes"),
    [
        ("rtl", "ar ara arb ary apc acm aeb arz_Arab fa prs pes azb az-Arab pnb pa-Arab ks sd ur mzn ckb sdh ku-Arab"),
        ("rtl", "uzs uz-Aran ug ps pbt dv he iw yi ydd syr aii nqo ff-Adlm arq-Arab"),
        ("ltr", "en ku kmr kmr_Latn ku-Latn az azj pa ks-Deva sd_Deva ckb-Latn ug-Cyrl ar-Latn uz tr mt ff"),
    ],
)
def test_languages_are_written_in_the_direction_of_their_script(direction, codes):
    """Relatives lend their direction, too, except where another script is usual."""
    found = {code: language_facts(code)["direction"] for code in codes.split()}
    assert found == dict.fromkeys(codes.split(), direction)


ROWS = "\tLa casa roja\tUna flor. La casa\t\t 3 \t\nla flor \tla casa\t"


def test_cells_between_tabs_are_sentences():
    text = SplitText.of(ROWS, LanguagePair("es", "en"), True, 99)
    assert text.sentences == ["La casa roja", "Una flor.", "La casa", "3", "la flor", "la casa"]
    assert "".join(one.sentence + one.after for one in text.stretches) == text.joined(text.sentences) == ROWS
    assert SplitText.of("a\tb", LanguagePair("es", "ja"), True, 99).joined("ab") == "a\tb"
    assert SplitText.of("a\tb", LanguagePair("es", "en"), False, 99).sentences == ["a\tb"]  # words
    for signs in ("a\t", " \t", "a \t \t", "\t", " "):
        with time_limit():
            split_cells(signs * 200_000 + "a", "es")


def test_tables_keep_their_tabs(client):
    text = "la casa\tla flor\t\n\tuna flor\t 3\n"
    wanted = "The house\tThe flower\t\n\tA flower\t 3\n"
    found = client.post("/translate", {"q": text, "details": True}).json()
    assert found["translatedText"] == wanted
    assert "".join(row["source"] + row["gap"] for row in found["sentences"]) == text
    assert send(client, "a.txt", text.encode(), "?download=1").text == wanted
    html = client.post("/translate", {"q": "<p>la\n\tcasa</p>", "format": "html"}).json()
    assert html["translatedText"] == "<p>The house</p>"


# ---- files ----


def send(client, name, data, query="", **fields):
    return client("POST", f"/translate_file{query}", files={"file": (name, data)}, data=fields)


def test_a_file_comes_back_under_its_name(client):
    answer = send(client, "mi casa.srt", b"1\n00:00:01,000 --> 00:00:02,000\nla casa\nroja\n", "?download=1")
    assert answer.text == "1\n00:00:01,000 --> 00:00:02,000\nThe red\nhouse\n"
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''mi%20casa.en.srt"
    assert answer.headers["content-security-policy"] == "sandbox"


def test_progress_comes_in_lines(client):
    lines = send(client, "a.html", b"<p>la <b>casa</b> roja<p>la flor", "?progress=1").text.splitlines()
    found = [json.loads(line) for line in lines]
    assert found[:-1] == [{"done": done, "of": 2} for done in range(3)]
    assert found[-1]["name"] == "a.en.html" and "2 tags inside sentences" in found[-1]["warnings"][0]
    assert client.get(found[-1]["translatedFileUrl"]).text == "<p>The red <b>house</b><p>The flower"
    for query in ("?progress=1", "?progress=1&download=1"):
        lines = send(Client_with_failures(client), "a.txt", b"la", query).text.splitlines()
        assert json.loads(lines[-1]) == {"error": "no worker can be started; try again later", "status": 503}


def test_the_file_follows_the_lines_of_progress(client):
    """The page needs no second request, which a service that ends soon would not answer."""
    data = "\ufeffla casa\r\n\r\nla flor \u4e00".encode()
    found = send(client, "a.txt", data, "?progress=1&download=1").content.split(b"\n", 4)
    assert [json.loads(line) for line in found[:3]] == [{"done": done, "of": 2} for done in range(3)]
    assert json.loads(found[3]) == {"name": "a.en.txt", "warnings": []}
    assert found[4] == send(client, "a.txt", data, "?download=1").content and found[4].startswith(b"\xef\xbb\xbfThe")


def Client_with_failures(client):  # noqa: N802
    """A client whose workers fail once the document is read."""

    class Failing:
        workers, deaths, queued, calls = 2, 0, 0, 0

        async def call(self, function, block, size):
            self.calls += 1
            if self.calls == 1:
                return function(block)
            raise OSError

    return Client(client.folder, Failing())


@pytest.mark.parametrize(
    ("name", "data", "status", "message"),
    [
        ("a.docx", b"PK", 415, "files such as 'a.docx' are not translated; .txt, .html"),
        ("a", b"", 415, "files such as 'a'"),
        ("a.txt", b"\xff", 400, "the file: not UTF-8, from byte 1 on"),
        ("a.xlf", b"<a>", 400, "the file: line 1: not well-formed XML"),
        ("a.xlf", b"<xliff version='2.0' srcLang='fr'/>", 400, "the file names the language 'fr'; this system"),
        ("a.txt", b"\n" + b"x" * 6000, 413, "line 2 of the file: has 6000 characters"),
        ("a.txt", b"la\n" * 2000000, 413, "the request is larger"),
    ],
)
def test_files_that_cannot_be_translated_are_refused(client, name, data, status, message):
    answer = send(client, name, data)
    assert answer.status_code == status and answer.json()["error"].startswith(message)


def test_a_form_without_a_file_is_refused(client):
    assert client.post("/translate_file", {"q": "la"}).json()["error"].startswith("no file; send a form")
    assert send(client, "a.txt", b"la", target="fr").status_code == 400


def test_files_of_many_sentences_get_more_time_and_no_limit_of_sentences(raw_bundle):
    client = Client(raw_bundle, settings=ServeSettings(max_sentences=2))
    assert send(client, "a.txt", b"la casa\n" * 7, "?download=1").text == "The house\n" * 7


def test_files_are_kept_for_a_while(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(documents.time, "monotonic", lambda: now[0])
    store, file = FileStore(), StoredFile("a", "text/plain", b"x")
    names = [store.add(file) for _ in range(documents.STORED_FILES + 1)]
    assert [store.get(name) is file for name in names].count(False) == 1 and store.get(names[0]) is None
    now[0] = 601.0
    assert all(store.get(name) is None for name in names)
    large = StoredFile("a", "text/plain", b"x" * documents.STORED_BYTES)
    kept = [store.add(large) for _ in range(2)]
    assert [store.get(name) is large for name in kept] == [False, True]


def test_a_lost_file_is_404(client):
    assert client.get("/download_file/nothing").json()["error"].startswith("no such file")


# ---- descriptions and the page ----


def test_the_description_names_every_path_and_key(client):
    found = client.get("/openapi.json").json()
    assert found["openapi"] == "3.1.0"
    offered = {path: tuple(method.upper() for method in one) for path, one in found["paths"].items()}
    assert offered == ROUTES | dict.fromkeys(FILES, ("GET",))
    own, libre = found["paths"]["/translate"]["post"]["requestBody"]["content"]["application/json"]["schema"]["oneOf"]
    assert {*own["properties"]} == {*OWN_KEYS, "api_key"} and {*libre["properties"]} == {*KEYS}
    assert own["properties"]["source"]["oneOf"][1]["maxItems"] == ServeSettings().max_sentences
    assert all(one["summary"] for path in found["paths"].values() for one in path.values())


def test_the_system_describes_itself(raw_bundle):
    scores = (ShownScore("BLEU", 30.5, 2.4, 300),)
    client = Client(raw_bundle, report=b"<!doctype html><title>r</title>", scores=scores)
    found = client.get("/system").json()
    assert (found["source"]["code"], found["target"]["name"], found["rules"], found["raw"]) == (
        "es",
        "English",
        8,
        True,
    )
    assert found["scores"] == [{"name": "BLEU", "value": 30.5, "interval": 2.4, "sentences": 300}]
    report = client.get(found["report"])
    assert report.text.startswith("<!doctype") and "sandbox" in report.headers["content-security-policy"]
    assert Client(raw_bundle).get("/report").status_code == 404


def test_scores_come_from_the_results_of_the_experiment():
    rows = [{"system": "A", "test_bleu": 30.5, "test_bleu_ci": 2.4, "test_chrF2": 50.0}, {"system": "B"}]
    results = {"test sentences": 300, "systems": rows}
    assert experiment_scores(results, "A") == (ShownScore("BLEU", 30.5, 2.4, 300), ShownScore("chrF2", 50.0, None, 300))
    assert experiment_scores(results, "B") == experiment_scores({}, "A") == ()


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        "",
        "[" * 3000,
        '{"systems": {}}',
        '{"systems": [3]}',
        '{"systems": [{"system": "A", "test_bleu": "30"}]}',
        '{"systems": [{"system": "A", "test_bleu": 30, "test_bleu_ci": "2"}]}',
        '{"systems": [{"system": "A", "test_bleu": Infinity}]}',
        '{"test sentences": "many", "systems": [{"system": "A", "test_bleu": 30}]}',
    ],
)
def test_results_of_another_program_give_no_scores(text, tmp_path, caplog):
    """The service that offers a report in their folder begins all the same."""
    assert _scores_of(tmp_path / "report.html", "A") == () and caplog.text == ""
    (tmp_path / "results.json").write_text(text)
    assert _scores_of(tmp_path / "report.html", "A") == ()
    (warning,) = caplog.messages
    assert warning.startswith(f"{tmp_path / 'results.json'}: damaged, or not written by lscfg run (")
    assert warning.endswith("restore the file, or move the report to another folder")


def test_figures_for_prometheus(client):
    client.post("/translate", {"q": "la x"})
    text = client.get("/metrics").text
    assert re.search(r"^lscfg_unknown_total [1-9]", text, re.M) and 'lscfg_info{system="bundle"' in text


def test_answers_are_counted_by_path_and_status(raw_bundle):
    client = Client(raw_bundle)
    client.post("/translate", {"q": "la"})
    client.post("/translate", {"q": 3})
    for path in ("/download_file/x", "/download_file/y", "/nowhere", "/els<e"):
        assert client.get(path).status_code == 404
    text = client.get("/metrics").text
    found = re.findall(r'^lscfg_responses_total\{path="([^"]*)",status="(\d+)"\} (\d+)$', text, re.M)
    assert found == [
        ("/download_file/{name}", "404", "2"),
        ("/translate", "200", "1"),
        ("/translate", "400", "1"),
        ("other", "404", "2"),
    ]
    assert len(re.findall(r"^lscfg_response_seconds_total\{path=.*\} \d+\.\d{6}$", text, re.M)) == 4
    assert client.get("/health").json()["responses"] == {"200": 2, "400": 1, "404": 4}


def test_alternatives_are_so_many_other_texts(client):
    """The search finds equal texts by several derivations, and others that differ in nothing but blanks or capitals."""
    most = client.post("/translate", {"q": "la casa roja", "alternatives": 10}).json()
    listed = [most["translatedText"], *most["alternatives"]]
    assert len({*listed}) == len(listed) >= 3
    for n in (1, 2):
        found = client.post("/translate", {"q": "la casa roja", "alternatives": n}).json()
        assert found["alternatives"] == most["alternatives"][:n]
    sent = {"q": "<p>la casa <b>roja</b></p>", "format": "html", "alternatives": 2}
    found = client.post("/translate", sent).json()
    texts = [re.sub("<[^>]*>", "", text) for text in (found["translatedText"], *found["alternatives"])]
    assert texts == listed[:3] and all(text.count("<b>") == 1 for text in found["alternatives"])


@pytest.mark.parametrize("path", [*FILES, "/health", "/languages", "/metrics"])
def test_heads_and_options(client, path):
    got, head, options = (client(method, path) for method in ("GET", "HEAD", "OPTIONS"))
    assert head.status_code == 200 and head.content == b""
    assert head.headers["content-type"] == got.headers["content-type"]
    assert options.status_code == 204 and options.headers["allow"] == "GET, HEAD, OPTIONS"
    assert client.post(path, {}).status_code == 405


def test_the_page_is_small_and_loads_nothing_from_elsewhere(client):
    answers = [client.get(path) for path in FILES]
    assert sum(len(answer.content) for answer in answers) < 68_000
    for answer in answers:
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not re.search(r"https?://|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", answer.text)
        assert not re.search(r"<[^>]*\s(on\w+|style)=", answer.text)


def test_the_page_may_be_left_out(raw_bundle):
    client = Client(raw_bundle, page=False)
    assert [client.get(path).status_code for path in FILES] == [404] * len(FILES)
