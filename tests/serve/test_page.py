"""The page of ``lscfg serve`` in a browser: typing, marks, corrections, files, widths, schemes, keyboard."""

import json
import os
from pathlib import Path

import pytest
from browser import CHROMIUM, browser
from services import Service, prepared_bundle

pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")

AXE = Path(os.environ.get("LSCFG_AXE", ""))


class Address:
    """An address where ``Browser.open`` expects a file, and the bundle that is served there."""

    def __init__(self, port, bundle=None):
        self.port, self.bundle = port, bundle

    def as_uri(self):
        return f"http://127.0.0.1:{self.port}/"


@pytest.fixture(scope="module")
def address(system, tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    bundle = prepared_bundle(system, folder)
    (folder / "report.html").write_text("<!doctype html><title>Report</title>")
    with Service(bundle, "-j", 1, "--report", folder / "report.html") as service:
        yield Address(service.port, folder / "bundle")


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("no chromium on PATH to type in")
    with browser(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture
def tab(window, address):
    """The page without anything kept, afterwards without a complaint or a request to elsewhere."""
    window.open(address)
    window["localStorage.clear()"]
    window.complaints.clear()
    window.requests.clear()
    window.open(address)
    window.wait("document.title.startsWith('Translate Spanish')")
    yield window
    assert window.complaints == []
    own = ("about:blank", address.as_uri(), f"blob:{address.as_uri()}")
    assert [url for url in window.requests if not url.startswith(own)] == []


def enter(tab, text, wanted):
    tab["document.querySelector('#source').value = ''"]
    tab.click("#source")
    tab.type(text)
    tab.wait(f"document.querySelector('#target').textContent === {json.dumps(wanted)}")


def press(tab, key, code=0):
    for kind in ("rawKeyDown", "keyUp"):
        tab("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)


def test_the_translation_follows_the_typing(tab):
    enter(tab, "La casa roja", "The red house")
    tab.wait("document.querySelector('#status').textContent === 'Translated.'")
    assert (
        tab["document.querySelector('#target').lang"] == "en" and tab["document.querySelector('#source').lang"] == "es"
    )
    assert tab["document.querySelectorAll('#others li').length"] >= 1
    other = tab["document.querySelector('#others button').textContent"]
    tab.click("#others button")
    assert tab["document.querySelector('#target').textContent"] == other != "The red house"


def test_only_the_last_of_many_texts_is_shown(tab):
    tab.click("#source")
    for letter in "la casa roja":
        tab.type(letter)
    tab.wait("document.querySelector('#target').textContent === 'The red house'")
    assert sum(url.endswith("/translate") for url in tab.requests) <= 4


def test_unknown_words_are_marked_and_named(tab):
    tab.click("#source")
    tab.type("la zapato")
    tab.wait("document.querySelector('#target .unknown') !== null")
    assert tab["document.querySelector('#target .unknown').firstChild.data"].lower() == "zapato"
    assert (
        tab["document.querySelector('#status').textContent"] == "Translated. 1 word is unknown to the system: zapato."
    )


def marked(tab):
    """Places of the text that are highlighted."""
    return tab["[...document.querySelectorAll('#mirror mark')].map((one) => one.textContent)"]


def status_of(tab):
    return tab["document.querySelector('#status').textContent"]


def to_words(tab, moves=0, key="ArrowRight"):
    """Focuses the first word of the translation, and moves on."""
    tab["document.querySelector('#target .word[tabindex=\"0\"]').focus()"]
    for _ in range(moves):
        press(tab, key)
    return tab["document.activeElement.firstChild.data"]


def choose(tab, text):
    """Opens the focused word, and gives a translation of one's own."""
    tab["document.activeElement.click()"]
    tab.click("#word .own")
    tab.type(text)
    press(tab, "Enter", 13)


def test_words_show_their_source_by_its_place(tab):
    """Characters outside the basic plane are two units of a script's text; the same word occurs twice."""
    tab.click("#source")
    tab.type("\U0001f600 la casa\nla flor roja")
    tab.wait("document.querySelectorAll('#target .word').length === 6")
    assert to_words(tab, 3) == "The" and marked(tab) == ["la"]
    before = tab["document.querySelector('#mirror mark').previousSibling.data"]
    assert before == "\U0001f600 la casa\n"
    assert to_words(tab, 1) == "red" and marked(tab) == ["roja"]
    facts = tab["document.querySelector('#word-facts').textContent"]
    assert facts.startswith("red, from “roja”; ") and "% in the system’s search, not a calibrated" in facts
    assert tab["document.querySelectorAll('#target .word[tabindex=\"0\"]').length"] == 1
    press(tab, "Home")
    assert tab["document.activeElement === document.querySelector('#target .word')"]
    press(tab, "End")
    press(tab, "ArrowRight")
    assert tab["document.activeElement === [...document.querySelectorAll('#target .word')].at(-1)"]
    tab["document.querySelector('#target').dir = 'rtl'"]
    press(tab, "ArrowRight")
    assert tab["document.activeElement === [...document.querySelectorAll('#target .word')].at(-2)"]


SYSTEM = {
    "system": "s", "rules": 1, "latent": False, "language_model": True, "pieces": True, "raw": True, "pairs": {},
    "source": {"code": "en", "name": "English", "direction": "ltr"},
    "target": {"code": "ar", "name": "Arabic", "direction": "rtl"},
    "scores": [], "limits": {"max_words": 9}, "files": [".txt"], "api_key": False, "report": None, "lscfg": "0",
}  # fmt: skip
BANDS = [{"least": least, "count": 100, "right": right} for least, right in ((0.9, 95), (0.7, 83), (0.5, 60), (0, 31))]
PIECES = [("\u0628\u064a", 0, 2, [1], 0.9), ("\u062a", 2, 3, [1], 0.4), ("\u0627\u0644", 4, 6, [0], 0.8)]


@pytest.mark.parametrize("calibrated", [True, False])
def test_pieces_are_shown_as_words_from_right_to_left(tab, address, calibrated):
    """The answers of a system with pieces of words whose target is written from right to left."""
    words = [
        {"text": text, "range": [i, j], "links": links, "unknown": False, "posterior": share, "alternatives": []}
        | ({"confidence": share, "posterior": 1} if calibrated else {})
        for text, i, j, links, share in PIECES
    ]
    confidence = {"confidence": {"sentences": 9, "words": BANDS, "translations": BANDS} if calibrated else None}
    translation = "\u0628\u064a\u062a \u0627\u0644"
    details = {"source_words": ["the", "house"], "source_ranges": [[0, 3], [4, 9]], "words": words, "posterior": 0.5}
    row = {
        "source": "the house",
        "gap": "",
        "after": "",
        "translation": translation,
        "parsed": True,
        "details": details,
    }
    answer = {"translatedText": translation, "alternatives": [], "unknown": [], "sentences": [row]}
    script = (
        f"const system = {json.dumps(SYSTEM | confidence)}, answer = {json.dumps(answer)};"
        "window.fetch = async (path) => new Response(JSON.stringify(path === '/system' ? system : answer));"
    )
    made = tab("Page.addScriptToEvaluateOnNewDocument", source=script)["identifier"]
    try:
        tab.open(address)
        tab.wait("document.title === 'Translate English to Arabic'")
        tab.click("#source")
        tab.type("the house")
        tab.wait("document.querySelectorAll('#target .word').length === 2")
    finally:
        tab("Page.removeScriptToEvaluateOnNewDocument", identifier=made)
    assert tab["getComputedStyle(document.querySelector('#target')).direction"] == "rtl"
    assert tab["document.querySelector('#target').textContent"] == translation
    assert to_words(tab) == translation[:3] and marked(tab) == ["house"]
    facts = tab["document.querySelector('#word-facts').textContent"]
    if calibrated:
        assert "; 40 %: the system is guessing; of such words, 31 of 100 occurred in the reference." in facts
    else:
        assert "; 40 % in the system’s search, not a calibrated confidence." in facts
    assert to_words(tab, 1, "ArrowLeft") == translation[4:] and marked(tab) == ["the"]
    if calibrated:
        facts = tab["document.querySelector('#word-facts').textContent"]
        assert "; 80 %: the system is fairly sure; of such words, 83 of 100 occurred in the reference." in facts
    left, right = tab["[...document.querySelectorAll('#target .word')].map((one) => one.getBoundingClientRect().x)"]
    assert left > right  # the first word stands on the right


def test_a_choice_stays_while_its_words_stay(tab):
    enter(tab, "la casa roja", "The red house")
    assert to_words(tab, 2) == "house"
    choose(tab, "hut")
    tab.wait("document.querySelector('#target .chosen') !== null")
    assert tab["document.querySelector('#target').textContent"] == "The red hut (your choice)"
    assert status_of(tab) == "Translated. 1 choice of yours is used."
    assert tab["document.activeElement.className"].startswith("word chosen") and marked(tab) == ["casa"]
    tab["document.querySelector('#source').focus(); document.querySelector('#source').setSelectionRange(0, 0)"]
    tab.type("una flor . ")
    tab.wait("document.querySelector('#target').textContent.includes('lower')")
    assert "hut (your choice)" in tab["document.querySelector('#target').textContent"].lower()
    place = len("una flor . la cas")
    tab["document.querySelector('#source').focus()"]
    tab[f"document.querySelector('#source').setSelectionRange({place}, {place})"]
    tab.type("x")
    tab.wait("document.querySelector('#target').textContent.toLowerCase().includes('casxa')")
    assert tab["document.querySelector('#target .chosen')"] is None


def test_a_choice_is_undone(tab):
    enter(tab, "la casa", "The house")
    to_words(tab, 1)
    choose(tab, "hut")
    tab.wait("document.querySelector('#target .chosen') !== null")
    tab.click("#undo")
    tab.wait("document.querySelector('#target').textContent === 'The house'")
    assert tab["document.querySelector('#undo').hidden"] is True


def test_a_word_goes_to_the_glossary_by_keyboard(tab):
    """Typing, words, choices and the glossary without a mouse."""
    tab["document.querySelector('#source').focus()"]
    tab.type("la casa")
    tab.wait("document.querySelectorAll('#target .word').length === 2")
    press(tab, "Tab", 9)
    press(tab, "ArrowRight")
    assert tab["document.activeElement.firstChild.data"] == "house"
    tab["document.activeElement.click()"]  # as Enter does
    assert tab["document.querySelector('#word').contains(document.activeElement)"]
    press(tab, "Escape", 27)
    assert tab["document.activeElement.firstChild.data"] == "house" and marked(tab) == ["casa"]
    tab["[...document.querySelectorAll('#word button')].at(-1).click()"]
    assert tab["document.activeElement.id"] == "term-target" and tab["document.activeElement.value"] == "house"
    assert tab["document.querySelector('#term-source').value"] == "casa"
    tab.type("villa")  # replaces what is selected
    press(tab, "Tab", 9)
    press(tab, "Tab", 9)
    assert tab["document.activeElement.id"] == "term-add"
    tab["document.activeElement.click()"]
    tab.wait("document.querySelector('#target').textContent === 'The villa'")
    tab.click("#correct")
    press(tab, "Escape", 27)
    assert tab["document.activeElement.id"] == "correct"


def rows_of_glossary(tab):
    cells = "[...row.cells].slice(0, 3).map((cell) => cell.textContent)"
    return tab[f"[...document.querySelectorAll('#terms tr')].map((row) => {cells})"]


def add_term(tab, source, target, mode="hard"):
    for name, text in (("source", source), ("target", target)):
        tab[f"document.querySelector('#term-{name}').value = ''"]
        tab[f"document.querySelector('#term-{name}').focus()"]
        tab.type(text)
    tab.choose("#term-mode", mode)
    tab.click("#term-add")


def test_the_glossary_is_kept_and_used(tab, address, tmp_path):
    enter(tab, "la casa roja", "The red house")
    tab["document.querySelector('#term-form').closest('details').open = true"]
    add_term(tab, "casa", "hut | Villa")
    tab.wait("/hut|Villa/.test(document.querySelector('#target').textContent)")
    tab.wait("document.querySelector('#status').textContent === 'Translated. 1 entry of the glossary is used.'")
    assert rows_of_glossary(tab) == [["casa", "hut | Villa", "always"]]
    add_term(tab, "flor", "")
    assert tab["document.querySelector('#term-fault').textContent"].startswith("An entry needs a translation")
    add_term(tab, "roja", "", "keep")
    tab.wait("document.querySelector('#target').textContent.includes('roja')")
    tab.open(address)
    tab.wait("document.querySelector('#term-count').textContent === '2'")
    tab["document.querySelectorAll('details').forEach((one) => { one.open = true; })"]
    tab.click("#terms button[aria-label='Edit casa']")
    assert tab["document.activeElement.id"] == "term-source" and tab["document.activeElement.value"] == "casa"
    add_term(tab, "casa", "cottage")
    assert rows_of_glossary(tab)[0] == ["casa", "cottage", "always"] and len(rows_of_glossary(tab)) == 2
    tab.click("#terms button[aria-label='Remove roja']")
    assert rows_of_glossary(tab) == [["casa", "cottage", "always"]]
    (tmp_path / "more.tsv").write_text("source\ttarget\tmode\n# a remark\nFlor\tFlora\tsoft\nRoma\n")
    (tmp_path / "bad.tsv").write_text("source\ttarget\tmode\nflor\tflora\tfirm\n")
    give(tab, "#term-import", tmp_path / "more.tsv")
    tab.wait("document.querySelector('#term-count').textContent === '3'")
    assert rows_of_glossary(tab)[1:] == [["Flor", "Flora", "prefer"], ["Roma", "", "leave as it is"]]
    give(tab, "#term-import", tmp_path / "bad.tsv")
    tab.wait("document.querySelector('#fault').textContent === 'bad.tsv:2: the mode must be hard, soft or keep'")
    for name, data, reason in (
        ("utf16", "source\ttarget\n".encode("utf-16-le"), ": is not UTF-8 text; save it as UTF-8"),
        ("empty", b"", ": contains no rows"),
        ("commas", b"source,target,mode\ncasa,house,hard\n", ":1: the first row must name the columns, with tabs"),
        ("other", b"source\ttarget\thead\n", ":1: no column head here; columns are source, target, mode, match"),
        ("narrow", b"source\ttarget\tmatch\nflor\tflora\texact\n", ":2: here match is nocase, or stem with mode hard"),
        ("wide", b"source\ttarget\na\tb\tsoft\n", ":2: more columns than the first row names; remove a tab"),
    ):
        (tmp_path / f"{name}.tsv").write_bytes(data)
        give(tab, "#term-import", tmp_path / f"{name}.tsv")
        tab.wait(f"document.querySelector('#fault').textContent.startsWith({json.dumps(f'{name}.tsv{reason}')})")
    (tmp_path / "order.tsv").write_text("Mode\tTarget\tSource\nsoft\tFLORA\tFlor\n")
    give(tab, "#term-import", tmp_path / "order.tsv")
    tab.wait("document.querySelector('#fault').textContent === ''")
    assert rows_of_glossary(tab)[1] == ["Flor", "FLORA", "prefer"]
    (tmp_path / "large.tsv").write_text("source\ttarget\n" + "".join(f"a{k}\tb\n" for k in range(998)))
    give(tab, "#term-import", tmp_path / "large.tsv")
    tab.wait("document.querySelector('#fault').textContent.startsWith('The glossary would contain 1001 entries')")
    assert tab["document.querySelector('#term-count').textContent"] == "3"
    (tmp_path / "a.txt").write_text("la casa\n")
    tab[NOTE_FILES]
    give(tab, "#file", tmp_path / "a.txt")
    tab.wait("document.querySelector('#file-status a') !== null")
    assert tab["made.at(-1).text()"] == "The cottage\n"


def test_a_term_matches_inflected_forms(tab, tmp_path):
    enter(tab, "la casa roja", "The red house")
    tab["document.querySelector('#term-form').closest('details').open = true"]
    add_term(tab, "Casas", "Villa", "stem")
    tab.wait("document.querySelector('#target').textContent.includes('Villa')")
    (tmp_path / "stem.tsv").write_text("source\ttarget\tmatch\nRojas\tRuby\tstem\n")
    give(tab, "#term-import", tmp_path / "stem.tsv")
    tab.wait("document.querySelector('#target').textContent.includes('Ruby')")
    assert [row[2] for row in rows_of_glossary(tab)] == ["always, any ending"] * 2


def test_hostile_text_is_text(tab):
    tab.click("#source")
    tab.type('<img src=x onerror="alert(1)"><script>alert(1)</script> casa')
    tab.wait("document.querySelector('#target').textContent.toLowerCase().includes('onerror')")
    assert tab["document.querySelectorAll('#target img, #target script, #status img').length"] == 0


def test_corrections_are_kept_and_removed(tab, address):
    enter(tab, "la flor", "The flower")
    tab.click("#correct")
    assert tab["document.activeElement.id"] == "edit"
    tab["document.querySelector('#edit').value = 'The <b>bloom</b>'"]
    tab.click("#keep")
    tab.wait("document.querySelector('#target').textContent === 'The <b>bloom</b>'")
    assert tab["document.querySelector('#status').textContent"] == "Your correction, kept in this browser."
    tab.open(address)
    tab.wait("document.querySelector('#count').textContent === '1'")
    enter(tab, "la flor", "The <b>bloom</b>")
    tab["document.querySelectorAll('details').forEach((one) => { one.open = true; })"]
    tab.click("#corrections button")
    tab.wait("document.querySelector('#target').textContent === 'The flower'")
    assert tab["document.querySelector('#count').textContent"] == "0"


def test_the_service_learns_from_corrections_if_it_keeps_them(window, address, tmp_path):
    with Service(address.bundle, "-j", 1, "--corrections", tmp_path / "kept") as service:
        window.open(Address(service.port))
        window.wait("document.title.startsWith('Translate Spanish')")
        assert "learns their rules at once" in window["document.querySelector('#learns').textContent"]
        enter(window, "la flor", "The flower")
        window.click("#correct")
        window["document.querySelector('#edit').value = 'The bloom'"]
        window.click("#keep")
        window.wait("document.querySelector('#status').textContent.startsWith('Kept. The system has learnt ')")
        other = service.translate(source="la flor")[1]["translations"][0]
        assert other["translation"] == "The bloom"
        window["document.querySelectorAll('details').forEach((one) => { one.open = true; })"]
        window.click("#corrections button")
        window.wait("document.querySelector('#target').textContent === 'The flower'")
        assert service.translate(source="la flor")[1]["translations"][0]["translation"] == "The flower"
        window["localStorage.clear()"]


def test_recalled_corrections_are_shown_used_and_removed(window, address, tmp_path):
    """Similar sentences have a score and a difference, and those of the same text a number."""
    with Service(address.bundle, "-j", 1, "--corrections", tmp_path / "kept") as service:
        here = Address(service.port)
        window.complaints.clear()
        window.open(here)
        window.wait("document.title.startsWith('Translate Spanish')")
        enter(window, "la casa roja roja", "The red red house")
        window.click("#correct")
        window["document.querySelector('#edit').value = 'The crimson HUT'"]
        window.click("#keep")
        window.wait("document.querySelector('#target').textContent === 'The crimson HUT'")
        window.wait("!document.querySelector('#unkeep').hidden")
        assert window["document.querySelector('#recalled li').firstChild.data"] == "Correction 1 answers “"
        window.click("#unkeep")
        window.wait("document.querySelector('#target').textContent === 'The red red house'")
        assert window["document.querySelector('#unkeep').hidden && document.querySelector('#recalled-part').hidden"]
        assert (
            service.request("POST", "/corrections", b'{"source": "la casa roja roja", "target": "The HUT"}')[0] == 200
        )
        window["document.querySelector('#source').value = ''"]
        window.click("#source")
        window.type("la casa roja\nla flor")
        window.wait("!document.querySelector('#recalled-part').hidden")
        assert window["document.querySelector('#recalled li').textContent"].startswith(
            "75 % similar: la casa roja roja"
        )
        assert window["[...document.querySelectorAll('#recalled del')].map((one) => one.textContent)"] == ["roja"]
        if AXE.is_file():
            window[AXE.read_text(encoding="utf-8") + "; 0"]
            assert window["axe.run().then((found) => found.violations.map((one) => one.id))"] == []
        window.click("#recalled button")
        window.wait("document.querySelector('#target').textContent === 'The HUT\\nThe flower'")
        enter(window, "la casa roja roja", "The HUT")
        assert status_of(window) == "Translated. 1 sentence comes from a correction."
        to_words(window)
        assert window["document.querySelector('#word-facts').textContent"].endswith("; from correction 2.")
        window["document.querySelectorAll('details').forEach((one) => { one.open = true; })"]
        add_term(window, "casa", "cottage")
        window.wait("document.querySelector('#target').textContent.includes('cottage')")
        assert "The term for 'casa' excluded the correction 2." in status_of(window)
        window.click("#terms .row button:last-child")
        window.wait("document.querySelector('#target').textContent === 'The HUT'")
        window.click("#recalled button")
        window.wait("document.querySelector('#target').textContent !== 'The HUT'")
        assert service.request("DELETE", "/corrections/2")[0] == 404
        assert window.complaints == []
        window["localStorage.clear()"]


def test_reasons_against_a_translation_are_shown(tab):
    enter(tab, "la casa roja", "The red house")
    other = tab["document.querySelector('#others button').textContent"]
    tab.click("#correct")
    for wanted, parts in (
        ("The red house", ["This is the system’s own translation."]),
        ("The crimson house", ["cannot produce this", "The system’s translation: The red house", "roja as crimson: "]),
        (other, ["The system can produce this, but scores it −", "First different rule: ", "Features that decide"]),
    ):
        tab[f"document.querySelector('#edit').value = {json.dumps(wanted)}"]
        tab.click("#why")
        tab.wait("!document.querySelector('#why-result').hasAttribute('aria-busy')")
        text = tab["document.querySelector('#why-result').textContent"]
        assert all(part in text for part in parts), text
    if AXE.is_file():
        tab[AXE.read_text(encoding="utf-8") + "; 0"]
        assert tab["axe.run().then((found) => found.violations.map((one) => one.id))"] == []
    tab.click("#cancel")
    assert tab["document.querySelector('#why-result').hidden && document.querySelector('#why').hidden"]
    to_words(tab, 1)
    assert tab["document.querySelector('#word').hidden"] is False
    tab.click("#correct")
    assert tab["document.querySelector('#word').hidden"] is True  # facts of words that are not shown


def test_a_correction_of_the_browser_names_the_terms_that_it_excludes(tab):
    enter(tab, "la flor", "The flower")
    tab.click("#correct")
    tab["document.querySelector('#edit').value = 'The bloom'"]
    tab.click("#keep")
    tab.wait("document.querySelector('#target').textContent === 'The bloom'")
    tab["document.querySelectorAll('details').forEach((one) => { one.open = true; })"]
    add_term(tab, "flor", "blossom")
    wanted = "Your correction, kept in this browser. It excluded 1 entry of the glossary: “flor”."
    tab.wait(f"document.querySelector('#status').textContent === {json.dumps(wanted)}")
    tab.click("#corrections button")
    tab.wait("document.querySelector('#target').textContent === 'The blossom'")


NOTE_FILES = """
window.made = [];
{
  const address = URL.createObjectURL.bind(URL);
  URL.createObjectURL = (blob) => { made.push(blob); return address(blob); };
}
0
"""
"""Keeps the translated files, which the page's policy does not let a test fetch."""


def give(tab, selector, *paths):
    root = tab("DOM.getDocument")["root"]["nodeId"]
    node = tab("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
    tab("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])


def test_corrections_come_from_a_table(tab, tmp_path):
    (tmp_path / "good.tsv").write_text("source\ttarget\nla casa\tthe home\nuna\\nflor\ta\n")
    (tmp_path / "bad.tsv").write_text("la casa\tthe house\n")
    give(tab, "#import", tmp_path / "good.tsv")
    tab.wait("document.querySelector('#count').textContent === '2'")
    enter(tab, "la casa", "the home")
    give(tab, "#import", tmp_path / "bad.tsv")
    reason = "bad.tsv:1: the first row must name the columns, with tabs between: source, target"
    tab.wait(f"document.querySelector('#fault').textContent === {json.dumps(reason)}")


def test_a_file_is_translated_with_progress(tab, tmp_path):
    (tmp_path / "a.txt").write_text("la casa\nla flor\n")
    (tmp_path / "a.docx").write_text("la casa\n")
    tab["document.querySelectorAll('details').forEach((one) => { one.open = true; })"]
    tab[NOTE_FILES]
    give(tab, "#file", tmp_path / "a.txt")
    tab.wait("document.querySelector('#file-status a') !== null")
    link = "document.querySelector('#file-status a')"
    assert tab[f"{link}.download"] == "a.en.txt"
    assert tab["made.at(-1).text()"] == "The house\nThe flower\n"
    assert tab[f"{link}.href"].startswith("blob:")
    give(tab, "#file", tmp_path / "a.docx")
    tab.wait("document.querySelector('#file-status').lastChild.textContent.startsWith('a.docx: files such as')")
    tab.complaints.clear()  # the browser reports the refusal


def test_the_system_is_described(tab):
    facts = tab["document.querySelector('#facts').textContent"]
    for fact in ("LanguagesSpanish to English", "Rules8", "Longest text100 sentences", "Largest file1 MiB"):
        assert fact in facts
    assert tab["document.querySelector('#report').hidden"] is False
    assert tab["fetch('/report').then((answer) => answer.text())"].endswith("<title>Report</title>")


def test_everything_is_reached_by_the_keyboard(tab):
    tab["document.querySelectorAll('details').forEach((one) => { one.open = true; })"]
    tab["document.activeElement.blur()"]
    reached = []
    for _ in range(40):
        press(tab, "Tab", 9)
        reached.append(tab["document.activeElement.id || document.activeElement.tagName"])
        if reached[-1] == "BODY":
            break
    fields = {"term-source", "term-target", "term-mode", "term-add", "term-export", "term-import"}
    assert {"scheme", "source", "file", "export", "import", "report", "SUMMARY"} | fields <= {*reached}
    assert tab["getComputedStyle(document.body).overflowX"] == "visible"


def test_the_scheme_can_be_chosen_and_stays(tab, address):
    light = tab["getComputedStyle(document.body).backgroundColor"]
    tab.choose("#scheme", "dark")
    dark = tab["getComputedStyle(document.body).backgroundColor"]
    tab.open(address)
    tab.wait("document.querySelector('#scheme').value === 'dark'")
    assert tab["getComputedStyle(document.body).backgroundColor"] == dark != light


@pytest.mark.parametrize("width", [360, 720, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_widths_and_schemes(tab, address, width, dark, tmp_path):
    tab.open(address, width, dark)
    tab.wait("document.title.startsWith('Translate Spanish')")
    tab.click("#source")
    tab.type("la zapato roja . una casa y-una-palabra-muy-larga-que-no-termina-nunca-en-esta-linea")
    tab.wait("document.querySelector('#target .unknown') !== null")
    tab["document.querySelectorAll('details').forEach((one) => { one.open = true; })"]
    assert tab["document.documentElement.scrollWidth"] <= width
    stacked = (
        tab["document.querySelector('#target').getBoundingClientRect().top"]
        > tab["document.querySelector('#source').getBoundingClientRect().bottom"]
    )
    assert stacked is (width < 720)
    folder = Path(os.environ.get("LSCFG_PICTURES", tmp_path))
    tab.picture(folder / f"page-{width}-{'dark' if dark else 'light'}.png")


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_fault(tab, address, width, dark):
    if not AXE.is_file():
        pytest.skip("LSCFG_AXE does not name axe.min.js of axe-core")
    tab.open(address, width, dark)
    tab.wait("document.title.startsWith('Translate Spanish')")
    tab.click("#source")
    tab.type("la zapato roja")
    tab.wait("document.querySelector('#target .unknown') !== null")
    to_words(tab)
    choose(tab, "one")
    tab.wait("document.querySelector('#target .chosen') !== null")
    tab["document.querySelectorAll('details').forEach((one) => { one.open = true; })"]
    add_term(tab, "roja", "crimson")
    tab.wait("document.querySelector('#target').textContent.toLowerCase().includes('crimson')")
    to_words(tab)
    tab[AXE.read_text(encoding="utf-8") + "; 0"]
    faults = tab[
        "axe.run().then((found) => found.violations.map((one) => [one.id, one.nodes.map((node) => node.html)]))"
    ]
    assert faults == []
