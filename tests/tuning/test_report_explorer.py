"""The explorer of the report: what its data say, and what a reader finds by clicks."""

import base64
import dataclasses
import hashlib
import json
import re

import pytest
from browser import CHROMIUM, browser
from little_report import little_content, little_manifest

from lscfg.tuning.report.buckets import Breakdown
from lscfg.tuning.report.content import TreeRecords
from lscfg.tuning.report.explorer import ORDERS, SHOWN, explorer_data
from lscfg.tuning.report.page import SCRIPT, json_text, render
from lscfg.tuning.sentences import sentence_bleu


def texts(tab, selector):
    return tab[f"[...document.querySelectorAll({json.dumps(selector)})].map((item) => item.textContent)"]


def shown(tab):
    """The sentences of the list, from 0."""
    return [int(k) for k in tab["[...document.querySelectorAll('#list > article')].map((a) => a.dataset.sentence)"]]


def test_data_have_all_sentences():
    content = little_content()
    data = explorer_data(content, Breakdown.of(content))
    assert data["systems"] == ["MIN", "MLE", "SPECTRAL-8", "SPECTRAL-16"] and data["baseline"] == 0
    assert data["outputs"][1] == content.outputs["MLE"] and data["sources"] == content.sources
    for tenths, name in zip(data["bleu"], data["systems"], strict=True):
        expected = sentence_bleu(content.outputs[name], content.references)
        assert [value / 10 for value in tenths] == pytest.approx(expected.tolist(), abs=0.05 + 1e-9)
    assert data["orders"][0] == ["220122", "44444", "1"] and data["orders"][1] == ["1", "04444", ""]


