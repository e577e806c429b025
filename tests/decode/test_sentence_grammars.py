"""Grammars for single sentences: the forest again, and the same translations from a cdec that knows nothing of it."""

import gzip
import math
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from helpers import derivations, rule_table, save_model

from lscfg.cdec_bridge.decoder import find_cdec
from lscfg.cli import main
from lscfg.decode.analysis import Analyser
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.glossary import Glossary
from lscfg.decode.sentence_grammars import SentenceGrammars
from lscfg.errors import InputError
from lscfg.formats.ini import read_ini
from lscfg.formats.kbest import read_kbest
from lscfg.formats.weights import read_weights, write_weights
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.kernel import Grammar, ParseOptions

RULES = [
    "a ||| x",
    "a ||| y",
    "b ||| 100%",
    "a [X,1] ||| [X,1] z",
    "[X,1] b ||| b [X,1]",
    "[X,1] [X,2] ||| [X,2] [X,1]",
]
LATENT = {"LatentMarginal": 0.3, "LatentEgivenF": 0.2, "LatentFgivenE": -0.1, "LatentSpan": 0.15}


def random_model(path, rules):
    """Parameters of rank 3, some negative, for rules given as text."""
    table, rng = rule_table(rules), np.random.default_rng(5)
    tensors = [rng.normal(0.6, 0.4, [3] * (int(a) + 1)) / 3 ** int(a) for a in table.arity]
    return save_model(path, table, tensors, np.array([0.5, 0.3, 0.2]), np.full(3, 1e-3))


@pytest.mark.parametrize("glue", [False, True])
def test_the_derivations_are_those_of_the_forest(tmp_path, glue):
    random_model(tmp_path / "m.lscfg", RULES)
    lines = [f"[X] ||| {rule} ||| A={k}.5" for k, rule in enumerate(RULES)]
    write_lines(tmp_path / "g", lines if glue else [*lines, "[S] ||| [X,1] ||| [1] |||"])
    write_lines(
        tmp_path / "cdec.ini",
        [
            "formalism=scfg",
            "grammar=g",
            "feature_function=LSCFG model=m.lscfg features=paper log=false",
            "add_pass_through_rules=true",
            "scfg_max_span_limit=3" if glue else "scfg_no_hiero_glue_grammar=true",
        ],
    )
    analyser = Analyser.from_ini(tmp_path / "cdec.ini")
    sentences = ["a b a b", "a a", "", "new b a"]
    grammars = SentenceGrammars(tmp_path / "out", analyser, sentences)
    latent = analyser.latent.names
    for number, sentence in enumerate(sentences):
        analysis = analyser(sentence)
        grammars.write(number, analysis)
        if not sentence:
            continue
        forest = analysis.forest
        expected = sorted(tuple(analysis.features[derivation].sum(0).round(8)) for derivation in derivations(forest))
        alone = Grammar.from_files([tmp_path / "out" / f"grammar.{number}.gz"])
        again = alone.parse(alone.vocab.add_line(sentence), ParseOptions(1000, False, 0))
        indptr, indices, values = alone.features()
        names, table = alone.feature_names, np.zeros((len(alone), len(latent)))
        for rule in range(len(alone)):
            for k in range(indptr[rule], indptr[rule + 1]):
                if names[indices[k]] in latent:
                    table[rule, latent.index(names[indices[k]])] = values[k]
        found = sorted(tuple(table[again.app_rule[d]].sum(0).round(8)) for d in derivations(again))
        assert np.allclose(found, expected, atol=1e-6) and len(found) > 1
    grammars.finish()
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *(f"grammar.{n}.gz" for n in (0, 1, 3)),
        "segments.sgm",
        "cdec.ini",
    }
    with gzip.open(tmp_path / "out" / "grammar.3.gz", "rt") as file:
        text = file.read()
    assert "[X_0_1] ||| new ||| new ||| PassThrough=1 Latent" in text and "||| 100% |||" in text
    assert ("[S] ||| [S_0_2,1] [X_2_3,2] ||| [1] [2] ||| Glue=1" in text) == glue
    assert not read_ini(tmp_path / "out" / "cdec.ini").glue


@pytest.mark.parametrize("latent", [True, False])
def test_grammars_obey_terms(tmp_path, latent):
    """The k-best lists are those of a decoder that obeys the terms."""
    random_model(tmp_path / "m.lscfg", RULES)
    write_lines(tmp_path / "g", [f"[X] ||| {rule} ||| EgivenF={k}.5" for k, rule in enumerate(RULES)])
    ini = ["formalism=scfg", "grammar=g", "feature_function=WordPenalty", "add_pass_through_rules=true"]
    ini += ["feature_function=LSCFG model=m.lscfg features=paper log=false"] * latent
    write_lines(tmp_path / "cdec.ini", ini)
    weights = {"EgivenF": -0.2, "Glue": -0.3, "PassThrough": -1.0, "WordPenalty": 0.1, "Terminology": 0.7}
    weights |= LATENT if latent else {}
    sentences = ["a b a b", "new a", "b", "q q", ""]
    write_lines(tmp_path / "text", sentences)
    write_lines(
        tmp_path / "terms", ["source\ttarget\tmode", "a b\tx 50%\thard", "new\tx\tsoft", "a\tx\tsoft", "b\tq q\thard"]
    )
    command = ["inspect", "marginals", str(tmp_path / "cdec.ini"), str(tmp_path / "text")]
    with_terms = ["--glossary", str(tmp_path / "terms")]
    assert main([*command, "--per-sentence-grammars", str(tmp_path / "out"), *with_terms]) == 0
    terms = Glossary.read(tmp_path / "terms").index()
    config = read_ini(tmp_path / "out" / "cdec.ini")
    with EmbeddedDecoder.from_ini(tmp_path / "cdec.ini") as decoder:
        expected = [*decoder.translate(sentences[:4], weights, 20000, terms=terms)]
    assert [len(one.terms) for one in expected] == [2, 0, 1, 0]
    for number, one in enumerate(expected):
        alone = replace(config, grammars=(tmp_path / "out" / f"grammar.{number}.gz",))
        with EmbeddedDecoder(alone) as decoder:
            (found,) = decoder.translate([one.sentence], weights, 20000)
        lists = [sorted((round(h.score, 6), h.text) for h in each.hypotheses) for each in (found, one)]
        assert lists[0] == lists[1]
    assert main([*command, *with_terms]) == 1
    assert main(command) == main([*command, "--heat-maps", str(tmp_path / "maps")]) == (0 if latent else 1)


