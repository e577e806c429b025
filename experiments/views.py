"""Phrase scores on held-out text with little parallel text, and with views of further source text.

    python experiments/views.py train.ja train.en train.align --held-out dev.deriv [--parts 0.05,0.1,0.25,0.5,1]
        [--lm lm.arpa] [--vectors vectors.ja]

For each part of the sentence pairs, counted from the first, the table lists the mean reciprocal rank and the loss in
nats of P(e|f), least squares (ls), the log-linear context model and the joint one. The views of "ls" and "joint" come
from the part, those of "ls, all text" and "joint, all text" from the source side of the whole text. With word vectors,
the table adds "joint, vectors", whose vectors cover the whole text. The questions are those of lscfg inspect choices
--measure translations. The loss belongs to each score together with P(e|f); with a language model, "adds" is the gain
beyond all of these.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lscfg.context import joint, loglinear, ls
from lscfg.context.learner import CONTEXT_MODELS
from lscfg.estimate import mle
from lscfg.extract.derive import Derivations, derive
from lscfg.extract.phrases import phrase_tokens
from lscfg.grammar.tokens import RuleTokens
from lscfg.io.columns import align_columns
from lscfg.io.read import read_lines
from lscfg.study.disambiguation import InventorySettings, Questions
from lscfg.study.mrr import ScoreEvaluator

Adder = Callable[[Any, RuleTokens, list[str]], Any]


def models(more: list[str], vectors: Path | None, threads: int) -> Iterator[tuple[str, str, Adder]]:
    """Names, the family of features, and what adds it to a model."""
    for name, text in (("", []), (", all text", more)):

        def add_ls(model: Any, tokens: RuleTokens, source: list[str], text: list[str] = text) -> Any:
            return CONTEXT_MODELS["ls"].add(model, tokens.with_words(text), source, ls.LSSettings(), threads, text)

        yield f"ls{name}", "score", add_ls
        yield f"joint{name}", "context", joint_adder(joint.JointSettings(), text, threads)
    if vectors:
        yield "joint, vectors", "context", joint_adder(joint.JointSettings(vectors=vectors), more, threads)
    yield (
        "loglinear",
        "context",
        lambda *inputs: loglinear.Loglinear().add(*inputs, loglinear.LoglinearSettings(), threads),
    )


def joint_adder(settings: joint.JointSettings, text: list[str], threads: int) -> Adder:
    """A function that adds a joint model, learned from further text, too."""

    def add(model: Any, tokens: RuleTokens, source: list[str]) -> Any:
        return joint.Joint().add(model, tokens.with_words(text), source, settings, threads, text)

    return add


def rows(
    train: Derivations, source: list[str], held_out: Derivations, more: list[str], args: argparse.Namespace
) -> list[list[str]]:
    """The figures of each score."""
    questions = Questions.held_out(train, held_out, InventorySettings())
    evaluator, tokens = ScoreEvaluator.of(questions, args.lm), phrase_tokens(train)
    base = evaluator.losses([*evaluator.base().values()]) if args.lm else None
    found = [figures("P(e|f)", evaluator.measure(evaluator.references()[0], base))]
    for name, family, add in models(more, args.vectors, args.threads):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            add(mle.RelativeFrequencies().estimate(train, mle.MLESettings()), tokens, source).save(path)
            score = next(candidate for candidate in evaluator.candidates(path) if candidate.name == f"model {family}")
            found.append(figures(name, evaluator.measure(score, base)))
    return [[f"{train.pairs:,}", f"{len(questions.sentence):,}", *row] for row in found]


def figures(name: str, measured: dict[str, Any]) -> list[str]:
    """A score as the table has it."""
    adds = f"{measured['adds']:+.4f} ± {measured['error']:.4f}" if "adds" in measured else "-"
    return [name, f"{measured['mrr']:.3f}", f"{measured['loss']:.4f}", adds]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("alignment", type=Path)
    parser.add_argument("--held-out", required=True)
    parser.add_argument("--parts", default="0.05,0.1,0.25,0.5,1")
    parser.add_argument("--lm")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    text = [read_lines(path) for path in (args.source, args.target, args.alignment)]
    held_out = Derivations.load(args.held_out)
    print(*align_columns([["pairs", "questions", "score", "MRR", "loss", "adds"]]), sep="\n")
    for part in map(float, args.parts.split(",")):
        n = round(part * len(text[0]))
        source, target, links = (lines[:n] for lines in text)
        found = rows(derive(source, target, links), source, held_out, text[0][n:], args)
        print(*align_columns(found), sep="\n", flush=True)


if __name__ == "__main__":
    main()
