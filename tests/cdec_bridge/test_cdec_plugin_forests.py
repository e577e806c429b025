"""Forests in files that the plug-in writes in a real cdec."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from cdec_runs import NAMES, SENTENCES, WEIGHTS, Cdec, messages, rule_text, two_passes

from lscfg.cli import main
from lscfg.decode.latent import LatentFeatures
from lscfg.formats.forests import ForestFile
from lscfg.formats.kbest import parse_hypothesis
from lscfg.formats.weights import read_weights
from lscfg.io.write import write_lines
from lscfg.kernel import FeatureOptions, Forest, Grammar, ParseOptions, S
from lscfg.lm.lmplz import build_lm


def forests(cdec: Cdec, lines: list[str], *options: str, read: Path | None = None) -> ForestFile:
    """Forests that lscfg cdec forest records."""
    (cdec.folder / "text").write_text("".join(line + "\n" for line in lines))
    output = cdec.folder / "forests.jsonl.gz"
    given = ["--read", str(read)] if read else [str(cdec.folder / "text"), "-c", str(cdec.folder / "cdec.ini")]
    given += ["-w", str(cdec.folder / "weights"), "--library", str(cdec.library), "-o", str(output), *options]
    with contextlib.chdir(cdec.folder):
        assert main(["cdec", "forest", *given]) == 0
    return ForestFile(output)


def assert_features_are_marginals(cdec: Cdec, file: ForestFile) -> None:
    """Compares each edge's features under mode=forest with those of the forest in the file."""
    latent = LatentFeatures(cdec.folder / "model.lscfg", file.grammar, FeatureOptions(log=False, names=NAMES[:10]))
    for stored in file:
        mine = latent.features(stored.forest)
        theirs = np.zeros_like(mine)
        for k, name in enumerate(latent.names):
            if name in stored.names:
                theirs[:, k] = stored.features[:, stored.names.index(name)]
        assert np.abs(mine).max() > 0.1 and np.abs(mine - theirs).max() < 1e-9


def described(forest: Forest, grammar: Grammar, words: list[str]) -> list[tuple]:
    """Span, tails' spans and sides of all applications."""

    def rule(r: int, i: int) -> str:
        extra = r - len(grammar)
        return (
            rule_text(grammar, r) if extra < 0 else ("[X,1] ||| [X,1]", "[X,1] [X,2] ||| [X,1] [X,2]", words[i])[extra]
        )

    span, tails = forest.node_span.tolist(), forest.edge_tail[forest.app_edge].tolist()
    heads = forest.edge_head[forest.app_edge].tolist()
    return sorted(
        (span[h], [span[t] for t in below if t >= 0], rule(r, span[h][0]))
        for h, below, r in zip(heads, tails, forest.app_rule.tolist(), strict=True)
    )


@pytest.mark.parametrize("glue", [False, True])
def test_forests_in_files_are_those_of_the_parser(cdec, glue):
    if glue:
        lines = (cdec.folder / "grammar").read_text().splitlines(keepends=True)
        (cdec.folder / "grammar").write_text("".join(lines[:-1]))
    base = "grammar=grammar\nadd_pass_through_rules=true" + ("" if glue else "\nscfg_no_hiero_glue_grammar=true")
    cdec.ini(*two_passes(cdec, "log=false features=LatentSpan,paper,ratios"), base=base)
    file = forests(cdec, SENTENCES, "--jobs", "2")
    grammar = Grammar.from_files([cdec.folder / "grammar"])
    for number, (stored, sentence) in enumerate(zip(file, SENTENCES, strict=True)):
        assert (stored.number, stored.words) == (number, sentence.split())
        ids = np.array([grammar.vocab.find(word) for word in stored.words], np.int32)
        parsed = grammar.parse(ids, ParseOptions(50, glue, 1, S))
        assert [stored.forest.n_nodes, stored.forest.n_edges] == [parsed.n_nodes, parsed.n_edges]
        assert described(stored.forest, file.grammar, stored.words) == described(parsed, grammar, stored.words)
        rules = [name for name in stored.names if re.fullmatch(r"R\d+", name)]
        of_rules = sum(stored.features[:, stored.names.index(name)].sum() for name in rules)
        assert of_rules == (parsed.app_rule < len(grammar) - (not glue)).sum()
    assert_features_are_marginals(cdec, file)


LATTICE = "((('una',0,1),('unacasa',0,2),('casa',0,2),),(('casa',0,1),('y',0,1),),(('blanca',0,1),),)"


def test_forest_of_a_lattice(cdec):
    cdec.ini(*two_passes(cdec, "log=false features=LatentSpan,paper,ratios"))
    file = forests(cdec, [LATTICE])
    (stored,) = file
    assert stored.words is None and ("unacasa", "unacasa") in stored.sides.values()
    assert_features_are_marginals(cdec, file)


