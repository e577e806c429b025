"""Grammars of sentences that make an unmodified cdec obey a glossary: its lists are those of lscfg's own decoder."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cdec_runs import SENTENCES, write_system

from lscfg.cdec_bridge.library import CdecTree
from lscfg.cli import main
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.glossary import Glossary
from lscfg.formats.kbest import parse_hypothesis
from lscfg.formats.weights import read_weights

LATENT = "feature_function=LSCFG model=model.lscfg features=paper\n"
INI = (
    "formalism=scfg\ngrammar=grammar\n"
    "scfg_no_hiero_glue_grammar=true\nadd_pass_through_rules=true\nscfg_max_span_limit=50\n"
)
TERMS = "source\ttarget\tmode\nuna casa\tthe cottage\thard\nnueva\tfresh|brand new\thard\nblanca\tpale\tsoft\n"


@pytest.mark.parametrize("latent", [LATENT, ""], ids=["latent", "plain"])
def test_cdec_obeys_terms(tree: CdecTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, latent: str) -> None:
    monkeypatch.chdir(tmp_path)
    write_system(tmp_path)
    (tmp_path / "cdec.ini").write_text(INI + latent)
    (tmp_path / "terms").write_text(TERMS)
    with open(tmp_path / "weights", "a") as file:
        file.write("Terminology 0.7\n")
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in SENTENCES))
    assert (
        main(["inspect", "marginals", *["cdec.ini", "text", "--per-sentence-grammars", "out", "--glossary", "terms"]])
        == 0
    )
    command = [str(tree.program), "-c", "out/cdec.ini", "-w", "weights", "-k", "20"]
    text = (tmp_path / "out" / "segments.sgm").read_text()
    run = subprocess.run(command, input=text, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found: list[list[float]] = [[] for _ in SENTENCES]
    best: dict[int, str] = {}
    for line in run.stdout.splitlines():
        number, one = parse_hypothesis(line)
        found[int(number)].append(one.score)
        best.setdefault(int(number), one.text)
    with EmbeddedDecoder.from_ini("cdec.ini") as decoder:
        index = Glossary.read("terms").index()
        wanted = [*decoder.translate(SENTENCES, read_weights("weights"), 20, terms=index)]
    assert sum(len(one.terms) for one in wanted) >= 3
    for number, one in enumerate(wanted):
        assert found[number] == pytest.approx([hypothesis.score for hypothesis in one.hypotheses], abs=1e-3)
        for used in one.terms:
            forms = next(term.forms for term in one.found.occurrences if term.span == used.source)
            assert any(form in best[number] for form in forms)  # equal scores tie