def test_data_and_script_cannot_be_left_or_exchanged():
    hostile = "</script><script>alert(1)</script><!--"
    block = json_text({"text": hostile})
    assert "<" not in block and json.loads(block) == {"text": hostile}
    content = little_content()
    content.outputs["MIN"][0] = hostile
    text = render(content, little_manifest())
    assert hostile not in text and text.count("<script") == 2
    script = re.search("<script>(.*?)</script>", text, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert script == SCRIPT and f"script-src 'sha256-{digest}'" in text
    assert "innerHTML" not in script and "insertAdjacentHTML" not in script


def test_each_choice_has_its_function():
    for name, values in (("ORDERS", ORDERS), ("SHOWN", SHOWN)):
        body = re.search(rf"const {name} = {{(.*?)}};", SCRIPT, re.S)[1]
        assert re.findall(r"^  (\w+):", body, re.M) == [value for value, _ in values]


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("no chromium on PATH to click in")
    folder = tmp_path_factory.mktemp("page")
    content = little_content()
    for k in range(30):
        content.sources.append(f"quelle nummer {k} <i>")
        content.references[0].append(f"source number {k} of many")
        for name, lines in content.outputs.items():
            lines.append(f"source number {k} of {name}")
    content.outputs["MLE"][20] = content.references[0][20]
    (folder / "report.html").write_text(render(content, little_manifest()), encoding="utf-8")
    with browser(folder) as page:
        page.path = folder / "report.html"
        yield page
        assert page.complaints == []


def test_first_view(tab):
    tab.open(tab.path)
    assert tab["[a.value, b.value]"] == ["0", "3"]  # the baseline and the best system
    assert len(shown(tab)) == 20 and texts(tab, "#count")[0].startswith("33 of 33 sentences")
    first = texts(tab, "#list > article:first-child dd")
    assert first[:2] == ["彼女 は <b> 学校 に 行き ます 。", "she goes to <b> school ."]
    assert tab["document.querySelector('#list .g0').textContent"] == "<i>"
    assert tab["document.querySelector('#list span[lang=ja]') !== null"]
    tab.click("#more")
    assert len(shown(tab)) == 33 and tab["more.hidden"]
    assert tab["document.activeElement.textContent"] == texts(tab, "#list > article:nth-child(21) h3 a")[0]


def test_search_filter_sort(tab):
    tab.open(tab.path)
    tab.choose("#b", "1")
    tab.choose("#sort", "difference")
    assert shown(tab)[0] == 20 and "+" in texts(tab, "#list h3 b")[0]
    tab.choose("#sort", "loss")
    assert texts(tab, "#list h3 b")[0].startswith("−")
    tab.choose("#show", "better")
    assert shown(tab) == [20]
    assert texts(tab, "#count")[0] == "1 of 33 sentences: MLE is better in 1, MIN in 0."
    tab.choose("#show", "same")
    assert shown(tab) == []
    tab.choose("#show", "all")
    tab.choose("#sort", "number")
    tab.click("#search")
    tab.type("  NUMMER   1")
    assert shown(tab) == [4, *range(13, 23)]  # 1 and 10 to 19
    tab.click("#swap")
    assert tab["[a.value, b.value]"] == ["1", "0"] and len(shown(tab)) == 11
    tab.choose("#show", "worse")
    assert shown(tab) == [20]


def test_any_two_systems_and_the_others(tab):
    tab.open(tab.path)
    tab.choose("#a", "2")
    tab.choose("#b", "1")
    tab.choose("#sort", "number")
    assert texts(tab, "#list > article:nth-child(2) dl.pair dt") == ["SPECTRAL-8", "MLE"]
    assert texts(tab, "#list > article:nth-child(3) dl.pair dd")[1] == "(empty) 0.0"
    tab.click("#list > article:nth-child(2) summary")
    tab.wait("document.querySelector('#list > article:nth-child(2) details dl') !== null")
    assert texts(tab, "#list > article:nth-child(2) details dt") == ["MIN", "SPECTRAL-16"]


def test_a_link_shows_one_sentence(tab):
    tab.open(tab.path, place="#sentence-7")
    assert shown(tab) == [6] and texts(tab, "#unset") == ["only sentence 7 ✕"]
    tab.click("#unset")
    assert len(shown(tab)) == 20
    tab.click("#list > article:nth-child(3) h3 a")
    tab.wait("document.querySelectorAll('#list > article').length === 1")
    assert tab["location.hash"] == f"#sentence-{shown(tab)[0] + 1}"
    only = shown(tab)
    tab.choose("#b", "2")
    assert shown(tab) == only and texts(tab, "#list dl.pair dt") == ["MIN", "SPECTRAL-8"]
    tab.click("#unset")
    assert len(shown(tab)) == 20 and tab["location.hash"] == "#explore"
    tab.open(tab.path, place="#sentence-99")
    assert len(shown(tab)) == 20


def test_a_row_opens_its_sentences(tab):
    tab.open(tab.path)
    tab.click("tr[data-set=frequency-1] button")
    assert texts(tab, "#unset") == ["only sentences with words seen once ✕"]
    assert sorted(shown(tab)) == [0, 1]
    assert texts(tab, "#list > article[data-sentence='0'] dl.text:first-of-type .hit") == ["goes"]
    assert tab["document.querySelector('#list .hit').title"].endswith("1 times in the training text")
    assert tab["document.activeElement.id"] == "unset"
    tab.click("#unset")
    assert len(shown(tab)) == 20 and texts(tab, "#list .hit") == []
    tab.click("tr[data-set=length-0] button")
    assert 0 not in shown(tab) and texts(tab, "#count")[0].startswith("32 of 33")


def test_ngrams_of_any_two_systems(tab):
    tab.open(tab.path)
    tab.choose("#grams-a", "0")
    tab.choose("#grams-b", "1")
    assert tab["[a.value, b.value]"] == ["0", "1"]
    assert texts(tab, "#grams .note") == ["More frequent in MLE than in MIN.", "More frequent in MIN than in MLE."]
    assert texts(tab, "#grams > div:first-child tbody tr")[0] == "number 17 of many01"
    assert texts(tab, "#grams > div:last-child tbody th")[0] == "this is & a"
    tab.click("#grams > div:last-child tbody tr:first-child button")
    assert shown(tab) == [1] and texts(tab, "#unset") == ["only “this is & a”, more frequent in MIN than in MLE ✕"]
    assert texts(tab, "#list dl.pair div:first-child .hit") == ["this", "is", "&", "a"]


def test_derivations_side_by_side(tab):
    tab.open(tab.path)
    tab.choose("#show", "trees")
    tab.choose("#sort", "number")
    assert shown(tab) == [0, 1]
    tab.click("#list > article:nth-child(1) .derivations summary")
    tab.wait("document.querySelectorAll('#list > article:nth-child(1) .trees > div').length === 2")
    assert texts(tab, "#list > article:nth-child(1) .trees p") == ["No parse.", "No parse."]
    tab.click("#list > article:nth-child(2) .derivations summary")
    tab.wait("document.querySelectorAll('#list > article:nth-child(2) .derivation').length === 2")
    assert texts(tab, ".derivation .box") == ["this is & a pen", "① is ② s1", "this s1", "& a pen s1"]
    assert texts(tab, ".derivation:nth-of-type(1) .leaf")[:5] == ["これ", "は", "&", "ペン", "です"]
    latent = "document.querySelectorAll('.trees > div:last-child .box')"
    boxes = tab[f"[...{latent}].map((box) => [box.style.gridColumn, box.style.gridRow])"]
    assert boxes == [["1 / 6", "1 / 2"], ["1 / 2", "2 / 3"], ["3 / 5", "2 / 3"]]
    tab.click("#list > article:nth-child(2) .trees > div:last-child .box:nth-child(2)")
    facts = texts(tab, "#list > article:nth-child(2) .trees > div:last-child dl.about dd")
    assert facts == [
        "これ → this",
        "span μ 0.750, rule μ 0.250, P(e|f) 0.250",
        "states add +0.13, context adds –",
        "1: 88 % (verb); 0: 13 % (<noun>)",
        "これ → <it> μ 0.125",
        "EgivenF −0.50, WordPenalty +0.25",
    ]
    assert len(texts(tab, ".box.chosen")) == 1
    tab.click(".trees > div:last-child details summary")
    assert texts(tab, ".states li") == ["s0 <noun>", "s1 verb"]


def test_cells_of_heat_maps_tell_their_values(tab):
    tab.open(tab.path)
    for picture, value in ((" under MLE", "彼女: 0.900"), (": SPECTRAL-16 less one state", "彼女: +0.500")):
        tab.click(f"svg[aria-label='Span marginals of sentence 1{picture}'] rect")
        assert value in texts(tab, "#charts .scripted:not([hidden])")


def test_one_system_alone(tmp_path):
    if CHROMIUM is None:
        pytest.skip("no chromium on PATH to click in")
    content = little_content()
    content.results["systems"] = content.results["systems"][:1]
    content = dataclasses.replace(content, outputs={"MIN": content.outputs["MIN"]}, charts={}, trees=TreeRecords())
    (tmp_path / "report.html").write_text(render(content, little_manifest()), encoding="utf-8")
    with browser(tmp_path) as page:
        page.open(tmp_path / "report.html")
        assert len(shown(page)) == 3 and texts(page, "#list > article:first-child dl.pair dt") == ["MIN"]
        page.click("tr[data-set=length-0] button")
        assert shown(page) == [1, 2] and page.complaints == []


def test_words_are_those_of_python(tmp_path):
    """A byte order mark is white for JavaScript alone, a file separator for Python alone."""
    if CHROMIUM is None:
        pytest.skip("no chromium on PATH to click in")
    content = little_content()
    content.outputs["MIN"][1] = "this\ufeffis &\x1ca \u3000pen constructor"
    content.training.clear()
    (tmp_path / "report.html").write_text(render(content, little_manifest()), encoding="utf-8")
    with browser(tmp_path) as page:
        page.open(tmp_path / "report.html", place="#sentence-2")
        words = "[...document.querySelectorAll('#list dl.pair div:first-child dd span span')]"
        found = [["this\ufeffis", "g0"], ["&", "g3"], ["a", "g3"], ["pen", "g3"], ["constructor", "g0"]]
        assert page[f"{words}.map((word) => [word.textContent, word.className])"] == found
        assert page[f"{words}.every((word) => !word.title)"] and page.complaints == []


def test_names_of_regions_are_distinct(tab):
    """So that readers who move by landmarks can tell them apart."""
    tab.open(tab.path)
    tab["[...document.querySelectorAll('details')].forEach((item) => { item.open = true; })"]
    tab.wait("document.querySelectorAll('.trees').length > 0")
    landmarks = "document.querySelectorAll('[role=region], section, nav')"
    names = tab[f"[...{landmarks}].map((item) => item.ariaLabel ?? item.id)"]
    assert len(names) == len(set(names)), sorted(names)


def test_keys_reach_everything(tab):
    """The order of the focus is that of the page."""
    tab.open(tab.path)
    order = tab[
        "[...document.querySelectorAll('#explorer select, #explorer input, #explorer button')].map((e) => e.id)"
    ]
    assert order == ["a", "swap", "b", "show", "sort", "search", "unset", "more"]
    assert tab["[...document.querySelectorAll('#explorer [tabindex]')].length"] == 0
