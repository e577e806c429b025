"""Explanations, against all derivations of small sentences, and as text, JSON and HTML."""

import dataclasses
import json
import math
import re
import unicodedata

import numpy as np
import pytest
from categories import RULES as LABELLED
from categories import Enumerated, random_parameters, saved, table_of
from forests import RULES, build
from helpers import derivations, rule_table, save_model

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.derivations import describe
from lscfg.errors import InputError
from lscfg.grammar.write import glue_rules
from lscfg.io.columns import WIDTH, fit
from lscfg.io.write import write_lines
from lscfg.kernel import Binding, ParseOptions, X
from lscfg.model.parameters import OneState
from lscfg.study.explain import Explainer, Explanation
from lscfg.study.show import LEGEND, explanations_html, explanations_json, explanations_page, explanations_text


@pytest.fixture
def model(tmp_path):
    """A model of three states with relative frequencies."""
    build(tmp_path, 3, 4, signed=False)
    rng, table = np.random.default_rng(4), rule_table(RULES)
    tensors = [rng.uniform(size=[3] * (a + 1)) for a in table.arity]
    one = OneState(rng.uniform(0.1, 1, size=len(RULES)), np.array([0.1]))
    return save_model(tmp_path / "m.lscfg", table, tensors, rng.uniform(size=3), rng.uniform(size=3), one)


def spans_of(explanation):
    return {one.span: one for one in explanation.spans}


@pytest.mark.parametrize("sentence", ["a", "b a b", "a c b", "b a c a", "a q b"])
def test_the_best_derivation_has_the_largest_product(model, sentence):
    explainer = Explainer(model)
    grammar = explainer.grammar
    forest = grammar.parse(
        np.array([grammar.vocab.find(word) for word in sentence.split()], np.int32), ParseOptions(100, False, 2, X)
    )
    result = Binding(explainer.model, grammar).infer(forest)
    head = forest.edge_head[forest.app_edge]
    q = np.log(result.apps / result.nodes[head])
    best = max(derivations(forest), key=lambda apps: q[apps].sum())
    found = explainer(sentence)
    said = [(rule.span, rule.source) for rule in found.best]
    expected = [
        (tuple(forest.node_span[head[app]].tolist()), grammar_source(explainer, forest, app, sentence)) for app in best
    ]
    assert said == expected
    assert found.log_g == result.log_g and found.words == tuple(sentence.split())
    assert len(found.translation.split()) == found.best[0].target_span[1]
    for node in set(head[best].tolist()):
        span = spans_of(found)[tuple(forest.node_span[node].tolist())]
        assert abs(span.marginal - result.nodes[node]) < 1e-12 and span.depth is not None
        assert sum(choice.chosen for choice in span.choices) == 1


def grammar_source(explainer, forest, app, sentence):
    return explainer._sides(forest, app, sentence.split())[0]


def test_choices_have_shares_frequencies_and_gains(model):
    explainer = Explainer(model)
    one = dict(zip(RULES, explainer._frequency, strict=True))
    span = spans_of(explainer("a b", top=100))[0, 1]
    x, y = sorted(span.choices, key=lambda choice: choice.target)
    assert (x.source, x.target, y.target, span.n_choices) == ("a", "x", "y", 2)
    assert abs(x.given_source - x.marginal / (x.marginal + y.marginal)) < 1e-9
    assert abs(x.frequency - one["a ||| x"] / (one["a ||| x"] + one["a ||| y"])) < 1e-12
    assert abs(x.gain - math.log(x.given_source / x.frequency)) < 1e-12 and x.context is None
    assert abs(sum(state.share for state in span.states) - 1) < 1e-12
    unknown = spans_of(explainer("a q"))[1, 2].choices[0]
    assert (unknown.source, unknown.target, unknown.frequency, unknown.gain) == ("q", "q", None, None)


def test_other_spans_are_those_of_marginals(model):
    explainer = Explainer(model)
    alone, more = explainer("b a c a b", least=2.0), explainer("b a c a b", least=0.0)
    assert all(span.depth is not None for span in alone.spans)
    assert {span.span for span in alone.spans} < {span.span for span in more.spans}
    assert more.spans[: len(alone.spans)] == alone.spans


def test_no_parse_and_bad_limits(model):
    explainer = Explainer(model)
    assert explainer("") == Explanation(str(model), 3, ())
    for bad in ({"top": 0}, {"least": -1.0}, {"least": math.nan}):
        with pytest.raises(InputError, match="number of choices must be at least 1"):
            explainer("a", **bad)


def test_signed_models_are_explained_without_states(tmp_path):
    build(tmp_path, 3, 4, signed=True)
    explanation = Explainer(tmp_path / "m")("b a b")
    assert explanation.translation and not any(span.states for span in explanation.spans)
    assert not re.search(r"^  states [0-9]", explanations_text([explanation]), re.M)


