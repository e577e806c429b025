"""Rules of more than two nonterminals in what is written of forests, beside real cdec, and from samples to text."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from derivation_sums import log_sum
from helpers import rule_table, save_model

from lscfg.cdec_bridge.decoder import CdecDecoder, find_cdec
from lscfg.cli import main
from lscfg.decode.analysis import Analyser, Cut
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.sentence_grammars import SentenceGrammars
from lscfg.errors import InputError
from lscfg.formats.forests import ForestFile
from lscfg.formats.ini import read_ini
from lscfg.io.write import write_lines
from lscfg.kernel import Grammar, ParseOptions
from lscfg.study.explain import Explainer

SHORT = ["w ||| p", "w ||| q", "v ||| p q", "a [X,1] ||| [X,1] r", "[X,1] b [X,2] ||| [X,2] [X,1]"]
LONG = [
    "a [X,1] b [X,2] c [X,3] ||| r [X,3] s [X,1] [X,2]",
    "a [X,1] b [X,2] c [X,3] ||| [X,2] [X,3] [X,1]",
    "a [X,1] b [X,2] c [X,3] c [X,4] ||| [X,4] s [X,2] [X,1] p [X,3]",
]
SENTENCES = ["a w b v c w", "a w b a w b v c w c w", "a a w b w c w b v c a v c w", "w w"]
WEIGHTS = {"F": 1.0, "Glue": -0.5, "PassThrough": -2.0, "WordPenalty": 0.3}


@pytest.fixture
def ini(tmp_path: Path) -> Path:
    table, rng = rule_table(SHORT), np.random.default_rng(3)
    tensors = [rng.uniform(0.1, 0.5, [2] * (int(a) + 1)) for a in table.arity]
    save_model(tmp_path / "model", table, tensors, np.array([0.6, 0.4]), np.full(2, 0.01))
    lines = []
    for k, rule in enumerate(SHORT + LONG):
        source, target = rule.split(" ||| ")
        lines.append(f"[X] ||| {source} ||| {target.replace('[X,', '[')} ||| F={0.37 * (k % 5) + 0.01 * k:.4f}")
    write_lines(tmp_path / "grammar", lines)
    base = ["formalism=scfg", "grammar=grammar", "add_pass_through_rules=true", "scfg_max_span_limit=15"]
    write_lines(tmp_path / "plain.ini", [*base, "feature_function=WordPenalty"])
    write_lines(tmp_path / "cdec.ini", [*base, "feature_function=LSCFG model=model features=paper"])
    return tmp_path / "cdec.ini"


def test_json_of_a_forest_shows_the_tails_of_a_rule(ini: Path) -> None:
    analyser = Analyser.from_ini(ini)
    analysis = analyser(SENTENCES[0])
    assert analysis.forest is not None
    found = json.loads(analyser.json(0, analysis))
    assert {node[0] for node in found["nodes"]} == {"X", "S"}
    (edge,) = [edge for edge in found["edges"] if edge["source"].count("[X,") == 3]
    assert [found["nodes"][tail][:3] for tail in edge["tails"]] == [["X", 1, 2], ["X", 3, 4], ["X", 5, 6]]
    assert found["nodes"][edge["node"]][:3] == ["X", 0, 6]
    assert sorted(target[0] for target in edge["targets"]) == sorted(rule.split(" ||| ")[1] for rule in LONG[:2])
    assert all(target[1:] == [0, 0, 0, 0] for target in edge["targets"])


def test_a_cut_forest_counts_the_rules_alone(ini: Path) -> None:
    """An application that joins the tails of such a rule is none of a rule."""
    analyser = Analyser.from_ini(ini)
    analysis = analyser(SENTENCES[1])
    assert analysis.forest is not None and analysis.forest.is_rest.any()
    for cut in (Cut(1), Cut(100), Cut(least=0.01)):
        part, whole = (json.loads(analyser.json(0, analysis, one)) for one in (cut, Cut()))
        counts = [sum(len(edge["targets"]) for edge in one["edges"]) for one in (part, whole)]
        assert [part["cut"]["kept"], part["cut"]["of"]] == counts


def test_files_of_forests_refuse_such_a_rule(ini: Path, tmp_path: Path) -> None:
    analyser = Analyser.from_ini(ini)
    write_lines(tmp_path / "forests", [analyser.json(0, analyser(SENTENCES[0]))])
    with pytest.raises(InputError, match="more than two nonterminals"):
        list(ForestFile(tmp_path / "forests"))


def test_a_grammar_of_a_sentence_has_its_derivations(ini: Path, tmp_path: Path) -> None:
    analyser = Analyser.from_ini(ini)
    grammars = SentenceGrammars(tmp_path / "out", analyser, SENTENCES)
    for number, sentence in enumerate(SENTENCES):
        rules = grammars.rules(analyser(sentence))
        assert any(rule.count(",3]") for rule in rules) == (number != 3)
        grammars.write(number, analyser(sentence))
        alone = Grammar.from_files([tmp_path / "out" / f"grammar.{number}.gz"])
        again = alone.parse(alone.vocab.add_line(sentence), ParseOptions(1000, False, 0))
        assert again is not None
        whole = analyser.parse(sentence.split())
        assert whole is not None and again.n_apps == (~whole.is_rest).sum() + again.is_rest.sum()
        count = log_sum(whole, np.zeros(whole.n_apps))
        assert log_sum(again, np.zeros(again.n_apps)) == pytest.approx(count)


def test_an_explanation_follows_such_a_rule(ini: Path) -> None:
    with EmbeddedDecoder(read_ini(ini.parent / "plain.ini")) as decoder:
        (found,) = decoder.translate(SENTENCES[:1], WEIGHTS, 100, derivations=True)
    long = [h for h, rules in enumerate(found.derivations) if any(rule.source.count("[X,") == 3 for rule in rules)]
    explained = Explainer(ini)(SENTENCES[0], derivation=found.derivations[long[0]])
    assert explained.translation == found.hypotheses[long[0]].text
    assert Explainer(ini)(SENTENCES[0]).translation


def test_real_cdec_translates_alike(ini: Path) -> None:
    if find_cdec() is None:
        pytest.skip("no cdec: not on PATH and CDEC_ROOT is not set")
    theirs = CdecDecoder(ini.parent / "plain.ini").decode(SENTENCES, WEIGHTS, 50)
    with EmbeddedDecoder(read_ini(ini.parent / "plain.ini")) as decoder:
        ours = [found.hypotheses for found in decoder.translate(SENTENCES, WEIGHTS, 50, unique=True)]
    for lists in zip(ours, theirs, strict=True):
        assert [h.score for h in lists[0]] == pytest.approx([h.score for h in lists[1]], abs=1e-4)
        least = lists[0][-1].score + 1e-3  # which of those at the end are there is open
        mine, other = ({h.text for h in found if h.score > least} for found in lists)
        assert mine == other and lists[0][0].text in other


def test_a_sampled_grammar_is_decoded(tmp_path: Path) -> None:
    """Permutations that no binary rule makes: the sampled rules have four nonterminals."""
    words = [("a", "A"), ("b", "B"), ("c", "C"), ("d", "D")]
    sources, targets, links = [], [], []
    for chosen in itertools.permutations(range(4)):
        sources.append(" ".join(f"{words[k][0]} x" if k == chosen[3] else words[k][0] for k in chosen))
        sources[-1] = f"s {sources[-1]}"
        targets.append(" ".join(words[chosen[k]][1] for k in (1, 3, 0, 2)))
        links.append(" ".join(f"{k + 1}-{(1, 3, 0, 2).index(k)}" for k in range(4)))
    for name, lines in (("f", sources), ("e", targets), ("l", links)):
        write_lines(tmp_path / name, lines)
    arguments = [str(tmp_path / name) for name in ("f", "e", "l")]
    options = ["--set", "rule_filter=none", "--sweeps", "10", "--quiet"]
    assert main(["grammar", "sampled", *arguments, "-o", str(tmp_path / "grammar"), *options]) == 0
    assert "[X,4]" in (tmp_path / "grammar").read_text()
    write_lines(
        tmp_path / "ini",
        ["formalism=scfg", "grammar=grammar", "scfg_no_hiero_glue_grammar=true", "scfg_max_span_limit=15"],
    )
    write_lines(tmp_path / "weights", ["CountEF 1"])
    arguments = ["decode", "-c", str(tmp_path / "ini"), "-w", str(tmp_path / "weights"), str(tmp_path / "f")]
    assert main([*arguments, "-o", str(tmp_path / "out"), "--quiet"]) == 0
    assert (tmp_path / "out").read_text().splitlines() == targets
