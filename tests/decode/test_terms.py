"""Terms: layers of grammar, restricted forests and translations that obey, by enumeration of all derivations."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import numpy as np
import pytest
from decoders import GRAMMAR, WEIGHTS, Provider, small_config

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.derivations import Derivation, Translated
from lscfg.decode.sentence_rules import encode
from lscfg.decode.terms import ChosenSpan, Occurrence, Overlap, Term, TermIndex, form_places, used_terms
from lscfg.errors import InputError
from lscfg.kernel import EXTRA_RULES, Grammar, GrammarLayer, ParseOptions, X
from lscfg.kernel.search import SearchOptions, search

RULES = [
    ("a", "x"), ("b", "y"), ("a b", "x y"), ("[X,1] b", "y [1]"), ("a [X,1] c", "[1] z"), ("c", "z"), ("b c", "w"),
    ("[X,1] c [X,2]", "[2] x y [1]"), ("a [X,1] b [X,2] c [X,3]", "[3] y [1] x y [2]"), ("[X,1] [X,2]", "[2] [1]"),
]  # fmt: skip
LATER = [("a", "x y"), ("b c", "q"), ("a b", "x"), ("c a b", "r z"), ("d", "z")]
LATER_WITH_GAPS = [
    ("a [X,1] b", "[1] q"), ("[X,1] d [X,2]", "[2] r [1]"), ("a b [X,1]", "[1] w"), ("[X,1] c", "r [1]"),
    ("[X,1] b [X,2] c [X,3] a", "[3] x [1] [2]"), ("d [X,1] [X,2]", "[2] [1] y"),
]  # fmt: skip


def grammar_of(rules: list[tuple[str, str]], words: str) -> Grammar:
    grammar = Grammar()
    grammar.vocab.add_line(words)
    grammar.read_text("".join(f"[X] ||| {source} ||| {target} |||\n" for source, target in rules))
    grammar.finish()
    return grammar


def layer_of(base: Grammar, rules: list[tuple[str, str]]) -> GrammarLayer:
    layer = GrammarLayer(base)
    for number, (source, target) in enumerate(rules):
        ids = [base.vocab.add_line(side).tolist() for side in (source, target)]
        assert layer.add(X, *ids) == len(base) + EXTRA_RULES + number
    layer.finish()
    return layer


@pytest.mark.parametrize("pass_through", [0, 1, 2])
@pytest.mark.parametrize("later", [LATER, LATER + LATER_WITH_GAPS], ids=["words", "gaps"])
def test_base_and_layer_equal_one_grammar_of_all_rules(pass_through: int, later: list[tuple[str, str]]) -> None:
    words = "a b c d x y z w q r"
    base, rng = grammar_of(RULES, words), random.Random(2)
    layer, whole = GrammarLayer(base), grammar_of(RULES + later, words)
    sides = [encode(base, *rule) for rule in later]
    assert layer.add_all(X, [(one.source, one.target) for one in sides]) == len(base) + EXTRA_RULES
    layer.finish()
    options = ParseOptions(max_span=6, pass_through=pass_through)
    for _ in range(25):
        sentence = base.vocab.add_line(" ".join(rng.choices("aabbccd", k=rng.randint(1, 6))))
        lists = []
        for grammar in (layer, whole):
            forest = grammar.parse(sentence, options)
            if forest is None:
                lists.append([])
                continue
            size = len(grammar)
            cost = {}
            for rule in np.unique(forest.app_rule).tolist():
                extra = size <= rule < size + EXTRA_RULES
                cost[rule] = 0.0 if extra else -1.0 - sum(grammar.src(rule)) % 7 / 64 - sum(grammar.tgt(rule)) % 5 / 8
            scores = np.array([cost[rule] for rule in forest.app_rule.tolist()])
            found = search(forest, grammar, None, scores, SearchOptions(pop_limit=10000, k=5000))
            lists.append(sorted(zip(found.score.tolist(), found.word_lists(), strict=True)))
        assert lists[0] == lists[1]


def test_numbers_and_faults_of_a_layer() -> None:
    base = grammar_of(RULES, "a b c d x y z w q r")
    layer = layer_of(base, LATER)
    first = len(base) + EXTRA_RULES
    assert len(layer) == len(base) and layer.tgt(0) == base.tgt(0) and layer.lhs(first) == X
    assert layer.src(first + 1) == base.vocab.add_line("b c").tolist()
    for rule in (len(base), first - 1, first + len(LATER)):
        with pytest.raises(IndexError):
            layer.tgt(rule)
    with pytest.raises(ValueError, match="not itself a layer"):
        GrammarLayer(layer)
    with pytest.raises(ValueError, match="finished"):
        GrammarLayer(Grammar())
    with pytest.raises(InputError, match="a layer has no rule of one nonterminal without words"):
        GrammarLayer(base).add(X, [-1], [-1])
    with pytest.raises(InputError, match="names nonterminal 1 of 0"):
        GrammarLayer(base).add_all(X, [([0], [1]), ([0], [-1])])
    with pytest.raises(InputError, match="lattice"):
        layer.parse_lattice(np.array([[0, 1, 0]]), 2, ParseOptions())


def test_a_rule_of_a_layer_may_be_longer_than_the_span_limit() -> None:
    base = grammar_of(RULES, "a b c d x y z w q r")
    layer = layer_of(base, [("d d d d", "q")])
    forest = layer.parse(base.vocab.add_line("a d d d d b"), ParseOptions(max_span=2, pass_through=0))
    assert forest is not None and len(base) + EXTRA_RULES in forest.app_rule.tolist()


def test_a_rule_with_gaps_exceeds_the_span_limit_only_over_the_whole_sentence() -> None:
    base = grammar_of([("a", "x"), ("b", "y")], "a b x y q r")
    layer = GrammarLayer(base)
    layer.add_all(X, [encode(base, "a [X,1] b", "q [1]")[1:]])
    layer.finish()
    options = ParseOptions(max_span=2)
    for text, whole in (("a b b", True), ("b a b b", False), ("a b b b", False)):
        forest = layer.parse(base.vocab.add_line(text), options)
        assert forest is not None and (len(base) + EXTRA_RULES in forest.app_rule.tolist()) == whole


def test_restricted_forests_by_enumeration() -> None:
    base, rng = grammar_of(RULES, "a b c x y z w"), np.random.default_rng(3)
    options, empty = SearchOptions(pop_limit=10000, k=5000), 0
    for sentence in ("a b c", "a a b c", "a b b c", "c"):
        forest = base.parse(base.vocab.add_line(sentence), ParseOptions())
        assert forest is not None
        for share in (0.5, 0.8, 0.95, 1.0):
            keep = rng.random(forest.n_apps) < share
            keep |= forest.is_rest
            scores = -rng.random(forest.n_apps)
            found = search(forest, base, None, scores, options)
            assert len(found) < options.k  # all derivations
            bounds = list(itertools.pairwise(found.app_offsets.tolist()))
            expected = sorted(
                (score, found.apps[i:j].tolist())
                for score, (i, j) in zip(found.score.tolist(), bounds, strict=True)
                if keep[found.apps[i:j]].all()
            )
            part, app_of = forest.restricted(keep)
            if part is None:
                assert not expected and not len(app_of)
                empty += 1
                continue
            got = search(part, base, None, scores[app_of], options)
            bounds = list(itertools.pairwise(got.app_offsets.tolist()))
            actual = [(s, app_of[got.apps[i:j]].tolist()) for s, (i, j) in zip(got.score.tolist(), bounds, strict=True)]
            assert sorted(actual) == expected
    assert empty


def translated(folder: Path, sentence: str, terms: list[Term], k: int = 20000, **more: object) -> Translated:
    config = small_config(folder)
    extra = "[X] ||| [X,1] y [X,2] z [X,3] ||| [3] and [1] and [2] |||\n[X] ||| casa verde ||| green house |||\n"
    (folder / "grammar").write_text(GRAMMAR + extra)
    with EmbeddedDecoder(config, Provider) as decoder:
        (found,) = decoder.translate([sentence], WEIGHTS, k, derivations=True, terms=terms, **more)  # type: ignore[arg-type]
    return found


def obeys(derivation: Derivation, words: list[str], span: tuple[int, int], forms: set[str]) -> bool:
    """The definition: one rule translates all words of the occurrence, by an allowed form and perhaps more."""
    for rule in derivation:
        if {*range(*span)} <= {*rule.source_words}:
            target = " ".join("|" if symbol.startswith("[") else symbol for symbol in rule.target.split())
            return any(f" {form} " in f" {target} " for form in forms)
    return False


@pytest.mark.parametrize(
    ("sentence", "span", "forms"),
    [
        ("la casa verde", (1, 2), {"house"}),
        ("la casa verde", (1, 2), {"home", "house"}),
        ("la casa verde", (0, 2), {"the big building"}),
        ("la y casa z verde casa", (2, 3), {"home"}),
        ("la casa otra", (2, 3), {"otra"}),
    ],
)
def test_hard_terms_by_enumeration(tmp_path: Path, sentence: str, span: tuple[int, int], forms: set[str]) -> None:
    """Derivations that obey are exactly those of a system with the forms as soft terms, filtered by the definition."""
    source = " ".join(sentence.split()[slice(*span)])
    if sentence.split().count(source) > 1:
        sentence = " ".join(sentence.split()[:-1])
    soft = translated(tmp_path, sentence, [Term(source, tuple(sorted(forms)), "soft")])
    hard = translated(tmp_path, sentence, [Term(source, tuple(sorted(forms)))])
    words = sentence.split()
    expected = sorted(
        h.text for h, d in zip(soft.hypotheses, soft.derivations, strict=True) if obeys(d, words, span, forms)
    )
    assert len(soft.hypotheses) >= len(expected) > 0
    assert sorted(h.text for h in hard.hypotheses) == expected
    (used,) = hard.terms
    assert used.source == span and used.form in forms
    assert " ".join(hard.hypotheses[0].text.split()[slice(*used.target)]) == used.form


def test_a_term_that_the_best_translation_obeys_changes_nothing(tmp_path: Path) -> None:
    plain = translated(tmp_path, "la casa verde", [], 1)
    hard = translated(tmp_path, "la casa verde", [Term("casa", ("house",))], 1)
    assert hard.hypotheses[0].text == plain.hypotheses[0].text


def test_kept_words_choices_and_soft_terms(tmp_path: Path) -> None:
    kept = translated(tmp_path, "la casa verde", [Term("CASA", (), "keep", "nocase")], 1)
    assert "casa" in kept.hypotheses[0].text.split() and [used.form for used in kept.terms] == ["casa"]
    chosen = translated(tmp_path, "casa casa", [Term("casa", ("home",))], 1, choices=[ChosenSpan((1, 2), "old house")])
    assert [used.form for used in chosen.terms] == ["home", "old house"]
    config = small_config(tmp_path)
    with EmbeddedDecoder(config) as decoder:
        texts = [
            next(decoder.translate(["casa"], WEIGHTS | {"Terminology": w}, terms=[Term("casa", ("x",), "soft")]))
            for w in (-50.0, 50.0)
        ]
    assert [found.hypotheses[0].text for found in texts] == ["house", "x"] and texts[1].terms == ()


def test_without_a_parse_terms_are_replaced(tmp_path: Path) -> None:
    config = small_config(tmp_path)
    config = type(config)(**{**vars(config), "pass_through": False})
    with EmbeddedDecoder(config) as decoder:
        (found,) = decoder.translate(["otra casa q"], WEIGHTS, terms=[Term("casa", ("my home",))])
    assert found.unparsed and found.hypotheses[0].text == "otra my home q"


def test_longest_then_leftmost_and_the_first_of_equal_sources() -> None:
    terms = [Term("a b", ("1",)), Term("b c d", ("2",)), Term("A", ("3",), "soft", "nocase"), Term("a b", ("4",))]
    found = TermIndex(terms).find(["a", "b", "c", "d", "a", "b", "a"])
    assert found.occurrences == (
        Occurrence((0, 1), ("3",), False), Occurrence((1, 4), ("2",), True), Occurrence((4, 6), ("1",), True),
        Occurrence((6, 7), ("3",), False),
    )  # fmt: skip
    assert found.numbers == (2, 1, 0, 2)
    assert found.overlaps == (Overlap(0, (0, 2), (1, 4)), Overlap(2, (4, 5), (4, 6)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((" ", ("x",)), "source of a term is empty"),
        (("a", ()), "no target"),
        (("a", ("x",), "keep"), "takes no target"),
        (("a", ("x",), "firm"), "mode 'firm' is unknown"),
        (("a", ("x",), "hard", "stems"), "match 'stems' is unknown; use exact or nocase or stem"),
        (("a " * 201, ("x",)), "at most 200"),
        (("a", ("x",) * 17), "at most 16"),
    ],
)
def test_bad_terms_are_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Term(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "choice", [ChosenSpan((1, 1), "x"), ChosenSpan((0, 3), "x"), ChosenSpan((-1, 1), "x"), ChosenSpan((0, 1), " ")]
)
def test_bad_choices_are_refused(choice: ChosenSpan) -> None:
    with pytest.raises(InputError, match="the choice"):
        TermIndex().find(["a", "b"], [choice])


def test_choices_that_overlap_are_refused() -> None:
    with pytest.raises(InputError, match=r"choices \[0, 2\] and \[1, 3\] overlap"):
        TermIndex().find(["a", "b", "c"], [ChosenSpan((0, 2), "x"), ChosenSpan((1, 3), "y")])


def test_forms_of_several_terms_do_not_overlap() -> None:
    assert form_places(["a", "b", "a"], [[["a", "b"]], [["a"]]]) == ((0, ["a", "b"]), (2, ["a"]))
    assert form_places(["a", "b"], [[["a", "b"]], [["a"], ["b"]]]) is None
    assert form_places(["a", "b", "a"], [[["a"]], [["a", "b"]]]) == ((2, ["a"]), (0, ["a", "b"]))  # the second place
    assert form_places(["a", "", "b"], [[["a", "b"]]]) is None
    both = [Occurrence((0, 1), ("a",), True), Occurrence((1, 2), ("a b",), True)]
    used = used_terms([((0, 1), (0, 1, 3))], ["a", "b", "z", "a"], both)
    assert [(one.source, one.target) for one in used] == [((0, 1), (3, 4)), ((1, 2), (0, 2))]


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        (["a"] * 30, [[["a"]]] * 30),
        (["a"] * 15 + ["b"] * 15, [[["a"], ["b"]]] * 15 + [[["a"]]] * 15),
        (["a", "b"] * 15, [[["a", "b"]]] * 15),
    ],
)
def test_places_of_many_equal_terms_are_found_at_once(target: list[str], wanted: list[list[list[str]]]) -> None:
    """A sentence may contain a term many times; trying all orders of the terms would take ages."""
    found = form_places(target, wanted)
    assert found is not None and all(target[i : i + len(form)] == form for i, form in found)
    assert sorted(k for i, form in found for k in range(i, i + len(form))) == [*range(30)]
    assert form_places(target[1:], wanted) is None


@pytest.mark.parametrize("seed", range(20))
def test_places_of_forms_by_enumeration(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(50):
        target = [chance.choice("aab") for _ in range(chance.randint(0, 6))]
        wanted = [
            [[chance.choice("ab") for _ in range(chance.randint(1, 2))] for _ in range(chance.randint(1, 2))]
            for _ in range(chance.randint(1, 4))
        ]
        choices = [[(i, form) for form in forms for i in range(len(target))] for forms in wanted]
        first = next(
            (
                one
                for one in itertools.product(*choices)
                if all(target[i : i + len(form)] == form for i, form in one)
                and len({k for i, form in one for k in range(i, i + len(form))}) == sum(len(form) for _, form in one)
            ),
            None,
        )
        assert form_places(target, wanted) == first


def test_pieces_of_a_longer_word_are_no_term():
    """Terms of systems of sub-words; a sign or a blank ends a word, and scripts without blanks have no borders."""
    index = TermIndex([Term("▁Haus", ("house",)), Term("ก ข", ("x",))], subwords=True)
    for words, spans in (
        ("▁das ▁Haus ▁ist", [(1, 2)]),
        ("▁das ▁Haus tür ▁ist", []),
        ("▁Haus , ▁Haus t", [(0, 1)]),
        ("ค ก ข ค", [(1, 3)]),
    ):
        assert [one.span for one in index.find(words.split()).occurrences] == spans
    whole = TermIndex([Term("Haus", ("house",))])
    assert [one.span for one in whole.find(["das", "Haus", "steht"]).occurrences] == [(1, 2)]
    assert whole.before(index).find(["▁Haus", "tür"]).occurrences == ()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Straße", "STRASSE"),
        ("STRASSE", "Straße"),
        ("große Straße", "Große STRASSE"),
        ("İstanbul", "istanbul"),
        ("ISPARTA", "ısparta"),
        ("ışık", "Işık"),
        ("Isı", "ısı"),
        ("ΟΔΟΣ", "οδος"),
    ],
)
def test_nocase_knows_capitals_that_are_several_letters_or_other_ones(source, text):
    index = TermIndex([Term(source, ("x",), match="nocase")])
    words = text.split()
    assert [one.span for one in index.find(["a", *words]).occurrences] == [(1, 1 + len(words))]
    assert TermIndex([Term(source, ("x",))]).find(words).occurrences == ()


@pytest.mark.parametrize(
    ("source", "text"), [("kır", "kir"), ("Masse", "Maße"), ("in Massen", "In Maßen"), ("sıkıldım", "Sikildim")]
)
def test_nocase_tells_words_apart_that_only_capitals_make_equal(source, text):
    index = TermIndex([Term(source, ("x",), match="nocase")])
    assert index.find(text.split()).occurrences == ()
    assert len(index.find(text.upper().split()).occurrences) == (text.upper() == source.upper())


def test_of_equal_sources_the_narrowest_match_counts_within_a_glossary():
    ours, theirs = Term("casa", ("A",), match="nocase"), Term("casa", ("B",))
    stem = Term("casas", ("C",), "hard", "stem", "es")
    for terms in itertools.permutations([ours, theirs, stem]):
        index = TermIndex(terms)
        for word, form in (("casa", "B"), ("Casa", "A"), ("casas", "C")):
            assert index.find([word]).occurrences[0].forms == (form,)
    assert TermIndex([stem]).before(TermIndex([theirs])).find(["casa"]).occurrences[0].forms == ("C",)
    assert TermIndex([ours, Term("casa", ("D",), match="nocase")]).find(["casa"]).occurrences[0].forms == ("A",)
