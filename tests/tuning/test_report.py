"""The report: what it says, the same bytes twice, and how a browser shows it."""

import copy
import csv
import itertools
import json
import random
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from browser import CHROMIUM, browser
from little_report import REFERENCES, SOURCES, little_content, little_manifest, row
from sacrebleu.metrics import BLEU

from lscfg.prepare.health import Health
from lscfg.study.svg import CELL, heat_map, ticks
from lscfg.tuning.report.content import Content, TreeRecords, charted_sentences, different_sentences
from lscfg.tuning.report.learning import weight_shares
from lscfg.tuning.report.matches import clipped_counts, grams, matched_orders
from lscfg.tuning.report.page import render

SECTIONS = [
    "verdict",
    "results",
    "tuning",
    "grammars",
    "charts",
    "breakdown",
    "explore",
    "sentences",
    "cost",
    "manifest",
]


@pytest.fixture
def content():
    return little_content()


@pytest.fixture
def manifest():
    return little_manifest()


class Page(HTMLParser):
    """Checks nesting; keeps ids, what is loaded or linked, and the text."""

    VOID = frozenset(["meta", "link", "br", "path", "use", "rect", "line", "circle", "polyline", "input"])

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.text, self.pictures = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named[key] for key in ("src", "href", "xlink:href") if key in named]
        self.links += re.findall(r"url\(([^)]*)\)", " ".join(value or "" for _, value in attributes))
        if tag == "svg":
            self.pictures.append(named)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text.append(data)


def test_page_is_whole_and_loads_nothing(content, manifest):
    text = render(content, manifest)
    page = Page(text)
    assert len(page.ids) == len(set(page.ids)) and set(SECTIONS) <= set(page.ids)
    for link in page.links:
        assert link.startswith("data:") or (link.startswith("#") and link[1:] in page.ids), link
    assert "@import" not in text and "url(" not in text.split("</style>")[0]
    assert all(picture["role"] == "img" and picture["aria-label"] for picture in page.pictures)
    assert (
        len(page.pictures) == 1 + 1 + 1 + 3 + 2
    )  # intervals, curves, one spectrum, charts (one has no parse), differences
    assert "<more>" not in text and "ja-en &amp; &lt;more&gt;" in text


def test_bleu_of_restored_text_is_a_column_where_there_is_any(content, manifest):
    assert "restored" not in render(content, manifest)
    content.results["restored_signature"] = "nrefs:1|tok:13a"
    for number, item in enumerate(content.results["systems"]):
        item["restored_bleu"] = 17.25 + number
    text = " ".join("".join(Page(render(content, manifest)).text).split())
    assert "restored BLEU" in text and "tok:13a" in text
    assert all(f"{17.25 + number:.2f}" in text for number in range(4))


def sampled(systems, process, *log_joint, **measures):
    """Chains as results.json has them; the beginning is far from all else."""
    chains = [
        {"log_joint": [-9e5, *joint], "types": [9, 50, 40, 30][: len(joint) + 1], "tokens": [900, 80, 70, 60]}
        for joint in log_joint
    ]
    facts = {"burn_in": 0, "kept": [0, 2], "convergence": measures}
    return {"systems": systems, "distribution": {"process": process}, **facts, "chains": chains}


