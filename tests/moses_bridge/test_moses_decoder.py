"""Moses behind the interface of decoders; a program that answers like Moses takes its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lscfg.moses_bridge.decoder import MosesDecoder


@pytest.mark.usefixtures("terminal")
def test_what_the_feature_function_warns_of_is_passed_on_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Moses counts only the sentences that it is shown, which are not empty."""
    said = [
        "[lscfg] warning: sentence 2 has no positive sum of derivations; its latent features are 0",
        "[lscfg] warning: of 2 sentences 1 have no positive sum of derivations",
        "[lscfg] 2 sentences, 5 rule applications with latent features, 10 unmatched",
        "[lscfg] 2 sentences, 5 rule applications with latent features, 0 unmatched",
        "something of Moses'",
    ]
    (tmp_path / "said").write_text("".join(f"{line}\n" for line in said))
    program = tmp_path / "moses"
    program.write_text(
        f"#!/bin/sh\ncat {tmp_path}/said >&2\n"
        'while [ "$1" != -n-best-list ]; do shift; done\necho "0 ||| a ||| TM= 0 ||| 0" > "$2"\n'
    )
    os.chmod(program, 0o755)
    (tmp_path / "grammar").write_text("[X] ||| a ||| a ||| P=1\n")
    (tmp_path / "cdec.ini").write_text("formalism=scfg\ngrammar=grammar\n")
    decoder = MosesDecoder(tmp_path / "cdec.ini", program)
    for _ in range(2):
        decoder.decode(["a", "", "b"], {}, 1)
    told = [line for line in capsys.readouterr().err.splitlines() if "in Moses" in line]
    assert told == [
        "[lscfg] warning: in Moses: sentence 3 has no positive sum of derivations; its latent features are 0",
        "[lscfg] warning: in Moses: of 2 sentences 1 have no positive sum of derivations",
        "[lscfg] warning: in Moses: 2 sentences, 10 unmatched",
    ]
