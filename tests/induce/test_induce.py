"""``lscfg propagate`` from text to rules, and what it refuses."""

import gzip
import json
import re

import numpy as np
import pytest

from lscfg.cli import main
from lscfg.induce.propagated.diagnosis import rule_costs
from lscfg.induce.propagated.phrases import PhraseFile, read_graph
from lscfg.io.tensors import load, save

LABELLED, TWINS = 12, 6


def sentences(random, source, count):
    """Sentences in which word k and its twin stand among the same words: what is around them says which they are."""
    lines = []
    for _ in range(count):
        k = int(random.integers(len(source)))
        around = [f"{'l' if n == 0 else 'r'}{k % LABELLED}{'abc'[int(random.integers(3))]}" for n in range(2)]
        lines.append((around[0], source[k], around[1]))
    return lines


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Parallel text of 12 words, monolingual text of these and of 6 more, each of which is distributed as another."""
    folder, random = tmp_path_factory.mktemp("induce"), np.random.default_rng(1)
    words = [f"f{k}" for k in range(LABELLED)]
    twins = [f"g{k}" for k in range(TWINS)]
    pairs = sentences(random, words, 300)
    mono = sentences(random, words + twins, 3000)

    def target(line):
        return " ".join(f"{word.upper()}" for word in line)

    def write(name, lines):
        (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    write("f", [" ".join(line) for line in pairs])
    write("e", [target(line) for line in pairs])
    write("a", ["0-0 1-1 2-2"] * len(pairs))
    write("mono.f", [" ".join(line) for line in mono])
    write("mono.e", [target(line).replace("G", "F") for line in mono[::-1]])
    write("text", [" ".join(("l0a", twin, "r0a")) for twin in twins])
    return folder


@pytest.fixture
def here(corpus, monkeypatch):
    monkeypatch.chdir(corpus)
    return corpus


PHRASES = (
    "propagate phrases f e a --mono-source mono.f --mono-target mono.e --to-translate text --set q=0 --set lengths=1"
)


def run(line, capsys=None):
    status = main(line.split())
    return status, capsys.readouterr().err if capsys else ""


def best_rules(path):
    best = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            _, source, target, values = line.strip().split(" ||| ")
            features = dict(item.split("=") for item in values.split())
            best.setdefault(source, []).append((float(features["GraphEgivenF"]), target, features))
    return {source: min(rules, key=lambda rule: rule[:2]) for source, rules in best.items()}


@pytest.mark.parametrize("method", ["lp", "slp"])
@pytest.mark.parametrize("solver", ["linear", "sweeps"])
def test_twins_get_the_translations_of_their_likes(here, method, solver):
    assert run(f"{PHRASES} -o p --wanted wanted")[0] == 0
    assert sorted((here / "wanted").read_text().split()) == [f"g{k}" for k in range(TWINS)]
    assert run("propagate graph p -o graph --set neighbours=5")[0] == 0
    line = f"propagate rules p graph -o out.gz --set method={method} --set solver={solver}"
    assert run(f"{line} --set candidates=neighbours --write statistics=figures")[0] == 0
    found = {source: rule[1] for source, rule in best_rules(here / "out.gz").items()}
    assert found == {f"g{k}": f"F{k}" for k in range(TWINS)}
    figures = json.loads((here / "figures").read_text())
    assert figures["phrases with a rule"] == TWINS and figures["phrases not at rest"] == 0


def test_features_of_the_rules(here):
    run(f"{PHRASES} -o p")
    run("propagate graph p -o graph --set neighbours=5")
    run("propagate rules p graph -o out.gz --set candidates=neighbours --set max_targets=20 --set min_probability=1e-9")
    phrases = PhraseFile.read(here / "p")
    count_f = dict(zip(phrases.source.phrases.texts(phrases.words), phrases.source.count, strict=True))
    count_e = dict(zip(phrases.target.phrases.texts(phrases.words), phrases.target.count, strict=True))
    totals = sum(count_f.values()), sum(count_e.values())
    for source, (cost, target, features) in best_rules(here / "out.gz").items():
        backward = 10**-cost * count_f[source] / totals[0] / (count_e[target] / totals[1])
        assert float(features["GraphFgivenE"]) == pytest.approx(-np.log10(min(backward, 1)), abs=1e-4)
        assert features["GraphLexEgivenF"] == "7" and features["Graph"] == "1"  # no word translates g0


def test_threads_and_repetition_change_no_byte(here):
    run(f"{PHRASES} -o p")
    made = []
    for jobs in (1, 2):
        run(f"propagate graph p -o graph{jobs} --set neighbours=5 --jobs {jobs}")
        run(f"propagate rules p graph{jobs} -o out{jobs} --jobs {jobs}")
        made.append(((here / f"graph{jobs}").read_bytes(), (here / f"out{jobs}").read_bytes()))
    assert made[0] == made[1]


def test_candidates_of_a_decoder_and_of_spelling(here):
    run(f"{PHRASES} -o p --wanted wanted")
    run("propagate graph p -o graph --set neighbours=5")
    (here / "nbest").write_text("0 ||| F7 |||  ||| 0\n0 ||| nothing that is a phrase |||  ||| -1\n")
    assert run("propagate rules p graph --nbest nbest --set candidates=decoder -o out.gz")[0] == 0
    assert {source: rule[1] for source, rule in best_rules(here / "out.gz").items()} == {
        (here / "wanted").read_text().split()[0]: "F7"
    }
    assert run("propagate rules p graph --set candidates=characters -o out.gz")[0] == 0
    found = best_rules(here / "out.gz")
    assert found["g3"][1] == "F3"  # by its digit


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ("candidates=stems", "no candidates: stems needs a stemmer"),
        ("candidates=decoder,stems", "decoder needs lists of translations (--nbest), stems needs a stemmer"),
        ("target_stemmer=german", "target_stemmer needs a stemmer of the source"),
        ("target_vectors=p", "target_vectors has no effect on a graph of the space pmi"),
    ],
)
def test_settings_without_effect_are_refused(here, capsys, options, fault):
    run(f"{PHRASES} -o p")
    run("propagate graph p -o graph --set neighbours=5")
    assert run(f"propagate rules p graph --set {options} -o out")[0] != 0 and not (here / "out").exists()
    assert fault in capsys.readouterr().err
    assert run("propagate graph p -o other --set source_vectors=p")[0] != 0
    assert "source_vectors needs the space vectors" in capsys.readouterr().err


def test_graphs_are_of_the_same_phrases_in_the_same_contexts(here, capsys):
    for window in (1, 3):
        run(f"{PHRASES} -o p{window} --set window={window}")
    assert run("propagate graph p1 -o graph")[0] == 0 == run("propagate rules p1 graph -o out.gz")[0]
    assert run("propagate rules p3 graph -o out3.gz")[0] != 0
    assert "of other phrases" in capsys.readouterr().err


def test_diagnosis_of_the_lists(here):
    run(f"{PHRASES} -o p")
    run("propagate graph p -o graph --set neighbours=5")
    rules = [f"[X] ||| g{k} ||| F{k} ||| CountEF=1" for k in range(5)] + ["[X] ||| g5 ||| F9 ||| EgivenF=0.1"]
    (here / "gold").write_text("\n".join(rules) + "\n")
    line = "propagate rules p graph --set candidates=neighbours --gold gold --write statistics=figures -o out.gz"
    assert run(line)[0] == 0
    figures = json.loads((here / "figures").read_text())
    assert figures["1-grams of the grammar"] == 6
    assert figures["1-grams: first"] == pytest.approx(5 / 6, abs=1e-4)


def test_gold_rules_coverage_and_examples(here):
    run(f"{PHRASES} -o p")
    run("propagate graph p -o graph --set neighbours=5")
    (here / "gold").write_text("[X] ||| g1 ||| F1 ||| EgivenF=0.1 MaxLexFgivenE=2\n[X] ||| f1 ||| F1 ||| EgivenF=0\n")
    line = "propagate rules p graph --gold gold --coverage text --write statistics=figures --write examples=shown"
    assert run(f"{line} --set method=gold -o out")[0] == 0
    rule = "[X] ||| g1 ||| F1 ||| GraphEgivenF=0.1 GraphFgivenE=0 GraphLexEgivenF=0 GraphLexFgivenE=2 Graph=1\n"
    assert (here / "out").read_text() == rule
    figures = json.loads((here / "figures").read_text())
    assert (
        figures["test text: unknown words"] == TWINS and figures["test text: unknown words without a rule"] == TWINS - 1
    )
    assert run(f"{line} --set candidates=neighbours -o out")[0] == 0
    (shown,) = json.loads((here / "shown").read_text())
    assert shown["phrase"] == "g1" and shown["candidates"][0]["target"] == "F1"
    assert shown["candidates"][0]["known"] and shown["candidates"][0]["origins"] == ["neighbours"]


def test_a_fuller_grammar_may_delete_phrases_and_leave_out_features(here):
    run(f"{PHRASES} -o p")
    run("propagate graph p -o graph --set neighbours=5")
    (here / "gold").write_text("[X] ||| g2 ||| ||| EgivenF=0.2\n[X] ||| g2 ||| F2 |||\n")
    assert rule_costs(here / "gold", "EgivenF") == {"g2": {"": pytest.approx(10**-0.2), "F2": 1}}
    assert run("propagate rules p graph --gold gold --set method=gold -o out")[0] == 0
    more = "GraphFgivenE=0 GraphLexEgivenF=0 GraphLexFgivenE=0 Graph=1"
    expected = [f"[X] ||| g2 ||| ||| GraphEgivenF=0.2 {more}", f"[X] ||| g2 ||| F2 ||| GraphEgivenF=0 {more}"]
    assert (here / "out").read_text().splitlines() == expected


def test_a_part_of_the_monolingual_text(here):
    run(f"{PHRASES} -o p")
    run(f"{PHRASES} --set mono_share=0.5 -o half")
    whole, half = (PhraseFile.read(here / name).source.count.sum() for name in ("p", "half"))
    assert (whole, half) == (3 * (300 + 3000), 3 * (300 + 1500))


@pytest.mark.parametrize(("space", "rank"), [("svd", 40), ("cca", LABELLED), ("vectors", 1), ("diffusion", 40)])
def test_twins_in_low_dimensional_spaces(here, space, rank):
    run(f"{PHRASES} -o p")
    words = [f"f{k}" for k in range(LABELLED)] + [f"g{k}" for k in range(TWINS)]
    names = {"source": words, "target": [f"F{k}" for k in range(LABELLED)]}
    for side, own in names.items():
        rows = [" ".join([word, *(str(float(int(word[1:]) == k)) for k in range(LABELLED))]) for word in own]
        (here / f"vectors.{side}").write_text("\n".join(rows) + "\n")
    line = f"propagate graph p -o graph --set neighbours=5 --set space={space} --set rank={rank}"
    line += " --set source_vectors=vectors.source" * (space == "vectors")
    assert run(line)[0] == 0
    line = "propagate rules p graph --set candidates=neighbours -o out.gz"
    line += " --set target_vectors=vectors.target" * (space == "vectors")
    assert run(line)[0] == 0
    found = {source: rule[1] for source, rule in best_rules(here / "out.gz").items()}
    assert sum(found[f"g{k}"] == f"F{k}" for k in range(TWINS)) >= TWINS - 1


def test_a_file_is_read_as_it_was_written(here):
    run(f"{PHRASES} -o p")
    PhraseFile.read(here / "p").write(here / "again")
    assert (here / "p").read_bytes() == (here / "again").read_bytes()


def test_nothing_to_propagate_is_no_error(here, capsys):
    status, said = run(PHRASES.replace("--to-translate text", "--to-translate f") + " -o q", capsys)
    assert status == 0 and "nothing to propagate" in said
    assert run("propagate graph q -o q.graph")[0] == 0
    assert run("propagate rules q q.graph -o q.out")[0] == 0
    assert (here / "q.out").read_bytes() == b""


BAD = {
    "propagate phrases f e a -o x": "no monolingual text",
    "propagate phrases f e a --mono-source no.such --mono-target mono.e -o x": "no.such: cannot read",
    "propagate phrases f e a --mono-source empty --mono-target mono.e -o x": "empty: contains no words",
    "propagate phrases f e a --mono-source latin --mono-target mono.e -o x": "latin:1: not valid UTF-8",
    f"{PHRASES} --set lengths=4 -o x": "no phrase of 4 words",
    f"{PHRASES} --set q=100000 -o x": "choose a smaller q",
    f"{PHRASES} --set window=0 -o x": "--set window: window must be at least 1",
    "propagate graph p --set neighbours=0 -o x": "--set neighbours: neighbours must be at least 1",
    "propagate graph f -o x": "not a safetensors file",
    "propagate graph p --set approximate=true -o x": "approximate needs one of the spaces svd, cca and vectors",
    "propagate rules p other.graph -o x": "graph of other phrases",
    "propagate rules p graph --set r=0 -o x": "--set r: r must be at least 1",
    "propagate rules p graph --nbest cut -o x": "cut:1: expected 4 fields",
    "propagate rules p graph --nbest long -o x": "long: has a list 99, but",
    "propagate rules p graph --nbest empty -o x": "empty: has no list",
    "propagate rules p same.graph -o x": "graph of other phrases",
    f"{PHRASES} --set mono_share=0.00001 -o x": "sentences is empty; raise mono_share",
    "propagate rules p graph --gold f -o x": "f: no rule has the feature EgivenF",
    "propagate rules p graph --set method=gold -o x": "name one with --gold",
    "propagate rules p graph --set source_stemmer=klingon -o x": "no stemmer for 'klingon'",
    "propagate rules p graph --set source_stems=long -o x": "long:1: expected a word and its stem",
    "propagate graph p --set space=diffusion --set approximate=true -o x": "approximate needs one of the spaces svd",
    "propagate graph p --set space=vectors -o x": "source_vectors and target_vectors",
    "propagate graph p --set space=vectors --set source_vectors=cut -o x": "cut: no word of the text has a vector",
    f"{PHRASES} --set mono_share=0 -o x": "--set mono_share: mono_share must be more than 0",
}


@pytest.fixture
def bad_files(here):
    run(f"{PHRASES} -o p")
    run("propagate graph p -o graph")
    run(PHRASES.replace("--to-translate text", "--to-translate f") + " -o q")
    run("propagate graph q -o other.graph")
    for name in ("f", "e", "mono.f", "mono.e", "text"):  # other words with the same numbers
        (here / f"other.{name}").write_text((here / name).read_text().replace("f", "x").replace("g", "y"))
    other = re.sub(r"(?<= )(f|e|mono\.f|mono\.e|text)(?= )", r"other.\1", f"{PHRASES} -o same")
    run(other)
    run("propagate graph same -o same.graph")
    (here / "empty").write_bytes(b"")
    (here / "latin").write_bytes("fühl\n".encode("latin-1"))
    (here / "cut").write_text("0 ||| F0\n")
    (here / "long").write_text("99 ||| F0 |||  ||| 0\n")
    return here


@pytest.mark.parametrize("line", BAD)
def test_bad_input_is_one_line_and_no_output(bad_files, capsys, line):
    (bad_files / "x").unlink(missing_ok=True)
    capsys.readouterr()
    status, said = run(line, capsys)
    errors = [row for row in said.splitlines() if row.startswith("lscfg")]
    assert status == 1 and BAD[line] in said and len(errors) == 1 and "Traceback" not in said
    assert not (bad_files / "x").exists()


def damaged(name, change):
    def apply(arrays):
        arrays[name] = arrays[name].copy()
        change(arrays[name])

    return apply


def put(place, value):
    def change(array):
        array[place] = value

    return change


GRAPHS = {
    "NaN": damaged("graph.data", put(0, np.nan)),
    "negative": damaged("graph.data", put(0, -1)),
    "index": damaged("graph.indices", put(0, 1_000_000)),
    "falling": damaged("graph.indptr", put(1, 1_000_000)),
    "missing": lambda arrays: arrays.pop("graph.data"),
}


@pytest.mark.parametrize("damage", GRAPHS)
def test_damaged_graphs_are_refused(bad_files, capsys, damage):
    arrays, metadata = load(bad_files / "graph", "graph")
    GRAPHS[damage](arrays)
    save(bad_files / "damaged", arrays, metadata)
    capsys.readouterr()
    status, said = run("propagate rules p damaged -o x", capsys)
    assert status == 1 and "damaged: array 'graph." in said and "make the file again" in said


FILES = {
    "label": damaged("labels.indices", put(0, -1)),
    "probability": damaged("labels.data", put(0, np.nan)),
    "phrase": damaged("source.offsets", put(1, 1_000_000)),
    "word": damaged("target.symbols", put(0, 1_000_000)),
    "count": damaged("target.count", put(0, -1)),
    "context": damaged("source.contexts.indices", put(0, 1_000_000)),
    "no context": damaged("source.contexts.data", put(0, 0)),
    "frequent": damaged("lexicon.count", put(0, 0)),
    "lexicon": damaged("lexicon.words", put(0, 1_000_000)),
    "no vocabulary": lambda arrays: arrays.pop("vocab.bytes"),
}


@pytest.mark.parametrize("damage", FILES)
def test_damaged_phrases_are_refused(bad_files, capsys, damage):
    arrays, metadata = load(bad_files / "p", "phrases")
    FILES[damage](arrays)
    save(bad_files / "damaged", arrays, metadata)
    capsys.readouterr()
    status, said = run("propagate graph damaged -o x", capsys)
    assert status == 1 and "damaged: array '" in said and "make the file again" in said


def test_phrases_without_neighbours_are_counted(here, capsys):
    (here / "strange").write_text("zz\n")
    run(PHRASES.replace("--to-translate text", "--to-translate strange") + " -o s")
    run("propagate graph s -o s.graph")
    status, said = run("propagate rules s s.graph --set candidates=neighbours -o s.out", capsys)
    assert status == 0 and "1 phrases have no neighbours" in said
    assert (here / "s.out").read_bytes() == b""
    phrases = PhraseFile.read(here / "s")
    assert read_graph(here / "s.graph", phrases)[0][-1].nnz == 0
