"""Features of the network in lists equal those of whole derivations in NumPy, for grammars of all rule sources."""

import dataclasses
import gzip
import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from helpers import random_network, random_orientation
from plain_neural import PlainNeural, plain_contexts, rule_rows

from lscfg.cli import main
from lscfg.formats.kbest import read_kbest
from lscfg.kernel.neural import TARGET_BEGIN, TARGET_END, TARGET_NONE
from lscfg.model.parameters import Parameters

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "experiments"))
target_words = import_module("target_words")
sys.path.pop(0)

SOURCES = {
    "minimal": "grammar minimal deriv",
    "hiero": "grammar hiero f e a",
    "sampled": "grammar sampled f e a --filter f --sweeps 3",
    "biparsed": "grammar biparsed f e a --passes 1",
}
"""Commands that make a grammar."""
WITH_GAPS = {"hiero", "biparsed"}
"""Grammars of this text with rules of words and a nonterminal."""

FEATURES = ("NeuralSource", "NeuralRule", "NeuralFertility")
SENTENCES = 30
INI = """formalism=scfg
grammar=g.gz
feature_function=WordPenalty
feature_function=LSCFG model=m features=neural
add_pass_through_rules=true
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A corpus whose odd words swap with the next word, its trees, and test sentences with words that no rule has."""
    made, rng, lines = tmp_path_factory.mktemp("neural"), np.random.default_rng(3), {name: [] for name in "fea"}
    for _ in range(150):
        words = rng.integers(0, 7, rng.integers(2, 7)).tolist()
        order = [*range(len(words))]
        for k in range(len(words) - 1):
            if words[order[k]] % 2:
                order[k], order[k + 1] = order[k + 1], order[k]
        extra = ["q"] * int(rng.random() < 0.2)
        lines["f"].append(" ".join(f"a{word}" for word in words))
        lines["e"].append(" ".join([*(f"{'AB'[int(rng.random() < 0.5)]}{words[k]}" for k in order), *extra]))
        lines["a"].append(" ".join(f"{k}-{x}" for x, k in enumerate(order)))
    pool = [*(f"a{word}" for word in range(7)), "new", "B1"]
    lines["test"] = [" ".join(rng.choice(pool, rng.integers(1, 8))) for _ in range(SENTENCES)]
    for name, own in lines.items():
        (made / name).write_text("".join(f"{line}\n" for line in own))
    (made / "weights").write_text("NeuralSource 0.5\nNeuralRule 0.3\nNeuralFertility 0.2\nWordPenalty -1\nGlue -1\n")
    (made / "cdec.ini").write_text(INI)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        assert main(["derive", "f", "e", "a", "-o", "deriv", "--quiet"]) == 0
        for name, command in SOURCES.items():
            assert main([*command.split(), "-o", f"{name}.gz", "--quiet"]) == 0
        assert main(["derive", "f", "e", "a", "--labels", "2", "-o", "labelled.deriv", "--quiet"]) == 0
        assert main(["grammar", "minimal", "labelled.deriv", "-o", "labelled.gz", "--quiet"]) == 0
    return made


def lists(folder, patch, source, history):
    """Lists of 100 by the embedded decoder: for each sentence its words, and hypotheses with their derivations."""
    patch.chdir(folder)
    sides = [f"a{word}" for word in range(6)], [*(f"A{word}" for word in range(7)), "B0", "B1", "B2", "q", "new"]
    model = random_network(sides, history, history, 2)
    vectors = model.parameters["target"].copy()
    vectors[TARGET_BEGIN] = vectors[TARGET_NONE]  # so that a rule over the whole sentence sees all words before
    model = dataclasses.replace(model, parameters={**model.parameters, "target": vectors})
    Parameters.without_rules(neural=model).save("m")
    Path("g.gz").write_bytes(Path(f"{source}.gz").read_bytes())
    command = "decode -c cdec.ini -w weights test -k 100 -o lists --derivations d.json -j 1 --quiet"
    assert main(command.split()) == 0
    found = read_kbest("lists")
    lines = [json.loads(line) for line in Path("d.json").read_text().splitlines()]
    assert len(lines) == SENTENCES
    return model, [(line, found.get(number, ())) for number, line in enumerate(lines)]


