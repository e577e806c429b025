"""Heat maps of charts: the content of the picture, equal bytes, and refused input."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from lscfg.errors import InputError
from lscfg.study.heatmap import HeatMapFolder, draw_charts
from lscfg.study.markup import Markup, element, joined
from lscfg.study.svg import CELL

WORDS = ["彼女", "は", "$5", "<b>", "&", "行き", "ます"]

SVG = "{http://www.w3.org/2000/svg}"


def chart():
    spans = {(i, j): 0.5**i * 0.9 for i in range(7) for j in range(i + 1, 8) if (i + j) % 3}
    return spans | {(0, 7): 1.0, (2, 5): 3.44, (1, 4): -2.6, (3, 5): -1234.0, (0, 2): -1e-5}


def test_svg_has_the_words_and_the_values_that_are_no_probabilities(tmp_path):
    svg = draw_charts(WORDS, {"one & only": chart()}, path=tmp_path / "one.svg")
    assert (tmp_path / "one.svg").read_text(encoding="utf-8") == svg
    texts = [item.text for item in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    for word in WORDS:
        assert texts.count(word) == 2, word
    assert [t for t in ("3.4", "−2.6", "−1e3") if t in texts] == ["3.4", "−2.6", "−1e3"]
    assert "one & only" in texts and "1.0" not in texts


def cells(svg):
    """By span: class, opacity and title of its cell; the scale, whose cells come last, by position."""
    found = {}
    rects = [item for item in ElementTree.fromstring(svg).iter(f"{SVG}rect") if item.get("class") != "paper"]
    left = min(float(item.get("x")) for item in rects[:-11])
    for item in rects[:-11]:
        i = round((float(item.get("y")) - left) / CELL)
        j = round((float(item.get("x")) - left) / CELL) + 1
        found[i, j] = item.get("class"), float(item.get("fill-opacity")), item[0].text
    scale = [(item.get("class"), float(item.get("fill-opacity"))) for item in rects[-11:]]
    return found, scale


def test_colours_show_sign_and_size_and_a_span_without_node_has_no_cell():
    values = {(0, 1): 1.0, (0, 2): 0.01, (0, 3): 5.0, (1, 2): -1.0, (1, 3): -0.01, (2, 3): 0.0, (2, 4): -7.0}
    svg = draw_charts(["a", "b", "c", "d"], {"": values})
    found, scale = cells(svg)
    assert {span: kind for span, (kind, _, _) in found.items()} == {
        span: "minus" if value < 0 else "plus" for span, value in values.items()
    }
    assert {span: shade for span, (_, shade, _) in found.items()} == {
        span: pytest.approx(min(1, abs(value) ** 0.5)) for span, value in values.items()
    }
    assert found[1, 3][2] == "b c: −0.010" and found[0, 3][2] == "a b c: 5.000"
    assert scale[0] == ("minus", 1.0) and scale[5] == ("plus", 0.0) and scale[10] == ("plus", 1.0)
    blue, red = (re.search(rf"\.{kind} {{ fill: #(\w+)", svg)[1] for kind in ("plus", "minus"))
    assert int(blue[4:], 16) > int(blue[:2], 16) and int(red[:2], 16) > int(red[4:], 16)


def test_same_bytes_and_models_side_by_side():
    charts = {"MLE": chart(), "SPECTRAL": {(0, 7): 1.0}}
    svg = draw_charts(WORDS, charts, "s")
    assert svg == draw_charts(WORDS, charts, "s")
    assert ">MLE<" in svg and ">SPECTRAL<" in svg and svg.count(">彼女<") == 3  # rows are named once
    width, height = map(float, re.search(r'width="([\d.]+)" height="([\d.]+)"', svg).groups())
    places = [tuple(map(float, pair)) for pair in re.findall(r"translate\(([\d.]+) ([\d.]+)\)", svg)]
    assert max(x for x, _ in places) < width and max(y for _, y in places) < height
    assert len({x for x, y in places if y == places[0][1]}) >= 2  # side by side, not on top of each other


def test_letters_of_full_width_stand_upright():
    labels = [*ElementTree.fromstring(draw_charts(["彼女", "b"], {"": {}})).iter(f"{SVG}text")]
    assert [one.text for one in labels if one.get("writing-mode")] == ["彼女"]
    assert [one.text for one in labels if "rotate" in (one.get("transform") or "")] == ["b"]


def test_a_matrix_is_the_mapping():
    matrix = np.full((7, 8), np.nan)
    for (i, j), value in chart().items():
        matrix[i, j] = value
    assert draw_charts(WORDS, {"": matrix}) == draw_charts(WORDS, {"": chart()})


def test_bad_input(tmp_path):
    for words, marginals in (([], {}), (["a"], {(0, 2): 1.0}), (["a"], {(1, 1): 1.0}), (["a"], np.zeros((1, 1)))):
        with pytest.raises(ValueError, match=r"\w"):
            draw_charts(words, {"": marginals})
    with pytest.raises(InputError, match="must end in"):
        draw_charts(["a"], {"": {}}, path=tmp_path / "a.png")


def test_elements_escape_all_text_but_markup():
    inner = element("b", "x < y")
    assert element("a", "1 & 2", inner, href='"', aria_label="<", class_="k", title=None) == (
        '<a href="&quot;" aria-label="&lt;" class="k">1 &amp; 2<b>x &lt; y</b></a>'
    )
    assert element("rect", x=1.25, y=2.0, width=3) == '<rect x="1.2" y="2" width="3"/>'
    assert joined("<", Markup("<br>")) == "&lt;<br>" and element("td", "") == "<td></td>"


def test_a_folder_of_heat_maps_has_a_page(tmp_path):
    maps = HeatMapFolder(tmp_path / "maps")
    maps.add(0, WORDS, chart())
    maps.add(1, [], {})
    maps.add(2, ["no", "<parse>"], {})
    maps.add(3, [], {(0, 1): 1.0})
    page = maps.finish("a & b.lscfg").read_text("utf-8")
    assert {path.name for path in maps.folder.iterdir()} == {"1.svg", "index.html"}
    assert (maps.folder / "1.svg").read_text("utf-8") == draw_charts(WORDS, {"": chart()}, "sentence 1")
    assert re.findall(r'<a href="([^"]+)">([^<]+)', page) == [("1.svg", "1 彼女 は $5 &lt;b&gt; &amp; 行き ます")]
    assert "<li>2 (no parse)</li>" in page and "<li>3 no &lt;parse&gt; (no parse)</li>" in page
    assert "<li>4 (lattice; no picture)</li>" in page
    assert "Span marginals under a &amp; b.lscfg" in page and "script" not in page
