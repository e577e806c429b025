"""The optimisers of cdec and Moses: the real programs where they are installed, their files and failures always."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from pools import planted

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.errors import InputError, LscfgError
from lscfg.formats.kbest import Hypothesis
from lscfg.tuning import hosts
from lscfg.tuning.bleu import corpus_bleu
from lscfg.tuning.optimisers import Step
from lscfg.tuning.pool import Pool
from lscfg.tuning.tune import TuneSettings, tune

START = {"lm": 0.1, "tm": -0.1, "words": 0.2, "noise": 0.3}


def installed(name: str, variable: str) -> bool:
    """True if the program is there and starts: it may lack its libraries."""
    try:
        hosts._run([hosts.find_program(name, variable), "--help"], Path.cwd())
    except InputError:
        return False
    except LscfgError as error:
        return "status 127" not in str(error)
    return True


def step_of(pool: Pool, weights: dict[str, float]) -> Step:
    return Step(pool, [], weights, 1, (1, 1), lambda: [])


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    os.chmod(path, 0o755)


@pytest.mark.parametrize("name", ["mert", "kbmira"])
def test_moses_optimisers_raise_bleu(name: str) -> None:
    if not installed(name, "MOSES_ROOT"):
        pytest.skip(f"no program {name} (MOSES_ROOT)")
    pool, _ = planted(sentences=60, hypotheses=40, seed=1)
    optimiser = hosts.host_optimiser(f"moses-{name}", "", [], [], 100)
    result = optimiser(step_of(pool, START))
    assert result.bleu > 90 > 50 > corpus_bleu(pool.best_stats(pool.vector(START)))
    assert result.bleu == corpus_bleu(pool.best_stats(pool.vector(result.weights)))
    assert optimiser(step_of(pool, START)) == result


@pytest.fixture
def travel(tmp_path: Path) -> tuple[Path, list[str], list[list[str]]]:
    """Too much weight on the wrong word and order at the start."""
    (tmp_path / "grammar").write_text(
        "[X] ||| la ||| the ||| P=1\n[X] ||| casa ||| house ||| P=1\n[X] ||| verde ||| green ||| P=1\n"
        "[X] ||| [X,1] verde ||| [X,1] green ||| Keep=1\n[X] ||| [X,1] verde ||| green [X,1] ||| Swap=1\n"
        "[X] ||| casa ||| home ||| Other=1\n"
    )
    (tmp_path / "cdec.ini").write_text(
        "formalism=scfg\ngrammar=grammar\nadd_pass_through_rules=true\nfeature_function=WordPenalty\n"
    )
    sources = ["la casa verde", "casa verde", "", "la casa verde la casa"]
    return tmp_path / "cdec.ini", sources, [["the green house", "green house", "", "the green house the house"]]


@pytest.mark.parametrize(("name", "needed"), [("cdec-mira", "kbest_cut_mira"), ("cdec-dpmert", "mr_dpmert_map")])
def test_cdec_optimisers_raise_bleu(travel: tuple[Path, list[str], list[list[str]]], name: str, needed: str) -> None:
    if not installed(needed, "CDEC_ROOT"):
        pytest.skip(f"no program {needed} (CDEC_ROOT)")
    ini, sources, references = travel
    start = {"Keep": 0.02, "Other": 0.02, "Swap": 0.01, "P": 0.01, "Glue": 0.001, "WordPenalty": 0.001}
    learn = hosts.host_optimiser(name, ini, sources, references, 20)
    settings = TuneSettings(iterations=6, patience=6, kbest=20, optimiser=name)
    with EmbeddedDecoder.from_ini(ini) as decoder:
        result = tune(decoder, sources, references, start, settings, learn=learn, log=lambda _: None)
        if name != "cdec-mira":  # kbest_cut_mira itself gives other weights every time
            assert result == tune(decoder, sources, references, start, settings, learn=learn, log=lambda _: None)
    scores = [record.dev_bleu for record in result.history]
    assert max(scores) > scores[0] + 1


def test_moses_files(tmp_path: Path) -> None:
    pool = Pool([["a b c d", "x", "e f"]])
    pool.add(
        [[Hypothesis("a b c", {"f": 0.5}, 0.0), Hypothesis("a", {"g": -1.0}, 0.0)], [], [Hypothesis("e", {}, 0.0)]]
    )
    hosts.write_moses_data(pool, tmp_path / "features", tmp_path / "scores")
    assert (tmp_path / "features").read_text() == (
        "FEATURES_TXT_BEGIN_0 0 2 2 f_0 g_0\n0.5 0 \n0 -1 \nFEATURES_TXT_END_0\n"
        "FEATURES_TXT_BEGIN_0 2 1 2 f_0 g_0\n0 0 \nFEATURES_TXT_END_0\n"
    )
    assert (tmp_path / "scores").read_text() == (
        "SCORES_TXT_BEGIN_0 0 2 9 BLEU\n3 3 2 2 1 1 0 0 4 \n1 1 0 0 0 0 0 0 4 \nSCORES_TXT_END_0\n"
        "SCORES_TXT_BEGIN_0 2 1 9 BLEU\n1 1 0 0 0 0 0 0 2 \nSCORES_TXT_END_0\n"
    )


def test_programs_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "b" / "training" / "mira").mkdir(parents=True)
    program(tmp_path / "b" / "training" / "mira", "kbest_cut_mira", "")
    monkeypatch.setenv("CDEC_ROOT", str(tmp_path))
    assert hosts.find_program("kbest_cut_mira", "CDEC_ROOT") == tmp_path / "b" / "training" / "mira" / "kbest_cut_mira"
    with pytest.raises(InputError, match=r"no program mr_dpmert_map found; build it .* CDEC_ROOT"):
        hosts.find_program("mr_dpmert_map", "CDEC_ROOT")
    monkeypatch.delenv("CDEC_ROOT")
    monkeypatch.setenv("PATH", str(tmp_path / "b" / "training" / "mira"))
    assert hosts.find_program("kbest_cut_mira", "CDEC_ROOT").name == "kbest_cut_mira"
    with pytest.raises(InputError, match="unknown optimiser 'simplex'"):
        hosts.host_optimiser("simplex", "", [], [], 1)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo bad data >&2; exit 3", "status 3: bad data"),
        ("true", "wrote no weights"),
        ("echo 1 2 > weights.txt", "returned 2 weights for 4 features"),
        ("echo 1 nan 2 3 > weights.txt", "a weight that is not finite"),
    ],
)
def test_failures_of_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str) -> None:
    program(tmp_path, "mert", script)
    monkeypatch.setenv("MOSES_ROOT", str(tmp_path))
    pool, _ = planted(sentences=3, hypotheses=4, seed=1)
    with pytest.raises(LscfgError, match=message):
        hosts.host_optimiser("moses-mert", "", [], [], 100)(step_of(pool, START))


@pytest.mark.parametrize(
    "place",
    [
        "",
        "bin",
        "mert",
        "mert/bin/gcc-12/release/threading-multi",
        "mert/bin/gcc-12/release/link-static/threading-multi",
        "build/training/mira",
    ],
)
def test_programs_are_found_where_builds_put_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    (tmp_path / place).mkdir(parents=True, exist_ok=True)
    program(tmp_path / place, "kbmira", "true")
    monkeypatch.setenv("MOSES_ROOT", str(tmp_path))
    assert hosts.find_program("kbmira", "MOSES_ROOT") == (tmp_path / place / "kbmira").resolve()


def test_what_the_program_learned_is_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "mert", "echo 0.25 -0.5 1 2 > weights.txt")
    monkeypatch.setenv("MOSES_ROOT", str(tmp_path))
    pool, _ = planted(sentences=3, hypotheses=4, seed=1)
    result = hosts.host_optimiser("moses-mert", "", [], [], 100)(step_of(pool, {**START, "Unknown": 7.0}))
    assert [result.weights[name] for name in pool.names] == [0.25, -0.5, 1, 2] and result.weights["Unknown"] == 7
    assert np.isclose(result.bleu, corpus_bleu(pool.best_stats(np.array([0.25, -0.5, 1, 2]))))


def test_moses_mert_begins_at_twenty_random_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "mert", f'echo "$@" > {tmp_path}/words; echo 1 1 1 1 > weights.txt')
    monkeypatch.setenv("MOSES_ROOT", str(tmp_path))
    pool, _ = planted(sentences=3, hypotheses=4, seed=1)
    hosts.host_optimiser("moses-mert", "", [], [], 100)(step_of(pool, START))
    assert " -d 4 -n 20 -r 1001 " in (tmp_path / "words").read_text()


def test_dpmert_follows_the_best_direction_until_nothing_is_gained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The programs report one gain, a step of 2 from the start along the first weight."""
    program(tmp_path, "cdec", 'while [ "$1" != -O ]; do shift; done; cat > "$2/0.bin.gz"')
    program(tmp_path, "mr_dpmert_map", """awk '{print $3 " " $4 "\\t" $2}'""")
    best = "A=0.5;B=0.25 A=1.0"
    program(
        tmp_path,
        "mr_dpmert_reduce",
        f"""awk -F '\\t' '{{print $1 ($1 == "{best}" ? "|2|0.5" : "|0|0.25")}}'""",
    )
    monkeypatch.setenv("CDEC_ROOT", str(tmp_path))
    (tmp_path / "cdec.ini").write_text("formalism=scfg\n")
    learn = hosts.host_optimiser("cdec-dpmert", tmp_path / "cdec.ini", ["a"], [["x"]], 10)
    result = learn(step_of(Pool([["x"]]), {"A": 0.5, "B": 0.25}))
    assert result.weights == {"A": 2.5, "B": 0.25}