def test_a_negative_sum_has_shares_and_gains(tmp_path):
    """The shares are those of absolute marginals, or of positive ones if the ini says so."""
    rng, table = np.random.default_rng(3), rule_table(RULES)
    tensors = [rng.normal(size=[3] * (a + 1)) for a in table.arity]
    one = OneState(np.full(len(RULES), 0.1), np.array([0.1]))
    save_model(tmp_path / "m.lscfg", table, tensors, rng.normal(size=3), rng.normal(size=3), one)
    write_lines(tmp_path / "g", [f"[X] ||| {rule} |||" for rule in RULES])
    for negative in ("flip", "clamp"):
        line = f"feature_function=LSCFG model=m.lscfg features=paper negative={negative}"
        head = ["formalism=scfg", "grammar=g", "goal=X", "scfg_no_hiero_glue_grammar=true"]
        write_lines(tmp_path / f"{negative}.ini", [*head, line])
    explainers = [Explainer(tmp_path / name) for name in ("m.lscfg", "flip.ini", "clamp.ini")]
    sentences, signs, clamped = ["a b", "b a", "a b a", "b a b", "a c b", "a a b", "b b a", "a b c a"], [], 0
    for sentence in sentences:
        grammar = explainers[0].grammar
        ids = np.array([grammar.vocab.find(word) for word in sentence.split()], np.int32)
        inference = Binding(explainers[0].model, grammar).infer(grammar.parse(ids, ParseOptions(100, False, 2, X)))
        signs.append(inference.sign)
        for explainer in explainers:
            flips = explainer is not explainers[2]
            for span in explainer(sentence, top=100, least=0.0).spans:
                edges = {}
                for choice in span.choices:
                    edges.setdefault((choice.source, choice.spans), []).append(choice)
                for choices in edges.values():
                    values = [abs(c.marginal) if flips else max(c.marginal, 0.0) for c in choices]
                    clamped += not flips and min(c.marginal for c in choices) < 0
                    if sum(values) > 0:
                        shares = [value / sum(values) for value in values]
                        assert [c.given_source for c in choices] == pytest.approx(shares)
                        for choice, share in zip(choices, shares, strict=True):
                            known = choice.frequency is not None and share > 0  # c is passed through by the first
                            gain = math.log(share * len(choices)) if known else None
                            assert choice.gain == (pytest.approx(gain, abs=1e-9) if known else None)
    assert {-1, 1} <= {*signs} and clamped


def test_models_of_several_categories_are_explained(tmp_path):
    table = table_of(LABELLED, ("A", "B"))
    parameters = random_parameters(table, (2, 3), 1)
    one = OneState(np.arange(1.0, len(table) + 1), np.array([0.1, 0.2]), np.array([0.5, 0.5]))
    path = saved(dataclasses.replace(parameters, one=one), tmp_path / "m.lscfg")
    write_lines(tmp_path / "g", [f"{table.text(k)} |||" for k in range(len(table))] + [*glue_rules(table)])
    options = ["add_pass_through_rules=true", "scfg_no_hiero_glue_grammar=true", "scfg_max_span_limit=100"]
    line = f"feature_function=LSCFG model={path} features=paper"
    write_lines(tmp_path / "cdec.ini", ["formalism=scfg", "grammar=g", *options, line])
    for explainer in (Explainer(path), Explainer(tmp_path / "cdec.ini")):
        sentence = "u a c b"
        found = explainer(sentence, top=100, least=0.0)
        forest = explainer._parse(sentence.split())
        sums = Enumerated(forest, explainer.grammar, parameters)
        names = [explainer.grammar.category_name(category) for category in forest.node_cat]
        nodes = zip(names, map(tuple, forest.node_span.tolist()), sums.nodes, strict=True)
        wanted = {(name, span): value for name, span, value in nodes if name in ("A", "B")}
        said = {(one.category, one.span): one for one in found.spans}
        assert {key: one.marginal for key, one in said.items()} == pytest.approx(wanted) and len(said) > 4
        assert math.exp(found.log_g) == pytest.approx(sums.g) and found.translation and not found.unknown
        (x, y), (z,) = (said[name, (1, 2)].choices for name in "AB")
        assert {x.target: x.frequency, y.target: y.frequency} == pytest.approx({"x": 1 / 3, "y": 2 / 3})
        assert (z.target, z.frequency) == ("x", 1.0)
        text, page = explanations_text([found]), explanations_html([found])
        for name in "AB":
            assert f"[{name}] [1,2) a  μ" in text and f"[{name}] a · μ" in page
        assert explainer("u q").unknown == ("q",) and explainer("u q").translation


def test_text_is_narrow_and_says_all(model):
    explainer = Explainer(model)
    found = explainer("b a c a b")
    text = explanations_text([found])
    assert max(map(columns, text.splitlines())) <= WIDTH
    assert f"best      {found.translation}" in text and "[0,5) b a c a b  μ 1.000" in text
    rows = re.findall(r"^ \* +([\d.]+) +([\d.]+) +([\d.–]+) +([-+\d.–]+) +– +.* → ", text, re.M)
    assert len(rows) == len(found.best)
    two = explanations_text([found, explainer("b a c a b", least=2.0)])
    assert max(map(columns, two.splitlines())) <= WIDTH and re.search(r"^ \*\* ", two, re.M)
    page = explanations_html([found])
    for name, meaning in LEGEND.items():
        assert f"  {name:<7}  {meaning}" in text and meaning.replace("freq.", "frequency") in page
    assert "unknown   1 of 2 words unknown: x" in explanations_text([explainer("a x")])
    assert "1 of 2 words unknown: x" in explanations_html([explainer("a x")])
    assert "A P(e|f)" in two and "best derivation of B" in two
    assert "no parse" in explanations_text([explainer("")])


