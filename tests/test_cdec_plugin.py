"""The feature function for cdec inside a real cdec: its source tree is named by CDEC_ROOT."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from helpers import SPANISH_RULES, random_context, rule_table, save_model

from cdec_bridge.decoder import CdecDecoder
from cdec_bridge.folding import fold_ini
from cdec_bridge.library import CdecTree, build_library, check_library
from cdec_bridge.processes import CdecProcesses
from lscfg.cli import main
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.latent import LatentFeatures
from lscfg.errors import InputError
from lscfg.formats.forests import ForestFile
from lscfg.formats.kbest import Hypothesis, parse_hypothesis
from lscfg.formats.weights import read_weights, write_weights
from lscfg.io import tensors
from lscfg.io.text import write_lines
from lscfg.kernel import LATENT_FEATURES, FeatureOptions, Forest, Grammar, ParseOptions, S
from lscfg.lm.lmplz import build_lm
from lscfg.model.parameters import OneState

NAMES = LATENT_FEATURES
RULES = list(SPANISH_RULES)
WEIGHTS = "PassThrough -1\nGlue 0.25\nLatentMarginal 0.5\nLatentEgivenF 0.25\nLatentFgivenE 0.125\n"
WEIGHTS += "".join(f"{name} {0.1 + 0.017 * k}\n" for k, name in enumerate(NAMES[4:]))
SENTENCES = ["una casa blanca", "una casa y una nueva casa blanca", "casa", "y una", "una una una una una una"]


@pytest.fixture(scope="session")
def tree() -> CdecTree:
    if "CDEC_ROOT" not in os.environ:
        pytest.skip("no cdec: CDEC_ROOT is not set")
    return CdecTree.at(os.environ["CDEC_ROOT"])


@pytest.fixture(scope="session")
def library(tree: CdecTree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("library") / "liblscfg_cdec.so"
    build_library(tree, path)
    return path


@pytest.fixture(scope="session")
def exact(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which cdec prints all digits."""
    folder = tmp_path_factory.mktemp("exact")
    (folder / "exact.cc").write_text(
        "#include <iostream>\nstruct Exact { Exact() { std::cout.precision(17); } } exact;\n"
    )
    subprocess.run(["g++", "-shared", "-fPIC", "exact.cc", "-o", "exact.so"], cwd=folder, check=True)
    return {"LD_PRELOAD": str(folder / "exact.so")}


class Cdec:
    """A folder with grammar, model and weights, and cdec to be run in it."""

    def __init__(self, tree: CdecTree, library: Path, folder: Path):
        self.program, self.library, self.folder = tree.program, library, folder
        rng = np.random.default_rng(7)
        table = rule_table(RULES)
        values = [rng.uniform(-0.1, 0.4, (3,) * (int(a) + 1)) for a in table.arity]
        one = OneState(rng.uniform(0.01, 0.2, len(table)), np.array([0.01]))
        unk = np.array([0.01, 0.02, 0.03])
        save_model(folder / "model.lscfg", table, values, np.array([0.5, 0.3, 0.2]), unk, one, random_context(table, 1))
        (folder / "grammar").write_text(
            "".join(f"[X] ||| {rule} ||| R{n}=1\n" for n, rule in enumerate(RULES)) + "[S] ||| [X,1] ||| [1] |||\n"
        )
        (folder / "weights").write_text(WEIGHTS + "".join(f"R{n} {0.01 * n}\n" for n in range(len(RULES))))

    def ini(
        self, *lines: str, base: str = "grammar=grammar\nscfg_no_hiero_glue_grammar=true\nadd_pass_through_rules=true"
    ) -> None:
        (self.folder / "cdec.ini").write_text("\n".join(["formalism=scfg", base, "scfg_max_span_limit=50", *lines, ""]))

    def line(self, options: str = "", key: str = "feature_function") -> str:
        return f"{key}=External {self.library} model=model.lscfg {options}"

    def run(self, text: str, *options: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.program), "-c", "cdec.ini", "-w", "weights", *options],
            input=text,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**os.environ, **(env or {})},
            check=False,
        )

    def lists(self, text: str, *options: str, env: dict[str, str] | None = None) -> list[Hypothesis]:
        done = self.run(text, "-k", "3000", *options, env=env)
        assert done.returncode == 0, done.stderr[-2000:]
        assert " 0 unmatched" in done.stderr
        return [parse_hypothesis(line, "cdec")[1] for line in done.stdout.splitlines()]


