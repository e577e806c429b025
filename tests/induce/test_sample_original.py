"""The original program of Chung et al. (2014) on real pairs: the same rules at the beginning, as many after sweeps.

``FANG_ROOT`` names its folder, converted to Python 3.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lscfg.kernel.sample import PhraseForests, TreeSampler

ROOT = os.environ.get("FANG_ROOT")
SWEEPS = 20


@pytest.mark.skipif(not ROOT, reason="FANG_ROOT does not name the folder of the original program")
def test_as_many_rules_as_the_original_program(shared, tmp_path):
    """Words at the ends of a sentence that have no link are in no rule of the original, so there are none."""
    corpus = [(shared / "data" / "ja-en" / name).read_text("utf-8").splitlines() for name in ("train.ja", "train.en")]
    pairs = []
    for source, target in zip(*corpus, strict=True):
        src, tgt = source.split(), target.split()
        n = min(len(src), len(tgt))
        # links of some shape, the ends among them: what is compared is the work on them, not the alignment
        links = {(0, 0), (len(src) - 1, len(tgt) - 1)} | {(k, (k * 3) % n) for k in range(0, n, 2)}
        pairs.append((source, target, " ".join(f"{i}-{j}" for i, j in sorted(links))))
        if len(pairs) == 1000:
            break
    for name, lines in zip("fea", zip(*pairs, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    files = [str(tmp_path / name) for name in "fea"]
    options = [f"--iter={SWEEPS}", "--dump_iter=999", f"--dump={tmp_path / 'dump'}"]
    subprocess.run([sys.executable, "sampler.py", *options, *files], cwd=ROOT, check=True, capture_output=True)
    said = Path(tmp_path, "dump", "log").read_text("utf-8")
    theirs = [tuple(map(int, found)) for found in re.findall(r"^(\d+) rules, (\d+) rule types", said, re.M)]
    forests = PhraseForests()
    for pair in pairs:
        forests.add(*pair)
    sampler = TreeSampler(forests)
    state = sampler.state()
    assert theirs[0] == (state.tokens, state.types)
    for number in range(1, SWEEPS + 1):
        sampler.sweep(number)
    state = sampler.state()
    assert theirs[-1] == (pytest.approx(state.tokens, rel=0.02), pytest.approx(state.types, rel=0.02))
