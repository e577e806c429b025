"""Features of the network in lists equal those of whole derivations in NumPy, for grammars of all rule sources."""

import dataclasses
import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from helpers import random_network, random_orientation
from plain_neural import PlainNeural, rule_rows

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
SENTENCES = 50
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


def test_rescore_adds_the_scores_of_whole_translations(folder, monkeypatch, capsys):
    """The feature is the sum of the definition, tuning finds its weight, and wrong files are refused in one line."""
    model, found = lists(folder, monkeypatch, "minimal", 2)
    plain, network, compared = PlainNeural(model), target_words.Network(model), 0
    joint = ["--network", "m", "--derivations", "d.json"]
    assert main(["rescore", "lists", *joint, "-w", "weights", "-k", "100", "-o", "joined", "--quiet"]) == 0
    joined = read_kbest("joined")
    for number, (line, hypotheses) in enumerate(found):
        rows = [network.rows[0].get(word, 0) for word in line["words"]]
        values = {(one.text, tuple(one.features.items())): one for one in joined.get(number, ())}
        for hypothesis, derivation in list(zip(hypotheses, line["derivations"], strict=True))[:5]:
            words = [network.rows[1].get(word, 0) for word in hypothesis.text.split()]
            places = [*network.places(derivation, line["words"]), len(rows)]
            expected = 0.0
            for k, word in enumerate([*words, TARGET_END]):
                before = [TARGET_BEGIN, TARGET_BEGIN, *words[:k]][::-1][:2]
                expected += plain.score(rows, places[k], before, word)
            near = [
                one.features["NeuralJoint"]
                for (text, _), one in values.items()
                if text == hypothesis.text
                and all(one.features.get(name) == value for name, value in hypothesis.features.items())
            ]
            assert any(value == pytest.approx(expected, abs=1e-4) for value in near)
            compared += 1
    assert compared > 150
    references = [own[-1].text if own else "" for _, own in found]
    Path("references").write_text("".join(f"{line}\n" for line in references))
    command = ["rescore", "lists", *joint, "-w", "weights", "--tuned", "tuned", "--reference", "references", "--quiet"]
    assert main(command) == 0
    assert "NeuralJoint" in Path("tuned").read_text()
    capsys.readouterr()
    lines = Path("d.json").read_text().splitlines(keepends=True)
    Path("other.json").write_text("".join([lines[1], lines[0], *lines[2:]]))
    Path("short.json").write_text("".join(lines[1:]))
    Path("broken.json").write_text('{"words": ["a1"], "derivations": [{"translation": "A1", "rules": []}]}\n')
    far = json.loads(lines[1])
    far["derivations"][0]["rules"][0]["span"][0] = 10**30
    far["derivations"][0]["rules"][1]["source_words"] = [10**30]
    Path("far.json").write_text(json.dumps(far) + "\n")
    Parameters.without_rules().save("none")
    for options, message in (
        ("--network m", "go together"),
        ("--network none --derivations d.json", "none: no network"),
        ("--network m --derivations lists", "lists:1: no derivations"),
        ("--network m --derivations broken.json", "broken.json:1: no derivations (a word of a translation"),
        ("--network m --derivations far.json", "far.json:1: no derivations"),
        ("--network m --derivations other.json", "other.json:1: translations that differ"),
        ("--network m --derivations short.json", "short.json: 49 sentences, but the lists have 50"),
    ):
        assert main(["rescore", "lists", *options.split(), "-w", "weights", "-o", "out"]) == 1, options
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1, error
    assert main(["rescore", "joined", *joint, "-w", "weights", "-o", "out"]) == 1
    assert "NeuralJoint already" in capsys.readouterr().err