def test_chains_of_one_distribution_share_a_picture(content, manifest):
    assert "Sampled rules" not in render(content, manifest)
    content.results["sampling"] = [
        sampled(["MIN"], "py", [-1200.0, -1100.0, -1000.0]),
        sampled(
            ["MLE", "SPECTRAL-8"], "py", [-1300.0, -1e3, -998.0], [-1400.0, -1e3, -996.0], **{"R-hat of <a>": 1.25}
        ),
        sampled(["SPECTRAL-16"], "dp", [-5000.0, -4000.0, -3000.0]),
        sampled(["SPECTRAL-16"], "uniform", []),
    ]
    text = render(content, manifest)
    page = Page(text)
    curves = [found["aria-label"] for found in page.pictures if "by sweep" in found["aria-label"]]
    assert len(curves) == 6  # a beginning alone has none
    ends = "MIN chain 1 ends at -1,000; MLE, SPECTRAL-8 chain 1 ends at -998; MLE, SPECTRAL-8 chain 2 ends at -996"
    assert curves[0] == f"log joint probability by sweep: {ends}"
    rows = {found[0]: found[1:] for found in map(cells, re.findall("<tr.*?</tr>", text)) if "SPECTRAL" in found[0]}
    assert rows["MLE, SPECTRAL-8"] == ["2", "3", "4", "−997", "30", "60", "1.250"]
    # sweeps make the scale, not the beginning: no tick is beyond them
    figure = next(part for part in text.split("<figure") if curves[0] in part)
    marks = [int(mark.replace(",", "").replace("−", "-")) for mark in re.findall('anchor="end">([^<]*)<', figure)]
    assert marks and min(marks) > -1450 and max(marks) < -950
    lowest = max(float(y) for y in re.findall(r",([\d.]+)", " ".join(re.findall('points="([^"]*)"', figure))))
    assert re.findall('points="[^,]*,([^ ]*)', figure) == [f"{lowest:g}"] * 3


def cells(row):
    return re.findall("<t[dh][^>]*>([^<]*)<", row)


def test_page_says_what_was_found(content, manifest):
    text = " ".join("".join(Page(render(content, manifest)).text).split())
    for part in (
        "SPECTRAL-16 has the best test BLEU, 25.25: +1.75 against MIN (23.50), significant (p ≤ 0.0001)",
        "25.50 (0.70)",
        "≤ 0.0001",
        "p against MLE",
        "彼女 は <b> 学校 に 行き ます 。",
        "MLE: 0 better, 3 worse, 0 equal",
        "50,000",
        "612,345",
        "No parse.",
        "98 seconds in all",
        'source = "<&>"',
    ):
        assert part in text, part
    marked = render(content, manifest)
    assert '<span class="g0">&lt;i&gt;</span>' in marked and '<span lang="ja" dir="auto">' in marked


def test_first_screen_names_languages_text_and_date(content, manifest):
    assert "<h1>ja-en &amp; &lt;more&gt;</h1>" in render(content, manifest)
    known = replace(content, languages=("ja", "en"), corpus=("train.ja", "<train>.en"), dev_sentences=1234)
    text = render(known, manifest | {"date": "2026-01-31"})
    assert "<h1>ja → en</h1>" in text and "<title>ja → en, ja-en &amp; &lt;more&gt; – lscfg</title>" in text
    origin = "ja-en & <more> · train.ja, <train>.en · 2026-01-31"
    assert origin in "".join(Page(text).text) and "<dd>1,234</dd>" in text


def test_data_health_of_raw_text(content, manifest):
    assert "Data health" not in render(content, manifest)
    health = Health(drop=["copy"])
    health.note("copy", "dropped", "/data/a.tsv", 7, ("<same>", "<same>"))
    health.note("long", "dropped", "/data/a.tsv", 9)
    facts = json.loads(json.dumps(health.facts(200)))
    page = render(replace(content, health=facts), manifest)
    section = page.split('<section id="health"')[1].split("</section>")[0]
    text = " ".join(re.sub("<[^>]*>", " ", section).replace("&lt;", "<").replace("&gt;", ">").split())
    assert "equal sides 1 0.50 % dropped drop" in text and "a.tsv:7 <same> → <same>" in text
    assert "long sentences 1 0.50 % dropped max_length" in text and "/data" not in text
    facts = Health().facts(200)
    assert "No fault was found in 200 pairs." in render(replace(content, health=facts), manifest)


def test_test_bleu_follows_the_name(content, manifest):
    heads = re.findall('<th scope="col"[^>]*>(.*?)</th>', render(content, manifest).split('id="results"')[1])
    assert heads[:3] == ["system", "test BLEU", "95 % CI"]


def test_ties_are_not_bold(content, manifest):
    """chrF2 and TER of all systems are equal, as is dev BLEU; test BLEU is not."""
    results = render(content, manifest).split('id="results"')[1].split("</table>")[0]
    assert re.findall('class="best">([^<]*)', results) == ["25.25 "]
    content.outputs.update({name: ["x", "y", "z"] for name in content.outputs})
    breakdown = render(content, manifest).split('id="breakdown"')[1].split("</section>")[0]
    assert "0.0</td>" in breakdown and "best" not in breakdown.replace("The best system", "")


