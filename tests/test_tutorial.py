"""The tutorial's cells run, one behind the other, and its stored outputs are of such a run."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs" / "tutorial.ipynb"


def cells():
    found = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == "code"]


def test_the_notebook_shows_the_outputs_of_one_run():
    assert [cell["execution_count"] for cell in cells()] == [*range(1, len(cells()) + 1)]
    outputs = [output for cell in cells() for output in cell["outputs"]]
    assert len(outputs) > 8 and {output["output_type"] for output in outputs} == {"stream", "execute_result"}
    assert all(output.get("name", "stdout") == "stdout" for output in outputs)
    text = json.dumps(outputs)
    assert "/tmp" not in text and "/home" not in text


@pytest.mark.skipif(find_spec("thot") is None, reason="no sil-thot")
def test_the_cells_run(tmp_path):
    code = "\n\n".join("".join(cell["source"]) for cell in cells())
    run = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    min_bleu, latent_bleu = (
        float(re.search(rf"^{name} +(\d+\.\d+)", run.stdout, re.M)[1]) for name in ("MIN", "LATENT")
    )
    assert latent_bleu > min_bleu > 50
    assert float(re.search(r"^\[.*\] BLEU (\d+\.\d+)$", run.stdout, re.M)[1]) > min_bleu
    assert "Traceback" not in run.stderr