def best_score(stored, weights: dict[str, float]) -> float:
    """Of the best derivation; features of the goal, the ends of the sentence in the language model, are in it."""
    forest, best = stored.forest, np.full(stored.forest.n_nodes, -np.inf)
    local = stored.features @ np.array([weights.get(name, 0.0) for name in stored.names])
    for a in range(forest.n_apps):
        edge = forest.app_edge[a]
        head, tails = forest.edge_head[edge], [t for t in forest.edge_tail[edge] if t >= 0]
        best[head] = max(best[head], local[a] + sum(best[t] for t in tails))
    return best[-1]


def test_pruned_forests_and_those_of_cdec_s_own_files(cdec):
    """The language model's states leave several nodes of a span, of the root's too."""
    write_lines(cdec.folder / "english", ["a white house and one home", "one house and a home"])
    build_lm(cdec.folder / "english", cdec.folder / "lm.arpa", 2, (), (0.5, 1.0, 1.5), "lscfg")
    cdec.ini("feature_function=KLanguageModel lm.arpa", "beam_prune=1.5")
    (cdec.folder / "weights").write_text(WEIGHTS + "LanguageModel 1\nLanguageModel_OOV -1\n")
    lines = ["una casa y foo", LATTICE]
    made = list(file := forests(cdec, lines, "--binary", "made"))
    assert [file.grammar.category_name(int(s.forest.node_cat[-1])) for s in made] == ["Goal", "Goal"]
    assert made[0].forest.n_nodes > len(np.unique(made[0].forest.node_span, axis=0)) + 1
    assert sorted(os.listdir(cdec.folder / "made")) == ["0.bin.gz", "1.bin.gz"]
    weights = read_weights(cdec.folder / "weights")
    done = cdec.run("".join(line + "\n" for line in lines), "-k", "1")
    scores = [parse_hypothesis(line, "cdec")[1].score for line in done.stdout.splitlines()]
    assert [best_score(stored, weights) for stored in made] == pytest.approx(scores, rel=1e-5)
    loaded = list(forests(cdec, [], read=cdec.folder / "made"))
    assert [s.words for s in loaded] == [lines[0].split(), None]
    assert all((a.features == b.features).all() for a, b in zip(made, loaded, strict=True))

    cdec.ini(*two_passes(cdec, "log=false features=LatentSpan,paper,ratios"), base="")
    text = (cdec.folder / "cdec.ini").read_text()
    (cdec.folder / "cdec.ini").write_text(text.replace("formalism=scfg", "formalism=rescore"))
    file = forests(cdec, ["::forest:: made/0.bin.gz", "::forest:: made/1.bin.gz"])
    assert_features_are_marginals(cdec, file)


def test_forests_written_and_loaded_are_the_same(cdec):
    cdec.ini("feature_function=WordPenalty")
    lines = [*SENTENCES, "", "((('una',0,1),('foo',0,2),),(('casa',0,1),),)"]
    forests(cdec, lines, "--binary", "made", "--jobs", "2")
    first = gzip.decompress((cdec.folder / "forests.jsonl.gz").read_bytes()).splitlines()
    forests(cdec, [], "--binary", "again", read=cdec.folder / "made")
    second = gzip.decompress((cdec.folder / "forests.jsonl.gz").read_bytes()).splitlines()
    forests(cdec, [], read=cdec.folder / "again")  # goal above goal above goal
    assert second == gzip.decompress((cdec.folder / "forests.jsonl.gz").read_bytes()).splitlines()
    for a, b in zip(map(json.loads, first), map(json.loads, second), strict=True):
        assert a | {"words": None} == b


def test_a_forest_before_one_that_kills_cdec_is_not_lost(cdec, capsys):
    cdec.ini("feature_function=WordPenalty")
    file = forests(cdec, ["una casa", "una [X]", "casa"], "--binary", "made")  # with -P, a category as a word aborts
    assert [stored.forest is None for stored in file] == [False, True, False]
    assert "at sentence 2, which gets no translation" in capsys.readouterr().err
    (cdec.folder / "made" / "2.bin.gz").write_bytes(gzip.compress(b"no archive"))
    argv = ["cdec", "forest", "--read", str(cdec.folder / "made"), "--library", str(cdec.library)]
    assert main([*argv, "-o", str(cdec.folder / "new")]) == 1
    assert "2.bin.gz: cdec cannot load this forest" in capsys.readouterr().err
    assert not (cdec.folder / "new").exists()


def test_forests_that_cannot_be_written(cdec):
    cdec.ini(f"feature_function=External {cdec.library} mode=record forests=nowhere")
    done = cdec.run("una\n")
    assert done.returncode != 0 and "forests=nowhere: no folder that can be written to" in messages(done)[0]
    cdec.ini(cdec.line("forests=."))
    assert "forests= is for lines with mode=record" in messages(cdec.run("una\n"))[0]
    cdec.ini(f"feature_function=External {cdec.library} mode=record forests=.", cdec.line())
    done = cdec.run("una casa y una casa blanca\n" * 2)
    assert done.returncode == 0 and not list(cdec.folder.glob("*.json.gz"))
    assert sum("is not written: the pass with mode=record must have no feature" in m for m in messages(done)) == 1
