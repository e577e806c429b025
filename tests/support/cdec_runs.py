"""Runs of a real cdec with the plug-in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from helpers import SPANISH_RULES, rule_table, save_random_system_model

from lscfg.cdec_bridge.library import CdecTree
from lscfg.formats.kbest import Hypothesis, parse_hypothesis
from lscfg.kernel import LATENT_FEATURES, Grammar

NAMES = LATENT_FEATURES
PARTS = ("neural", "orientation")
"""Families of features that score target words or their order by a part of the model."""
THREE_GAPS = "[X,1] y [X,2] nueva [X,3] ||| [X,3] new [X,1] and [X,2]"
"""A rule that matches one of ``SENTENCES`` and that no model of lscfg knows."""
RULES = list(SPANISH_RULES)
WEIGHTS = "PassThrough -1\nGlue 0.25\nLatentMarginal 0.5\nLatentEgivenF 0.25\nLatentFgivenE 0.125\n"
WEIGHTS += "".join(f"{name} {0.1 + 0.017 * k}\n" for k, name in enumerate(NAMES[4:]))
SENTENCES = ["una casa blanca", "una casa y una nueva casa blanca", "casa", "y una", "una una una una una una"]


def write_system(folder: Path) -> None:
    """Writes ``model.lscfg``, ``grammar`` and ``weights``."""
    save_random_system_model(folder / "model.lscfg", rule_table(RULES), -0.1, ["nueva"])
    (folder / "grammar").write_text(
        "".join(f"[X] ||| {rule} ||| R{n}=1\n" for n, rule in enumerate(RULES)) + "[S] ||| [X,1] ||| [1] |||\n"
    )
    (folder / "weights").write_text(WEIGHTS + "".join(f"R{n} {0.01 * n}\n" for n in range(len(RULES))))


class Cdec:
    """A folder with grammar, model and weights, and cdec to be run in it."""

    def __init__(self, tree: CdecTree, library: Path, folder: Path):
        self.program, self.library, self.folder = tree.program, library, folder
        write_system(folder)

    def ini(
        self, *lines: str, base: str = "grammar=grammar\nscfg_no_hiero_glue_grammar=true\nadd_pass_through_rules=true"
    ) -> None:
        (self.folder / "cdec.ini").write_text("\n".join(["formalism=scfg", base, "scfg_max_span_limit=50", *lines, ""]))

    def line(self, options: str = "", key: str = "feature_function") -> str:
        paper = "" if "features=" in options else "features=paper "
        return f"{key}=External {self.library} model=model.lscfg {paper}{options}"

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


def ordered(hypotheses: list[Hypothesis]) -> list[tuple]:
    """Latent features of derivations by their other features."""
    rows = []
    for h in hypotheses:
        others = tuple(
            sorted((k, round(v, 4)) for k, v in h.features.items() if v and k not in NAMES and not k.startswith("SSS"))
        )
        rows.append((h.text, others, tuple(h.features.get(k, 0.0) for k in NAMES)))
    return sorted(rows, key=lambda row: (*row[:2], [round(value, 7) for value in row[2]]))


def assert_same(a: list[Hypothesis], b: list[Hypothesis], tolerance: float) -> None:
    """That the derivations are the same, and their latent features but for the tolerance."""
    assert len(a) == len(b) > 0
    for x, y in zip(ordered(a), ordered(b), strict=True):
        assert x[:2] == y[:2]
        assert x[2] == pytest.approx(y[2], rel=tolerance, abs=tolerance)


def messages(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Messages of the plug-in."""
    return [line for line in done.stderr.splitlines() if line.startswith("[lscfg]")]


def two_passes(cdec: Cdec, options: str = "") -> list[str]:
    """Lines of a configuration whose second pass has the features of the forest that the first one records."""
    record = f"feature_function=External {cdec.library} mode=record"
    return [record, cdec.line(f"mode=forest {options}", "feature_function2"), "intersection_strategy2=full"]


def rule_text(grammar: Grammar, rule: int) -> str:
    """The rule as ``source ||| target`` with its nonterminals numbered on both sides."""
    word = grammar.vocab.word
    src, k = [], 0
    for symbol in grammar.src(rule):
        k += symbol < 0
        src.append(word(symbol) if symbol >= 0 else f"[X,{k}]")
    return " ".join(src) + " ||| " + " ".join(word(s) if s >= 0 else f"[X,{-s}]" for s in grammar.tgt(rule))
