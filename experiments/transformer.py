"""A Transformer for small corpora, made for training on a CPU, with forced scoring and beam search.

Tensors are made on torch's default device.

Sources: Vaswani et al. (2017); layers normalise their input, as Xiong et al. (2020) recommend.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

PAD, BEGIN, END, UNKNOWN = range(4)
Ids = list[int]
Caches = list[dict[str, tuple[Tensor, Tensor]]]
"""For each decoder layer, keys and values of the source (cross) and of earlier target positions (own)."""


def option(default: float, text: str) -> Any:
    """Declares a field that is an option."""
    return dataclasses.field(default=default, metadata={"help": f"{text} (default: {default})"})


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of a model and its training, options of `train`."""

    pieces: int = option(4000, "joint vocabulary of both sides")
    layers: int = option(3, "layers of the encoder and of the decoder")
    width: int = option(256, "size of vectors between layers")
    hidden: int = option(1024, "size of the feed-forward layers")
    heads: int = option(4, "attention heads; divides the width")
    dropout: float = option(0.3, "dropout of embeddings and layer outputs")
    inner_dropout: float = option(0.1, "dropout of attention and activations")
    bpe_dropout: float = option(0.1, "probability to skip a merge in training")
    smoothing: float = option(0.1, "label smoothing")
    rate: float = option(1e-3, "highest learning rate")
    warmup: int = option(2000, "steps until the highest learning rate")
    batch: int = option(2048, "target pieces of a batch")
    bits: int = option(0, "16 (bfloat16) or 32 for products in training; 0 takes 16 where the processor has it")
    patience: int = option(8, "epochs without better dev perplexity that end the training")
    average: int = option(5, "number of best epochs whose mean is the model")