@pytest.mark.parametrize(
    ("source", "history"), [*((source, k) for k, source in enumerate(SOURCES)), ("minimal", 3), ("sampled", 0)]
)
def test_features_of_lists_are_those_of_whole_derivations(folder, monkeypatch, source, history):
    model, found = lists(folder, monkeypatch, source, history)
    plain, network, compared, kinds = PlainNeural(model), target_words.Network(model), 0, set()
    rows, single = network.rows, 0
    for line, hypotheses in found:
        sentence, values = [rows[0].get(word, 0) for word in line["words"]], {}
        for hypothesis, derivation in zip(hypotheses, line["derivations"], strict=True):
            expected, rules = np.zeros(3), derivation["rules"]
            for rule in rules:
                begin, tails = rule["span"][0], tuple(tuple(rules[child]["span"]) for child in rule["children"])
                key = (rule["source"], rule["target"], begin, tails)
                if key not in values and not tails and rule["source"] == rule["target"]:
                    values[key] = plain.passed(sentence, begin, rows[1].get(rule["target"], 0))
                elif key not in values:
                    values[key] = plain.application(sentence, *rule_rows(rule, rows), begin, tails)
                expected += values[key]
                kinds.add((len(tails), bool(rule["target_words"])))
            assert [hypothesis.features.get(name, 0.0) for name in FEATURES] == pytest.approx(expected, abs=1e-4)
            compared += 1
        # given no words before, the sum over the rules and the end of the sentence is that of the whole translation
        end = plain.score(sentence, len(sentence), [TARGET_NONE] * history, TARGET_END)
        sums = np.array([one.features.get("NeuralSource", 0.0) for one in hypotheses])
        columns = target_words.columns(network, line)[..., 0]
        assert sums + end == pytest.approx(columns[:, 0], abs=1e-4)
        # and so is the sum of a single rule, given the words before in the rule
        for hypothesis, derivation, column in zip(hypotheses, line["derivations"], columns, strict=True):
            if sum(bool(rule["target_words"]) for rule in derivation["rules"]) == 1:
                before = [rows[1].get(word, 0) for word in reversed(hypothesis.text.split())]
                end = plain.score(sentence, len(sentence), before[:history], TARGET_END)
                assert hypothesis.features.get("NeuralRule", 0.0) + end == pytest.approx(column[history], abs=1e-4)
                single += len(before) > 1
    assert single > 5 or source not in WITH_GAPS
    assert compared > 1000 and {(0, True), (2, False)} <= kinds and ((1, True) in kinds) == (source in WITH_GAPS)


LATTICE = "((('a1',0,1),('a2',0,1),),(('a3',0,1),),)"


