"""Numbers and rows of text that the kernel writes, against Python's own."""

import json
from itertools import pairwise

import numpy as np
import pytest

from lscfg._kernel import ffi, lib
from lscfg.decode.derivations import rule_sides
from lscfg.kernel import Grammar, ParseOptions, S
from lscfg.kernel.text import Shown, Strings, number_strings, print_applications, print_rows, quote_sides

SPECIAL = [0.0, -0.0, 1.0, 10.0, 0.1, 0.5, 1.5, 2.5, 1e-5, 1e-4, 99999.99995, 999999999.5, 1e9, 1e22, 1e23, 5e-324]
SPECIAL += [1.7e308, 2.0**-1074, 2.0**1023, 0.00012345, 123456789.0, 12345678950000001.0, np.inf, -np.inf]


def printed(value: float, digits: int, room: int = 64) -> str:
    text = ffi.new("char[]", room)
    assert lib.lscfg_print_double(value, digits, text, room) == len(ffi.string(text)) or room < 64
    return ffi.string(text).decode()


@pytest.mark.parametrize("digits", [1, 2, 6, 9, 12, 15, 17])
def test_numbers_are_those_of_python(digits):
    rng = np.random.default_rng(digits)
    values = [*SPECIAL, *rng.integers(0, 10**7, 3000) / 1000, *10 ** rng.uniform(-30, 10, 3000)]
    values += [float(f"{m}e{e}") for m in (1, 9, 99999, 9999999995, 5) for e in range(-300, 290, 7)]
    bits = np.frombuffer(rng.bytes(80_000), np.float64)
    for value in (*values, *bits[np.isfinite(bits)]):
        assert printed(value, digits) == f"{value:.{digits}g}"


def test_a_number_that_has_no_room_is_cut():
    assert printed(0.1234567891, 9, 5) == "0.12"


def test_rows_are_strings_and_values():
    values = np.array([[0.5, -1e-7], [3.0, 0.0], [1 / 3, 1e300]])
    first, second = Strings.of([b"", "é ".encode()]), Strings.of([b"x", b"yy"])
    found = print_rows(
        first, second, (np.array([1, 0, 1]), np.array([0, 1, 1])), Strings.of([b" a=", b",", b";"]), values, 4
    )
    assert found.decode() == "é x a=0.5,-1e-07;yy a=3,0;é yy a=0.3333,1e+300;"
    assert (
        print_rows(first, second, (np.zeros(0), np.zeros(0)), Strings.of([b"", b"", b""]), np.zeros((0, 2)), 4) == b""
    )
    none = Strings.of([])
    assert print_rows(none, none, (np.zeros(0), np.zeros(0)), Strings.of([b"", b""]), np.zeros((0, 1)), 4) == b""


def test_rows_that_do_not_fit_are_refused():
    strings, values = Strings.of([b"x"]), np.zeros((2, 1))
    good = np.zeros(2, np.int32)
    for which, labels, digits in (
        ((good, good + 1), [b"", b""], 9),
        ((good, good[:1]), [b"", b""], 9),
        ((good, good), [b""], 9),
        ((good, good), [b"", b""], 18),
    ):
        with pytest.raises(ValueError, match=r"rows|labels"):
            print_rows(strings, strings, which, Strings.of(labels), values, digits)


def test_strings_are_numbered_by_key():
    strings, numbers = number_strings(np.array([5, 2, 5, 0]), 6, lambda key: b"%d" % key)
    assert strings == [b"0", b"2", b"5"] and numbers.tolist() == [2, 1, 2, 0]


RULES = [
    ("X", 'a "b" \\', "é \x01"),
    ("X", "[X,1] w", "[1] w [Y]"),
    ("Y", "u [Y,1] v [X,2] [X,3]", "[3] [1] z [2]"),
    ("X", "u", "z"),
]


def test_sides_of_rules_are_quoted_as_json_is(tmp_path):
    path = tmp_path / "g"
    path.write_text("".join(f"[{head}] ||| {source} ||| {target} |||\n" for head, source, target in RULES))
    grammar = Grammar.from_files([path])
    expected = [rule_sides(grammar, rule) for rule in range(len(grammar))]
    assert expected[2] == ("u [Y,1] v [X,2] [X,3]", "[X,3] [Y,1] z [X,2]")
    for strings, texts in zip(quote_sides(grammar), zip(*expected, strict=True), strict=True):
        found = [strings.data[a:b].decode() for a, b in pairwise(strings.begin.tolist())]
        assert found == [json.dumps(text, ensure_ascii=False) for text in texts]


def test_applications_are_those_of_the_forest(tmp_path):
    """Edges of any number of tails, rules that the grammar does not have, and an edge that is open already."""
    path = tmp_path / "g"
    lines = [
        "[X] ||| a ||| b",
        "[X] ||| a ||| c",
        "[X] ||| [X,1] [X,2] ||| [2] [1]",
        "[X] ||| [X,1] n [X,2] [X,3] ||| [3] [1] [2]",
    ]
    path.write_text("".join(f"{line} ||| \n" for line in lines))
    grammar = Grammar.from_files([path])
    words = ["a", "n", "a", "a", "new"]
    forest = grammar.parse(
        np.array([grammar.vocab.find(word) for word in words], np.int32), ParseOptions(10, True, 2, S)
    )
    apps = np.flatnonzero(~forest.is_rest)
    rules = forest.app_rule[apps]
    others = [(b'"s%d","pass":true' % k, b'"t%d"' % k) for k in range((rules >= len(grammar)).sum())]
    assert others and max(len(forest.tails(edge)) for edge in range(forest.n_edges)) == 3
    rng = np.random.default_rng(1)
    marginals, features = rng.normal(size=forest.n_apps), rng.normal(size=(forest.n_apps, 2))
    shown = Shown(np.arange(forest.n_nodes) + 7, quote_sides(grammar), marginals, features, 9)
    strings = tuple(Strings.of(side) for side in map(list, zip(*others, strict=True)))
    text = print_applications(forest, shown, apps, strings, -1).decode()
    found, left = [], iter(others)
    for edge in json.loads(f"[{text}]}}]"):
        for target in edge["targets"]:
            found.append((edge["node"], edge["tails"], edge["source"], *target))
    expected = []
    for app, rule in zip(apps.tolist(), rules.tolist(), strict=True):
        edge = int(forest.app_edge[app])
        sides = (
            rule_sides(grammar, rule)
            if rule < len(grammar)
            else [json.loads(side.split(b",")[0]) for side in next(left)]
        )
        numbers = [float(f"{value:.9g}") for value in (marginals[app], *features[app])]
        tails = [tail + 7 for tail in forest.tails(edge)]
        expected.append((forest.edge_head[edge] + 7, tails, *sides, *numbers))
    first = {int(forest.app_edge[app]): line[2] for app, line in zip(apps[::-1].tolist(), expected[::-1], strict=True)}
    expected = [
        (*line[:2], first[int(forest.app_edge[app])], *line[3:]) for app, line in zip(apps, expected, strict=True)
    ]
    assert found == expected
    half, texts = len(apps) // 2, b""
    for part in (apps[:half], apps[half:]):
        count = int((forest.app_rule[part] >= len(grammar)).sum())
        own = tuple(Strings.of([side[k] for side in others[:count]]) for k in (0, 1))
        texts += print_applications(forest, shown, part, own, int(forest.app_edge[apps[half - 1]]) if texts else -1)
        del others[:count]
    assert texts.decode() == text
    with pytest.raises(ValueError, match="sides are missing"):
        print_applications(forest, shown, apps, (Strings.of([]), Strings.of([])), -1)
