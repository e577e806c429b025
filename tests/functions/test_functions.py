"""Feature functions equal references that are written from cdec's formulas, over the text of the rules."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections import Counter
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from searches import random_grammar

import lscfg
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig, read_ini
from lscfg.functions.function import FEATURE_FUNCTIONS, FunctionLine, ParsedInput, RuleFunction
from lscfg.functions.rows import FewRows, NamedRows, SparseRows
from lscfg.kernel import EXTRA_RULES, PASS, REST, Grammar, ParseOptions
from lscfg.parallel.choose import in_processes
from lscfg.settings import Declared

Rule = tuple[str, list[str], list[str], list[tuple[int, int]]]
"""Category, symbols such as ``casa`` and ``[X,1]`` of both sides, links."""


def rule_of(given: ParsedInput, app: int) -> Rule:
    """The rule of an application as its line in a grammar would have it."""
    forest, grammar = given.forest, given.grammar
    rule, edge = int(forest.app_rule[app]) - len(grammar), int(forest.app_edge[app])
    category = grammar.category_name(int(forest.node_cat[forest.edge_head[edge]]))
    if rule == PASS:
        word = given.words[forest.node_span[forest.edge_head[edge]][0]]
        return category, [word], [word], [(0, 0)]
    names = [f"[{grammar.category_name(int(forest.node_cat[t]))},{k}]" for k, t in enumerate(forest.tails(edge), 1)]
    if rule >= 0:
        return category, names, names, []
    rule += len(grammar)
    slots = iter(names)
    source = [grammar.vocab.word(s) if s >= 0 else next(slots) for s in grammar.src(rule)]
    target = [grammar.vocab.word(s) if s >= 0 else names[-1 - s] for s in grammar.tgt(rule)]
    return category, source, target, grammar.links(rule)


def is_gap(symbol: str) -> bool:
    return re.fullmatch(r"\[\w+,\d\]", symbol) is not None


def plain(text: str) -> str:
    return re.sub("[=;]", "_", text)


def number(symbol: str) -> str:
    return symbol[-2]


def category(symbol: str) -> str:
    return symbol[1:-3]


def words(side: list[str]) -> list[str]:
    return [symbol for symbol in side if not is_gap(symbol)]


def shape(side: list[str]) -> str:
    pattern = "".join("X" if is_gap(symbol) else "w" for symbol in side)
    found = re.fullmatch("(w*)(X?)(w*)(X?)(w*)", pattern)
    assert found
    return "".join("1" if part else "0" for part in found.groups())


def span_class(words: int) -> int:
    return int(math.log(words + 1) / math.log(1.39)) - 1


def bigrams(head: str, symbols: list[str]) -> dict[str, float]:
    symbols = ["<r>", *symbols, "</r>"]
    return Counter(plain(f"{head}:{a}_{b}") for a, b in itertools.pairwise(symbols))


def lexical(rule: Rule) -> dict[str, float]:
    _, f, e, links = rule
    found = [f"LT:{plain(f[i])}:{plain(e[j])}" for i, j in links]
    found += [f"LD:{plain(f[i])}" for i in range(len(f)) if not is_gap(f[i]) and all(i != a for a, _ in links)]
    found += [f"LI:{plain(e[j])}" for j in range(len(e)) if not is_gap(e[j]) and all(j != b for _, b in links)]
    return Counter(found)


ESCAPES = {"=": "__EQ", ";": "__SC", ",": "__CO"}
OF_RULE: dict[str, Callable[[Rule], dict[str, float]]] = {
    "SourceWordPenalty": lambda r: {"SourceWordPenalty": -len(words(r[1])) / math.log(10)},
    "ArityPenalty": lambda r: {f"Arity_{len(r[1]) - len(words(r[1]))}": 1},
    "NonLatinCount": lambda r: {"NonLatinCount": sum(len(w) < len(w.encode()) for w in words(r[2]))},
    "RuleShape": lambda r: {f"Shape_S{shape(r[1])}_T{shape(r[2])}": 1},
    "RuleIdentityFeatures": lambda r: {
        plain(
            f"R:{r[0]}:{'_'.join('N' + category(s) if is_gap(s) else s for s in r[1])}:"
            f"{'_'.join('N' + number(s) if is_gap(s) else s for s in r[2])}"
        ): 1
    },
    "RuleSourceBigramFeatures": lambda r: bigrams("RBS", [category(s) if is_gap(s) else s for s in r[1]]),
    "RuleTargetBigramFeatures": lambda r: bigrams("RBT", [category(s) + number(s) if is_gap(s) else s for s in r[2]]),
    "InputIndicator": lambda r: {f"S:{ESCAPES.get(w, w)}": 1 for w in words(r[1])},
    "OutputIndicator": lambda r: {plain(f"T:{ESCAPES.get(w, w)}"): 1 for w in words(r[2])},
    "LexicalFeatures": lexical,
    "Letters": lambda r: {"Letters": len("".join(words(r[2]))) / 10},
}


def sizes(rule: Rule, span: tuple[int, int], below: list[tuple[int, int]], text: list[str]) -> dict[str, float]:
    if not below:
        return {}
    classes = [span_class(j - i) for i, j in below]
    f = "_".join(f"[{category(s)}{classes[int(number(s)) - 1]}]" if is_gap(s) else s for s in rule[1])
    e = "_".join(f"[{number(s)}]" if is_gap(s) else s for s in rule[2])
    return {f"SSS:{f}:{e}": 1}


def reordering(rule: Rule, span: tuple[int, int], below: list[tuple[int, int]], text: list[str]) -> dict[str, float]:
    if len(below) != 2 or rule[0] == "S":
        return {}
    first = next(number(s) for s in rule[2] if is_gap(s))
    name = "CMRMono" if first == "1" else "CMRReorder"
    return {name: 1, f"{name}_{span_class(span[1] - span[0])}": 1}


def borders(rule: Rule, span: tuple[int, int], below: list[tuple[int, int]], text: list[str]) -> dict[str, float]:
    i, j = span
    b, a = ["BOS", *text], [*text, "EOS"]
    s = "S_" if rule[0] == "S" else ""
    names = [f"ES:{a[j]}", f"BS:{b[i]}", f"EBI:{b[j]}_{a[j]}", f"BBI:{b[i]}_{a[i]}", f"{s}S:{b[i]}_{a[j]}",
             f"{s}LS:{span_class(j - i)}_{b[i]}_{a[j]}"]  # fmt: skip
    return dict.fromkeys(map(plain, names), 1)


OF_SPAN = {"SourceSpanSizeFeatures": sizes, "CMR2008ReorderingFeatures": reordering, "SpanFeatures": borders}

ODD = """[X] ||| = [X,1] ; , ||| ; ; [X,1] = é ||| F=1 ||| 0-0 3-4
[X] ||| [X,1] x = [X,2] ||| [X,2] = ü [X,1] , ||| F=1 ||| 1-1
[X] ||| = ||| = ||| F=1
[X] ||| , ||| , ; ||| F=1 ||| 0-0 0-1
[X] ||| ; ||| x ||| F=1
"""
LINES = ["x y x y", "= x ; ,", "x = y", ", x = ; , y", "z x"]


def odd_grammar(seed: int) -> Grammar:
    if seed:
        return random_grammar(random.Random(seed))
    grammar = Grammar()
    grammar.read_text(ODD + "[X] ||| x ||| a ||| F=1\n[X] ||| y ||| b c ||| F=1\n")
    grammar.finish()
    return grammar


def inputs(seed: int) -> list[ParsedInput]:
    grammar, found = odd_grammar(seed), []
    for line in LINES:
        forest = grammar.parse(grammar.vocab.add_line(line), ParseOptions())
        assert forest is not None
        found.append(ParsedInput(forest, grammar, tuple(line.split())))
    return found


@pytest.mark.parametrize("name", sorted({*OF_RULE, *OF_SPAN}))
def test_values_equal_a_reference(name: str) -> None:
    """Of every application of random grammars, and of one with words that the names escape."""
    for seed in range(3):
        for given in inputs(seed):
            found = FunctionLine(name).values(given)
            forest = given.forest
            rows = found.sums(np.arange(forest.n_apps), np.arange(forest.n_apps + 1))
            for app in range(forest.n_apps):
                span = tuple(forest.node_span[forest.edge_head[forest.app_edge[app]]].tolist())
                below = [tuple(forest.node_span[t].tolist()) for t in forest.tails(int(forest.app_edge[app]))]
                rule = rule_of(given, app)
                expected = OF_RULE[name](rule) if name in OF_RULE else OF_SPAN[name](rule, span, below, [*given.words])
                own = {feature: value for feature, value in zip(found.names, rows[app], strict=True) if value}
                assert own == pytest.approx({feature: value for feature, value in expected.items() if value}), rule


@pytest.mark.parametrize("name", sorted(OF_RULE))
def test_a_word_may_pass_into_several_categories(name: str) -> None:
    """Rules with equal words and other categories are other rules."""
    grammar = Grammar()
    grammar.read_text("[X] ||| x [Y,1] ||| [Y,1] a ||| F=1\n[Y] ||| y ||| b ||| F=1\n")
    grammar.finish()
    words = "z x z y"
    forest = grammar.parse(grammar.vocab.add_line(words), ParseOptions(passed=(grammar.category("Y"),)))
    assert forest is not None
    given = ParsedInput(forest, grammar, tuple(words.split()))
    found = FunctionLine(name).values(given)
    rows = found.sums(np.arange(forest.n_apps), np.arange(forest.n_apps + 1))
    rules = [rule_of(given, app) for app in range(forest.n_apps)]
    assert {("X", "z"), ("Y", "z")} <= {(head, *source) for head, source, _, _ in rules}
    for rule, row in zip(rules, rows, strict=True):
        own = {feature: value for feature, value in zip(found.names, row, strict=True) if value}
        assert own == pytest.approx({feature: value for feature, value in OF_RULE[name](rule).items() if value}), rule


def test_every_function_has_a_reference() -> None:
    assert {*FEATURE_FUNCTIONS} == {*OF_RULE, *OF_SPAN, "Copies", "NgramFeatures"}


COPYING = """[X] ||| de ||| de ||| F=1
[X] ||| casa ||| casa ||| F=1
[X] ||| casa ||| house ||| F=1
[X] ||| 19 ||| nineteen ||| F=1
[X] ||| sol ||| sun ||| F=1
[X] ||| casa de ||| casa de ||| F=1
[X] ||| Ana [X,1] ||| Ana [X,1] ||| F=1
"""


def test_copies_count_by_the_first_kind_that_fits() -> None:
    grammar = Grammar()
    grammar.read_text(COPYING)
    grammar.finish()
    line = "Ana casa de 19 sol x9 . Zu zu"
    kinds = {"de": "Other", "casa": "Translated", "19": "Number", "sol": "Translated", "x9": "Number", ".": "Number"}
    kinds |= {"Ana": "Capital", "Zu": "Capital", "zu": "Other"}
    forest = grammar.parse(grammar.vocab.add_line(line), ParseOptions())
    assert forest is not None
    given = ParsedInput(forest, grammar, tuple(line.split()))
    found = FunctionLine("Copies").values(given)
    rows = found.sums(np.arange(forest.n_apps), np.arange(forest.n_apps + 1))
    seen = set()
    for app in range(forest.n_apps):
        _, source, target, _ = rule_of(given, app)
        copied = source[0] if len(source) == 1 and source == target and not is_gap(source[0]) else None
        seen.add(copied)
        expected = {f"Copy{kinds[copied]}": 1} if copied else {}
        assert {name: value for name, value in zip(found.names, rows[app], strict=True) if value} == expected, source
    assert seen == {*line.split(), None}


@pytest.mark.parametrize("name", FEATURE_FUNCTIONS.names())
def test_names_begin_as_declared(name: str) -> None:
    function = FEATURE_FUNCTIONS[name]
    fixed = function.names(function.Settings())
    for given in inputs(0):
        for feature in FunctionLine(name).values(given).names:
            assert feature in fixed or feature.startswith(function.HEADS), feature


def test_rests_of_tails_have_no_features() -> None:
    grammar = Grammar()
    grammar.read_text("[X] ||| x [X,1] y [X,2] x [X,3] ||| [X,3] [X,2] [X,1] ||| F=1\n[X] ||| y ||| b ||| F=1\n")
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line("x y y y x y"), ParseOptions())
    assert forest is not None and (forest.node_cat == REST).any()
    given = ParsedInput(forest, grammar, tuple("xyyyxy"))
    rest = np.flatnonzero(forest.is_rest)
    for name in FEATURE_FUNCTIONS:
        found = FunctionLine(name).values(given)
        assert not found.sums(rest, np.arange(len(rest) + 1)).any()
    shapes = FunctionLine("RuleShape").values(given)
    wide = np.flatnonzero(forest.app_rule == 0)
    assert len(wide) and not shapes.sums(wide, np.arange(len(wide) + 1)).any()
    assert EXTRA_RULES > PASS


# ---- in the decoder ----

GRAMMAR = "[X] ||| a ||| é ||| P=1\n[X] ||| a ||| b ||| P=2\n[X] ||| [X,1] c ||| d [X,1] ||| P=1\n"


@pytest.fixture
def ini(tmp_path: Path) -> Path:
    (tmp_path / "grammar").write_text(GRAMMAR)
    (tmp_path / "cdec.ini").write_text(
        "formalism=scfg\ngrammar=grammar\nadd_pass_through_rules=true\nfeature_function=ArityPenalty 3\n"
        "feature_function=NonLatinCount\nfeature_function=OutputIndicator\n"
    )
    return tmp_path / "cdec.ini"


def test_a_decoder_scores_and_shows_features(ini: Path) -> None:
    weights = {"P": 1.0, "NonLatinCount": 5.0, "T:d": 0.5, "Arity_1": -1.0, "T:never": 3.0}
    with EmbeddedDecoder.from_ini(ini) as decoder:
        assert decoder.feature_names == ("P", "Glue", "PassThrough", "NonLatinCount")
        best = decoder.decode(["a c"], weights, k=100)[0]
        assert best[0].text == "d é"
        assert dict(best[0].features) == {
            **{"P": 2.0, "NonLatinCount": 1.0, "Arity_0": 1.0, "Arity_1": 2.0, "T:é": 1.0, "T:d": 1.0}
        }
        for one in best:
            assert one.score == pytest.approx(sum(weights.get(name, 0) * value for name, value in one.features.items()))
        assert sorted(h.score for h in best) == [h.score for h in reversed(best)]
        lists, graphs = decoder.decode_graphs(["a c", "x"], weights, 10, False, 100)
        assert graphs[0] is not None and set(lists[0][0].features) <= set(graphs[0].names)
        translated = next(decoder.translate(["a c"], weights, derivations=True, details=True))
        rules = translated.derivations[0]
        assert sum((Counter(dict(rule.features)) for rule in rules), Counter()) == Counter(dict(best[0].features))
        assert decoder.why_not("a c", "d b", weights).features[:1] == (("NonLatinCount", -5.0),)


def test_tuning_learns_weights_of_features_that_only_some_sentences_have(ini: Path) -> None:
    """They start at 0: P prefers b, the references the feature of é."""
    ini.write_text(ini.read_text().replace("feature_function=NonLatinCount\n", ""))
    sources, references = ["a a a a", "a a a a c"], ["é é é é", "é é é d é"]
    weights = lscfg.tune(ini, sources * 5, references * 5, {"P": 0.1, "Glue": -0.1}, iterations=5, kbest=30)
    with lscfg.Decoder(ini, weights) as decoder:
        assert decoder.translate(sources) == references
    assert weights["T:é"] > weights.get("T:b", 0.0)


def test_workers_and_copies_compute_the_same(ini: Path) -> None:
    weights = {"P": 1.0, "T:d": 0.5}
    with in_processes(2) as engine, EmbeddedDecoder.from_ini(ini, engine) as many, EmbeddedDecoder.from_ini(ini) as one:
        assert many.decode(LINES, weights, k=5) == one.decode(LINES, weights, k=5)


def test_a_package_adds_a_function_by_one_row(ini: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = EntryPoint("Vowels", f"{Vowels.__module__}:Vowels", FEATURE_FUNCTIONS.group)
    monkeypatch.setattr(EntryPoint, "load", lambda self: Vowels)
    monkeypatch.setattr(FEATURE_FUNCTIONS, "_group", lambda: [row])
    ini.write_text("formalism=scfg\ngrammar=grammar\nfeature_function=Vowels\n")
    with EmbeddedDecoder.from_ini(ini) as decoder:
        assert decoder.decode(["a"], {"Vowels": 1.0})[0][0].text == "é"


class Vowels(RuleFunction[Declared]):
    """For the test above."""

    HELP = "vowels"
    Settings = Declared

    def names(self, settings: Declared) -> tuple[str, ...]:
        return ("Vowels",)

    def of_rule(self, rule: object, settings: Declared) -> dict[str, float]:
        return {"Vowels": sum(str(symbol) in "aeé" for symbol in rule.target)}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ArityPenalty x", "feature function ArityPenalty: most cannot be 'x'"),
        ("ArityPenalty -1", "ArityPenalty: most must be at least 0"),
        ("ArityPenalty 1 2", "ArityPenalty takes most; found '1 2'"),
        ("SpanFeatures file", "SpanFeatures takes no arguments; found 'file'"),
        ("RuleShape\nfeature_function=RuleShape", "a second feature_function=RuleShape"),
        ("SourceSyntaxFeatures x", "'SourceSyntaxFeatures x' is not supported; supported are KLanguageModel, Word"),
        ("RuleShapes", "did you mean RuleShape"),
    ],
)
def test_bad_lines_are_refused_by_name(ini: Path, line: str, message: str) -> None:
    ini.write_text(f"formalism=scfg\nfeature_function={line}\n")
    with pytest.raises(InputError, match=re.escape(message)):
        read_ini(ini)


def test_hosts_that_lack_functions_say_so(ini: Path) -> None:
    config = DecoderConfig(functions=(FunctionLine("RuleShape"),), path=ini)
    with pytest.raises(InputError, match=r"Moses cannot compute feature_function=RuleShape; remove"):
        config.check_common("Moses")


def test_few_rows_are_those_of_rows_of_all_applications() -> None:
    """Bit for bit."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        n_apps, width = int(rng.integers(1, 60)), int(rng.integers(1, 14))
        apps = np.flatnonzero(rng.random(n_apps) < 0.3)
        few = FewRows(tuple(f"F{k}" for k in range(width)), apps, rng.normal(size=(len(apps), width)))
        row_of = np.full(n_apps, len(apps))
        row_of[apps] = np.arange(len(apps))
        offsets = np.append(np.arange(len(apps) + 1), len(apps)) * width
        cells = SparseRows(offsets, np.tile(np.arange(width), len(apps)), few.values.ravel(), width)
        rows = NamedRows(few.names, cells, row_of)
        scores, weights = np.zeros(n_apps), rng.normal(size=width)
        scores[few.apps] = few.scores(weights)
        assert scores.tobytes() == rows.scores(weights).tobytes()
        kept = np.flatnonzero(rng.random(n_apps) < 0.5)
        assert few.part(kept).sums(np.arange(len(kept)), np.arange(len(kept) + 1)).tobytes() == (
            rows.part(kept).sums(np.arange(len(kept)), np.arange(len(kept) + 1)).tobytes()
        )
        used, groups = rng.integers(0, n_apps, 20), np.array([0, 3, 3, 11, 20])
        assert few.sums(used, groups).tobytes() == rows.sums(used, groups).tobytes()


def test_rows_with_further_entries_equal_rows_of_one_array(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        first, total, count, width = int(rng.integers(0, 9)), 12, int(rng.integers(1, 7)), 4
        offsets = np.sort(np.r_[0, rng.integers(0, total + 1, count - 1), total])
        columns, values, weights = rng.integers(0, width, total), rng.normal(size=total), rng.normal(size=width)
        whole = SparseRows(offsets, columns, values, width)
        split = SparseRows(offsets, columns[:first], values[:first], width, (columns[first:], values[first:]))
        for block in (1, 2, 1 << 16):
            monkeypatch.setattr("lscfg.functions.rows._BLOCK", block)
            assert whole.products(weights).tobytes() == split.products(weights).tobytes()
        rows, groups = rng.integers(0, count, 5), np.array([0, 2, 2, 5])
        assert whole.sums(rows, groups).tobytes() == split.sums(rows, groups).tobytes()