def test_odd_sentences_have_the_features_of_the_definition(folder, tmp_path, monkeypatch):
    """An empty line, words that no side knows, words that only one side knows, and a lattice, which has no places."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weights").write_text((folder / "weights").read_text())
    (tmp_path / "g").write_text("[X] ||| a1 ||| A1 ||| F=1\n[X] ||| [X,1] [X,2] ||| [X,2] [X,1] ||| F=1\n")
    sides = [f"a{word}" for word in range(7)], ["A1", "B1", "only"]
    network = random_network(sides, 1, 2, 1)
    Parameters.without_rules(neural=network, orientation=random_orientation(sides, 1)).save("m")
    (tmp_path / "cdec.ini").write_text(INI.replace("g.gz", "g").replace("=neural", "=neural,orientation"))
    (tmp_path / "text").write_text(f"\nu v u\nonly u\n{LATTICE}\n")
    assert main(["decode", "-c", "cdec.ini", "-w", "weights", "text", "-k", "3", "-o", "lists", "--jobs", "1"]) == 0
    found, plain = read_kbest("lists"), PlainNeural(network)
    names = (*FEATURES, "OrientM", "OrientS", "OrientD")
    values = {n: [[one.features.get(name, 0.0) for name in names] for one in own] for n, own in found.items()}
    assert not any(values.get(0, [[]])[0]) and values[3] and not np.any(values[3])
    for number, rows in ((1, [0, 0, 0]), (2, [4 + 2, 0])):
        passed = [plain.passed([0] * len(rows), place, row) for place, row in enumerate(rows)]
        assert len(values[number]) > 1  # in several orders
        for one in values[number]:
            assert one[:3] == pytest.approx(np.sum(passed, axis=0), abs=1e-5)


@pytest.mark.parametrize(("family", "message"), [("neural", "no neural network"), ("orientation", "no orientations")])
def test_models_without_the_part_are_refused_in_one_line(folder, monkeypatch, capsys, family, message):
    monkeypatch.chdir(folder)
    Parameters.without_rules().save("none")
    Path("none.ini").write_text(INI.replace("model=m features=neural", f"model=none features={family}"))
    Path("g.gz").write_bytes(Path("minimal.gz").read_bytes())
    assert main(["decode", "-c", "none.ini", "-w", "weights", "test", "-o", "out", "--jobs", "1"]) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and "none" in error


def joint(plain, rows, line, derivation):
    """The sum of the scores of a translation's words and its end, by the definition."""
    sentence = [rows[0].get(word, 0) for word in line["words"]]
    found = plain_contexts(plain, rows, sentence, derivation)
    return sum(plain.score(sentence, place, before[:2], word) for place, before, word in found)


RESCORE = ["rescore", "lists", "--network", "m", "-w", "weights", "--quiet"]


@pytest.mark.parametrize("source", [*SOURCES, "labelled"])
def test_rescore_adds_the_scores_of_whole_translations(folder, monkeypatch, source):
    """The feature is the sum of the definition for each hypothesis, and tuning finds its weight."""
    model, found = lists(folder, monkeypatch, source, 2)
    plain, compared, rows = PlainNeural(model), 0, target_words.Network(model).rows
    Path("lists.gz").write_bytes(gzip.compress(Path("lists").read_bytes()))
    Path("d.json.gz").write_bytes(gzip.compress(Path("d.json").read_bytes()))
    command = ["rescore", "lists.gz", *RESCORE[2:], "--derivations", "d.json.gz", "-k", "100"]
    Path("none").write_text("NeuralJoint 0\n")  # so that equal scores keep the order
    assert main([*command, "-w", "none", "-o", "joined"]) == 0
    joined = read_kbest("joined")
    for number, (line, hypotheses) in enumerate(found):
        for one, old, derivation in zip(joined.get(number, ()), hypotheses, line["derivations"], strict=True):
            assert one.text == old.text
            assert one.features["NeuralJoint"] == pytest.approx(joint(plain, rows, line, derivation), abs=1e-4)
            compared += 1
    assert compared > 1000
    references = [own[-1].text if own else "" for _, own in found]
    Path("references").write_text("".join(f"{line}\n" for line in references))
    assert main([*RESCORE, "--derivations", "d.json", "--tuned", "tuned", "--reference", "references"]) == 0
    assert "NeuralJoint" in Path("tuned").read_text()