def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def test_lines_are_cut_by_columns():
    assert fit("abc", 3) == "abc" and fit("abcd", 3) == "ab…" and fit("", 3) == ""
    assert fit("猫が好き", 8) == "猫が好き" and fit("猫が好きだ", 8) == "猫が好…"


def test_json_has_the_same(model):
    found = Explainer(model)("b a")
    (said,) = json.loads(explanations_json([found]))
    assert said["translation"] == found.translation and said["parsed"] and said["rank"] == 3
    assert [rule["source"] for rule in said["best"]] == [rule.source for rule in found.best]
    choice = said["spans"][0]["choices"][0]
    assert choice["marginal"] == float(f"{found.spans[0].choices[0].marginal:.9g}")
    (none,) = json.loads(explanations_json([Explainer(model)("")]))
    assert none["translation"] is None and not none["parsed"] and none["log_g"] is None


def test_html_is_whole_and_escapes(tmp_path):
    table = rule_table(["<b> ||| &x", "[X,1] [X,2] ||| [X,2] [X,1]"])
    path = save_model(tmp_path / "m", table, [np.ones(1) / 2, np.ones((1, 1, 1)) / 4], np.ones(1), np.ones(1) / 4)
    found = Explainer(path)("<b> <b>")
    page = explanations_page([found, found])
    assert "<b> <b>" not in page and "&lt;b&gt; → &amp;x" in page and "default-src 'none'" in page
    for tag in ("details", "table", "tr", "div", "p", "main", "html"):
        assert len(re.findall(f"<{tag}[ >]", page)) == page.count(f"</{tag}>"), tag
    assert "<html" not in explanations_html([found])
    assert re.search(r'<tr[^>]*><t[dh][^>]*class="rule"', page) and page.count('class="tree"') >= 2


def test_a_given_derivation_stands_in_place_of_the_best(model):
    """Each derivation of the forest can be given; what is said of its rules is what is said of them elsewhere."""
    explainer = Explainer(model)
    words = ["b", "a", "b"]
    ids = np.array([explainer.grammar.vocab.find(word) for word in words], np.int32)
    forest = explainer.grammar.parse(ids, ParseOptions(100, False, 2, X))
    every = explainer(" ".join(words), top=1000, least=0.0)
    known = {(one.span, c.source, c.target, c.spans): c.marginal for one in every.spans for c in one.choices}
    found = set()
    for apps in derivations(forest):
        given = describe(forest, explainer.grammar, words, list(apps), [{} for _ in apps])
        said = explainer(" ".join(words), least=1e9, derivation=given)
        assert [(r.span, r.source, r.target) for r in said.best] == [(r.span, r.source, r.target) for r in given]
        for one in said.spans:
            (chosen,) = (choice for choice in one.choices if choice.chosen)
            assert chosen.marginal == known[one.span, chosen.source, chosen.target, chosen.spans]
        assert len(said.spans) == len(given)
        found.add(said.translation)
    assert len(found) > 1 and every.translation in found
    other = tuple(dataclasses.replace(rule, target="nothing") for rule in given)
    with pytest.raises(InputError, match=r"the forest has no rule .* → nothing over words"):
        explainer(" ".join(words), derivation=other)


def test_a_borrowed_rule_has_the_figures_of_the_copied_word(model, tmp_path):
    write_lines(tmp_path / "g", [f"[X] ||| {rule} |||" for rule in RULES])
    lines = [
        "formalism=scfg",
        "grammar=g",
        "add_pass_through_rules=true",
        f"feature_function=LSCFG model={model} features=paper",
    ]
    write_lines(tmp_path / "plain.ini", lines)
    write_lines(tmp_path / "cdec.ini", [*lines, "unknown_words=similar"])
    with EmbeddedDecoder.from_ini(tmp_path / "cdec.ini") as decoder:
        (found,) = decoder.translate(["A b"], {"SubstituteForm": 9.0}, derivations=True)
    (derivation, text) = found.derivations[0], found.hypotheses[0].text
    assert ("A", "x") in {(rule.source, rule.target) for rule in derivation}
    said = Explainer(tmp_path / "cdec.ini")("A b", derivation=derivation)
    assert said.translation == text
    assert [(rule.source, rule.target) for rule in said.best] == [(rule.source, rule.target) for rule in derivation]
    (chosen,) = (choice for choice in spans_of(said)[0, 1].choices if choice.chosen)
    assert (chosen.source, chosen.target) == ("A", "A")
    with pytest.raises(InputError, match="the forest has no rule A → x over words"):
        Explainer(tmp_path / "plain.ini")("A b", derivation=derivation)