class Drop(nn.Module):
    """Dropout with a fast generator: torch's own takes a third of the training time on a CPU.

    A byte decides on each element, so probabilities are multiples of 1/256.
    """

    bits = np.random.SFC64(0)

    def __init__(self, probability: float):
        super().__init__()
        self.drop = round(256 * probability)

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or not self.drop:
            return x
        if x.is_cuda:
            return functional.dropout(x, self.drop / 256)
        drawn = torch.from_numpy(Drop.bits.random_raw(x.numel() // 8 + 1).view(np.uint8))[: x.numel()].view(x.shape)
        mask = torch.ge(drawn, self.drop, out=torch.empty(x.shape, dtype=x.dtype))
        return x * mask.mul_(256 / (256 - self.drop))


class SmoothedLoss(torch.autograd.Function):
    """Label-smoothed cross-entropy of a linear layer, summed over rows, in bfloat16 if autocast is on.

    The gradient comes with the loss, in parts that fit into the cache: logits of all rows would be the largest array.
    """

    @staticmethod
    def forward(ctx, rows: Tensor, weight: Tensor, labels: Tensor, smoothing: float) -> Tensor:
        kind = torch.bfloat16 if torch.is_autocast_enabled("cpu") else torch.float32
        low = rows.to(kind), weight.to(kind)
        by_rows, by_weight = torch.empty_like(low[0]), torch.zeros_like(weight)
        loss = torch.zeros((), dtype=torch.float64)
        for begin in range(0, len(rows), 256):
            part, label = low[0][begin : begin + 256], labels[begin : begin + 256, None]
            logits = (part @ low[1].t()).float()
            logits -= logits.amax(1, keepdim=True)
            right, mean = logits.gather(1, label), logits.mean(1, keepdim=True)
            total = logits.exp_().sum(1, keepdim=True)
            loss += (total.log() - (1 - smoothing) * right - smoothing * mean).sum()
            slope = logits.div_(total).sub_(smoothing / len(weight))
            slope = slope.scatter_add_(1, label, torch.full_like(right, smoothing - 1)).to(kind)
            by_rows[begin : begin + 256] = slope @ low[1]
            by_weight += slope.t() @ part
        ctx.save_for_backward(by_rows.to(rows.dtype), by_weight)
        return loss.float()

    @staticmethod
    def backward(ctx, slope: Tensor):
        by_rows, by_weight = ctx.saved_tensors
        return by_rows * slope, by_weight * slope, None, None


class Attention(nn.Module):
    """Multi-head attention; one matrix makes queries, keys and values."""

    def __init__(self, settings: Settings):
        super().__init__()
        self.heads, self.width = settings.heads, settings.width
        self.inputs, self.out = nn.Linear(self.width, 3 * self.width), nn.Linear(self.width, self.width)
        self.drop = Drop(settings.inner_dropout)

    def project(self, x: Tensor, begin: int, end: int) -> list[Tensor]:
        """Returns queries (0), keys (1) and values (2) from begin to end: [sentences, heads, positions, size]."""
        rows = slice(begin * self.width, end * self.width)
        parts = functional.linear(x, self.inputs.weight[rows], self.inputs.bias[rows]).chunk(end - begin, -1)
        return [part.view(*part.shape[:2], self.heads, -1).transpose(1, 2) for part in parts]

    def forward(self, query: Tensor, memory: tuple[Tensor, Tensor], mask: Tensor | None) -> Tensor:
        logits = (query * query.shape[-1] ** -0.5) @ memory[0].transpose(-1, -2)
        if mask is not None:
            logits = logits + mask.to(logits.dtype)
        found = self.drop(torch.softmax(logits, -1, dtype=logits.dtype)) @ memory[1]
        return self.out(found.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Pre-norm layer of the encoder or, with attention to the source, of the decoder."""

    def __init__(self, settings: Settings, decoder: bool):
        super().__init__()
        self.own, self.cross = Attention(settings), Attention(settings) if decoder else None
        self.norms = nn.ModuleList(nn.LayerNorm(settings.width) for _ in range(3 if decoder else 2))
        self.up, self.down = nn.Linear(settings.width, settings.hidden), nn.Linear(settings.hidden, settings.width)
        self.drop, self.inner = Drop(settings.dropout), Drop(settings.inner_dropout)

    def forward(self, x: Tensor, mask: Tensor | None, cache: dict, padding: Tensor | None = None) -> Tensor:
        """Returns [sentences, positions, width]; adds the positions of x to the cache of earlier ones."""
        query, *memory = self.own.project(self.norms[0](x), 0, 3)
        if "own" in cache:
            memory = [torch.cat(both, 2) for both in zip(cache["own"], memory, strict=True)]
        cache["own"] = memory
        x = x + self.drop(self.own(query, memory, mask))
        if self.cross is not None:
            query = self.cross.project(self.norms[2](x), 0, 1)[0]
            x = x + self.drop(self.cross(query, cache["cross"], padding))
        return x + self.drop(self.down(self.inner(functional.relu(self.up(self.norms[1](x))))))


class Transformer(nn.Module):
    """Encoder and decoder with one embedding for source, target and output."""

    def __init__(self, settings: Settings):
        super().__init__()
        self.settings, width = settings, settings.width
        self.embedding = nn.Parameter(torch.empty(settings.pieces, width))
        self.encoder = nn.ModuleList(Layer(settings, False) for _ in range(settings.layers))
        self.decoder = nn.ModuleList(Layer(settings, True) for _ in range(settings.layers))
        self.norms, self.drop = nn.ModuleList(nn.LayerNorm(width) for _ in range(2)), Drop(settings.dropout)
        for name, value in self.named_parameters():
            if value.dim() == 2:  # the gain makes up for three layers in one matrix
                nn.init.xavier_uniform_(value, 2**0.5 if name.endswith("inputs.weight") else 1.0)
            elif name.endswith("bias"):
                nn.init.zeros_(value)
        nn.init.normal_(self.embedding, std=width**-0.5)

    def embed(self, ids: Tensor, begin: int = 0) -> Tensor:
        """Returns embeddings with sinusoidal positions, counted from begin."""
        width = self.settings.width
        angles = torch.exp(torch.arange(0, width, 2) * (-math.log(10000) / width))
        angles = torch.arange(begin, begin + ids.shape[1])[:, None] * angles
        return self.drop(
            functional.embedding(ids, self.embedding) * width**0.5 + torch.cat((angles.sin(), angles.cos()), 1)
        )

    def encode(self, source: Tensor) -> tuple[Caches, Tensor | None]:
        """Returns caches for `decode` and the mask of padding in the source."""
        padding = source == PAD
        mask = torch.zeros(source.shape).masked_fill(padding, -1e9)[:, None, None] if padding.any() else None
        x = self.embed(source)
        for layer in self.encoder:
            x = layer(x, mask, {})
        x = self.norms[0](x)
        return [{"cross": layer.cross.project(x, 1, 3)} for layer in self.decoder], mask

    def decode(self, target: Tensor, caches: Caches, padding: Tensor | None, begin: int = 0) -> Tensor:
        """Returns [sentences, positions, width] for target pieces from position begin on."""
        length = target.shape[1]
        mask = torch.full((length, length), -1e9).triu(1) if length > 1 else None
        x = self.embed(target, begin)
        for layer, cache in zip(self.decoder, caches, strict=True):
            x = layer(x, mask, cache, padding)
        return self.norms[1](x)

    def loss(self, source: Tensor, target: Tensor) -> Tensor:
        """Returns the training loss per target piece."""
        labels = target[:, 1:]
        real = labels != PAD
        rows, smoothing = self.decode(target[:, :-1], *self.encode(source))[real], self.settings.smoothing
        if rows.is_cuda:
            return functional.cross_entropy(rows @ self.embedding.t(), labels[real], label_smoothing=smoothing)
        return SmoothedLoss.apply(rows, self.embedding, labels[real], smoothing) / real.sum()


def block(sentences: Sequence[Ids], begin: bool = False) -> Tensor:
    """Returns sentences with END, and BEGIN if asked for, padded to [sentences, longest]."""
    longest = max(map(len, sentences))
    return torch.tensor([[BEGIN] * begin + ids + [END] + [PAD] * (longest - len(ids)) for ids in sentences])


def expand(caches: Caches, mask: Tensor | None, rows: Tensor) -> tuple[Caches, Tensor | None]:
    """Returns rows of keys, values and the mask."""
    found = [{name: tuple(value[rows] for value in pair) for name, pair in cache.items()} for cache in caches]
    return found, None if mask is None else mask[rows]


def mean_log(logits: Sequence[Tensor]) -> Tensor:
    """Returns the logarithm of mean probabilities of several models."""
    logs = torch.stack([one.log_softmax(-1) for one in logits])
    return logs[0] if len(logs) == 1 else logs.logsumexp(0) - math.log(len(logs))


@torch.inference_mode()
def log_probabilities(models: Sequence[Transformer], sources: Sequence[Ids], targets: Sequence[tuple[int, Ids]]):
    """Computes log P(target, END | source) by the mean probability of the models for each piece.

    Args:
        sources: pieces of source sentences.
        targets: number of the source and pieces.

    Returns:
        float64 [targets], natural logarithms.
    """
    found, begin = np.zeros(len(targets)), 0
    order = sorted(range(len(targets)), key=lambda k: (len(sources[targets[k][0]]), targets[k][0], len(targets[k][1])))
    while begin < len(order):
        end, longest = begin + 1, len(targets[order[begin]][1])
        while end < len(order) and (end + 1 - begin) * max(longest, len(targets[order[end]][1])) <= 4096:
            end, longest = end + 1, max(longest, len(targets[order[end]][1]))
        part, begin = order[begin:end], end
        own = list(dict.fromkeys(targets[k][0] for k in part))
        place = {number: row for row, number in enumerate(own)}
        which = torch.tensor([place[targets[k][0]] for k in part])
        source, target = block([sources[number] for number in own]), block([targets[k][1] for k in part], True)
        states = [expand(*model.encode(source), which) for model in models]
        rows = [model.decode(target[:, :-1], *state) for model, state in zip(models, states, strict=True)]
        logs = mean_log([row @ model.embedding.t() for model, row in zip(models, rows, strict=True)])
        logs = logs.gather(2, target[:, 1:, None])[..., 0].masked_fill(target[:, 1:] == PAD, 0.0)
        found[part] = logs.double().sum(1).cpu().numpy()
    return found


@torch.inference_mode()
def search(models: Sequence[Transformer], sources: Sequence[Ids], beam: int) -> list[dict[tuple[int, ...], float]]:
    """Returns `beam` translations of each sentence and their log-probabilities."""
    first, limit = torch.arange(len(sources)).repeat_interleave(beam), 10 + 2 * max(map(len, sources))
    states = [expand(*model.encode(block(sources)), first) for model in models]
    done: list[dict[tuple[int, ...], float]] = [{} for _ in sources]
    alive, pieces = list(range(len(sources))), torch.full((len(first), 1), BEGIN)
    scores = torch.tensor([0.0] + [-math.inf] * (beam - 1)).repeat(len(alive), 1)
    for length in range(1, limit + 1):
        last = [m.decode(pieces[:, -1:], *s, length - 1)[:, 0] for m, s in zip(models, states, strict=True)]
        logs = mean_log([row @ model.embedding.t() for model, row in zip(models, last, strict=True)])
        logs[:, [PAD, BEGIN, UNKNOWN]] = -math.inf
        logs[:, END + 1 :] += -math.inf if length == limit else 0.0
        best, where = (logs.view(len(alive), beam, -1) + scores[:, :, None]).flatten(1).topk(2 * beam)
        ends, rows = where % logs.shape[1] == END, where // logs.shape[1]
        for row, rank in (ends & (best > -math.inf))[:, :beam].nonzero().tolist():
            if len(done[alive[row]]) < beam:
                ids = pieces[row * beam + int(rows[row, rank]), 1:].tolist()
                done[alive[row]][tuple(ids)] = float(best[row, rank])
        kept = [row for row, number in enumerate(alive) if len(done[number]) < beam]
        if not kept or length == limit:
            break
        scores, rank = best.masked_fill(ends, -math.inf)[kept].topk(beam)
        rows = (rows[kept].gather(1, rank) + torch.tensor(kept)[:, None] * beam).flatten()
        pieces = torch.cat((pieces[rows], (where[kept].gather(1, rank) % logs.shape[1]).view(-1, 1)), 1)
        states, alive = [expand(*state, rows) for state in states], [alive[row] for row in kept]
    return done
