"""The feature function for cdec inside a real cdec: its source tree is named by CDEC_ROOT."""

from __future__ import annotations

import contextlib
import re
import subprocess

import numpy as np
import pytest
from cdec_runs import NAMES, RULES, SENTENCES, Cdec, assert_same, messages, rule_text, two_passes
from helpers import rule_table, save_model

from lscfg.cdec_bridge.processes import CdecProcesses
from lscfg.cli import main
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.formats.weights import read_weights, write_weights
from lscfg.io import tensors
from lscfg.io.write import write_lines
from lscfg.kernel import ParseOptions

AROUND = ("SpanBoundary", "NeuralSource", "NeuralRule", "OrientM", "OrientS")
"""Features that need the words of a sentence."""

# ---- the same features as lscfg itself, in both modes ----


@pytest.mark.parametrize("glue", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        "",
        "log=false",
        "floor=0.01 negative=clamp",
        "features=paper,ratios,context",
        "features=context,boundary",
        "features=neural,orientation",
    ],
)
def test_features_are_those_of_the_embedded_decoder(cdec, exact, glue, options):
    base = "grammar=grammar\nadd_pass_through_rules=true" + ("" if glue else "\nscfg_no_hiero_glue_grammar=true")
    cdec.ini(cdec.line(options), "intersection_strategy=full", base=base)
    theirs = cdec.lists("".join(s + "\n" for s in SENTENCES), env=exact)
    ini = (cdec.folder / "cdec.ini").read_text().replace("intersection_strategy=full", "cubepruning_pop_limit=100000")
    ini = re.sub("grammar=grammar", f"grammar={cdec.folder / 'grammar'}", ini)
    (cdec.folder / "ours.ini").write_text(ini.replace("model=", f"model={cdec.folder}/"))
    weights = dict(line.split() for line in (cdec.folder / "weights").read_text().splitlines())
    with EmbeddedDecoder.from_ini(cdec.folder / "ours.ini") as decoder:
        ours = decoder.decode(SENTENCES, {k: float(v) for k, v in weights.items()}, 3000)
    assert_same(theirs, [h for found in ours for h in found], 1e-6)


def test_composed_rules_and_span_marginals(cdec, exact):
    """Rules that the model does not know: both decoders compose them, and give the features that are named."""
    sentence = "una casa blanca casa"
    larger = ["una nueva ||| one new", "una casa ||| one home", "una [X,1] blanca ||| one white [X,1]"]
    lines = [f"[X] ||| {rule} ||| R{n}=1\n" for n, rule in enumerate([*RULES[:5], *larger, *RULES[-3:]])]
    (cdec.folder / "grammar").write_text("".join(lines) + "[S] ||| [X,1] ||| [1] |||\n")
    for unknown in ("compose", "oov", "zero"):
        options = f"features=LatentMarginal,LatentSpan,ratios,context unknown={unknown} floor=1e-9"
        cdec.ini(cdec.line(options), "intersection_strategy=full")
        theirs = cdec.lists(sentence + "\n", env=exact)
        ini = (cdec.folder / "cdec.ini").read_text()
        for old, new in (
            ("intersection_strategy=full", "cubepruning_pop_limit=100000"),
            ("grammar=grammar", f"grammar={cdec.folder / 'grammar'}"),
            ("model=", f"model={cdec.folder}/"),
        ):
            ini = ini.replace(old, new)
        (cdec.folder / "ours.ini").write_text(ini)
        weights = dict(line.split() for line in (cdec.folder / "weights").read_text().splitlines())
        with EmbeddedDecoder.from_ini(cdec.folder / "ours.ini") as decoder:
            (ours,) = decoder.decode([sentence], {k: float(v) for k, v in weights.items()}, 3000)
        used = {name for h in ours for name in h.features if h.features[name]}
        assert len(ours) < 3000 and {"LatentSpan", "R6", "R7"} <= used and "LatentEgivenF" not in used
        assert {"LatentTarget", "LatentOrdered", "LatentSwapped"} <= used
        assert ({"LatentSource0", "LatentSourceN"} <= used) == (unknown != "zero")
        assert_same(theirs, ours, 1e-6)


