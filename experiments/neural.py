"""A small Transformer on the sentence pairs of an experiment, to compare lscfg with and to rescore k-best lists.

    python experiments/neural.py train experiments/de-en/experiment.toml --data DIR -o OUT --seed 1 --hours 2
    python experiments/neural.py translate OUT DIR/val.de -o val.out
    python experiments/neural.py translate OUT DIR/val.de --kbest 100 -o val.kbest
    python experiments/neural.py score OUT val.kbest --source DIR/val.de -o val.scores

Install the libraries of experiments/requirements-neural.txt first; the program needs no lscfg. Texts contain the words
of lscfg's corpora, one sentence per line; subword pieces stay inside. A table [neural] in the experiment file replaces
defaults of `train`. `train` writes a checkpoint every few minutes and on SIGTERM, and the same command continues from
there. On a CPU, equal seeds and threads give equal models, interrupted or not. `--device cuda` trains on a GPU.
`train --reverse` learns P(source | target) for `score --reverse`. Scores are natural logarithms of probabilities;
`lscfg rescore --scores Neural=val.scores` reads them.

Sources: Vaswani et al. (2017), Sennrich & Zhang (2019) for small data, Provilkov et al. (2020) for BPE-dropout.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import hashlib
import io
import json
import math
import os
import random
import signal
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
import torch
from transformer import BEGIN, END, PAD, UNKNOWN, Drop, Ids, Settings, Transformer, block, log_probabilities, search

Lines = list[str]


class Pieces:
    """BPE pieces of words, one vocabulary for both sides."""

    def __init__(self, proto: bytes):
        self.proto, self._model = proto, sentencepiece.SentencePieceProcessor(model_proto=proto)
        self._ids = {self._model.id_to_piece(number): number for number in range(UNKNOWN + 1, len(self._model))}

    @staticmethod
    def learn(lines: Iterable[str], size: int) -> Pieces:
        """Learns the merges of a text."""
        out, ids = io.BytesIO(), {"pad_id": PAD, "bos_id": BEGIN, "eos_id": END, "unk_id": UNKNOWN}
        options = {"model_type": "bpe", "character_coverage": 1.0, "normalization_rule_name": "identity", **ids}
        options |= {"vocab_size": size, "num_threads": 1, "minloglevel": 2}
        try:
            sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=out, **options)
        except RuntimeError as error:  # sentencepiece names the limits
            raise SystemExit(f"--pieces {size}: {str(error).splitlines()[-1]}") from None
        return Pieces(out.getvalue())

    def encode(self, lines: Sequence[str]) -> list[Ids]:
        """Returns the best pieces of each line."""
        return self._model.encode(list(lines), num_threads=1)

    def sample(self, lines: Sequence[str], dropout: float, draw: random.Random) -> list[Ids]:
        """Returns pieces of each line with BPE-dropout.

        A call draws at most 16 segmentations of a word, which saves time. sentencepiece's own sampling would differ
        from process to process.
        """
        drawn: dict[str, list[Ids]] = {}
        found = []
        for line in lines:
            found.append(ids := [])
            for word in line.split():
                own = drawn.setdefault(word, [])
                if len(own) < 16:
                    own.append(self._segment(word, dropout, draw))
                    ids += own[-1]
                else:
                    ids += own[int(16 * draw.random())]
        return found

    def _segment(self, word: str, dropout: float, draw: random.Random) -> Ids:
        """Merges the most frequent pair first; each time, a pair is left out with the probability of dropout."""
        parts, known = list(f"\u2581{word}"), self._ids
        while True:
            pairs = [known.get(a + b) for a, b in pairwise(parts)]
            pairs = [(number, k) for k, number in enumerate(pairs) if number and draw.random() >= dropout]
            if not pairs:
                return [known.get(part, UNKNOWN) for part in parts]
            k = min(pairs)[1]
            parts[k : k + 2] = [parts[k] + parts[k + 1]]

    def decode(self, ids: Sequence[Ids]) -> Lines:
        """Returns the words of pieces."""
        return [" ".join(line.split()) for line in self._model.decode(list(ids))]


def read_lines(path: Path) -> Lines:
    """Reads lines without their ends, also of a file that gzip has compressed."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SystemExit(f"{path}:{line}: byte {data[error.start]:#x} is not UTF-8; convert the text") from None
    if lines.pop():
        raise SystemExit(f"{path}:{len(lines) + 1}: the last line lacks its end; the file may be cut off")
    return lines


def read_pairs(folder: Path, names: Sequence[str]) -> tuple[Lines, Lines]:
    """Reads both sides of a text, without pairs that have an empty side."""
    sides = [read_lines(folder / name) for name in names]
    if len(sides[0]) != len(sides[1]):
        raise SystemExit(f"{folder / names[0]}: {len(sides[0])} lines, but {len(sides[1])} in {names[1]}")
    pairs = [pair for pair in zip(*sides, strict=True) if all(side.strip() for side in pair)]
    if not pairs:
        raise SystemExit(f"{folder / names[0]}: no pairs")
    if len(pairs) < len(sides[0]):
        print(f"{folder / names[0]}: skipped {len(sides[0]) - len(pairs)} pairs with an empty side", file=sys.stderr)
    return [source for source, _ in pairs], [target for _, target in pairs]


def batches(pairs: Sequence[tuple[Ids, Ids]], size: int, seed: str) -> list[tuple[list[Ids], list[Ids]]]:
    """Divides pairs into batches of similar lengths and at most `size` target pieces, in random order.

    Source lengths rise and fall in turn from one target length to the next, which saves padding.
    """
    draw, found = random.Random(seed), [[]]
    for pair in sorted(pairs, key=lambda p: (len(p[1]), len(p[0]) * (-1) ** len(p[1]), draw.random())):
        if found[-1] and (len(found[-1]) + 1) * (len(pair[1]) + 1) > size:
            found.append([])
        found[-1].append(pair)
    draw.shuffle(found)
    return [([source for source, _ in batch], [target for _, target in batch]) for batch in found]


def read_tensors(path: Path) -> Any:
    """Reads what ``write_tensors`` wrote, to the default device."""
    return torch.load(path, torch.get_default_device())


def write_tensors(path: Path, tensors: object) -> None:
    """Writes a file that a stop cannot damage."""
    out, new = io.BytesIO(), path.with_suffix(".new")
    torch.save(tensors, out)
    new.write_bytes(out.getvalue())
    os.replace(new, path)


class Training:
    """A training in a folder: state.pt continues it, and model.pt is the mean of its best epochs."""

    def __init__(self, folder: Path, settings: Settings, seed: int, pieces: Pieces):
        self.folder, self.settings, self.seed, self.pieces = folder, settings, seed, pieces
        torch.manual_seed(seed)
        self.model = Transformer(settings)
        self.optimiser = torch.optim.Adam(self.model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True)
        self.progress = {"epoch": 0, "batch": 0, "step": 0, "loss": 0.0, "pieces": 0, "cpu": 0.0, "history": []}
        if (folder / "state.pt").exists():
            state = read_tensors(folder / "state.pt")
            self.model.load_state_dict(state["model"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.progress = state["progress"]
        self.before = self.progress["cpu"] - time.process_time()

    def save(self) -> None:
        """Writes the state."""
        self.progress["cpu"] = self.before + time.process_time()
        parts = {"model": self.model.state_dict(), "optimiser": self.optimiser.state_dict(), "progress": self.progress}
        write_tensors(self.folder / "state.pt", parts)

    def run(
        self, pairs: tuple[Lines, Lines], dev: tuple[Lines, Lines], stop: list[int], args: argparse.Namespace
    ) -> None:
        """Trains until there is no progress, until the epochs or hours of the options, or until stop has an entry."""
        state, begin = self.progress, time.monotonic()
        saved = begin
        while state["epoch"] < args.epochs and not self.finished():
            name = f"{self.seed} {state['epoch']}"
            draw = random.Random(name)
            sides = [self.pieces.sample(side, self.settings.bpe_dropout, draw) for side in pairs]
            every = batches(list(zip(*sides, strict=True)), self.settings.batch, name)
            for sources, targets in every[state["batch"] :]:
                if stop or time.monotonic() - begin > 3600 * args.hours:
                    return self.save()
                self.step(sources, targets)
                if time.monotonic() - saved > 60 * args.minutes:
                    self.save()
                    saved = time.monotonic()
            self.end_epoch(dev)
        return self.save()

    def finished(self) -> bool:
        """Returns if the last epochs brought no better dev perplexity."""
        values = [row["dev_perplexity"] for row in self.progress["history"]]
        return bool(values) and len(values) - 1 - values.index(min(values)) >= self.settings.patience

    def step(self, sources: list[Ids], targets: list[Ids]) -> None:
        """Changes the model by a batch."""
        state, warmup, size = self.progress, self.settings.warmup, sum(map(len, targets)) + len(targets)
        state["step"] += 1
        seeds = np.random.SeedSequence([self.seed, state["step"]])
        Drop.bits = np.random.SFC64(seeds)
        torch.manual_seed(int(seeds.generate_state(1)[0]))  # for a GPU, whose dropout is torch's
        for group in self.optimiser.param_groups:
            group["lr"] = self.settings.rate * min(state["step"] / warmup, (warmup / state["step"]) ** 0.5)
        self.model.train()
        self.optimiser.zero_grad()
        with torch.autocast(torch.get_default_device().type, torch.bfloat16, enabled=self.settings.bits == 16):
            loss = self.model.loss(block(sources), block(targets, True))
        loss.backward()
        self.optimiser.step()
        if not math.isfinite(value := loss.item()):
            raise SystemExit(f"{self.folder}: the loss of step {state['step']} is not finite; lower --rate")
        state["loss"], state["pieces"] = state["loss"] + value * size, state["pieces"] + size
        state["batch"] += 1

    def end_epoch(self, dev: tuple[Lines, Lines]) -> None:
        """Records the epoch, keeps its model if it is one of the best, and writes the mean of the best models."""
        self.model.eval()
        state, best, targets = self.progress, self.folder / "best", self.pieces.encode(dev[1])
        logs = log_probabilities([self.model], self.pieces.encode(dev[0]), list(enumerate(targets)))
        perplexity = math.exp(-logs.sum() / (sum(map(len, targets)) + len(targets)))
        row = {"epoch": state["epoch"] + 1, "step": state["step"], "loss": state["loss"] / state["pieces"]}
        state["history"].append(row | {"dev_perplexity": perplexity, "pieces": state["pieces"]})
        state |= {"epoch": row["epoch"], "batch": 0, "loss": 0.0, "pieces": 0}
        ranked = sorted(state["history"], key=lambda row: row["dev_perplexity"])[: self.settings.average]
        names = sorted(f"{row['epoch']}.pt" for row in ranked)
        best.mkdir(exist_ok=True)
        if f"{state['epoch']}.pt" in names:
            write_tensors(best / f"{state['epoch']}.pt", self.model.state_dict())
        models = [read_tensors(best / name) for name in names]
        mean = {key: torch.stack([model[key] for model in models]).mean(0).half() for key in models[0]}
        write_tensors(self.folder / "model.pt", mean)
        self.save()
        for path in {*best.glob("*.pt")} - {best / name for name in names}:
            path.unlink()
        with (self.folder / "log.jsonl").open("a") as file:
            print(json.dumps(state["history"][-1] | {"cpu_seconds": state["cpu"], "time": time.time()}), file=file)


def read_settings(args: argparse.Namespace, table: dict[str, object]) -> Settings:
    """Reads each setting from its option, or else from the table [neural] of the experiment file."""
    fields = {field.name: field for field in dataclasses.fields(Settings)}
    for name, value in table.items():
        if name not in fields:
            raise SystemExit(f"{args.config}: [neural] has no setting {name}; known are {', '.join(fields)}")
        if not isinstance(value, (int, type(fields[name].default))) or isinstance(value, bool):
            raise SystemExit(f"{args.config}: {name} in [neural] is not a number: {value!r}")
    given = {name: getattr(args, name) for name in fields if getattr(args, name) is not None}
    settings = Settings(**(table | given))
    if settings.width % (2 * settings.heads):
        raise SystemExit(f"width {settings.width}: not a multiple of twice the {settings.heads} heads")
    if settings.bits not in (0, 16, 32):
        raise SystemExit(f"bits {settings.bits}: choose 16 or 32, or 0 for the faster one")
    return settings


def fast_bits(device: str) -> int:
    """Returns 16 if the device multiplies bfloat16, which a processor without it emulates in 20 times the time."""
    if device != "cpu":
        return 16 if torch.cuda.is_bf16_supported() else 32
    known = getattr(torch.cpu, "get_capabilities", dict)()  # torch 2.6 lacks it
    return 16 if any(known.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16")) else 32


def train(args: argparse.Namespace) -> None:
    """Trains a model, or continues."""
    try:
        tables = tomllib.loads("\n".join(read_lines(args.config)))
    except tomllib.TOMLDecodeError as error:
        raise SystemExit(f"{args.config}: {error}") from None
    settings, corpus = read_settings(args, tables.get("neural", {})), tables.get("corpus", {})
    keys = ("source", "target", "dev_source", "dev_reference")
    if lacking := [key for key in keys if key not in corpus]:
        raise SystemExit(f"{args.config}: [corpus] lacks {', '.join(lacking)}")
    names = [corpus[key] for key in keys]
    names = [name if isinstance(name, str) else name[0] for name in names]  # of several references the first
    texts = [read_pairs(args.data, names[k : k + 2]) for k in (0, 2)]
    pieces = Pieces.learn([line for side in texts[0] for line in side], settings.pieces)
    path = args.output / "about.json"
    found = json.loads(path.read_text()) if path.exists() else {"settings": {}}
    if not settings.bits:  # a training continues as it began, also on another machine
        settings = dataclasses.replace(settings, bits=found["settings"].get("bits") or fast_bits(args.device))
    about: dict[str, Any] = {"settings": dataclasses.asdict(settings), "seed": args.seed, "reverse": args.reverse}
    about |= {"texts": names, "pieces": hashlib.sha256(pieces.proto).hexdigest()}
    if path.exists():
        newer = Settings(bits=settings.bits)  # settings that are newer than the file
        found["settings"] = dataclasses.asdict(newer) | found["settings"]
        found.setdefault("pieces", about["pieces"])  # older folders lack it
        if found != about:
            raise SystemExit(f"{path}: this training has other settings or texts, {found}; choose another folder")
    args.output.mkdir(parents=True, exist_ok=True)
    (args.output / "pieces.model").write_bytes(pieces.proto)
    path.write_text(json.dumps(about, indent=2) + "\n")
    stop: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: stop.append(number))
    training = Training(args.output, settings, args.seed, pieces)
    training.run(*(text[::-1] if args.reverse else text for text in texts), stop, args)
    state = training.progress
    print(f"{args.output}: {state['epoch']} epochs, {state['step']} steps, {state['cpu']:.0f} CPU seconds")


class Translator:
    """Trained models that translate and score together."""

    def __init__(self, folders: Sequence[Path]):
        self.models: list[Transformer] = []
        for folder in folders:
            if not (folder / "model.pt").exists():
                raise SystemExit(f"{folder / 'model.pt'}: not found; train writes it after the first epoch")
            about, proto = json.loads((folder / "about.json").read_text()), (folder / "pieces.model").read_bytes()
            if self.models and (proto, about["reverse"]) != (self.pieces.proto, self.reverse):
                raise SystemExit(f"{folder}: pieces or direction differ from those of {folders[0]}")
            self.pieces, self.reverse = Pieces(proto), about["reverse"]
            self.models.append(Transformer(Settings(**about["settings"])).eval())
            self.models[-1].load_state_dict(read_tensors(folder / "model.pt"))

    def translate(
        self, lines: Lines, beam: int, exponent: float, batch: int
    ) -> Iterator[list[tuple[str, float, float]]]:
        """Yields translations of each line, best first and none twice; an empty line has an empty one.

        Returns:
            text, log-probability as `score` computes it, and log-probability / pieces ** exponent.
        """
        every, found = self.pieces.encode(lines), {}
        order = sorted((k for k in range(len(lines)) if every[k]), key=lambda k: len(every[k]))
        for begin in range(0, len(order), batch):
            part = order[begin : begin + batch]
            found |= zip(part, search(self.models, [every[k] for k in part], beam), strict=True)
        for number, source in enumerate(every):
            if not source:
                found[number] = {(): log_probabilities(self.models, [source], [(0, [])]).item()}
            yield self.distinct(source, found[number], exponent)

    def distinct(
        self, source: Ids, found: dict[tuple[int, ...], float], exponent: float
    ) -> list[tuple[str, float, float]]:
        """Returns texts with the probability of their best pieces, which the search need not have found."""
        texts = list(dict.fromkeys(self.pieces.decode([list(ids) for ids in found])))
        best = [tuple(ids) for ids in self.pieces.encode(texts)]
        others = [ids for ids in best if ids not in found]
        logs = log_probabilities(self.models, [source], [(0, list(ids)) for ids in others])
        found |= zip(others, logs.tolist(), strict=True)
        rows = zip(texts, best, strict=True)
        rows = [(text, found[ids], found[ids] / (len(ids) + 1) ** exponent) for text, ids in rows]
        return sorted(rows, key=lambda row: -row[2])


def translate(args: argparse.Namespace) -> None:
    """Translates a text into lines or k-best lists."""
    translator, beam = Translator([args.model, *args.ensemble]), max(args.beam, args.kbest)
    if translator.reverse:
        raise SystemExit(f"{args.model}: trained with --reverse; such a model only scores")
    with args.output.open("w", encoding="utf-8") as file:
        for number, found in enumerate(translator.translate(read_lines(args.source), beam, args.exponent, args.batch)):
            for text, log, value in found[: args.kbest]:
                print(f"{number} ||| {text} ||| Neural={log:.9g} ||| {value:.9g}", file=file)
            if not args.kbest:
                print(found[0][0], file=file)


def score(args: argparse.Namespace) -> None:
    """Scores the lines of k-best lists by the best pieces of their words."""
    translator = Translator([args.model, *args.ensemble])
    if translator.reverse != args.reverse:
        raise SystemExit(
            f"{args.model}: trained {'with' if translator.reverse else 'without'} --reverse; score likewise"
        )
    sources, numbers, texts = read_lines(args.source), [], []
    for line, row in enumerate(read_lines(args.kbest), 1):
        number, *fields = row.split(" ||| ")
        if len(fields) != 3 or not number.isdecimal() or int(number) >= len(sources):
            raise SystemExit(f"{args.kbest}:{line}: no k-best line for one of {len(sources)} sentences: {row[:80]}")
        numbers.append(int(number))
        texts.append(fields[0])
    ids, others = translator.pieces.encode(sources), translator.pieces.encode(texts)
    targets = list(zip(numbers, others, strict=True))
    if args.reverse:
        ids, targets = others, [(line, ids[number]) for line, number in enumerate(numbers)]
    values = log_probabilities(translator.models, ids, targets)
    args.output.write_text("".join(f"{value:.9g}\n" for value in values), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("train", help="train a model, or continue")
    one.set_defaults(run=train)
    one.add_argument("config", type=Path, metavar="CONFIG", help="experiment file, whose [corpus] names the texts")
    one.add_argument("--data", type=Path, metavar="DIR", required=True, help="folder of the texts")
    one.add_argument("-o", "--output", type=Path, metavar="DIR", required=True, help="folder of the model")
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--hours", type=float, default=math.inf, help="time until the training pauses")
    one.add_argument("--epochs", type=int, default=1000, help="most epochs")
    one.add_argument("--minutes", type=float, default=3, help="time between checkpoints")
    one.add_argument("--reverse", action="store_true", help="learn P(source | target)")
    for field in dataclasses.fields(Settings):
        name, kind = f"--{field.name.replace('_', '-')}", type(field.default)
        one.add_argument(name, type=kind, help=field.metadata["help"])
    one = commands.add_parser("translate", help="translate a text with beam search")
    one.set_defaults(run=translate)
    one.add_argument("model", type=Path, metavar="MODEL", help="folder that train wrote")
    one.add_argument("source", type=Path, metavar="TEXT", help="source text")
    one.add_argument("--beam", type=int, default=5, help="hypotheses of the search; at least those of --kbest")
    one.add_argument("--kbest", type=int, default=0, metavar="K", help="write K translations of each sentence")
    one.add_argument("--exponent", type=float, default=1.0, help="of the length that divides log-probabilities")
    one.add_argument("--batch", type=int, default=32, help="sentences that are translated together")
    two = commands.add_parser("score", help="score k-best lists")
    two.set_defaults(run=score)
    two.add_argument("model", type=Path, metavar="MODEL", help="folder that train wrote")
    two.add_argument("kbest", type=Path, metavar="LISTS", help="k-best lists")
    two.add_argument("--source", type=Path, metavar="TEXT", required=True, help="source text")
    two.add_argument("--reverse", action="store_true", help="compute P(source | target)")
    for command in (one, two):
        command.add_argument("--ensemble", type=Path, nargs="*", default=[], metavar="MODEL", help="further models")
        command.add_argument("-o", "--output", type=Path, metavar="FILE", required=True)
    for command in commands.choices.values():
        command.add_argument("--threads", type=int, default=1)
        command.add_argument("--device", default="cpu", help="cpu, or cuda for a GPU (default: cpu)")
    args = parser.parse_args(arguments)
    torch.set_num_threads(args.threads)
    torch.set_flush_denormal(True)
    try:
        torch.empty(1, device=args.device)
    except (AssertionError, RuntimeError) as error:  # torch without CUDA asserts
        raise SystemExit(f"--device {args.device}: {str(error).splitlines()[0]}") from None
    torch.set_default_device(args.device)
    if args.device != "cpu":
        torch.set_float32_matmul_precision("high")  # TF32
    try:
        args.run(args)
    except OSError as error:  # names its file
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