def test_rescore_takes_odd_sentences(folder, monkeypatch, tmp_path):
    """Lattices and sentences without a parse get 0; ids of lines are numbers of sentences."""
    lists(folder, monkeypatch, "minimal", 2)
    Path("odd").write_text(f'<seg id="3"> a1 a2 </seg>\n<seg id="1"> new </seg>\n{LATTICE}\n')
    Path("bare.ini").write_text(INI.replace("add_pass_through_rules=true\n", ""))
    command = "decode -c bare.ini -w weights odd -k 3 -o odd.lists --derivations odd.json -j 1 --quiet"
    assert main(command.split()) == 0
    assert main(["rescore", "odd.lists", *RESCORE[2:], "--derivations", "odd.json", "-k", "9", "-o", "out"]) == 0
    found = {k: [one.features.get("NeuralJoint", 0.0) for one in own] for k, own in read_kbest("out").items()}
    assert all(found[3]) and found[2] and not any(found[2]) and found.get(1, [0.0]) == [0.0]
    Path("own").write_text("".join(f"{k}\n" for k, _ in enumerate(Path("odd.lists").read_text().splitlines(), 1)))
    both = ["--scores", "Own=own", "--derivations", "odd.json", "-k", "9", "-o", "both"]
    assert main(["rescore", "odd.lists", *RESCORE[2:], *both]) == 0
    assert {k: [one.features.get("NeuralJoint", 0.0) for one in own] for k, own in read_kbest("both").items()} == found
    assert all(one.features["Own"] for own in read_kbest("both").values() for one in own)


def test_rescore_refuses_other_derivations(folder, monkeypatch, capsys):
    lists(folder, monkeypatch, "minimal", 2)
    capsys.readouterr()
    lines = Path("d.json").read_text().splitlines(keepends=True)
    first = json.loads(lines[0])
    other = json.loads(lines[2])
    other["derivations"][-1]["features"]["NeuralSource"] -= 1  # the same translation by other rules
    far, broken = json.loads(lines[0]), json.loads(lines[0])
    far["derivations"][0]["rules"][-1]["span"] = [10**30, 10**30]
    broken["derivations"][0]["rules"] = []
    files = {
        "other": [*lines[:2], json.dumps(other) + "\n", *lines[3:]],
        "short": lines[:-1],
        "twice": [*lines, lines[0]],
        "unparsed": [json.dumps(first | {"derivations": []}) + "\n", *lines[1:]],
        "far": [json.dumps(far) + "\n"],
        "broken": [json.dumps(broken) + "\n"],
        "deep": ["[" * 100_000],
        "shape": ['{"id": 0}\n'],
    }
    for name, own in files.items():
        Path(name).write_text("".join(own))
    Parameters.without_rules().save("none")
    both = "give both files of one run"
    for derivations, messages in (
        ("other", ("other:3: derivations that are not those", both)),
        ("unparsed", ("unparsed:1: derivations that are not those", both)),
        ("short", (f"short: lacks 1 sentence of the lists, such as {SENTENCES - 1}", both)),
        ("twice", (f"twice:{SENTENCES + 1}: sentence 0 is not in the lists, or comes twice", both)),
        ("far", ("far:1: damaged derivations",)),
        ("broken", ("broken:1: damaged derivations (a word of a translation comes from no rule)",)),
        ("deep", ("deep:1: not a line of lscfg decode --derivations",)),
        ("shape", ("shape:1: not a line of lscfg decode --derivations",)),
        ("lists", ("lists:1: not a line of lscfg decode --derivations",)),
    ):
        assert main([*RESCORE, "--derivations", derivations, "-o", "out"]) == 1, derivations
        error = capsys.readouterr().err
        assert all(message in error for message in messages) and error.count("\n") == 1, error
    assert main([*RESCORE, "--derivations", "d.json", "-k", "100", "-o", "joined"]) == 0
    capsys.readouterr()
    for command, message in (
        ("rescore lists --network m -w weights", "--network needs --derivations"),
        ("rescore lists --derivations d.json -w weights", "--derivations needs --network"),
        ("rescore lists --network none --derivations d.json -w weights", "none: no network"),
        ("rescore joined --network m --derivations d.json -w weights", "joined: the lists have a feature NeuralJoint"),
    ):
        assert main([*command.split(), "-o", "out"]) == 1
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1, error