@pytest.mark.parametrize("glue", [False, True])
@pytest.mark.parametrize("features", ["paper", "paper unknown=oov", "ratios,context", "context,boundary"])
def test_both_modes_agree(cdec, exact, glue, features):
    text = "".join(s + "\n" for s in SENTENCES)
    if glue:  # the rule of the root is one of the glue rules then
        lines = (cdec.folder / "grammar").read_text().splitlines(keepends=True)
        (cdec.folder / "grammar").write_text("".join(lines[:-1]))
    base = "grammar=grammar\nadd_pass_through_rules=true" + ("" if glue else "\nscfg_no_hiero_glue_grammar=true")
    cdec.ini(cdec.line(f"features={features}"), "intersection_strategy=full", base=base)
    parsed = cdec.lists(text, env=exact)
    cdec.ini(*two_passes(cdec, f"features={features}"), base=base)
    assert_same(parsed, cdec.lists(text, env=exact), 1e-9)


def test_cube_pruning_with_a_state_of_another_feature(cdec, exact):
    """Span features split no node; what an edge gets does not depend on how often it is met."""
    cdec.ini(cdec.line(), "feature_function=SourceSpanSizeFeatures", "cubepruning_pop_limit=100000")
    pruned = cdec.lists("una casa y una casa\n", env=exact)
    cdec.ini(cdec.line(), "feature_function=SourceSpanSizeFeatures", "intersection_strategy=full")
    assert_same(pruned, cdec.lists("una casa y una casa\n", env=exact), 1e-12)


def test_sentence_grammars(cdec, exact):
    """Rules of a grammar of the sentence's own count as those of the main grammar; in both modes."""
    text = "una casa y una casa blanca\n"
    cdec.ini(cdec.line(), "intersection_strategy=full")
    whole = cdec.lists(text, env=exact)
    lines = (cdec.folder / "grammar").read_text().splitlines(keepends=True)
    (cdec.folder / "grammar").write_text("".join(lines[6:]))
    (cdec.folder / "own").write_text("".join(lines[:6]))
    segment = f'<seg id="0" grammar="own">{text.strip()}</seg>\n'
    assert_same(whole, cdec.lists(segment, env=exact), 1e-9)
    cdec.ini(*two_passes(cdec))
    assert_same(whole, cdec.lists(segment, env=exact), 1e-9)


def test_lattice(cdec, exact):
    """A lattice of one path is the sentence; one of two paths has the forest of both."""
    one = "((('una',0,1),),(('casa',0,1),),(('blanca',0,1),),)\n"
    cdec.ini(*two_passes(cdec, "features=paper,boundary,neural,orientation"))
    plain = cdec.lists("una casa blanca\n", env=exact)
    assert all(any(h.features.get(name) for h in plain) for name in AROUND)
    assert_same(plain, cdec.lists(one, env=exact), 1e-9)
    two = "((('una',0,1),('unacasa',0,2),),(('casa',0,1),),(('blanca',0,1),),)\n"
    found = cdec.lists(two, env=exact)
    assert any("unacasa" in h.text for h in found)
    assert all(h.features.get("LatentMarginal", 0) < 0 for h in found)
    assert not any(h.features.get(name) for h in found for name in AROUND)


def test_pruned_forest_is_inferred_as_it_is(cdec, exact):
    """With all but the best derivation pruned away, every edge of it has the marginal 1."""
    record = f"feature_function2=External {cdec.library} mode=record"
    forest = cdec.line("mode=forest log=false", "feature_function3")
    cdec.ini("feature_function=WordPenalty", "beam_prune=0.0001", record, forest)
    found = cdec.lists("una casa\n", env=exact)
    assert len(found) == 1
    edges = found[0].features["LatentMarginal"]
    assert edges == pytest.approx(round(edges), abs=1e-9)
    assert found[0].features["LatentEgivenF"] == pytest.approx(edges, abs=1e-9)