def test_what_cannot_be_written(tmp_path):
    random_model(tmp_path / "m.lscfg", RULES)
    write_lines(tmp_path / "g", ["[X] ||| a ||| x ||| LatentMarginal=1"])
    ini = ["formalism=scfg", "grammar=g", "feature_function=LSCFG model=m.lscfg features=LatentSpan"]
    write_lines(tmp_path / "cdec.ini", ini)
    analyser = Analyser.from_ini(tmp_path / "cdec.ini")
    assert analyser.latent.names == ("LatentSpan",)
    assert SentenceGrammars(tmp_path, analyser, ["a"]).rules(analyser("new word")) == [
        "[S] ||| new word ||| new word |||"
    ]
    texts = [(tmp_path, text, "cannot hold") for text in ("a </seg>", "a </SEG> b", "a \0 b")]
    for folder, text, message in ((tmp_path / 'a"b', "a", "quotes"), *texts):
        with pytest.raises(InputError, match=message):
            SentenceGrammars(folder, analyser, [text])
    with pytest.raises(InputError, match="cannot appear in a grammar"):
        SentenceGrammars(tmp_path, analyser, ["[X]"]).write(0, analyser("[X]"))
    write_lines(tmp_path / "cdec.ini", [*ini[:2], "feature_function=LSCFG model=m.lscfg features=paper"])
    with pytest.raises(InputError, match="already has a feature LatentMarginal"):
        SentenceGrammars(tmp_path, Analyser.from_ini(tmp_path / "cdec.ini"), ["a"])
    write_lines(tmp_path / "cdec.ini", [*ini[:2], "feature_function=LSCFG model=m.lscfg features=Latent"])
    with pytest.raises(InputError, match="unknown feature 'Latent'; families are paper"):
        Analyser.from_ini(tmp_path / "cdec.ini")


@pytest.mark.parametrize("name", ["min", "hiero"])
def test_plain_cdec_decodes_as_we_do(shared, tmp_path, monkeypatch, name):
    program = find_cdec()
    if program is None:
        pytest.skip("no cdec: put it on PATH or set CDEC_ROOT")
    folder = shared / "oracle" / "cdec"
    with gzip.open(folder / f"{name}.grammar.gz", "rt", encoding="utf-8") as file:
        rules = dict.fromkeys(" ||| ".join(line.split(" ||| ")[1:3]) for line in file if line.startswith("[X]"))
    random_model(tmp_path / "m.lscfg", [rule.replace("[1]", "[X,1]").replace("[2]", "[X,2]") for rule in rules])
    settings = read_lines(folder / f"{name}.ini")
    lines = [line.replace("=min.", f"={folder}/min.").replace("=hiero.", f"={folder}/hiero.") for line in settings]
    lines = [line.replace("LanguageModel ", f"LanguageModel {folder}/") for line in lines]
    features = ",".join(LATENT)
    write_lines(tmp_path / "cdec.ini", [*lines, f"feature_function=LSCFG model=m.lscfg features={features}"])
    weights = read_weights(folder / f"{name}.weights") | LATENT
    write_weights(tmp_path / "weights", weights)
    sentences = read_lines(folder / "input.txt")[::2]
    write_lines(tmp_path / "text", sentences)
    monkeypatch.chdir(tmp_path)
    assert main(["inspect", "marginals", "cdec.ini", "text", "--per-sentence-grammars", "g", "--jobs", "2"]) == 0
    command = [program, "-c", "g/cdec.ini", "-w", "weights", "-k", "1"]
    with open("g/segments.sgm") as text, open("kbest", "w") as output:
        subprocess.run(command, stdin=text, stdout=output, stderr=subprocess.DEVNULL, check=True)
    with EmbeddedDecoder.from_ini("cdec.ini") as decoder:
        ours = [found[0] for found in decoder.decode(sentences, weights)]
    theirs = [found[0] for _, found in sorted(read_kbest("kbest").items())]
    assert len(sentences) == 29 and [a.text for a in ours] == [b.text for b in theirs]
    for a, b in zip(ours, theirs, strict=True):
        assert a.score == pytest.approx(b.score, rel=2e-5)
        for feature in {*a.features, *b.features}:
            x, y = a.features.get(feature, 0.0), b.features.get(feature, 0.0)
            assert math.isclose(x, y, rel_tol=2e-5, abs_tol=2e-5), feature
    assert {*LATENT} <= {name for a in ours for name in a.features}
