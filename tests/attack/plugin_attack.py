"""Attacks on the plug-in's C interface: both adapters, called as a decoder calls them, with damaged files and lines.

The adapters are compiled against the stand-ins of ``tests/plugin_stubs`` for the decoders' headers.
"""

from __future__ import annotations

import math
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from cdec_runs import RULES, write_system
from mutations import mutate_arrays, mutate_text, mutations
from native import stub_driver
from shown_forests import CdecForests, MosesForests, configure

from lscfg.kernel import FeatureOptions

SECONDS = 60
"""A driver that takes longer hangs."""

NAMES = ("paper", "ratios", "context", "boundary")
FEATURES = f"model=model.lscfg features={','.join(NAMES)}"
PASSES = ([FEATURES], ["mode=record", "-", f"mode=forest {FEATURES}"], [f"{FEATURES} pack=latent", "-", "mode=unpack"])
"""Lines of cdec's passes."""


class System:
    """The good files of a decoder's system, and its driver."""

    def __init__(self, decoder: str, folder: Path):
        self.decoder, self.good, self.place = decoder, folder / decoder, folder / f"{decoder}-case"
        self.good.mkdir()
        write_system(self.good)
        options = FeatureOptions(names=NAMES)
        if decoder == "cdec":
            configure(self.good, False)
            CdecForests(self.good, False, options)
            with open(self.good / "weights", "a") as weights:
                weights.write("Packed 2\n")
        else:
            (self.good / "grammar").write_text("".join(f"[X] ||| {rule} ||| R{n}=1\n" for n, rule in enumerate(RULES)))
            MosesForests(self.good, options)
        warnings = ("-Wno-invalid-offsetof",) if decoder == "cdec" else ()
        self.driver = stub_driver(decoder, self.good, *warnings)

    def words(self, draw: random.Random, spoil: bool) -> list[str]:
        """The driver's arguments; a line of its feature is damaged if ``spoil``."""

        def line(text: str) -> str:
            return mutate_text(text.encode(), draw).replace(b"\0", b"").decode("utf-8", "replace") if spoil else text

        if self.decoder == "moses":
            return ["forest", str(len(FeatureOptions(names=NAMES).names)), line(f"LatentSCFG {FEATURES}")]
        return [
            "forest",
            *(text if text == "-" else line(text) for text in draw.choice(PASSES)),
            *["-c", "cdec.ini", "-w", "weights"],
        ]

    def case(self, draw: random.Random) -> tuple[str, str]:
        """Verdict of one damaged file or line, and what is wrong."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.good, self.place, ignore=shutil.ignore_patterns("*.o", "*_driver"))
        files = {"model.lscfg": draw.choice((mutate_arrays, mutations))}
        if self.decoder == "cdec":
            files |= dict.fromkeys(("cdec.ini", "weights"), mutate_text)
        name = draw.choice([*files, "line"])
        if name != "line":
            path = self.place / name
            path.write_bytes(files[name](path.read_bytes(), draw))
        words = self.words(draw, name == "line")
        try:
            done = subprocess.run(
                [self.driver, *words], cwd=self.place, capture_output=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return "hang", f"{self.decoder} {words}, {name} damaged in {self.place}"
        verdict = _judge(
            done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        )
        detail = f"{self.decoder} {words}, {name} damaged, status {done.returncode}: {done.stderr[-400:]!r}"
        return verdict, "" if verdict in ("accepted", "refused") else detail


def _judge(code: int, data: str, said: str) -> str:
    if code < 0 or code > 1 or "Sanitizer" in said:
        return "crash"
    if code == 1:
        return "refused" if said.startswith("[lscfg] ") and said.count("\n") == 1 else "bad message"
    numbers = [word.rpartition("=")[2] for line in data.splitlines() for word in line.split()[1:]]
    return (
        "accepted"
        if all(math.isfinite(float(number)) for number in numbers if number.strip("0123456789"))
        else "wrong number"
    )


def attack_plugin(folder: Path, draw: random.Random) -> Iterator[tuple[str, str]]:
    """Yields the verdict of each case, and what is wrong; nothing on a machine without a compiler.

    Args:
        folder: of the drivers and of their files.
    """
    if shutil.which("g++") is None or shutil.which("gcc") is None:
        print("no compiler: the plug-in's adapters are not attacked")
        return
    folder.mkdir()
    systems = [System(decoder, folder) for decoder in ("cdec", "moses")]
    while True:
        yield draw.choice(systems).case(draw)