@pytest.mark.parametrize("pack", ["", " pack=latent"])
def test_features_of_an_earlier_pass_are_replaced(cdec, exact, pack):
    """Two target sides share a span in the first pass; one is left in the second, where its share is 1."""
    write_weights(cdec.folder / "weights", {**read_weights(cdec.folder / "weights"), "Packed": 1.0})
    features = "features=LatentEgivenF,LatentFgivenE"
    record = f"feature_function2=External {cdec.library} mode=record"
    cdec.ini(cdec.line(features), record)
    first = {h.text: h.features.get("LatentEgivenF", 0.0) for h in cdec.lists("una casa\n", env=exact)}
    forest = cdec.line(f"mode=forest {features}{pack}", "feature_function3")
    cdec.ini(cdec.line(features), "beam_prune=0.0001", record, forest)
    (found,) = cdec.lists("una casa\n", env=exact)
    assert first[found.text] < 0
    for name in ("LatentEgivenF", "LatentFgivenE", "Packed"):
        assert found.features.get(name, 0.0) == pytest.approx(0, abs=1e-12)


def test_words_that_look_like_syntax(cdec, exact):
    """Bars within words, and brackets that cdec takes for words, on the target side."""
    rules = ["una ||| [laughter] ||||", "casa ||| a|||b [1994] [123]"]
    with open(cdec.folder / "grammar", "a") as file:
        file.writelines(f"[X] ||| {rule} ||| R{n}=1\n" for n, rule in enumerate(rules))
    cdec.ini(cdec.line(), "intersection_strategy=full")
    texts = {h.text for h in cdec.lists("una casa\n", env=exact)}
    assert "[laughter] |||| a|||b [1994] [123]" in texts


def test_forest_split_by_states(cdec, exact):
    """A recorded pass may split nodes by states of another feature: it has the same derivations."""
    cdec.ini(cdec.line("log=false features=LatentMarginal,LatentEgivenF"), "intersection_strategy=full")
    plain = cdec.lists("una casa blanca\n", env=exact)
    cdec.ini(
        "feature_function=SourceSpanSizeFeatures",
        f"feature_function=External {cdec.library} mode=record",
        "intersection_strategy=full",
        cdec.line("mode=forest log=false features=LatentMarginal,LatentEgivenF", "feature_function2"),
        "intersection_strategy2=full",
    )
    split = cdec.lists("una casa blanca\n", env=exact)
    assert [h.features["LatentMarginal"] > 0 for h in split] == [True] * len(plain)


def test_options_of_the_command_line(cdec, exact):
    """cdec's own options are found wherever they stand."""
    cdec.ini(cdec.line(), "intersection_strategy=full")
    from_file = cdec.lists("una casa blanca\n", env=exact)
    (cdec.folder / "cdec.ini").write_text("formalism=scfg\nintersection_strategy=full\n" + cdec.line() + "\n")
    for options in (["-ng", "grammar", "-P", "-S", "50"], ["--grammar=grammar", "-nP", "--scfg_max_span_limit", "50"]):
        assert_same(from_file, cdec.lists("una casa blanca\n", *options, env=exact), 1e-12)


def test_only_some_features(cdec):
    cdec.ini(cdec.line("features=LatentFgivenE,LatentMarginal"))
    found = cdec.lists("una casa blanca\n")
    assert {name for h in found for name in h.features if name in NAMES} == {"LatentFgivenE", "LatentMarginal"}


# ---- what is refused at load ----


def damaged(cdec: Cdec, how: str) -> None:
    path = cdec.folder / "model.lscfg"
    data = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "text":
        path.write_text("[X] ||| una ||| a\n" * 10)
    elif how == "format":
        arrays, metadata = tensors.load(path, "model")
        tensors.save(path, arrays, {**metadata, "format": "5"})
    else:
        arrays, metadata = tensors.load(path, "model")
        tensors.save(path, {name: a[:, :2].copy() if name == "C0" else a for name, a in arrays.items()}, metadata)


