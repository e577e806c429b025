"""The feature function for Moses inside a real Moses, whose source tree is named by MOSES_ROOT; conversions always."""

from __future__ import annotations

import math
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from categories import RULES as LABELLED_RULES
from categories import random_parameters, saved, table_of
from helpers import SPANISH_RULES, rule_table, save_model, save_random_system_model

from lscfg.cli import main
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.latent import LatentFeatures
from lscfg.decode.parsing import read_grammar
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig, LatentFeature, read_ini
from lscfg.formats.kbest import Hypothesis
from lscfg.formats.weights import read_weights
from lscfg.grammar.write import glue_rules
from lscfg.kernel import CONTEXT_FEATURES, LATENT_FEATURES, FeatureOptions, Grammar
from lscfg.moses_bridge.config import Conventions, escape, read_moses_weights, unescape, write_moses
from lscfg.moses_bridge.decoder import MosesDecoder, find_moses
from lscfg.moses_bridge.nbest import parse_features
from lscfg.moses_bridge.program import (
    MosesTree,
    build_program,
    check_program,
    expected_trace,
    read_trace,
    write_sources,
)
from lscfg.moses_bridge.rule_table import GLUE_FILE

RULES = [*SPANISH_RULES[:5], "a|b ||| c|d", *SPANISH_RULES[5:]]
SENTENCES = ["una casa blanca", "una casa y una nueva casa blanca", "", "a|b casa", "y una", "una una una una una"]
WEIGHTS = {"Count": -0.3, "PassThrough": -1.5, "LatentMarginal": 0.5, "LatentEgivenF": 0.25, "LatentFgivenE": 0.125}


@pytest.fixture(scope="session")
def tree() -> MosesTree:
    if "MOSES_ROOT" not in os.environ:
        pytest.skip("no Moses: MOSES_ROOT is not set")
    return MosesTree.at(os.environ["MOSES_ROOT"])


@pytest.fixture(scope="session")
def program(tree: MosesTree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("moses") / "moses_lscfg"
    build_program(tree, path)
    return path


@pytest.fixture
def ini(tmp_path: Path) -> Path:
    """A cdec.ini with grammar and model beside it; the model lacks the last rule."""
    save_random_system_model(tmp_path / "model.lscfg", rule_table(RULES[:-1]), -0.05)
    lines = [f"[X] ||| {rule} ||| Count={0.5 * n}" for n, rule in enumerate(RULES)]
    (tmp_path / "grammar").write_text("\n".join([*lines, "[S] ||| [X,1] ||| [1] |||", ""]))
    (tmp_path / "cdec.ini").write_text(
        "formalism=scfg\ngrammar=grammar\nfeature_function=WordPenalty\n"
        "feature_function=LSCFG model=model.lscfg features=paper\n"
        "scfg_max_span_limit=50\ncubepruning_pop_limit=5000\nadd_pass_through_rules=true\n"
        "scfg_no_hiero_glue_grammar=true\n"
    )
    return tmp_path / "cdec.ini"


def run(program: Path, moses_ini: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), "-f", str(moses_ini), "-v", "0", *options],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )


def with_options(ini: Path, **options: str) -> DecoderConfig:
    config = read_ini(ini)
    model = str(ini.parent / "model.lscfg")
    return DecoderConfig(**{**config.__dict__, "latent": LatentFeature({"model": model, **options})})


# ---- without Moses ----


def test_weights_there_and_back(ini: Path, tmp_path: Path) -> None:
    config = read_ini(ini)
    weights = {**WEIGHTS, "WordPenalty": 0.75}
    made = write_moses(tmp_path / "moses", config, weights, ini)
    conventions = Conventions.of(config, read_grammar(config).feature_names)
    moses = read_moses_weights(made)
    assert moses["TM"] == pytest.approx(0.3 / math.log(10)) and moses["Latent_1"] == 0.25
    assert conventions.weights_from_moses(moses) == pytest.approx(weights)
    main(["moses", "weights", str(made), "-c", str(ini), "-o", str(tmp_path / "w")])
    assert read_weights(tmp_path / "w") == pytest.approx(weights)
    (tmp_path / "none").write_text("[feature]\nA\n")
    with pytest.raises(InputError, match="no weights"):
        read_moses_weights(tmp_path / "none")
    (tmp_path / "sparse").write_text("[weight]\nA= 1\n[weight-file]\nsparse.weights\n")
    with pytest.raises(InputError, match="sparse:4: weights in another file have no counterpart in cdec"):
        read_moses_weights(tmp_path / "sparse")


