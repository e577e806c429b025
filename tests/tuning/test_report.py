"""The report: what it says, the same bytes twice, and how a browser shows it."""

import copy
import json
import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser

import pytest
from sacrebleu.metrics import BLEU

from lscfg.tuning.report import plots
from lscfg.tuning.report.content import Content, charted_sentences
from lscfg.tuning.report.learning import weight_shares
from lscfg.tuning.report.matches import clipped_counts, grams, matched_orders
from lscfg.tuning.report.page import render

SECTIONS = ["results", "tuning", "grammars", "charts", "sentences", "cost", "manifest"]
SOURCES = ["彼女 は <b> 学校 に 行き ます 。", "これ は & ペン です", "無い"]
REFERENCES = [["she goes to <b> school .", "this is & a pen", "nothing"]]


def row(name, estimator="none", states=None, **more):
    runs = [
        {
            "seed": seed,
            "start_dev_bleu": 20.0,
            "dev_bleu": 24.0 + seed,
            "dev_length_ratio": 1.0,
            "tuning_iteration": 3,
            "dev_bleu_by_iteration": [20.0, 3.0, 24.0 + seed, 23.0],
            "test_bleu": 22.0 + seed,
            "chrF2": 40.0,
            "TER": 60.0,
        }
        for seed in (1, 2)
    ]
    return {
        **{"system": name, "estimator": estimator, "grammar": "minimal", "rules": 1234, "states": states},
        **{"effective_rules": states and states**3 * 1000, "singular_values": None},
        **{"start_dev_bleu": 20.0, "dev_bleu": 25.5, "dev_bleu_deviation": 0.7, "test_bleu": 23.5},
        **{"test_bleu_deviation": 0.7, "test_bleu_mean": 23.4, "test_bleu_ci": 1.5, "p_value": None},
        **{"p_bootstrap": None, "test_chrF2": 40.0, "test_TER": 60.0, "test_precisions": [50.0, 30.0, 20.0, 10.0]},
        **{
            "restored_bleu": None,
            "test_length_ratio": 1.01,
            "brevity_penalty": 1.0,
            "p_against": {"MLE": 0.125},
            "runs": runs,
        },
        **more,
    }


@pytest.fixture
def content():
    rows = [
        row("MIN"),
        row("MLE", "mle", 1, p_value=0.3, p_bootstrap=0.2),
        row("SPECTRAL-8", "spectral", 8, p_value=0.2, p_bootstrap=0.2, singular_values=[1.0, 0.5, 0.25]),
        row("SPECTRAL-16", "spectral", 16, p_value=1 / 10001, p_bootstrap=0.01, test_bleu=25.25),
    ]
    outputs = {item["system"]: list(REFERENCES[0]) for item in rows}
    outputs["MIN"] = ["she goes <i> to school .", "this is & a pen", "nothing"]
    outputs["MLE"] = ["she", "that is & a pen", ""]
    results = {
        **{
            "baseline": "MIN",
            "against": ["MLE"],
            "decoder": "embedded",
            "runs": 2,
            "signature": "nrefs:1|bs:1000",
            "restored_signature": None,
            "test sentences": 3,
        },
        **{"randomisation trials": 10000, "derivations": {"sentence pairs": 50000}, "systems": rows},
    }
    spans = [[0, 8, 1.0], [0, 1, 0.9], [1, 8, -0.2], [2, 3, 3.5]]
    charts = {"MLE": [spans, []], "SPECTRAL-16": [spans, [[0, 5, 1.0]]]}
    weights = {item["system"]: [{"LanguageModel": 1.0, "WordPenalty": -3.0}] * 2 for item in rows}
    weights["SPECTRAL-16"] = [{"LanguageModel": 2.0, "LatentTarget<&>": 0.0, "LatentTarget": -2.0}, {"LatentTarget": 1}]
    return Content("ja-en & <more>", results, SOURCES, REFERENCES, outputs, [0, 1], charts, 5, weights)


@pytest.fixture
def manifest():
    stages = [
        {"stage": "align", "folder": "align-1", "seconds": 8.0, "peak_mib": 270.0, "systems": []},
        {"stage": "tune", "folder": "tune-1", "seconds": 90.0, "peak_mib": 300.0, "systems": ["MIN run 1"]},
        {"stage": "align", "folder": "align-1", "seconds": 8.0, "peak_mib": 270.0, "systems": []},
    ]
    return {
        **{"lscfg": "0.1.0", "python": "3.11", "platform": "Linux", "cpus": 2, "jobs": 1, "packages": {"numpy": "2"}},
        **{"command": ["lscfg", "run", "<x>"], "experiment": '[corpus]\nsource = "<&>"\n', "decoder": {}},
        **{"sha256": {"data/train.ja": "52" * 32}, "stages": stages},
    }


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
    assert "@import" not in text and "url(" not in text.split("</style>")[0] and "<script" not in text
    assert all(picture["role"] == "img" and picture["aria-label"] for picture in page.pictures)
    assert len(page.pictures) == 1 + 1 + 1 + 3  # intervals, curves, one spectrum, charts (one has no parse)
    assert "<more>" not in text and "ja-en &amp; &lt;more&gt;" in text