@pytest.mark.parametrize("how", ["missing", "truncated", "empty", "text", "rank", "format"])
def test_bad_model(cdec, how):
    damaged(cdec, how)
    cdec.ini(cdec.line())
    done = cdec.run("una casa\n")
    assert done.returncode != 0
    (message,) = messages(done)
    assert "model.lscfg: " in message
    assert how != "format" or "has format 5, and this version of lscfg reads formats 1 to 4" in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("features=LatentX", "unknown feature 'LatentX'; families are paper, span, ratios"),
        ("floor=-1", "floor=-1: expected a number above 0"),
        ("floor=0x1p-20", "floor=0x1p-20: expected a number above 0"),
        ("model=other", "option model is given twice"),
        ("goal=[X", "goal=[X: expected the name of a category without brackets"),
        ("log=yes", "log=yes: expected true or false"),
        ("colour=red", "unknown option 'colour=red'"),
        ("grammar=nowhere", "no file nowhere"),
        ("mode=forest", "mode=forest needs a line with mode=record"),
    ],
)
def test_bad_options(cdec, options, message):
    cdec.ini(cdec.line(options))
    done = cdec.run("una casa\n")
    assert done.returncode != 0
    assert len(messages(done)) == 1 and message in messages(done)[0]


def test_features_of_two_lines(cdec, exact):
    """Two models are welcome; the same feature twice is not, since cdec would keep one value of it."""
    first = cdec.line("features=LatentMarginal")
    cdec.ini(first, cdec.line("features=LatentFgivenE,LatentMarginal"))
    done = cdec.run("una casa\n")
    assert done.returncode != 0
    (message,) = messages(done)
    assert "LatentMarginal occurs in two lines; give each separate features=" in message
    cdec.ini(first, cdec.line("features=LatentFgivenE"))
    split = cdec.lists("una casa blanca\n", env=exact)
    cdec.ini(cdec.line("features=LatentFgivenE,LatentMarginal"))
    assert_same(cdec.lists("una casa blanca\n", env=exact), split, 1e-12)


def test_ratios_of_a_model_without_one_state(cdec):
    arrays, metadata = tensors.load(cdec.folder / "model.lscfg", "model")
    kept = {name: array for name, array in arrays.items() if not name.startswith("one.")}
    tensors.save(cdec.folder / "model.lscfg", kept, metadata)
    cdec.ini(cdec.line("features=LatentTarget"))
    done = cdec.run("una casa\n")
    assert done.returncode != 0 and len(messages(done)) == 1
    assert "which LatentTarget needs; estimate the model again" in messages(done)[0]
    cdec.ini(cdec.line())
    assert cdec.run("una casa\n").returncode == 0


def test_no_model_named(cdec):
    cdec.ini(f"feature_function=External {cdec.library} log=true")
    assert "add model=FILE" in messages(cdec.run("una\n"))[0]


@pytest.mark.parametrize(
    "setting", ["scfg_extra_glue_grammar=grammar", "scfg_default_nt=Y", "goal=X", "coarse_to_fine_beam_prune=3"]
)
def test_what_is_parsed_otherwise_is_refused(cdec, setting):
    cdec.ini(cdec.line(), setting, base="grammar=grammar")
    done = cdec.run("una casa\n")
    assert done.returncode != 0
    assert "use mode=record in this pass and mode=forest in the next one" in messages(done)[0]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("[A] ||| [S,1] ||| [1]", "a rule has the goal alone on its source side"),
        ("[X] ||| una [S,1] ||| a [1]", "a rule has S within it"),
        ("[S] ||| [X,1] y [S,2] ||| [1] and [2]", "a rule has S within it"),
    ],
)
def test_rules_that_are_parsed_otherwise_are_refused(cdec, rule, message):
    with open(cdec.folder / "grammar", "a") as file:
        file.write(f"{rule} ||| R0=1\n")
    cdec.ini(cdec.line(), base="grammar=grammar")
    done = cdec.run("una casa\n")
    assert done.returncode != 0 and message in messages(done)[0]
    cdec.ini(*two_passes(cdec), base="grammar=grammar")
    assert cdec.run("una casa\n").returncode == 0


