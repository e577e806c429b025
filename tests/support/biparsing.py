"""A small corpus for the biparser, and its command as a separate process."""

import resource
import subprocess
import sys

import numpy as np

from lscfg.extract.extractor import RuleInputs

WORDS = {"a": "p", "b": "q", "c": "r", "d": "s"}


def make_corpus(folder, n=60, seed=1):
    """Word by word, but the words after d come before it; the links of the first word are lost."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        source = [*rng.choice(list(WORDS), rng.integers(2, 6))]
        order = list(range(len(source)))
        for k in range(len(source) - 1):
            if source[k] == "d" and order[k] == k:
                order[k], order[k + 1] = k + 1, k
        links = [f"{i}-{j}" for i, j in enumerate(order) if i]
        target = [""] * len(source)
        for i, j in enumerate(order):
            target[j] = WORDS[source[i]]
        lines.append((" ".join(source), " ".join(target), " ".join(links)))
    for name, side in zip("fea", zip(*lines, strict=True), strict=True):
        (folder / name).write_text("\n".join(side) + "\n")
    return RuleInputs(folder / "f", folder / "e", (folder / "a",))


def started(corpus, folder, *options, largest=resource.RLIM_INFINITY):
    """The command as a separate process, which may write no larger files. SIGINT stops it as in a terminal."""
    begin = (
        "import resource, signal, sys; from lscfg.cli import main; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({largest}, {largest})); sys.exit(main())"
    )
    files = [
        corpus.source,
        corpus.target,
        *corpus.alignments,
        "--checkpoint",
        folder / "state",
        "-o",
        folder / "grammar",
    ]
    command = [
        sys.executable,
        "-P",
        "-c",
        begin,
        "grammar",
        "biparsed",
        *files,
        "--set",
        "held_out=0",
        "--quiet",
        *options,
    ]
    return subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True)


def ended(process):
    """Exit status and messages."""
    _, messages = process.communicate(timeout=120)
    return process.returncode, messages
