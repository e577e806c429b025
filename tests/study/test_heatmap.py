"""Heat maps of charts: what is in the picture, the same bytes twice, and what is refused."""

import base64
import io
import re

import numpy as np
import pytest
from matplotlib import image as pictures

from lscfg.errors import InputError
from lscfg.study.heatmap import draw, draw_charts

WORDS = ["彼女", "は", "$5", "<b>", "&", "行き", "ます"]


def chart():
    spans = {(i, j): 0.5**i * 0.9 for i in range(7) for j in range(i + 1, 8) if (i + j) % 3}
    return spans | {(0, 7): 1.0, (2, 5): 3.44, (1, 4): -2.6, (3, 5): -1234.0, (0, 2): -1e-5}


def test_svg_has_the_words_and_the_values_that_are_no_probabilities(tmp_path):
    svg = draw(WORDS, chart(), "one & only", tmp_path / "one.svg")
    assert (tmp_path / "one.svg").read_text(encoding="utf-8") == svg
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    for word in ["彼女", "は", "$5", "&lt;b&gt;", "&amp;", "行き", "ます"]:
        assert texts.count(word) == 2, word
    assert [t for t in ("3.4", "-2.6", "-1e3") if t in texts] == ["3.4", "-2.6", "-1e3"]
    assert "one &amp; only" in texts and "1.0" not in texts


def test_positive_is_blue_negative_red_and_no_node_grey():
    values = {(0, 1): 1.0, (0, 2): 0.01, (0, 3): 5.0, (1, 2): -1.0, (1, 3): -0.01, (2, 3): 0.0, (2, 4): -7.0}
    svg, cells = draw(["a", "b", "c", "d"], values), {}
    for mesh in re.findall(r'<g id="QuadMesh_\d+">(.*?)</g>', svg, re.S):
        fills = re.findall(r"fill: (none|#\w{6})", mesh)
        assert len(fills) == 16
        for cell, fill in enumerate(fills):
            if fill != "none":  # what is drawn later covers it
                cells[cell // 4, cell % 4 + 1] = [int(fill[k : k + 2], 16) for k in (1, 3, 5)]
    assert cells.keys() == {(i, j) for i in range(4) for j in range(i + 1, 5)}
    for span, (red, green, blue) in cells.items():
        value = values.get(span, np.nan)
        if value > 0:
            assert blue > red + 50, span
        elif value < 0:
            assert red > blue + 50, span
        else:
            assert red == green == blue < 240 if np.isnan(value) else min(red, green, blue) > 240, span
    assert cells[0, 3] == cells[0, 1] and cells[2, 4] == cells[1, 2]  # beyond 1
    assert sum(cells[0, 2]) > sum(cells[0, 1]) and sum(cells[1, 3]) > sum(cells[1, 2])
    # the image of the colour bar, -1 first, is turned over
    image = re.search(r'<image xlink:href="data:image/png;base64,([^"]*)"[^>]*transform="scale\(1 -1\)', svg)
    bar = pictures.imread(io.BytesIO(base64.b64decode(image[1])))[:, 0, :3] * 255
    assert bar[0] == pytest.approx(cells[1, 2], abs=2) and bar[-1] == pytest.approx(cells[0, 1], abs=2)


def test_same_bytes_and_models_side_by_side(tmp_path):
    charts = {"MLE": chart(), "SPECTRAL": {(0, 7): 1.0}}
    assert draw_charts(WORDS, charts, "s") == draw_charts(WORDS, charts, "s")
    for n, kind in ((1, "png"), (2, "png")):
        assert draw_charts(["a", "b"], {"m": {(0, 2): 1.0}}, "s", tmp_path / f"{n}.{kind}") == ""
    assert (tmp_path / "1.png").read_bytes() == (tmp_path / "2.png").read_bytes()
    assert (tmp_path / "1.png").read_bytes().startswith(b"\x89PNG")
    svg = draw_charts(WORDS, charts, "s")
    assert "MLE" in svg and "SPECTRAL" in svg and svg.count("彼女") == 3  # rows are named once


def test_a_matrix_is_the_mapping():
    matrix = np.full((7, 8), np.nan)
    for (i, j), value in chart().items():
        matrix[i, j] = value
    assert draw(WORDS, matrix) == draw(WORDS, chart())


def test_bad_input(tmp_path):
    for words, marginals in (([], {}), (["a"], {(0, 2): 1.0}), (["a"], {(1, 1): 1.0}), (["a"], np.zeros((1, 1)))):
        with pytest.raises(ValueError):
            draw(words, marginals)
    with pytest.raises(InputError, match="must end in"):
        draw(["a"], {}, path=tmp_path / "a.gif")