def test_glue_of_the_grammar_itself_is_allowed(cdec, exact):
    with open(cdec.folder / "grammar", "a") as file:
        file.write("[S] ||| [S,1] [X,2] ||| [1] [2] |||\n")
    cdec.ini(cdec.line(), "intersection_strategy=full", base="grammar=grammar")
    assert cdec.lists("una casa\n", env=exact)


def test_options_of_other_programs_are_not_cdec_s(cdec, exact):
    """Programs that learn weights have a decoder in them, and options of their own; what they learn is not packed."""
    text = "una casa y una casa\n"
    cdec.ini(cdec.line(), "intersection_strategy=full")
    expected = cdec.lists(text, env=exact)
    learner = cdec.folder / "kbest_learner"
    learner.symlink_to(cdec.program)
    cdec.program = learner
    for options in (["-S", "40"], ["--scfg_max_span_limit=40"]):
        assert_same(cdec.lists(text, *options, env=exact), expected, 1e-12)
    cdec.ini(cdec.line(), "intersection_strategy=full", base="grammar=other")
    write_lines(cdec.folder / "other", ["[X] ||| a ||| b |||"])
    done = cdec.run(text, "-g", "grammar")  # not seen
    assert "knows no rule of the grammar other" in done.stderr
    write_weights(cdec.folder / "weights", {**read_weights(cdec.folder / "weights"), "Packed": 1.0})
    cdec.ini(cdec.line("pack=all"))
    assert "weights that stay as they are" in messages(cdec.run(text))[0]


def test_packing_where_sentences_change_the_weights(cdec):
    write_weights(cdec.folder / "weights", {**read_weights(cdec.folder / "weights"), "Packed": 1.0})
    cdec.ini(cdec.line("pack=all"))
    done = cdec.run("una casa\n", "--mr_mira_compat")
    assert done.returncode != 0 and "weights that stay as they are" in messages(done)[0]


def test_malformed_grammar_names_the_line(cdec):
    source, target = (" ".join(f"[{x}{k}]" for k in range(1, 11)) for x in ("X,", ""))
    (cdec.folder / "other").write_text(f"[X] ||| a ||| b ||| R1=1 ||| 0-0\n[X] ||| {source} ||| {target}\n")
    cdec.ini(cdec.line("grammar=other"))
    assert "other:2: 10 nonterminals" in messages(cdec.run("una casa\n"))[0]


# ---- neutral where nothing can be said, with one warning ----


def test_grammar_that_the_model_does_not_know(cdec):
    (cdec.folder / "grammar").write_text("[X] ||| uno ||| one ||| R0=1\n[S] ||| [X,1] ||| [1] |||\n")
    cdec.ini(cdec.line(), base="grammar=grammar\nscfg_no_hiero_glue_grammar=true")
    done = cdec.run("uno\nuno\n", "-k", "5")
    assert done.returncode == 0 and "Latent" not in done.stdout and len(done.stdout.splitlines()) == 2
    assert sum("knows no rule of the grammar" in m for m in messages(done)) == 1


def test_lattice_without_recorder_is_neutral(cdec):
    cdec.ini(cdec.line())
    lattice = "((('una',0,1),('casa',0,1),),(('casa',0,1),),)\n"
    done = cdec.run(lattice * 3 + "una casa\n", "-k", "1")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) == 4 and ["Latent" in line for line in lines] == [False, False, False, True]
    assert sum("lattice" in m for m in messages(done)) == 1
    assert "3 sentences without latent features" in messages(done)[-1]


