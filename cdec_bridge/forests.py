"""Forests of cdec, from the recorder of lscfg's library or as binary files of cdec.

Boost writes the binary files, so only cdec can read or write them: with ``formalism=rescore`` it loads them as its
input, with ``-O`` it writes them. Rules, features, spans and nodes survive; the sentence and the arcs of a lattice do
not.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from lscfg.cdec_bridge.processes import CdecProcesses, utf8_output
from lscfg.errors import InputError, LscfgError
from lscfg.formats.ini import line_word
from lscfg.io.folders import temporary_folder
from lscfg.io.read import read_bytes, read_lines
from lscfg.io.write import write_lines

MAX_PASSES = 3
"""The number of passes of cdec."""

_OF_A_PASS = ("feature_function", "beam_prune", "density_prune")


def recording(lines: Sequence[str], recorder: str) -> list[str]:
    """A cdec.ini with a last pass for the recorder, which sees the final forest.

    Args:
        recorder: value of the ``feature_function`` line.

    Raises:
        InputError: all three passes are in use.
    """
    keys = {line.split("#", 1)[0].partition("=")[0].strip() for line in lines}
    passes = 0
    while passes < MAX_PASSES and any(
        key + _suffix(passes) in keys for key in (*_OF_A_PASS, *(["weights"] if passes else []))
    ):
        passes += 1
    if passes == MAX_PASSES:
        raise InputError(f"all {MAX_PASSES} passes of cdec are in use and none is left to record; remove the last")
    return [*lines, f"feature_function{_suffix(passes)}={recorder}"]


def _suffix(passes: int) -> str:
    return str(passes + 1) if passes else ""


def record(
    program: Path,
    library: str | os.PathLike[str],
    ini: str | os.PathLike[str] | None,
    sentences: Sequence[str],
    options: Sequence[str] = (),
    jobs: int = 1,
    folder: Path | None = None,
    binary: str | os.PathLike[str] | None = None,
) -> Iterator[str]:
    """The forest of each sentence after all passes of cdec, as a line of JSON without a newline.

    Args:
        library: lscfg's library for cdec.
        ini: configuration of the decoder; None if sentences are lines ``::forest:: FILE`` (``binary_inputs``).
        options: further options of cdec.
        folder: where cdec is run (default: the working directory).
        binary: folder for each forest as a binary file of cdec, too, ``N.bin.gz``.

    Raises:
        InputError: the library is missing, or the configuration leaves no pass.
        LscfgError: cdec does not start, or a forest was not written.
    """
    if not Path(library).is_file():
        raise InputError("no such file; make it with lscfg cdec build", library)
    lines = ["formalism=rescore"] if ini is None else read_lines(ini)
    with tempfile.TemporaryDirectory() as made, temporary_folder(Path(binary or made)) as written:
        recorder = f"External {line_word(Path(library).resolve())} mode=record forests={line_word(made)}"
        write_lines(Path(made) / "cdec.ini", recording(lines, recorder))
        output = [] if binary is None else ["-O", str(written.resolve())]
        processes = CdecProcesses(program, Path(made) / "cdec.ini", [*options, *output], 1, jobs, folder)
        ours = [Path(made) / f"{number}.json.gz" for number in range(len(sentences))]
        theirs = [written / f"{number}.bin.gz" for number in range(len(sentences))]
        lists = processes.decode(sentences)
        # a forest is written when the next one begins, so a crash loses the one before
        lost = [n for n, found in enumerate(lists) if found and not ours[n].is_file()]
        if lost:
            for n in lost:
                theirs[n].unlink(missing_ok=True)  # cdec would append to it
            processes.decode([sentence if n in lost else "" for n, sentence in enumerate(sentences)])
        for number, found in enumerate(lists):
            if found:
                if not ours[number].is_file():
                    raise LscfgError(f"cdec translated sentence {number + 1} but did not write its forest")
                yield utf8_output(read_bytes(ours[number]), number).removesuffix("\n")
                if binary is not None:
                    os.replace(theirs[number], Path(binary) / theirs[number].name)
            elif sentences[number] and ini is None:
                raise InputError("cdec cannot load this forest", Path(folder or "") / sentences[number].split()[-1])
            else:
                yield json.dumps({"id": number, "words": None, "parsed": False})


def binary_inputs(folder: str | os.PathLike[str]) -> list[str]:
    """The input with which cdec, run in the folder, loads its files ``N.bin.gz``; an empty line for a missing one.

    Raises:
        InputError: the folder contains no such file.
    """
    names = (re.fullmatch(r"(\d+)\.bin\.gz", path.name, re.ASCII) for path in Path(folder).glob("*.bin.gz"))
    found = {int(name[1]): name[0] for name in names if name}
    if not found:
        raise InputError("no forests N.bin.gz, as cdec -O DIR writes them", folder)
    return [f"::forest:: {found[n]}" if n in found else "" for n in range(max(found) + 1)]