def test_same_bytes_and_only_the_manifest_has_times(content, manifest):
    text = render(content, manifest)
    assert render(copy.deepcopy(content), copy.deepcopy(manifest)) == text
    later = copy.deepcopy(manifest)
    later["stages"][1] |= {"seconds": 55.5, "peak_mib": 77.0}

    def without_cost(page):
        return re.sub(r'<section id="cost".*?</section>', "", page, flags=re.S)

    other = render(content, later)
    assert other != text and without_cost(other) == without_cost(text)


def test_words_are_shaded_as_bleu_counts_their_ngrams():
    """The matches of each order are sacrebleu's; a longer n-gram shades all of its words."""
    references = [["the", "cat", "sat", "on", "the", "mat"], ["a", "cat", "on", "the", "mat"]]
    assert matched_orders(["the", "the", "the", "the"], references) == "1100"
    assert matched_orders(["a", "cat", "sat", "on", "the", "dog"], references) == "244440"
    assert matched_orders(["cat", "sat", "on", "the", "mat", "on", "the", "mat"], references) == "44444010"
    assert matched_orders([], references) == ""
    words = ["on", "the", "mat", "the", "cat", "sat", "on", "the", "cat", "a", "dog"]
    found = [grams(words, order) for order in range(1, 5)]
    counted = BLEU(tokenize="none").corpus_score([" ".join(words)], [[" ".join(line)] for line in references]).counts
    clipped = [Counter(grams(words, order)) & clipped_counts(references, order) for order in range(1, 5)]
    assert [sum(counts.values()) for counts in clipped] == counted and [len(some) for some in found] == [11, 10, 9, 8]


def test_weights_are_shares_with_signs(content, manifest):
    assert weight_shares([{"a": 3.0, "b": -1.0}, {"a": -2.0}]) == {"a": (0.75 - 1) / 2, "b": -0.125}
    assert weight_shares([{"a": 0.0}]) == {"a": 0.0}
    text = render(content, manifest)
    assert "LatentTarget&lt;&amp;&gt;" in text
    plus, minus = (f'<span class="sign"><span class="{kind}"' for kind in ("plus", "minus"))
    assert f'title="weight 1.0000, 1.0000">{plus}' in text and "+25.0</span></td>" in text
    assert f'title="weight −3.0000, −3.0000">{minus}' in text and "−75.0</span></td>" in text
    row = text.split("latent and context features</th>")[1].split("</tr>")[0]
    assert re.findall("<td>(.*?)</td>", row) == ["–", "–", "–", "25.0"]  # (-0.5 + 1) / 2


def test_tuning_curves_share_an_axis(content, manifest):
    text = render(content, manifest)
    assert text.count('<g class="curve-') == 4 and "MLE run 2, iteration 3: 26.00" in text
    assert len(set(re.findall(r'<label class="(curve-\d+)">', text))) == 4


def test_one_system_without_model_and_no_gain(content, manifest):
    alone = copy.deepcopy(content.results)
    alone["systems"] = [row("MIN")]
    few = Content("x", alone, SOURCES, REFERENCES, {"MIN": content.outputs["MIN"]}, [], {}, 5)
    text = "".join(Page(render(few, manifest)).text)
    assert "MIN has a test BLEU of" in text
    assert "No system has a model." in text and "There is nothing to compare." in text


def test_heat_map_tells_its_values():
    words = ["a", "<b>", "長い"]
    values = {(0, 1): 1.0, (0, 3): 0.25, (1, 2): -0.5, (1, 3): 0.0, (2, 3): 12.5}
    picture = heat_map(words, values, "a <title>")
    found = re.findall(
        r'<rect class="(\w+)" x="(.*?)" y="(.*?)" .*? fill-opacity="(.*?)"><title>(.*?)</title>', picture
    )
    assert [(kind, shade, title) for kind, _, _, shade, title in found] == [
        ("plus", "1.00", "a: 1.000"),
        ("plus", "0.50", "a &lt;b&gt; 長い: 0.250"),
        ("minus", "0.71", "&lt;b&gt;: −0.500"),
        ("plus", "0.00", "&lt;b&gt; 長い: 0.000"),
        ("plus", "1.00", "長い: 12.500"),
    ]
    places = {(float(x), float(y)) for _, x, y, _, _ in found}
    corner = min(x for x, _ in places), min(y for _, y in places)
    assert {(round((x - corner[0]) / CELL, 6), round((y - corner[1]) / CELL, 6)) for x, y in places} == {
        (0, 0),
        (2, 0),
        (1, 1),
        (2, 1),
        (2, 2),
    }
    assert picture.count('class="beyond"') == 1 and ">1e1</text>" in picture and "a &lt;title&gt;" in picture