def test_rules_of_three_nonterminals_have_no_features(cdec):
    """Nodes below such rules have features; recorded forests with such rules have none, and one warning says so."""
    with open(cdec.folder / "grammar", "a") as file:
        file.write("[X] ||| uno [X,1] dos [X,2] tres [X,3] ||| [3] one [1] two [2] ||| Long=10\n")
    write_weights(cdec.folder / "weights", {**read_weights(cdec.folder / "weights"), "Long": 10.0})
    text = "uno casa dos una casa tres nueva casa blanca\n"
    cdec.ini(cdec.line())
    done = cdec.run(text, "-k", "3")
    assert done.returncode == 0 and [", 0 unmatched" in m for m in messages(done)] == [True]
    assert all("one" in line and "Long=10" in line and "LatentMarginal" in line for line in done.stdout.splitlines())
    cdec.ini(f"feature_function=External {cdec.library} mode=record", cdec.line("mode=forest", "feature_function2"))
    done = cdec.run(text * 2, "-k", "1")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2 and "Latent" not in done.stdout
    assert sum("it has a rule of more than two nonterminals" in m for m in messages(done)) == 1


def test_recorder_in_a_pruned_pass_is_noticed(cdec):
    cdec.ini(
        f"feature_function=External {cdec.library} mode=record",
        cdec.line("features=LatentMarginal"),  # it has a state, so that the pass is pruned as it is built
        cdec.line("mode=forest", "feature_function2"),
    )
    done = cdec.run("una casa y una casa blanca\n" * 2, "-k", "1")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2
    assert sum("must have no feature function with a state" in m for m in messages(done)) == 1


def test_empty_and_unparsed_sentences_leave_cdec_as_it_is(cdec):
    base = "grammar=grammar\nscfg_no_hiero_glue_grammar=true"
    text = "una casa\n\nunknown word\ncasa\n"
    cdec.ini(base=base)
    without = cdec.run(text)
    cdec.ini(cdec.line(), base=base)
    done = cdec.run(text)
    assert done.returncode == without.returncode == 0
    assert len(done.stdout.splitlines()) == len(without.stdout.splitlines()) == 3
    assert "[lscfg] 2 sentences" in messages(done)[-1]


def test_wrong_settings_are_counted(cdec):
    cdec.ini(cdec.line("max_span=2"))
    done = cdec.run("una casa blanca\n", "-k", "3")
    assert done.returncode == 0
    assert any("cdec can parse it, lscfg cannot" in m for m in messages(done))
    lines = (cdec.folder / "grammar").read_text().splitlines(keepends=True)
    (cdec.folder / "less").write_text("".join(lines[:4] + lines[6:]))
    cdec.ini(cdec.line("grammar=less"))
    done = cdec.run("una casa blanca\n", "-k", "3")
    assert done.returncode == 0 and re.search(r" [1-9]\d* unmatched", messages(done)[-1])


def test_what_is_no_probability_is_counted(cdec, capsys, caplog):
    """As lscfg itself counts it; with quiet, too."""
    table, rng = rule_table(RULES), np.random.default_rng(0)
    values = [rng.uniform(-0.4, 0.4, (3,) * (int(a) + 1)) for a in table.arity]
    save_model(cdec.folder / "model.lscfg", table, values, np.array([0.5, 0.3, 0.2]), np.array([0.01, 0.02, 0.03]))
    text = "".join(f"{sentence}\n" for sentence in SENTENCES)
    (cdec.folder / "text").write_text(text)
    cdec.ini("feature_function=LSCFG model=model.lscfg features=paper")
    with contextlib.chdir(cdec.folder):
        main(["inspect", "marginals", "cdec.ini", "text", "-o", "marginals"])
    warned = re.search(r"of 5 sentences 2 have .*\(g < 0: 2, g = 0: 0\).*; 2 have .*%.*", capsys.readouterr().err)
    assert warned is not None
    told = f"[lscfg] warning: {warned[0]}"
    cdec.ini(cdec.line())
    assert messages(cdec.run(text))[-2] == told
    assert messages(cdec.run(text, "--quiet"))[-1] == told
    CdecProcesses(cdec.program, cdec.folder / "cdec.ini", ["-w", "weights"], folder=cdec.folder).decode(SENTENCES)
    assert f"in cdec: {warned[0]}" in caplog.messages