def test_weights_of_another_configuration_are_refused(ini: Path, tmp_path: Path) -> None:
    """Values of a grammar with one feature more moved along to the next features."""
    config = read_ini(ini)
    made = write_moses(tmp_path / "moses", config, WEIGHTS, ini)
    conventions, weights = Conventions.of(config, read_grammar(config).feature_names), read_moses_weights(made)
    for more, fault in (({"Other": 1.0}, "a weight of no feature in cdec.ini: Other"), ({"TM_1": 1.0}, ".*: TM_1")):
        with pytest.raises(InputError, match=f"moses.ini: {fault}; was it made from another cdec.ini?"):
            conventions.weights_from_moses(weights | more, "moses.ini")
    with pytest.raises(InputError, match="no weight of TM; was it made"):
        conventions.weights_from_moses({name: value for name, value in weights.items() if name != "TM"})


def test_values_and_weights_of_moses_are_those_of_the_table() -> None:
    """Three words, one of them unknown, of rules with probabilities 1/2 and 1/1000: by hand (docs/guides/moses.md)."""
    latent = LatentFeature({"model": "m", "features": "LatentMarginal,LatentSpan"})
    config = DecoderConfig(language_model=Path("lm"), language_model_name="News", word_penalty=True, latent=latent)
    conventions = Conventions.of(config, ("EgivenF", "FgivenE"))
    moses = parse_features(
        "TM= -0.693147181 -6.907755279 WordPenalty0= -5 LM= -4.605170186 1 UnknownWordPenalty0= -100 Glue= 3 "
        "Latent= -0.7 -1.25"
    )
    cdec = {
        "EgivenF": 0.301029996,
        "FgivenE": 3,
        "WordPenalty": -1.302883446,  # three times -1 / ln 10
        "News": -2,
        "News_OOV": 1,
        "PassThrough": 1,
        "Glue": 2,
        "LatentMarginal": -0.7,
        "LatentSpan": -1.25,
    }
    assert conventions.features_from_moses(moses) == pytest.approx(cdec)
    weights = dict(zip(cdec, (-0.5, 0.25, 2, 1.5, -0.75, -3, 0.3, 0.6, -0.9), strict=True))
    expected = {
        "TM_0": 0.217147241,
        "TM_1": -0.108573620,
        "WordPenalty0": 0.868588964,
        "LM_0": 0.651441723,
        "LM_1": -0.75,
        "UnknownWordPenalty0": 0.03,
        "Glue": 0.3,
        "Latent_0": 0.6,
        "Latent_1": -0.9,
    }
    assert conventions.weights_to_moses(weights) == pytest.approx(expected)
    assert conventions.weights_from_moses(expected) == pytest.approx(weights)
    score, theirs = (sum(w[name] * f[name] for name in f) for w, f in ((weights, cdec), (expected, moses)))
    beginning_and_end = 2 * expected["WordPenalty0"] - weights["Glue"]  # in Moses every sentence has these
    assert score == pytest.approx(theirs + beginning_and_end)


@pytest.mark.parametrize("end", ["", ","])
def test_names_that_stand_for_several_features(end: str, ini: Path, tmp_path: Path) -> None:
    config = with_options(ini, features=f"ratios,LatentSpan{end}")
    made = write_moses(tmp_path / "moses", config, {"LatentTarget": 0.5, "LatentSpan": 0.25}, ini)
    weights = read_moses_weights(made)
    assert weights["Latent_0"] == 0.5 and weights["Latent_7"] == 0.25
    assert Conventions.of(config, ("Count",)).latent == (*LATENT_FEATURES[4:11], "LatentSpan")


