"""Language models with cdec's options -x and -m: the lists of a real cdec."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from decoders import ARPA, GRAMMAR

from lscfg.cdec_bridge.library import CdecTree
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.formats.kbest import parse_hypothesis
from lscfg.formats.weights import read_weights

WEIGHTS = "P -1\nLanguageModel 0.7\nLanguageModel_OOV -1\nC 0.4\nC_OOV -2\nC_Emit 0.6\nPassThrough -3\nGlue 0.1\n"
MARKS = "[S] ||| [X,1] ||| <s> [X,1] </s> |||\n"
BOTH = "feature_function=KLanguageModel {x}-m classes -n C class.lm\nfeature_function=KLanguageModel {x}lm\n"


@pytest.mark.parametrize("marked", [False, True])
def test_classes_and_marks(marked: bool, tree: CdecTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "grammar").write_text(f"{GRAMMAR}[X] ||| casa ||| home ||| P=2\n{MARKS if marked else ''}")
    (tmp_path / "lm").write_text(ARPA)
    (tmp_path / "class.lm").write_text(ARPA.replace("the", "D").replace("house", "N").replace("green", "other"))
    (tmp_path / "classes").write_text("D the -0.5\nN house -0.25\nN home -1.5\n")
    (tmp_path / "weights").write_text(WEIGHTS)
    head = "formalism=scfg\ngrammar=grammar\nadd_pass_through_rules=true\ncubepruning_pop_limit=5000\n"
    head += "scfg_no_hiero_glue_grammar=true\n" if marked else ""
    (tmp_path / "cdec.ini").write_text(head + BOTH.format(x="-x " if marked else ""))
    sentences = ["la casa verde", "casa", "la casa", "casa verde"]
    command = [str(tree.program), "-c", "cdec.ini", "-w", "weights", "-k", "100"]
    run = subprocess.run(command, input="".join(f"{line}\n" for line in sentences), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    wanted: list[list[tuple[str, float, dict[str, float]]]] = [[] for _ in sentences]
    for line in run.stdout.splitlines():
        number, one = parse_hypothesis(line)
        wanted[int(number)].append((one.text, one.score, dict(one.features)))
    with EmbeddedDecoder.from_ini("cdec.ini") as decoder:
        for own, others in zip(decoder.decode(sentences, read_weights("weights"), k=100), wanted, strict=True):
            assert len(own) == len(others) > 0
            found = sorted(((one.text, one.score, dict(one.features)) for one in own), key=lambda one: (one[0], one[1]))
            for one, other in zip(found, sorted(others, key=lambda one: (one[0], one[1])), strict=True):
                assert one[0] == other[0] and one[1] == pytest.approx(other[1], abs=1e-3)
                assert one[2] == {name: pytest.approx(value, abs=1e-3) for name, value in other[2].items()}
