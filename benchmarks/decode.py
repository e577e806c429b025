"""CPU time of a decoder by parts, alternating between this checkout and another one on the same core.

    python benchmarks/decode.py cdec.ini weights test.ja --against ../before --reference test.en

Each round starts a process of either checkout, with the checkout's own ``.venv``, pinned to one core. The process
decodes the text twice: the first time as ``lscfg decode`` does, which computes features of large forests with the
scores, the second time with the forests kept, as a tuning does. Tables show CPU milliseconds per sentence, minimum
and median over the rounds, the ratio of the minima, memory after the first pass, and, with lists of ``-k``
hypotheses, the sentences whose lists differ in any byte of translations, scores or features. The start is that of
``lscfg decode`` on an empty text, next to the start of Python with NumPy alone, and its parts in the measured process.
A table shows the sizes of a bundle's files. Without ``--against``, the tables show this checkout alone. ``--words``
shows how time grows with the length of sentences; with ``--against-ini``, the same checkout may be the other one.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

START = time.process_time()
HERE = Path(__file__).resolve()
PARTS = {
    "parse": ("lscfg.decode.sentence", "first_parse"),
    "word penalties": ("lscfg.decode.sentence:SentenceDecoder", "_penalties"),
    "inference": ("lscfg.kernel:Binding", "infer"),
    "features": ("lscfg.kernel:Binding", "features"),
    "features after pruning": ("lscfg.kernel:FeaturePass", "of_apps"),
    "marks of pruning": ("lscfg.kernel:Forest", "kept"),
    "part of the forest": ("lscfg.kernel:Forest", "restricted"),
    "application scores": ("lscfg.decode.sentence:SentenceDecoder", "scores"),
    "search": ("lscfg.decode.sentence", "search"),
    "sums of features": ("lscfg.decode.sentence:SentenceDecoder", "_features"),
}
"""Functions by part, none of which calls another; a checkout may lack some."""

OPENING = {
    "grammar": ("lscfg.decode.sentence", "read_grammar"),
    "language model": ("lscfg.decode.sentence", "_opened"),
    "model": ("lscfg.kernel.inference:Model", "__init__"),
    "binding": ("lscfg.kernel.inference:Binding", "__init__"),
    "columns": ("lscfg.decode.columns:FeatureColumns", "__init__"),
    "rule scores": ("lscfg.decode.sentence:SentenceDecoder", "rule_scores"),
}
"""Parts of the start after the imports."""

COMMANDS = {
    "lscfg decode, empty text": ("-P", "-m", "lscfg", "decode", "-j", "1", "-c", "INI", "-w", "WEIGHTS", os.devnull),
    "python, numpy": ("-P", "-c", "import numpy"),
}
"""Whole commands, by the arguments of Python."""


def timed(function: Callable[..., Any], spent: dict[str, float], part: str) -> Callable[..., Any]:
    """The function, adding its CPU seconds to a part."""

    def call(*args: Any, **named: Any) -> Any:
        begin = time.process_time()
        try:
            return function(*args, **named)
        finally:
            spent[part] = spent.get(part, 0.0) + time.process_time() - begin

    return call


def watch(spent: dict[str, float], parts: Mapping[str, tuple[str, str]]) -> None:
    """Wraps the function of each part."""
    import importlib

    for part, (place, name) in parts.items():
        module, _, kind = place.partition(":")
        owner = importlib.import_module(module)
        owner = getattr(owner, kind) if kind else owner
        if hasattr(owner, name):
            setattr(owner, name, timed(getattr(owner, name), spent, part))


def memory() -> dict[str, float]:
    """MiB of this process by ``smaps_rollup``."""
    lines = [line.split() for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]]
    sizes = {line[0].rstrip(":"): int(line[1]) / 1024 for line in lines}
    found = {kind: sizes[f"{kind}_Clean"] + sizes[f"{kind}_Dirty"] for kind in ("Private", "Shared")}
    return {"Rss": sizes["Rss"], "Anonymous": sizes["Anonymous"], **found}


def measure(ini: str, weights_file: str, text: str, lines: str, words: str, k: str) -> None:
    """The process of one checkout: prints a JSON object. With k 0, lists are not compared."""
    import lscfg
    from lscfg.decode.decoder import _latent_features
    from lscfg.decode.sentence import Request, SentenceDecoder
    from lscfg.formats.ini import read_ini
    from lscfg.formats.weights import read_weights

    sentences = sentences_of(text, int(lines), int(words))
    begun = time.process_time() - START
    opening: dict[str, float] = {}
    watch(opening, OPENING)
    config, weights = read_ini(ini), read_weights(weights_file)
    provider = None if config.latent is None else partial(_latent_features, config.latent, ini)
    decoder = SentenceDecoder(config, provider, 0)
    request = Request(np_array([weights.get(name, 0.0) for name in decoder.feature_names]), 1, False, 0, False, False)
    decoder.rule_scores(request.weights)
    start = time.process_time() - START
    spent: dict[str, float] = {}
    watch(spent, PARTS)
    opening["imports"] = begun
    opening["all"] = start
    found: dict[str, Any] = {"lscfg": lscfg.__file__, "start": opening, "sentences": len(sentences)}
    for name in ("first", "second"):
        spent.clear()
        begin = time.process_time()
        answers = [decoder.decode(request, index, line).translations for index, line in enumerate(sentences)]
        found[name] = {"all": time.process_time() - begin, **spent}
        if name == "first":
            found["memory"] = memory()
            decoder.keeps = True
            if hasattr(decoder, "room"):
                decoder.room.left = 1 << 40
            else:
                decoder._room = 1 << 40  # of an earlier checkout
            for index, line in enumerate(sentences):
                decoder.decode(request, index, line)
    found["texts"] = [answer.texts[0] for answer in answers]
    found["scores"] = [float(answer.scores[0]) for answer in answers]
    if int(k):
        found["lists"] = []
        for index, line in enumerate(sentences):
            answer = decoder.decode(request._replace(k=int(k)), index, line).translations
            content = "\n".join(answer.texts).encode() + answer.scores.tobytes() + answer.features.tobytes()
            found["lists"].append(hashlib.sha256(content).hexdigest())
    json.dump(found, sys.stdout)


def sentences_of(path: str, lines: int, words: int) -> list[str]:
    """So many sentences of a text, each of so many words of its running text; lines 0: all; words 0: as they are."""
    from lscfg.io.read import read_lines

    sentences = read_lines(path)
    if words:
        running = " ".join(sentences).split()
        sentences = [" ".join(running[k : k + words]) for k in range(0, len(running) - words + 1, words)]
    return sentences[: lines or None]


def np_array(values: list[float]) -> Any:
    """A NumPy array; NumPy counts as a part of the start."""
    import numpy as np

    return np.array(values)


def start_process(checkout: Path, core: int, arguments: list[str]) -> dict[str, Any]:
    """The figures of one process of a checkout."""
    command = [str(checkout / ".venv/bin/python"), str(HERE), "--measure", *arguments]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has bytecode: the first round writes it
    pin = partial(os.sched_setaffinity, 0, {core})
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, preexec_fn=pin)
    found = dict(json.loads(done.stdout))
    assert Path(found["lscfg"]).is_relative_to(checkout), f"{found['lscfg']} is not of {checkout}"
    found["command"] = {}
    for name, words in COMMANDS.items():
        given = [{"INI": arguments[0], "WEIGHTS": arguments[1]}.get(word, word) for word in words]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([command[0], *given], env=environment, capture_output=True, check=True, preexec_fn=pin)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found["command"][name] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return found


def figures(kept: list[dict[str, Any]], path: tuple[str, ...]) -> list[float] | None:
    """The values at a path of keys in each round, None where the checkout lacks it."""
    values = []
    for found in kept:
        value: Any = found
        for key in path:
            value = value.get(key) if value is not None else None
        if value is None:
            return None
        values.append(1000 * value / (1 if path[0] in ("start", "command") else found["sentences"]))
    return values


def main() -> None:
    """Alternates the checkouts and prints the tables."""
    import runs

    parser = runs.parser(__doc__)
    parser.add_argument("ini")
    parser.add_argument("weights")
    parser.add_argument("text")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="folder of another checkout, installed")
    parser.add_argument("--against-ini", metavar="INI", help="configuration of the other checkout, if it needs its own")
    parser.add_argument("--reference", help="reference translations, for BLEU")
    parser.add_argument("--lines", type=int, default=0, help="of the text, from its beginning (default: all)")
    parser.add_argument("--words", type=int, default=0, help="of a sentence: cuts the running text into such ones")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="default: %(default)s")
    parser.add_argument("-k", type=int, default=20, help="length of the lists that are compared (default: %(default)s)")
    args = parser.parse_args()
    if args.words and args.reference:
        parser.error("--words leaves no sentences that the reference translates")
    checkouts = {"after": HERE.parents[1]} | ({"before": args.against.resolve()} if args.against else {})
    paths = [str(Path(path).resolve()) for path in (args.ini, args.weights, args.text)]
    given = {"after": paths, "before": [str(Path(args.against_ini or args.ini).resolve()), *paths[1:]]}
    kept: dict[str, list[dict[str, Any]]] = {name: [] for name in checkouts}
    run = runs.Run(args)
    run.facts["load"] = [os.getloadavg()[0]]
    for number in range(args.rounds):
        for name in sorted(checkouts, reverse=number % 2 == 0):  # so that neither is always the first
            arguments = [*given[name], str(args.lines), str(args.words), str(0 if number else args.k)]
            kept[name].append(start_process(checkouts[name], args.core, arguments))
    run.facts["load"].append(os.getloadavg()[0])
    show_bundle(run, Path(args.ini).with_name("bundle.json"))
    show(run, kept, args.reference)
    run.save()


def show(run: Any, kept: dict[str, list[dict[str, Any]]], reference: str | None) -> None:
    """Prints the tables of all rounds."""
    before, after = kept.get("before", []), kept["after"]
    titles = ["before min ms", "before median ms", "after min ms", "after median ms", "ratio of minima"]
    run.table("CPU time per sentence (command, start: per process)", ["part", *titles])
    rows = [("command", name) for name in COMMANDS]
    rows += [("start", part) for part in ("all", "imports", *OPENING)]
    rows += [(name, part) for name in ("first", "second") for part in ("all", *PARTS)]
    for path in rows:
        old, new = figures(before, path) if before else None, figures(after, path)
        if old is None and new is None:
            continue
        cells = [f(values) if values else None for values in (old, new) for f in (min, statistics.median)]
        run.row(", ".join(path), *cells, min(new) / min(old) if old and new and min(old) else None)
    run.table("memory after the first pass", ["kind", "before MiB", "after MiB"])
    for kind in ("Rss", "Anonymous", "Private", "Shared"):
        run.row(kind, before[0]["memory"][kind] if before else None, after[0]["memory"][kind])
    run.table(
        "translations", ["sentences", "other first", "other lists", "mean score difference", "before BLEU", "BLEU"]
    )
    differing: list[int | float | None] = [None, None, None]
    if before:
        one, two = before[0], after[0]
        pairs = list(zip(one["scores"], two["scores"], strict=True))
        differing = [
            sum(a != b for a, b in zip(one["texts"], two["texts"], strict=True)),
            sum(a != b for a, b in zip(one.get("lists", []), two.get("lists", []), strict=True)),
            sum(b - a for a, b in pairs) / len(pairs),
        ]
    run.row(len(after[0]["texts"]), *differing, *(bleu(found, reference) for found in (before, after)))


def show_bundle(run: Any, manifest: Path) -> None:
    """Prints the sizes of the files of a bundle, if there is one."""
    if not manifest.is_file():
        return
    files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
    run.table("bundle", ["file", "MB"])
    for name, one in sorted(files.items(), key=lambda item: -item[1]["bytes"]):
        run.row(name, one["bytes"] / 1e6)
    run.row("all", sum(one["bytes"] for one in files.values()) / 1e6)


def bleu(kept: list[dict[str, Any]], reference: str | None) -> float | None:
    """BLEU of the first round's translations."""
    if not kept or reference is None:
        return None
    import sacrebleu

    from lscfg.io.read import read_lines

    texts = kept[0]["texts"]
    references = read_lines(reference)[: len(texts)]
    return float(sacrebleu.corpus_bleu(texts, [references], tokenize="none", force=True).score)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:])
    else:
        main()