@pytest.mark.parametrize("name", ["cdec-mira", "cdec-dpmert"])
def test_separators_of_references_are_no_words_of_them(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tool in ("kbest_cut_mira", "mr_dpmert_map", "mr_dpmert_reduce", "mr_dpmert_generate_mapper_input", "cdec"):
        program(tmp_path, tool, "true")
    monkeypatch.setenv("CDEC_ROOT", str(tmp_path))
    (tmp_path / "cdec.ini").write_text("formalism=scfg\n")
    with pytest.raises(InputError, match=r"line 2 of the references contains the word \|\|\|"):
        hosts.host_optimiser(name, tmp_path / "cdec.ini", ["a", "b"], [["x|||y", "x ||| y"]], 10)


def test_cdec_mira_reads_the_weights_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A weight that cdec omits is 0."""
    script = 'while [ "$1" != -D ]; do shift; done; echo "A 2.5" | gzip > "$2/weights.mira-pass1.0.gz"'
    program(tmp_path, "kbest_cut_mira", script)
    monkeypatch.setenv("CDEC_ROOT", str(tmp_path))
    (tmp_path / "cdec.ini").write_text("formalism=scfg\n")
    learn = hosts.host_optimiser("cdec-mira", tmp_path / "cdec.ini", ["a"], [["x"]], 10)
    step = Step(Pool([["x"]]), [[]], {"A": 0.5, "B": 0.25}, 1, (1, 1), lambda: [])
    assert learn(step).weights == {"A": 2.5, "B": 0.0}
