"""Pictures of pairs: each phrase a box and a node, each rule a circle, inside of the picture."""

import re
from collections import Counter
from xml.etree import ElementTree

import pytest
from hypothesis import given
from trees import linked_lengths, texts

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.extract.derive import derive
from lscfg.study.inspect import draw_tree
from lscfg.study.pair_picture import WIDEST, PairForest, draw_pair_forest
from lscfg.study.svg import CELL, label_width

SVG = "{http://www.w3.org/2000/svg}"


def parts(picture, name, kind=""):
    found = [item for item in picture.iter(SVG + name) if kind in item.get("class", "").split() or not kind]
    return [{**item.attrib, "title": title(item)} for item in found]


def title(item):
    inner = item.find(SVG + "title")
    return None if inner is None else inner.text


def trees_of(pair, forests):
    src, tgt, links = texts(*pair)
    return derive([src], [tgt], [links], forests=forests)


@pytest.mark.parametrize("forests", [False, True])
@given(pair=linked_lengths())
def test_all_phrases_and_rules_are_drawn(forests, pair):
    made = trees_of(pair, forests)
    if len(made.rule) == 0:
        return
    found = PairForest.of(made, 0)
    text = draw_pair_forest(found)
    assert draw_pair_forest(PairForest.of(made, 0)) == text
    picture = ElementTree.fromstring(text)
    size = [float(picture.get(name)) for name in ("width", "height")]
    boxes = parts(picture, "rect", "phrase")
    spans = (made.forests.span if forests else made.span).tolist()
    words = [side.split() for side in texts(*pair)[:2]]
    wanted = [f"{' '.join(words[0][i:j])} / {' '.join(words[1][k:n])}" for i, j, k, n in spans if k < n]
    assert Counter(box["title"] for box in boxes) == Counter(wanted)
    assert len(parts(picture, "rect", "node")) == len(spans)
    assert len(parts(picture, "rect", "other")) == 2 * (len(spans) - len(made.rule))
    rules = made.forests.rule.tolist() if forests else made.rule.tolist()
    table = made.forests.rules if forests else made.rules
    circles = parts(picture, "circle")
    assert Counter(circle["title"] for circle in circles) == Counter(table.short_text(rule) for rule in rules)
    assert len(parts(picture, "line")) == len(rules) + sum(int(table.arity[rule]) for rule in rules)
    places = [(float(circle["cx"]), float(circle["cy"])) for circle in circles]
    assert len({*places}) == len(places)
    assert all(0 < x < size[0] and 0 < y < size[1] for x, y in places)
    for box in boxes:
        assert 0 < float(box["width"]) <= CELL * len(words[0])
        assert 0 < float(box["height"]) <= CELL * len(words[1])


def test_boxes_lie_inside_of_larger_ones():
    made = derive(["a b c"], ["A B C"], ["0-0 1-1 2-2"], forests=True)
    picture = ElementTree.fromstring(draw_pair_forest(PairForest.of(made, 0)))
    found = {}
    for box in parts(picture, "rect", "phrase"):
        x, y, width, height = (float(box[name]) for name in ("x", "y", "width", "height"))
        found[box["title"]] = (x, y, x + width, y + height)
    whole, left, word = (found[name] for name in ("a b c / A B C", "a b / A B", "b / B"))
    for outer, inner in ((whole, left), (left, word)):
        assert outer[0] < inner[0] < inner[2] < outer[2]
        assert outer[1] < inner[1] < inner[3] < outer[3]
    other = [box["title"] for box in parts(picture, "rect", "phrase") if "other" in box["class"]]
    assert len(other) == 1


def test_phrases_without_target_words_have_no_box(tmp_path):
    path = tmp_path / "made.trees"
    path.write_text("a [X,1] ||| [X,1]\n  [X,1] c ||| [X,1]\n    b |||\n\n[X,1] b ||| B [X,1]\n  c |||\n")
    for number, boxes, nodes in ((1, 0, 3), (2, 1, 2)):
        picture = ElementTree.fromstring(draw_tree(path, number))
        assert (len(parts(picture, "rect", "phrase")), len(parts(picture, "rect", "node"))) == (boxes, nodes)
        assert all(float(box["height"]) > 0 for box in parts(picture, "rect"))


def test_long_words_stay_in_their_column():
    words = ["international" * 6, "は"]
    made = derive([" ".join(words)], ["International は"], ["0-0 1-1"])
    picture = ElementTree.fromstring(draw_pair_forest(PairForest.of(made, 0)))
    shown = [item.text for item in picture.iter(SVG + "text") if item.get("class") == "words"]
    assert [text.endswith("…") for text in shown] == [True, False]
    assert all(label_width([text]) <= WIDEST for text in shown)


def test_a_long_pair_is_drawn_at_once():
    """The number of edges grows with the cube of the length, and each is looked at once."""
    n = 40
    made = derive(
        [" ".join(f"f{k}" for k in range(n))],
        [" ".join(f"e{k}" for k in range(n))],
        [" ".join(f"{k}-{k}" for k in range(n))],
        forests=True,
    )
    picture = ElementTree.fromstring(draw_pair_forest(PairForest.of(made, 0)))
    assert len(parts(picture, "circle")) == len(made.forests.rule) == n + n * (n * n - 1) // 6
    places = {(circle["cx"], circle["cy"]) for circle in parts(picture, "circle")}
    assert len(places) > n * n


def test_words_are_escaped():
    made = derive(["<a> &"], ['"x" <b>'], ["0-0 1-1"])
    text = draw_pair_forest(PairForest.of(made, 0))
    assert "<a>" not in text
    assert ElementTree.fromstring(text).find(SVG + "title").text == '<a> & / "x" <b>'


def test_trees_that_are_not_there(tmp_path):
    path = tmp_path / "made.deriv"
    derive(["a", "b b"], ["A", "B"], ["0-0", ""]).save(path)
    assert draw_tree(path, 1).startswith("<svg")
    with pytest.raises(InputError, match=r"no tree 3; trees are counted from 1 to 2"):
        draw_tree(path, 3)


def test_the_command_draws(tmp_path, capsys):
    path = tmp_path / "made.deriv"
    derive(["a b"], ["B A"], ["0-1 1-0"]).save(path)
    command = ["inspect", "derivations", str(path), "--format", "svg"]
    assert main([*command, "--tree", "1"]) == 0
    assert len(re.findall("<circle", capsys.readouterr().out)) == 3
    for other in ([], ["--tree", "all"]):
        assert main([*command, *other]) != 0
        assert "--format svg draws one tree; give its number as --tree N" in capsys.readouterr().err