def test_moses_does_not_prune(ini: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only lscfg's own decoder can prune; remove prune= from the line of LSCFG"):
        write_moses(tmp_path / "moses", with_options(ini, prune="1e-8"), {}, ini)
    write_moses(tmp_path / "moses", with_options(ini, prune="0"), {}, ini)


def test_sentences_without_a_translation_are_told(ini: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    program = tmp_path / "moses_lscfg"
    program.write_text(
        '#!/bin/sh\nwhile [ "$1" != -n-best-list ]; do shift; done\necho "1 ||| a ||| TM_0= 1 ||| -1" > $2\n'
    )
    program.chmod(0o755)
    found = MosesDecoder(ini, program).decode(["una", "", "una casa", "casa"], {}, 1)
    assert [one[0].text for one in found] == ["", "", "a", ""]
    assert "Moses translates 2 of 3 sentences into nothing, first sentence 1; can its grammar parse" in caplog.text


def test_text_that_was_escaped_before(ini: Path, tmp_path: Path) -> None:
    (ini.parent / "grammar").write_text("[X] ||| a&#124;b ||| c&#124;d ||| Count=1\n[S] ||| [X,1] ||| [1] |||\n")
    config = read_ini(ini)
    with pytest.raises(InputError, match="latent features need a corpus without escapes"):
        write_moses(tmp_path / "moses", config, {}, ini)
    plain = DecoderConfig(**{**config.__dict__, "latent": None})
    write_moses(tmp_path / "moses", plain, {}, ini)
    conventions = Conventions.of(plain, ("Count",))
    assert conventions.hypothesis_from_moses(Hypothesis("c&#124;d", {}, 0.0), escaped=False).text == "c&#124;d"
    assert conventions.hypothesis_from_moses(Hypothesis("c&#124;d", {}, 0.0)).text == "c|d"


def test_programs_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("none", "."):
        with pytest.raises(InputError, match="no such program"):
            check_program(tmp_path / name)
    monkeypatch.setenv("LSCFG_MOSES", str(tmp_path))
    with pytest.raises(InputError, match="no such program; correct the environment variable LSCFG_MOSES"):
        find_moses(True)


def test_rules_for_moses(ini: Path, tmp_path: Path) -> None:
    write_moses(tmp_path / "moses", read_ini(ini), {}, ini)
    import gzip

    lines = gzip.decompress((tmp_path / "moses" / "rule-table.gz").read_bytes()).decode().splitlines()
    assert "[X][X] y [X][X] [X] ||| [X][X] and [X][X] [X] ||| 3.16227766e-06 ||| 0-2 2-0 ||| ||| |||" in lines
    assert "a&#124;b [X] ||| c&#124;d [X] ||| 0.00316227766 |||  ||| ||| |||" in lines
    assert len(lines) == len(RULES)
    assert unescape(escape("a|b [c]")) == "a|b [c]"


def test_labels_for_moses(ini: Path, tmp_path: Path) -> None:
    rules = ["[A] ||| u [B,1] ||| [1] v ||| Glue=1", "[B] ||| q ||| q ||| PassThrough=1", "[S] ||| [A,1] ||| [1] |||"]
    (ini.parent / "grammar").write_text("\n".join([*rules, "[S] ||| [S,1] [A,2] ||| [1] [2] ||| Glue=1", ""]))
    made = write_moses(tmp_path / "moses", read_ini(ini), {"Glue": 0.5, "PassThrough": -2.0}, ini)
    import gzip

    lines = gzip.decompress((tmp_path / "moses" / "rule-table.gz").read_bytes()).decode().splitlines()
    assert lines[1] == "u [X][B] [X] ||| [X][B] v [A] ||| 0.1 1 ||| 1-0 ||| ||| |||"
    assert (
        (tmp_path / "moses" / GLUE_FILE).read_text().splitlines()[-1].startswith("[X][S] [X][A] [X] ||| [X][S] [X][A]")
    )
    config = read_ini(ini)
    conventions = Conventions.of_grammar(config, read_grammar(config))
    # one rule with Glue, and two glue rules of Moses for two parts of the sentence; a word by a rule, one by Moses
    values = parse_features("TM= -2.302585093 -2.302585093 Glue= 2 UnknownWordPenalty0= -100")
    found = conventions.features_from_moses(values)
    assert found["Glue"] == pytest.approx(2) and found["PassThrough"] == pytest.approx(2)
    weights = read_moses_weights(made)
    assert conventions.weights_from_moses(weights)["Glue"] == pytest.approx(0.5)
    with pytest.raises(InputError, match="TM_0 and Glue both set Glue and need equal weights"):
        conventions.weights_from_moses({**weights, "Glue": 0.25})
    for rule, message in (
        ("[A] ||| [S,1] x ||| [1] y |||", "which Moses keeps"),
        ("[S] ||| a ||| b |||", "no counterpart"),
    ):
        (ini.parent / "grammar").write_text("\n".join([*rules, rule, ""]))
        with pytest.raises(InputError, match=message):
            write_moses(tmp_path / "moses", read_ini(ini), {}, ini)


def test_no_moses_there(tmp_path: Path, ini: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"no moses/FF/StatelessFeatureFunction.h"):
        MosesTree.at(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("LSCFG_MOSES", raising=False)
    assert find_moses(latent=True) is None
    with pytest.raises(InputError, match="make it with lscfg moses build"):
        MosesDecoder(ini)
    (tmp_path / "moses").write_text('#!/bin/sh\necho "Feature name LatentSCFG is not registered." >&2\nexit 1\n')
    (tmp_path / "moses").chmod(0o755)
    with pytest.raises(InputError, match="it lacks the feature LatentSCFG"):
        check_program(tmp_path / "moses")


def test_sources(tmp_path: Path) -> None:
    folder = write_sources(tmp_path)
    names = {path.name for path in folder.rglob("*")}
    assert {"LatentSCFG.h", "LatentSCFG.cpp", "options.h", "lscfg.h", "parse.c", "Jamfile", "README"} <= names
    assert "main.cpp" not in names
    assert write_sources(tmp_path) == folder
    (tmp_path / "other" / "LatentSCFG").mkdir(parents=True)
    (tmp_path / "other" / "LatentSCFG" / "mine").write_text("")
    with pytest.raises(InputError, match="already exists with other content"):
        write_sources(tmp_path / "other")


# ---- with Moses ----


def test_check(program: Path) -> None:
    assert "all 31 rule applications" in check_program(program)


@pytest.mark.parametrize("glue", [False, True])
@pytest.mark.parametrize(
    "more", [("LatentSpan", "LatentMarginal", "LatentFgivenE", "LatentSourceN"), (), ("neural", "orientation")]
)
def test_features_of_all_applications(
    program: Path, ini: Path, tmp_path: Path, glue: bool, more: tuple[str, ...]
) -> None:
    names = (*more, *CONTEXT_FEATURES, "ContextComposed", "SpanBoundary")
    options = {"trace": str(tmp_path / "trace"), "features": ",".join(names), "log": "false"}
    config = DecoderConfig(**{**with_options(ini, **options).__dict__, "glue": glue})
    done = run(program, write_moses(tmp_path / "moses", config), escape("\n".join(SENTENCES) + "\n"), "-threads", "4")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == len(SENTENCES), done.stderr[-2000:]
    assert "unmatched" not in done.stderr
    # the grammar has the root's rule, and here what else is glue
    (tmp_path / "glue").write_text("[S] ||| [S,1] [X,2] ||| [1] [2]\n" if glue else "")
    grammar = Grammar.from_files([*config.grammars, tmp_path / "glue"])
    latent = LatentFeatures(tmp_path / "model.lscfg", grammar, FeatureOptions(log=False, names=names))
    found = read_trace(tmp_path / "trace")
    for n, sentence in enumerate(SENTENCES):
        expected = expected_trace(grammar, latent, sentence) if sentence else {}
        theirs = found.get(n, {})
        assert theirs.keys() == expected.keys()
        for key, values in expected.items():
            np.testing.assert_allclose(theirs[key], values, rtol=0, atol=1e-9)


@pytest.mark.parametrize("lm", [False, True])
def test_moses_decodes_as_the_embedded_decoder(program: Path, ini: Path, tmp_path: Path, lm: bool) -> None:
    if lm:
        (tmp_path / "lm.arpa").write_text(
            "\\data\\\nngram 1=6\nngram 2=2\n\n\\1-grams:\n-2\t<unk>\t0\n-99\t<s>\t-0.3\n-1\t</s>\t0\n-0.7\ta\t-0.3\n"
            "-0.9\thouse\t-0.2\n-1.1\twhite\t-0.1\n\n\\2-grams:\n-0.2\ta\twhite\n-0.3\twhite\thouse\n\n\\end\\\n".replace(
                "a\twhite\n", "a white\n"
            ).replace("white\thouse", "white house")
        )
        ini.write_text(ini.read_text() + "feature_function=KLanguageModel lm.arpa\n")
    weights = {**WEIGHTS, "WordPenalty": 0.3, "LanguageModel": 0.8, "LanguageModel_OOV": -0.4}
    sentences = [s for s in SENTENCES if len(s.split()) < 5]
    theirs = MosesDecoder(ini, program, 2).decode(sentences, weights, 10000, unique=False)
    with EmbeddedDecoder.from_ini(ini) as decoder:
        ours = decoder.decode(sentences, weights, 10000, unique=False)
    for a, b in zip(theirs, ours, strict=True):
        assert len(a) == len(b)
        names = sorted({name for h in b for name in h.features})
        rows = [
            sorted((h.text, *(round(h.features.get(n, 0), 3) + 0.0 for n in names)) for h in found) for found in (a, b)
        ]
        for one, other in zip(*rows, strict=True):
            assert one[0] == other[0]
            assert one[1:] == pytest.approx(other[1:], abs=3e-3)
        scores = np.array([sum(weights.get(n, 0) * h.features.get(n, 0) for n in names) for h in a])
        apart = scores - [h.score for h in a]  # what <s> and </s> count
        assert np.ptp(apart) < 1e-3 and (np.diff(scores) < 1e-3).all()


@pytest.mark.parametrize("joined", [True, False])
def test_labels_in_moses(program: Path, tmp_path: Path, joined: bool) -> None:
    """A labelled grammar with words passed by rules: all derivations have the embedded decoder's features."""
    table = table_of(LABELLED_RULES, ("A", "B"))
    saved(random_parameters(table, (2, 3), 1), tmp_path / "model.lscfg")
    lines = [f"{table.text(rule)} ||| R={0.25 * rule}" for rule in range(len(table))]
    lines += [f"[{name}] ||| {word} ||| {word} ||| PassThrough=1" for name in table.categories for word in "qu"]
    lines += [
        f"{line} |||" if line.count("|||") == 2 else line for line in glue_rules(table) if joined or "[S,1]" not in line
    ]
    (tmp_path / "grammar").write_text("\n".join([*lines, ""]))
    (tmp_path / "cdec.ini").write_text(
        "formalism=scfg\ngrammar=grammar\nfeature_function=WordPenalty\nscfg_max_span_limit=50\n"
        "feature_function=LSCFG model=model.lscfg features=paper\ncubepruning_pop_limit=5000\n"
        "add_pass_through_rules=true\nscfg_no_hiero_glue_grammar=true\n"
    )
    weights = {"R": -0.3, "PassThrough": -1.5, "Glue": -0.2, "LatentMarginal": 0.5, "LatentEgivenF": 0.25}
    sentences = ["a", "u a c b", "a q c", "q"]
    theirs = MosesDecoder(tmp_path / "cdec.ini", program).decode(sentences, weights, 10000, unique=False)
    with EmbeddedDecoder.from_ini(tmp_path / "cdec.ini") as decoder:
        ours = decoder.decode(sentences, weights, 10000, unique=False)
    for a, b in zip(theirs, ours, strict=True):
        names = sorted({name for h in b for name in h.features})
        rows = [
            sorted((h.text, *(round(h.features.get(n, 0), 2) + 0.0 for n in names)) for h in found) for found in (a, b)
        ]
        assert len(rows[0]) == len(rows[1]) > 0
        for one, other in zip(*rows, strict=True):
            assert one[0] == other[0] and one[1:] == pytest.approx(other[1:], abs=2e-2)


def test_threads_and_odd_sentences(program: Path, ini: Path, tmp_path: Path) -> None:
    moses_ini = write_moses(tmp_path / "moses", with_options(ini), WEIGHTS, ini)
    odd = ["", "  ", "x" * 3000, "\u3000", "é\u0301 ｃａｓａ", "una " * 40, "%s &amp;", "'", "<s> casa </s>"]
    odd += ["| || |||", "[X] [X,1] ]", "casa"]
    odd += ["una " * 60]  # longer than rules may be, so that there is no derivation
    sentences = (SENTENCES + odd) * 8
    text = "\n".join(sentences) + "\n"
    lists, lines = [], []
    for threads in ("1", "2", "3"):
        nbest = tmp_path / f"nbest.{threads}"
        done = run(program, moses_ini, escape(text), "-threads", threads, "-n-best-list", str(nbest), "20")
        assert done.returncode == 0 and done.stderr.count("it has no derivation") == 1, done.stderr[-2000:]
        lines.append(done.stdout.splitlines())
        lists.append(nbest.read_bytes())
    assert lists[0] == lists[1] == lists[2] and b"nan" not in lists[0] and b"inf" not in lists[0]
    assert lines[0] == lines[1] == lines[2] and len(lines[0]) == len(sentences)
    without = [sentence for sentence, line in zip(sentences, lines[0], strict=True) if not line.split()]
    assert {*without} == {"", "  ", "\u3000", "una " * 60}
    again = run(program, moses_ini, "una " * 60 + "\ncasa\n", "-output-hypo-score", "true")
    assert again.stdout.splitlines()[0] == "0 " and again.stdout.splitlines()[1].endswith(" house")


def test_the_best_rules_come_first(program: Path, ini: Path, tmp_path: Path) -> None:
    rules = [f"[X] ||| casa ||| w{n} ||| Count={-0.5 * n}" for n in range(40)]
    (ini.parent / "grammar").write_text("\n".join([*rules, "[S] ||| [X,1] ||| [1] |||", ""]))
    ini.write_text(ini.read_text().replace("pop_limit=5000", "pop_limit=2"))
    found = MosesDecoder(ini, program).decode(["casa"], {"Count": -1.0}, 5)
    assert [h.text for h in found[0]] == ["w39", "w38"]


def test_a_forest_without_probability_counts_nothing(program: Path, ini: Path, tmp_path: Path) -> None:
    table = rule_table(["otra ||| other"])
    save_model(tmp_path / "model.lscfg", table, [np.zeros(1)], np.ones(1), np.zeros(1))
    moses_ini = write_moses(tmp_path / "moses", with_options(ini, features="paper"), WEIGHTS, ini)
    done = run(program, moses_ini, "una casa\ncasa\n", "-n-best-list", "-", "5")
    assert done.returncode == 0 and "Latent= 0.000 0.000 0.000 " in done.stdout
    assert done.stderr.count("has no positive sum of derivations; its latent features are 0") == 1
    assert "warning: of 2 sentences 2 have no positive sum of derivations (g < 0: 0, g = 0: 2) and all" in done.stderr
    assert "knows no rule of the rule tables" in done.stderr


def test_rules_from_a_file(program: Path, ini: Path, tmp_path: Path) -> None:
    moses_ini = write_moses(tmp_path / "moses", with_options(ini, trace=str(tmp_path / "a")), {}, ini)
    text = escape("\n".join(SENTENCES) + "\n")
    assert run(program, moses_ini, text).returncode == 0
    table = tmp_path / "moses" / "rule-table.gz"
    moses_ini.write_text(moses_ini.read_text().replace(f"trace={tmp_path}/a", f"trace={tmp_path}/b path={table}"))
    assert run(program, moses_ini, text).returncode == 0
    one, other = read_trace(tmp_path / "a"), read_trace(tmp_path / "b")
    assert one.keys() == other.keys()
    for n in one:
        assert one[n].keys() == other[n].keys()
        for key in one[n]:
            assert one[n][key] == pytest.approx(other[n][key], abs=1e-9)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("model=", "model=/nowhere/", "/nowhere/"),
        ("LatentSCFG name", "LatentSCFG features=Nothing name", "unknown feature 'Nothing'"),
        ("LatentSCFG name", "LatentSCFG floor=0 name", "floor=0: expected a number above 0"),
        ("LatentSCFG name", "LatentSCFG negative=no name", "negative=no: expected flip or clamp"),
        ("LatentSCFG name", "LatentSCFG colour=red name", "unknown option colour=red; options are model=FILE"),
        ("LatentSCFG name", "LatentSCFG path=/nowhere/t name", "no rule table /nowhere/t"),
        ("LatentSCFG name", "LatentSCFG features=LatentSpan name", "1 features, but 10 weights"),
        ("[search-algorithm]\n3", "[search-algorithm]\n5", "set search-algorithm to 3"),
        ("rule-table.gz", GLUE_FILE, "no rule of [X]"),
    ],
)
def test_bad_configuration(program: Path, ini: Path, tmp_path: Path, old: str, new: str, message: str) -> None:
    moses_ini = write_moses(tmp_path / "moses", with_options(ini), {}, ini)
    moses_ini.write_text(moses_ini.read_text().replace(old, new))
    done = run(program, moses_ini, "una casa\n")
    assert done.returncode == 1 and done.stdout == ""
    assert message in done.stderr and "[lscfg]" in done.stderr


def test_factors_and_other_glue_are_refused_with_the_table(program: Path, ini: Path, tmp_path: Path) -> None:
    moses_ini = write_moses(tmp_path / "moses", with_options(ini), {}, ini)
    text = moses_ini.read_text()
    table = tmp_path / "table"
    table.write_text("una|D [X] ||| a [X] ||| 1 ||| ||| |||\n")
    rules = str(tmp_path / "moses" / "rule-table.gz")
    factors = text.replace(f"path={rules} input-factor=0 ", f"path={table} input-factor=0,1 ", 1)
    moses_ini.write_text(factors.replace("[input-factors]\n0\n", "[input-factors]\n0\n1\n"))
    done = run(program, moses_ini, "una|D\n")
    assert done.returncode == 1 and "TM has rules of other factors than 0, or of several" in done.stderr
    moses_ini.write_text(text)
    with open(tmp_path / "moses" / GLUE_FILE, "a") as glue:
        glue.write("casa [X] ||| house [S] ||| 1 |||\n")
    done = run(program, moses_ini, "una\n")
    assert done.returncode == 1 and ": the rule of [S] with the source side 'casa' is not one of Moses'" in done.stderr


def test_translations_in_xml_are_told(program: Path, ini: Path, tmp_path: Path) -> None:
    moses_ini = write_moses(tmp_path / "moses", with_options(ini), WEIGHTS, ini)
    marked = 'una casa\nuna <x translation="HAUS">casa</x> blanca\n'
    done = run(program, moses_ini, marked, "-xml-input", "exclusive")
    assert done.stderr.count("sentence 2 has translations in XML; their latent features are 0") == 1
    assert "in XML" not in run(program, moses_ini, "una casa\n", "-xml-input", "exclusive").stderr


def test_a_grammar_without_features(program: Path, tmp_path: Path, ini: Path) -> None:
    (ini.parent / "grammar").write_text("[X] ||| casa ||| house |||\n[S] ||| [X,1] ||| [1] |||\n")
    assert Grammar.from_files([ini.parent / "grammar"]).feature_names == []
    found = MosesDecoder(ini, program).decode(["casa", "", "nada"], {}, 5)
    assert [h[0].text for h in found] == ["house", "", "nada"]
