"""Translations of the little system under a glossary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from decoders import WEIGHTS, small_config

from lscfg import cli
from lscfg.api.decoder import Decoder
from lscfg.formats.ini import write_ini


def agreed_translations(folder: Path, terms: str, text: Sequence[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Translations by ``lscfg decode --glossary``, which equal those of ``lscfg.Decoder``.

    Args:
        folder: contains the preparation of the system, which is written into it.
        terms: content of the glossary file.
    """
    system = folder / "systems" / "little"
    system.mkdir(parents=True)
    write_ini(system / "cdec.ini", small_config(system))
    (system / "weights").write_text("".join(f"{name} {w}\n" for name, w in WEIGHTS.items() if name != "Latent"))
    (folder / "terms").write_text(terms)
    (folder / "text").write_text("".join(f"{line}\n" for line in text))
    names = [str(system / "cdec.ini"), str(system / "weights"), str(folder / "terms")]
    assert cli.main(["decode", "-c", names[0], "-w", names[1], str(folder / "text"), "--glossary", names[2]]) == 0
    lines = capsys.readouterr().out.splitlines()
    with Decoder(*names) as decoder:
        assert decoder.translate([*text]) == lines
    return lines