def test_difference_is_that_to_one_state(content, manifest):
    text = render(content, manifest)
    change = text.split('aria-label="Span marginals of sentence 1: SPECTRAL-16 less one state"')[1].split("</svg>")[0]
    values = [title.rpartition(": ")[2] for title in re.findall(r"<rect[^>]*><title>(.*?)</title>", change)]
    assert values == ["+0.500", "0.000", "−0.200", "0.000"]
    assert "largest change: +0.500 at “彼女”" in text
    assert "MLE − one state" not in text  # it has one state itself


def test_derivation_is_there_without_script(content, manifest):
    text = render(content, manifest)
    (tree,) = re.findall(r'<ul class="tree".*?</ul></details>', text)
    assert "<li>[X,1] は [X,2] です → [X,1] is [X,2]" in tree and tree.count("<li>") == 4
    assert '& ペン → & a pen <span class="score">μ 1.000</span>'.replace("&", "&amp;") in tree


def test_sentences_that_differ_most():
    outputs = {"one": ["a b", "a b", "x y", "a b"], "two": ["a b", "x y", "x y", "a z"]}
    assert different_sentences(outputs, [["a b"] * 4]) == [1, 3]


def test_choice_of_charted_sentences():
    sources = ["a b c", "a b c d e f", "a b c d e f", "", "a b c d e f"]
    references = [["x y z w"] * 5]
    outputs = {"one": ["x y z w"] * 5, "two": ["no", "x y z w", "x y z v", "no", "no"]}
    assert charted_sentences(sources, outputs, references) == [2, 4]
    assert charted_sentences(["", "a b"], {"one": ["x", "y"]}, [["x", "y"]]) == [0, 1]


def test_ticks_are_round_and_inside():
    assert ticks(0, 1) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert ticks(76.2, 82.3) == [78, 80, 82] and ticks(5, 5) == [5]
    for low, high in ((0.011, 0.013), (-3, 900), (27.1, 27.9)):
        found = ticks(low, high)
        assert 2 <= len(found) <= 9 and low - 1e-9 <= found[0] and found[-1] <= high + 1e-9


def test_a_large_page_is_no_burden():
    """1,000 sentences of 13 words, six systems, 40 derivations of each."""
    draw, small = random.Random(3), little_content()
    words = [f"word{k}" for k in range(4000)]

    def lines():
        return [" ".join(words[int(4000 * draw.random() ** 3)] for _ in range(13)) for _ in range(1000)]

    names = [f"SYSTEM-{k}" for k in range(6)]
    references, more = [lines()], {"p_value": 0.5, "p_bootstrap": 0.5}
    outputs = {name: lines() for name in names}
    small.results.update(systems=[row(name, "clusters", 16, **more) for name in names], baseline=names[0])
    derivation = small.trees.systems["SPECTRAL-16"][1] * 6
    trees = TreeRecords([*range(40)], {}, {name: [derivation] * 40 for name in names})
    training = {word: draw.randrange(10000) for word in words}
    content = Content("x", small.results, lines(), references, outputs, [], {}, 5, {}, training, trees)
    assert 1_000_000 < len(render(content, little_manifest()).encode("utf-8")) < 3_000_000