@pytest.fixture
def cdec(tree: CdecTree, library: Path, tmp_path: Path) -> Cdec:
    return Cdec(tree, library, tmp_path)


def ordered(hypotheses: list[Hypothesis]) -> list[tuple]:
    """Derivations by their other features, their latent ones beside."""
    rows = []
    for h in hypotheses:
        others = tuple(
            sorted((k, round(v, 4)) for k, v in h.features.items() if v and k not in NAMES and not k.startswith("SSS"))
        )
        rows.append((h.text, others, tuple(h.features.get(k, 0.0) for k in NAMES)))
    return sorted(rows, key=lambda row: (*row[:2], [round(value, 7) for value in row[2]]))


def assert_same(a: list[Hypothesis], b: list[Hypothesis], tolerance: float) -> None:
    assert len(a) == len(b) > 0
    for x, y in zip(ordered(a), ordered(b), strict=True):
        assert x[:2] == y[:2]
        assert x[2] == pytest.approx(y[2], rel=tolerance, abs=tolerance)


def messages(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith("[lscfg]")]


# ---- the same features as lscfg itself, in both modes ----


@pytest.mark.parametrize("glue", [False, True])
@pytest.mark.parametrize(
    "options",
    ["", "log=false", "floor=0.01 negative=clamp", "features=paper,ratios,context", "features=context"],
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


def two_passes(cdec: Cdec, options: str = "") -> list[str]:
    record = f"feature_function=External {cdec.library} mode=record"
    return [record, cdec.line(f"mode=forest {options}", "feature_function2"), "intersection_strategy2=full"]


@pytest.mark.parametrize("glue", [False, True])
@pytest.mark.parametrize("features", ["paper", "paper unknown=oov", "ratios,context", "context"])
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
    cdec.ini(*two_passes(cdec))
    assert_same(cdec.lists("una casa blanca\n", env=exact), cdec.lists(one, env=exact), 1e-9)
    two = "((('una',0,1),('unacasa',0,2),),(('casa',0,1),),(('blanca',0,1),),)\n"
    found = cdec.lists(two, env=exact)
    assert any("unacasa" in h.text for h in found)
    assert all(h.features.get("LatentMarginal", 0) < 0 for h in found)


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


@pytest.mark.parametrize("fold", ["", " fold=latent"])
def test_features_of_an_earlier_pass_are_replaced(cdec, exact, fold):
    """Two target sides share a span in the first pass; one is left in the second, where its share is 1."""
    write_weights(cdec.folder / "weights", {**read_weights(cdec.folder / "weights"), "Folded": 1.0})
    features = "features=LatentEgivenF,LatentFgivenE"
    record = f"feature_function2=External {cdec.library} mode=record"
    cdec.ini(cdec.line(features), record)
    first = {h.text: h.features.get("LatentEgivenF", 0.0) for h in cdec.lists("una casa\n", env=exact)}
    forest = cdec.line(f"mode=forest {features}{fold}", "feature_function3")
    cdec.ini(cdec.line(features), "beam_prune=0.0001", record, forest)
    (found,) = cdec.lists("una casa\n", env=exact)
    assert first[found.text] < 0
    for name in ("LatentEgivenF", "LatentFgivenE", "Folded"):
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
        tensors.save(path, arrays, {**metadata, "format": "2"})
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
    assert how != "format" or "has format 2, and this version of lscfg reads format 1" in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("features=LatentX", "there is no feature 'LatentX'; there are LatentMarginal, LatentEgivenF, LatentFgivenE"),
        ("floor=-1", "floor=-1: expected a number above 0"),
        ("log=yes", "log=yes: expected true or false"),
        ("colour=red", "'colour=red' is not understood"),
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
    assert "LatentMarginal stands in two lines; give each its own features=" in message
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
    assert "which LatentTarget needs; make the model anew" in messages(done)[0]
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
    """Programs that learn weights have a decoder in them, and options of their own; what they learn is not folded."""
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
    write_weights(cdec.folder / "weights", {**read_weights(cdec.folder / "weights"), "Folded": 1.0})
    cdec.ini(cdec.line("fold=all"))
    assert "weights that stay as they are" in messages(cdec.run(text))[0]


def test_folding_where_sentences_change_the_weights(cdec):
    write_weights(cdec.folder / "weights", {**read_weights(cdec.folder / "weights"), "Folded": 1.0})
    cdec.ini(cdec.line("fold=all"))
    done = cdec.run("una casa\n", "--mr_mira_compat")
    assert done.returncode != 0 and "weights that stay as they are" in messages(done)[0]


def test_malformed_grammar_names_the_line(cdec):
    (cdec.folder / "other").write_text("[X] ||| a ||| b ||| R1=1 ||| 0-0\n[X] ||| [X,1] [X,2] [X,3] ||| [1] [2] [3]\n")
    cdec.ini(cdec.line("grammar=other"))
    assert "other:2: 3 nonterminals" in messages(cdec.run("una casa\n"))[0]


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


def test_what_is_no_probability_is_counted(cdec, capsys):
    """As lscfg itself counts it; with quiet, too."""
    table, rng = rule_table(RULES), np.random.default_rng(0)
    values = [rng.uniform(-0.4, 0.4, (3,) * (int(a) + 1)) for a in table.arity]
    save_model(cdec.folder / "model.lscfg", table, values, np.array([0.5, 0.3, 0.2]), np.array([0.01, 0.02, 0.03]))
    text = "".join(f"{sentence}\n" for sentence in SENTENCES)
    (cdec.folder / "text").write_text(text)
    cdec.ini("feature_function=LSCFG model=model.lscfg")
    with contextlib.chdir(cdec.folder):
        main(["marginals", "cdec.ini", "text", "-o", "marginals"])
    ours = re.search(r"of 5 .* (\(g < 0: 2, g = 0: 0\)).*; 2 have .* (\S+%) of the abs", capsys.readouterr().err)
    assert ours is not None
    cdec.ini(cdec.line())
    for options in [], ["--quiet"]:
        last = messages(cdec.run(text, *options))[-1]
        assert last.endswith(
            f" 0 unmatched; no positive sum of derivations in 2 {ours[1]}; negative marginals in 2, {ours[2]} of the "
            "absolute mass on average"
        )
    CdecProcesses(cdec.program, cdec.folder / "cdec.ini", ["-w", "weights"], folder=cdec.folder).decode(SENTENCES)
    told = f"[lscfg] warning: in cdec: {last.removeprefix('[lscfg] ')}\n"
    assert re.sub(r"\d+ edges with latent features, 0 unmatched; ", "", told) in capsys.readouterr().err


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
    from lscfg.decode.decoder import read_grammar
    from lscfg.formats.ini import read_ini

    config = read_ini(oracle / f"{name}.ini")
    grammar = read_grammar(config)
    rules = []
    rng = np.random.default_rng(3)
    for r in range(0, min(len(grammar), 30000), 2):
        if grammar.lhs(r) == 0 and all(s != -2 for s in grammar.src(r)):
            rules.append(r)
    texts = [_text(grammar, r) for r in rules]
    table = rule_table(dict.fromkeys(texts))
    values = [rng.uniform(0, 0.1, (2,) * (int(a) + 1)) for a in table.arity]
    save_model(tmp_path / "model.lscfg", table, values, np.array([0.5, 0.5]), np.array([0.001, 0.001]))
    keep = [
        line
        for line in (oracle / f"{name}.ini").read_text().splitlines()
        if not line.startswith(("feature_function", "grammar", "weights"))
    ]
    keep += [f"grammar={path}" for path in config.grammars]
    keep.append(f"feature_function=External {library} model={tmp_path / 'model.lscfg'}")
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


def _text(grammar, rule):
    word = grammar.vocab.word
    src, k = [], 0
    for symbol in grammar.src(rule):
        k += symbol < 0
        src.append(word(symbol) if symbol >= 0 else f"[X,{k}]")
    return " ".join(src) + " ||| " + " ".join(word(s) if s >= 0 else f"[X,{-s}]" for s in grammar.tgt(rule))


# ---- folding ----


def both(cdec: Cdec, exact: dict[str, str], text: str, *options: str, unfold: bool = True) -> list[list[Hypothesis]]:
    """The lists of the configuration as it is and folded."""
    folded = fold_ini(cdec.folder / "cdec.ini", unfold)
    plain = cdec.lists(text, *options, env=exact)
    (cdec.folder / "cdec.ini").write_text("\n".join([*folded.lines, ""]))
    write_weights(cdec.folder / "weights", folded.weights(read_weights(cdec.folder / "weights")))
    return [plain, cdec.lists(text, *options, env=exact)]


@pytest.mark.parametrize("glue", [False, True])
@pytest.mark.parametrize("features", ["paper", "paper,ratios"])
def test_folded_and_unfolded(cdec, exact, glue, features):
    """Lists of one pass, in their order, with all features; seven ratios are more than cdec keeps in place."""
    base = "grammar=grammar\nadd_pass_through_rules=true" + ("" if glue else "\nscfg_no_hiero_glue_grammar=true")
    lm = "feature_function=SourceSpanSizeFeatures"  # has a state
    cdec.ini(
        "feature_function=WordPenalty", lm, cdec.line(f"features={features}"), "cubepruning_pop_limit=30", base=base
    )
    plain, folded = both(cdec, exact, "".join(s + "\n" for s in SENTENCES))
    assert [h.text for h in plain] == [h.text for h in folded]
    assert [h.score for h in plain] == pytest.approx([h.score for h in folded], abs=1e-9)
    assert_same(plain, folded, 1e-9)
    assert all({"WordPenalty", "LatentMarginal"} <= set(h.features) for h in folded if len(h.text.split()) > 1)
    assert not any(name.startswith("Folded") for h in folded for name in h.features)


def test_folded_for_good(cdec, exact):
    """Without a pass that unfolds, one entry holds all that stood before it."""
    cdec.ini("feature_function=WordPenalty", cdec.line())
    plain, folded = both(cdec, exact, "una casa y una casa\n", unfold=False)
    assert {name for h in folded for name in h.features} == {"Folded"}
    assert [h.score for h in plain] == pytest.approx([h.features["Folded"] for h in folded], abs=1e-9)


@pytest.mark.parametrize("weight", [1, -2.5])
def test_only_latent_features_folded(cdec, exact, weight):
    """The sum is divided by its weight, so that any will do."""
    cdec.ini("feature_function=WordPenalty", cdec.line())
    plain = cdec.lists("una casa y una casa\n", env=exact)
    cdec.ini("feature_function=WordPenalty", cdec.line("fold=latent"))
    weights = read_weights(cdec.folder / "weights")
    write_weights(cdec.folder / "weights", {**weights, "Folded": weight})
    folded = cdec.lists("una casa y una casa\n", env=exact)
    assert [h.score for h in plain] == pytest.approx([h.score for h in folded], abs=1e-9)
    for a, b in zip(plain, folded, strict=True):
        latent = sum(weights[name] * a.features.get(name, 0.0) for name in NAMES[:3])
        assert b.features["Folded"] * weight == pytest.approx(latent, abs=1e-9)
        assert "WordPenalty" in b.features and "LatentMarginal" not in b.features


@pytest.mark.parametrize(
    ("options", "weights", "message"),
    [
        ("fold=latent", WEIGHTS, "fold= needs a weight of Folded; add the line 'Folded 1'"),
        ("fold=all", WEIGHTS + "Folded 0\n", "fold= needs a weight of Folded"),
        ("fold=all", "LatentMarginal 1\nFolded 1\n", "no weight of LatentEgivenF, which is to be folded"),
        ("fold=all", WEIGHTS + "Folded 1\nFoldedEdge 1\n", "FoldedEdge must have no weight"),
        ("fold=yes", WEIGHTS, "fold=yes: expected none, latent or all"),
        ("mode=fold", WEIGHTS, "fold= needs a weight of Folded"),
        ("mode=unfold", WEIGHTS, "mode=unfold needs a line with fold=latent, fold=all or mode=fold"),
    ],
)
def test_bad_folding(cdec, options, weights, message):
    cdec.ini(cdec.line(options))
    (cdec.folder / "weights").write_text(weights)
    done = cdec.run("una casa\n")
    assert done.returncode != 0
    assert len(messages(done)) == 1 and message in messages(done)[0]


def test_folding_needs_one_set_of_weights(cdec):
    write_weights(cdec.folder / "weights", {**read_weights(cdec.folder / "weights"), "Folded": 1.0})
    cdec.ini(cdec.line("fold=all"), "weights2=weights", "feature_function2=WordPenalty")
    done = cdec.run("una casa\n")
    assert done.returncode != 0 and "later passes have their own" in messages(done)[0]
    cdec.ini(cdec.line("fold=all"))
    done = subprocess.run(
        [str(cdec.program), "-c", "cdec.ini"], capture_output=True, text=True, cwd=cdec.folder, check=False
    )
    assert done.returncode != 0 and "cdec is given none" in messages(done)[0]
    cdec.ini(cdec.line("fold=all"), cdec.line("fold=latent"))
    assert "stands in two lines" in cdec.run("una casa\n").stderr


def test_neutral_sentences_folded(cdec, exact):
    """A lattice has no latent features in this mode; what it has is folded all the same."""
    cdec.ini("feature_function=WordPenalty", cdec.line())
    plain, folded = both(cdec, exact, "((('una',0,1),('y',0,1),),(('casa',0,1),),)\n")
    assert [h.score for h in plain] == pytest.approx([h.score for h in folded], abs=1e-9)
    assert_same(plain, folded, 1e-9)
    assert not any("LatentMarginal" in h.features for h in plain)


def test_folded_in_a_recorded_forest(cdec, exact):
    cdec.ini("feature_function=WordPenalty", *two_passes(cdec))
    plain = cdec.lists("una casa y una casa\n", env=exact)
    weights = read_weights(cdec.folder / "weights")
    write_weights(cdec.folder / "weights", {**weights, "Folded": 1.0})
    unfold = f"feature_function3=External {cdec.library} mode=unfold"
    cdec.ini("feature_function=WordPenalty", *two_passes(cdec, "fold=all"), unfold)
    assert_same(plain, cdec.lists("una casa y una casa\n", env=exact), 1e-9)


def test_decoder_folds_by_itself(cdec, exact, monkeypatch):
    cdec.ini("feature_function=WordPenalty", cdec.line())
    monkeypatch.setenv("LD_PRELOAD", exact["LD_PRELOAD"])
    weights = read_weights(cdec.folder / "weights")
    theirs = CdecDecoder(cdec.folder / "cdec.ini", cdec.program).decode(SENTENCES, weights, 3000, unique=False)
    plain = cdec.lists("".join(s + "\n" for s in SENTENCES), env=exact)
    assert_same(plain, [h for found in theirs for h in found], 1e-9)


@pytest.mark.parametrize("glue", [False, True])
def test_decoder_folds_without_latent_features(cdec, exact, monkeypatch, capsys, glue):
    """Lists in their order, sentences that are lattices included."""
    base = "grammar=grammar\nadd_pass_through_rules=true" + ("" if glue else "\nscfg_no_hiero_glue_grammar=true")
    cdec.ini("feature_function=WordPenalty", "feature_function=SourceSpanSizeFeatures", base=base)
    monkeypatch.setenv("LD_PRELOAD", exact["LD_PRELOAD"])
    weights = read_weights(cdec.folder / "weights")
    sentences = [*SENTENCES, "((('una',0,1),('y',0,1),),(('casa',0,1),),)"]
    plain, folded = (
        CdecDecoder(cdec.folder / "cdec.ini", cdec.program, library=library).decode(sentences, weights, 100)
        for library in (None, cdec.library)
    )
    assert [[h.text for h in found] for found in plain] == [[h.text for h in found] for found in folded]
    for one, other in zip(plain, folded, strict=True):
        assert [h.score for h in one] == pytest.approx([h.score for h in other], abs=1e-9)
        assert all(a.features == pytest.approx(b.features, abs=1e-9) for a, b in zip(one, other, strict=True))
    assert any("WordPenalty" in h.features for h in folded[0])
    assert capsys.readouterr().err == ""


# ---- building and checking ----


def test_check_says_that_all_is_well(tree, library):
    assert re.search(r"loads .*; \d+ derivations have the features", check_library(tree, library))


def test_check_names_a_missing_symbol(tree, tmp_path):
    source = tmp_path / "other.cc"
    source.write_text(
        'extern "C" int no_such_function(); extern "C" void* create_ff() { return (void*)no_such_function; }'
    )
    subprocess.run(["g++", "-shared", "-fPIC", source, "-o", tmp_path / "other.so"], check=True)
    with pytest.raises(InputError, match="does not export no_such_function"):
        check_library(tree, tmp_path / "other.so")


def test_check_tells_what_is_no_library_of_ours(tree, library, tmp_path):
    (tmp_path / "other.cc").write_text("int something;\n")
    subprocess.run(["g++", "-shared", "-fPIC", tmp_path / "other.cc", "-o", tmp_path / "other.so"], check=True)
    with pytest.raises(InputError, match=r"other\.so: has no create_ff"):
        check_library(tree, tmp_path / "other.so")
    (tmp_path / "cut.so").write_bytes(library.read_bytes()[:100_000])
    with pytest.raises(InputError, match=r"cut\.so: is shorter than it says"):
        check_library(tree, tmp_path / "cut.so")


@pytest.mark.parametrize(
    ("script", "end"),
    [("echo hello", "status 0: no word"), ("exit 3", "status 3"), ("echo no >&2; kill $$", "SIGTERM: no")],
)
def test_check_tells_what_is_no_cdec(tmp_path, script, end):
    program = tmp_path / "decoder" / "cdec"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    with pytest.raises(InputError, match=f"this is no cdec that works: without the library, it ends with .*{end}"):
        check_library(CdecTree(tmp_path, None, program), tmp_path / "none.so")


def test_build_names_a_missing_header(tmp_path, capsys):
    (tmp_path / "decoder").mkdir()
    assert main(["cdec", "build", "--cdec-root", str(tmp_path), "-o", str(tmp_path / "l.so")]) == 1
    assert "no decoder/ff.h; give the source tree of cdec" in capsys.readouterr().err


def test_build_shows_what_the_compiler_refuses(tmp_path, capsys):
    for name in ("decoder/ff.h", "decoder/hg.h", "decoder/sentence_metadata.h", "utils/fdict.h", "utils/filelib.h"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("#error of another version\n")
    assert main(["cdec", "build", "--cdec-root", str(tmp_path), "-o", str(tmp_path / "l.so")]) == 1
    assert "the compiler refuses the feature function: " in capsys.readouterr().err
    assert not (tmp_path / "l.so").exists()


def test_build_without_a_compiler(tmp_path, monkeypatch):
    for name in ("decoder/ff.h", "decoder/hg.h", "decoder/sentence_metadata.h", "utils/fdict.h", "utils/filelib.h"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(InputError, match="no compiler no-such-compiler"):
        build_library(CdecTree.at(tmp_path), tmp_path / "l.so")


# ---- forests in files ----


def forests(cdec: Cdec, lines: list[str], *options: str, read: Path | None = None) -> ForestFile:
    """Those of lscfg cdec forest."""
    (cdec.folder / "text").write_text("".join(line + "\n" for line in lines))
    output = cdec.folder / "forests.jsonl.gz"
    given = ["--read", str(read)] if read else [str(cdec.folder / "text"), "-c", str(cdec.folder / "cdec.ini")]
    given += ["-w", str(cdec.folder / "weights"), "--library", str(cdec.library), "-o", str(output), *options]
    with contextlib.chdir(cdec.folder):
        assert main(["cdec", "forest", *given]) == 0
    return ForestFile(output)


def assert_features_are_marginals(cdec: Cdec, file: ForestFile) -> None:
    """What mode=forest gave to each edge is what the forest in the file gives."""
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
        return _text(grammar, r) if extra < 0 else ("[X,1] ||| [X,1]", "[X,1] [X,2] ||| [X,1] [X,2]", words[i])[extra]

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
    made = list(file := forests(cdec, lines, "--write", "made"))
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
    forests(cdec, lines, "--write", "made", "--jobs", "2")
    first = gzip.decompress((cdec.folder / "forests.jsonl.gz").read_bytes()).splitlines()
    forests(cdec, [], "--write", "again", read=cdec.folder / "made")
    second = gzip.decompress((cdec.folder / "forests.jsonl.gz").read_bytes()).splitlines()
    forests(cdec, [], read=cdec.folder / "again")  # goal above goal above goal
    assert second == gzip.decompress((cdec.folder / "forests.jsonl.gz").read_bytes()).splitlines()
    for a, b in zip(map(json.loads, first), map(json.loads, second), strict=True):
        assert a | {"words": None} == b


def test_a_forest_before_one_that_kills_cdec_is_not_lost(cdec, capsys):
    cdec.ini("feature_function=WordPenalty")
    file = forests(cdec, ["una casa", "una [X]", "casa"], "--write", "made")  # with -P, a category as a word aborts
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