def test_long_sentence(cdec):
    cdec.ini(cdec.line(), base="grammar=grammar\nadd_pass_through_rules=true")
    text = (cdec.folder / "cdec.ini").read_text().replace("scfg_max_span_limit=50", "scfg_max_span_limit=8")
    (cdec.folder / "cdec.ini").write_text(
        text.replace("feature_function", "cubepruning_pop_limit=10\nfeature_function")
    )
    done = cdec.run(" ".join(["una", "casa", "blanca"] * 100) + "\n", "-k", "1")
    assert done.returncode == 0, done.stderr[-500:]
    assert "LatentMarginal" in done.stdout and " 0 unmatched" in messages(done)[-1]


def test_memory_is_flat(cdec):
    """Ten times the sentences need no more memory; with sentence grammars, which cdec never gives back, no more than
    cdec with a feature function of its own."""
    own = [f'<seg id="{n}" grammar="own">una casa y una palabra{n}</seg>\n' for n in range(20)]
    (cdec.folder / "own").write_text("[X] ||| casa ||| building ||| R0=1\n")

    def memory(lines: list[str], n: int) -> int:
        done = cdec.run("".join(lines[k % len(lines)] for k in range(n)), "--quiet")
        assert done.returncode == 0
        match = re.search(r"VmRSS:(\d+) kB", done.stderr)
        assert match is not None
        return int(match[1])

    cdec.ini("feature_function=WordPenalty")
    without = memory(own, 3000)
    cdec.ini(cdec.line())
    assert memory(own, 3000) < without + 4000
    plain = [f"{sentence}\n" for sentence in SENTENCES]
    assert memory(plain, 10000) < memory(plain, 1000) + 1000


# ---- real grammars ----


@pytest.mark.parametrize("name", ["min", "hiero"])
def test_every_edge_is_found_on_real_grammars(tree, library, shared, tmp_path, name):
    """A model of a part of their rules: no edge is unmatched, and none is met that lscfg does not parse."""
    oracle = shared / "oracle" / "cdec"
    if not (oracle / f"{name}.ini").is_file():
        pytest.skip("no reference runs of cdec beside the checkout")
    from lscfg.decode.parsing import read_grammar
    from lscfg.formats.ini import read_ini

    config = read_ini(oracle / f"{name}.ini")
    grammar = read_grammar(config)
    rules = []
    rng = np.random.default_rng(3)
    for r in range(0, min(len(grammar), 30000), 2):
        if grammar.lhs(r) == 0 and all(s != -2 for s in grammar.src(r)):
            rules.append(r)
    texts = [rule_text(grammar, r) for r in rules]
    table = rule_table(dict.fromkeys(texts))
    values = [rng.uniform(0, 0.1, (2,) * (int(a) + 1)) for a in table.arity]
    save_model(tmp_path / "model.lscfg", table, values, np.array([0.5, 0.5]), np.array([0.001, 0.001]))
    keep = [
        line
        for line in (oracle / f"{name}.ini").read_text().splitlines()
        if not line.startswith(("feature_function", "grammar", "weights"))
    ]
    keep += [f"grammar={path}" for path in config.grammars]
    keep.append(f"feature_function=External {library} model={tmp_path / 'model.lscfg'} features=paper")
    (tmp_path / "cdec.ini").write_text("\n".join([*keep, ""]))
    lines = (oracle / "input.txt").read_text().splitlines()[:20]
    done = subprocess.run(
        [str(tree.program), "-c", str(tmp_path / "cdec.ini"), "-w", str(oracle / f"{name}.weights")],
        input="".join(line + "\n" for line in lines),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-500:]
    found = re.search(r"(\d+) edges with latent features, (\d+) unmatched", done.stderr)
    options = ParseOptions(config.max_span, config.glue, int(config.pass_through))
    forests = [grammar.parse(grammar.vocab.add_line(line), options) for line in lines]
    assert found is not None and int(found[2]) == 0
    assert 0 < int(found[1]) <= sum(f.n_apps for f in forests if f is not None)