COPIED = """(async (place, name) => {
  let text = "";
  navigator.clipboard.writeText = async (given) => { text = given; };
  const table = document.querySelectorAll(`#${place} table`)[0].closest(".scroll");
  const buttons = [...table.nextElementSibling.querySelectorAll("button")];
  buttons.find((button) => button.textContent === name).click();
  await new Promise((done) => setTimeout(done));
  return text;
})"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH to show the page in")
def test_in_a_browser_tables_are_copied(content, manifest, tmp_path):
    content.results["systems"][0]["system"] = "A_1 & 50%, $x"
    content.results["baseline"] = "A_1 & 50%, $x"
    outputs = {row["system"]: content.outputs["MLE"] for row in content.results["systems"]}
    path = tmp_path / "report.html"
    path.write_text(render(replace(content, outputs=outputs, weights={}), manifest), encoding="utf-8")
    with browser(tmp_path) as tab:
        tab.open(path)
        markdown = tab[f"{COPIED}('results', 'Markdown')"].splitlines()
        assert markdown[0].startswith("| system | test BLEU | 95 % CI |") and markdown[1].startswith("| --- | ---: |")
        assert markdown[2].startswith("| A\\_1 & 50%, $x | 23.50 (0.70) | ± 1.50 |")
        assert markdown[5].startswith("| SPECTRAL-16 | **25.25 (0.70)** | ± 1.50 | **≤ 0.0001** |")
        latex = tab[f"{COPIED}('results', 'LaTeX')"].splitlines()
        assert latex[0] == f"\\begin{{tabular}}{{l{'r' * markdown[1].count('---:')}}}" and latex[-1] == "\\end{tabular}"
        assert latex[4].startswith("A\\_1 \\& 50\\%, \\$x & 23.50 (0.70) & $\\pm$ 1.50 &") and latex[4].endswith("\\\\")
        table = list(csv.reader(tab[f"{COPIED}('results', 'CSV')"].splitlines()))
        assert table[1][:3] == ["A_1 & 50%, $x", "23.50 (0.70)", "± 1.50"] and {len(line) for line in table} == {11}
        sizes = list(csv.reader(tab[f"{COPIED}('grammars', 'CSV')"].splitlines()))
        assert sizes[0] == ["system", "rules", "m", "parameters"]  # a column of bars is not copied
        assert tab.complaints == []


WIDTHS = (360, 768, 1280)

BOXES = """(() => {
  const boxes = [...document.querySelectorAll("section, figure, h1, h2, p, dl, details, form, article")]
    .map((item) => item.getBoundingClientRect());
  return {
    width: document.documentElement.clientWidth, scroll: document.documentElement.scrollWidth,
    right: Math.max(...boxes.map((box) => box.right)),
    seen: [...document.querySelectorAll("section")].filter((item) => item.getBoundingClientRect().height > 20).length,
  };
})()"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH to show the page in")
def test_in_a_browser(content, manifest, tmp_path):
    """All sections are seen, nothing is wider than the window, nothing is loaded, nothing complained of."""
    more = [f"A-NAME-THAT-IS-LONG-{k}" for k in range(3)]
    content.results["systems"] += [row(name, p_value=0.5, p_bootstrap=0.5) for name in more]
    content.outputs.update(dict.fromkeys(more, content.outputs["MLE"]))
    text, path = render(content, manifest), tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    loading = tmp_path / "loading.html"  # what would be said of a page that loads or does more
    extra = '<main><img alt="" src="https://localhost:9/x.png"><script>document.title = "changed"</script>'
    loading.write_text(text.replace("<main>", extra), encoding="utf-8")
    with browser(tmp_path) as tab:
        for width, dark, script in itertools.product(WIDTHS, (False, True), (False, True)):
            tab.open(path, width, dark, script)
            found = tab[BOXES]
            assert found["scroll"] <= found["width"] <= width and found["right"] <= width, (width, found)
            assert found["seen"] == text.count("<section") >= len(SECTIONS)
            assert tab["document.getElementById('explorer').hidden"] is not script
            paper = tab["getComputedStyle(document.body).backgroundColor"]
            assert paper == ("rgb(20, 24, 29)" if dark else "rgb(255, 255, 255)")
        loaded = {address for address in tab.requests if not address.startswith("data:")}
        assert loaded == {path.as_uri()} and tab.complaints == []
        tab.open(loading)
        tab.wait("document.readyState === 'complete'")
        assert len(tab.complaints) == 2 and "changed" not in tab["document.title"], tab.complaints