def test_bleu_of_restored_text_is_a_column_where_there_is_any(content, manifest):
    assert "restored" not in render(content, manifest)
    content.results["restored_signature"] = "nrefs:1|tok:13a"
    for number, item in enumerate(content.results["systems"]):
        item["restored_bleu"] = 17.25 + number
    text = " ".join("".join(Page(render(content, manifest)).text).split())
    assert "restored BLEU" in text and "tok:13a" in text
    assert all(f"{17.25 + number:.2f}" in text for number in range(4))


def test_page_says_what_was_found(content, manifest):
    text = " ".join("".join(Page(render(content, manifest)).text).split())
    for part in (
        "SPECTRAL-16 has the best test BLEU, 25.25: +1.75 against MIN (23.50), significant (p = 0.0001)",
        "25.50 (0.70)",
        "≤ 0.0001",
        "p against MLE",
        "彼女 は <b> 学校 に 行き ます 。",
        "MLE: 0 better, 3 worse, 0 equal",
        "50,000",
        "No parse.",
        "98 seconds in all",
        'source = "<&>"',
    ):
        assert part in text, part
    marked = render(content, manifest)
    assert '<span class="g0">&lt;i&gt;</span>' in marked and '<span lang="ja" dir="auto">' in marked


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
    assert 'title="weight 1.0000, 1.0000"><span class="sign"><span class="plus"' in text and "+25.0</td>" in text
    assert 'title="weight −3.0000, −3.0000"><span class="sign"><span class="minus"' in text and "−75.0</td>" in text
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
    assert "No system has a better test BLEU than the baseline MIN" in text
    assert "No system has a model." in text and "There is nothing to compare." in text


def test_choice_of_charted_sentences():
    sources = ["a b c", "a b c d e f", "a b c d e f", "", "a b c d e f"]
    references = [["x y z w"] * 5]
    outputs = {"one": ["x y z w"] * 5, "two": ["no", "x y z w", "x y z v", "no", "no"]}
    assert charted_sentences(sources, outputs, references) == [2, 4]
    assert charted_sentences(["", "a b"], {"one": ["x", "y"]}, [["x", "y"]]) == [0, 1]


def test_ticks_are_round_and_inside():
    assert plots.ticks(0, 1) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert plots.ticks(76.2, 82.3) == [78, 80, 82] and plots.ticks(5, 5) == [5]
    for low, high in ((0.011, 0.013), (-3, 900), (27.1, 27.9)):
        found = plots.ticks(low, high)
        assert 2 <= len(found) <= 9 and low - 1e-9 <= found[0] and found[-1] <= high + 1e-9


CHROMIUM = shutil.which("chromium")


def chromium(folder, page, *options):
    """What Chromium prints for a page, and its log."""
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    command += ["--enable-logging=stderr", "--v=0", *options, page.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout, run.stderr


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH to show the page in")
def test_in_a_browser(content, manifest, tmp_path):
    """All sections are seen, nothing is wider than a frame of 360 px, nothing is loaded, nothing complained of."""
    content.results["systems"] += [row(f"A-NAME-THAT-IS-LONG-{k}", p_value=0.5, p_bootstrap=0.5) for k in range(3)]
    content.outputs.update({f"A-NAME-THAT-IS-LONG-{k}": content.outputs["MLE"] for k in range(3)})
    text = render(content, manifest)
    (tmp_path / "report.html").write_text(text, encoding="utf-8")
    dom, log = chromium(tmp_path, tmp_path / "report.html", "--dump-dom")
    assert all(f'<section id="{key}"' in dom for key in SECTIONS) and "CONSOLE" not in log
    loading = tmp_path / "loading.html"  # what the log would say of a page that loads something
    loading.write_text(text.replace("<main>", '<main><img alt="" src="https://localhost:9/x.png">'), encoding="utf-8")
    assert "CONSOLE" in chromium(tmp_path, loading, "--dump-dom")[1]
    probe = """<!DOCTYPE html><meta charset="utf-8"><body><script>
    const frame = document.createElement("iframe");
    frame.style = "width: WIDTHpx; height: 800px; border: 0";
    frame.srcdoc = TEXT;
    frame.onload = () => {
      const inner = frame.contentDocument, root = inner.documentElement;
      const boxes = [...inner.querySelectorAll("section, figure, h1, h2, p, dl, details")]
        .map((item) => item.getBoundingClientRect());
      document.body.dataset.found = JSON.stringify({
        width: root.clientWidth, scroll: root.scrollWidth,
        right: Math.max(...boxes.map((box) => box.right)),
        seen: [...inner.querySelectorAll("section")].filter((item) => item.getBoundingClientRect().height > 20).length,
        loaded: frame.contentWindow.performance.getEntriesByType("resource").map((entry) => entry.name),
      });
    };
    document.body.append(frame);
    </script>"""
    for width in (360, 1280):
        filled = probe.replace("WIDTH", str(width)).replace("TEXT", json.dumps(text).replace("</", "<\\/"))
        (tmp_path / "probe.html").write_text(filled, encoding="utf-8")
        dom, log = chromium(tmp_path, tmp_path / "probe.html", "--dump-dom", "--virtual-time-budget=5000")
        assert "CONSOLE" not in log
        found = json.loads(re.search(r'data-found="([^"]*)"', dom)[1].replace("&quot;", '"'))
        assert found["scroll"] <= found["width"] <= width and found["right"] <= width, found
        assert found["seen"] == len(SECTIONS) and found["loaded"] == []
