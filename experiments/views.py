"""What scores of phrases know of held-out text when there is little parallel text, and views of more source text.

    python experiments/views.py train.ja train.en train.align --held-out dev.deriv [--parts 0.05,0.1,0.25,0.5,1]

For each part of the sentence pairs, from the first one on, the table has the mean reciprocal rank and the loss in nats
of P(e|f), of least squares (ls), of the log-linear context model, and of the joint one. The views of "ls" and "joint"
are of the part's own text; those of "ls, all text" and "joint, all text" are of the source side of the whole text.
Questions are those of lscfg mrr; the loss is of each score together with P(e|f).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lscfg import log
from lscfg.context import joint, loglinear, ls
from lscfg.context.task import add_scorer
from lscfg.estimate import mle
from lscfg.extract.derive import Derivations, derive
from lscfg.extract.phrases import phrase_tokens
from lscfg.grammar.tokens import RuleTokens
from lscfg.io.text import align_columns, read_lines
from lscfg.study.mrr import Ruler
from lscfg.study.senses import InventorySettings, Questions

Adder = Callable[[Any, RuleTokens, list[str]], Any]


def models(more: list[str], threads: int) -> Iterator[tuple[str, str, Adder]]:
    """Names, the family of features, and what adds it to a model."""
    for name, text in (("", []), (", all text", more)):

        def add_ls(model: Any, tokens: RuleTokens, source: list[str], text: list[str] = text) -> Any:
            return add_scorer("ls", ls.Settings(), model, tokens.with_words(text), source, threads, text)

        def add_joint(model: Any, tokens: RuleTokens, source: list[str], text: list[str] = text) -> Any:
            return joint.add_context(model, tokens.with_words(text), source, joint.Settings(), threads, text)

        yield f"ls{name}", "score", add_ls
        yield f"joint{name}", "context", add_joint
    yield "loglinear", "context", lambda *inputs: loglinear.add_context(*inputs, None, threads)


def rows(
    train: Derivations, source: list[str], held_out: Derivations, more: list[str], threads: int
) -> list[list[str]]:
    """The figures of each score."""
    questions = Questions.held_out(train, held_out, InventorySettings())
    ruler, tokens = Ruler.of(questions), phrase_tokens(train)
    frequency = ruler.measure(ruler.references()[0], None)
    found = [["P(e|f)", f"{frequency['mrr']:.3f}", f"{frequency['loss']:.4f}"]]
    for name, family, add in models(more, threads):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            add(mle.estimate(train, mle.Settings()), tokens, source).save(path)
            score = next(candidate for candidate in ruler.candidates(path) if candidate.name == f"model {family}")
            measured = ruler.measure(score, None)
        found.append([name, f"{measured['mrr']:.3f}", f"{measured['loss']:.4f}"])
    return [[f"{train.pairs:,}", f"{len(questions.sentence):,}", *row] for row in found]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("alignment", type=Path)
    parser.add_argument("--held-out", required=True)
    parser.add_argument("--parts", default="0.05,0.1,0.25,0.5,1")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    log.quiet = True
    text = [read_lines(path) for path in (args.source, args.target, args.alignment)]
    held_out = Derivations.load(args.held_out)
    print(*align_columns([["pairs", "questions", "score", "MRR", "loss"]]), sep="\n")
    for part in map(float, args.parts.split(",")):
        n = round(part * len(text[0]))
        source, target, links = (lines[:n] for lines in text)
        found = rows(derive(source, target, links), source, held_out, text[0][n:], args.threads)
        print(*align_columns(found), sep="\n", flush=True)


if __name__ == "__main__":
    main()
