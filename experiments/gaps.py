"""Value of the words inside the gaps of rules for context models.

    python experiments/gaps.py train.ja train.deriv [--pairs 10000] [--scorers residual,mlr]

A tenth of the sentences is held out. The table lists the loss in nats per held-out token whose rule competes with
others, of P(e|f) alone and with each context model, for tokens with and without gaps: once for a model that sees only
the words around a rule, and once for a model that also sees the words inside its gaps.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lscfg import log
from lscfg.context.learner import CONTEXT_MODELS
from lscfg.context.low_dimensional import HELD_OUT, Task
from lscfg.estimate.choice import fit_choices
from lscfg.extract.derive import Derivations
from lscfg.extract.minimal import tokens_of
from lscfg.grammar.tokens import RuleTokens
from lscfg.io.columns import align_columns
from lscfg.io.read import read_lines
from lscfg.settings import Declared


@dataclass(frozen=True)
class HeldOut:
    """Losses of held-out tokens.

    Attributes:
        unit: int [tokens], the sentence or document of each token; has_gap: bool [tokens].
        plain: float64 [tokens], losses of P(e|f) alone; losses: with the score of a context model.
        seconds: CPU seconds of learning.
    """

    unit: np.ndarray
    has_gap: np.ndarray
    plain: np.ndarray
    losses: np.ndarray
    seconds: float

    def means(self, losses: np.ndarray) -> list[str]:
        """Mean losses of tokens with gaps, of those without, and of all."""
        parts = (losses[self.has_gap], losses[~self.has_gap], losses)
        return [f"{part.mean():.3f}" if len(part) else "-" for part in parts]


def held_out_losses(task: Task, name: str, settings: Declared, unit: np.ndarray | None = None) -> HeldOut:
    """Losses of a model that learns from nine units in ten, on the others.

    Args:
        unit: int [tokens], a unit of text; None: the sentence.
    """
    unit = task.tokens.places[:, 1] if unit is None else unit
    out = unit % HELD_OUT == 0
    part = dataclasses.replace(task, used=~out)
    begin = time.process_time()
    fitted, asked = CONTEXT_MODELS[name].fit(part, settings), part.asked(out)
    seconds = time.process_time() - begin
    choices, rows = part.choices(asked)
    plain = np.log(np.maximum(part.counts[rows], 0.5))
    scores = np.column_stack([plain, fitted.scores(part.views.matrix[np.repeat(asked, choices.sizes)], rows)])
    even = unit[asked] // HELD_OUT % 2 == 0
    loss = np.empty(len(asked))
    for half in (even, ~even):
        (seen, of_seen), (rest, of_rest) = choices.select(~half), choices.select(half)
        loss[half] = rest.losses(scores[of_rest] @ fit_choices(seen, scores[of_seen]))
    return HeldOut(unit[asked], part.tokens.places[asked, 4] >= 0, choices.losses(plain), loss, seconds)


def first_tokens(train: Derivations, pairs: int | None) -> RuleTokens:
    """The rule tokens of the first sentence pairs; None or 0: of all."""
    tokens = tokens_of(train)
    return RuleTokens(tokens.rules, tokens.places[tokens.places[:, 1] < pairs]) if pairs else tokens


def with_further(task: Task, numbers: np.ndarray, matrix: sparse.spmatrix) -> Task:
    """The task with items behind its own.

    Args:
        numbers: int [items], ascending, above those of the task; matrix: [tokens, items], counts around each token.
    """
    items = np.concatenate([task.views.items, numbers])
    views = dataclasses.replace(task.views, items=items, matrix=sparse.hstack([task.views.matrix, matrix], "csr"))
    return dataclasses.replace(task, views=views, text=None, bases={})


def losses(name: str, tokens: RuleTokens, source: list[str], gaps: bool, threads: int) -> list[list[str]]:
    """A row for P(e|f) and one for the scorer: loss of tokens with gaps, of those without, and CPU seconds."""
    begin, settings = time.process_time(), CONTEXT_MODELS[name].Settings(gaps=gaps)
    task = Task.of(tokens, source, settings, threads)
    seconds = time.process_time() - begin
    found = held_out_losses(task, name, settings)
    log.info(f"{found.has_gap.sum()} tokens with gaps and {(~found.has_gap).sum()} without")
    shown = (("P(e|f)", found.plain), (f"{name}{', gaps' if gaps else ''}", found.losses))
    return [[row, *found.means(each)[:2], f"{seconds + found.seconds:.1f} s"] for row, each in shown]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="source side of the corpus")
    parser.add_argument("derivations", help="derivations of lscfg derive")
    parser.add_argument("--pairs", type=int, default=10_000, help="first sentence pairs that are used")
    parser.add_argument("--scorers", default="residual,mlr", metavar="LIST")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    tokens, source = first_tokens(Derivations.load(args.derivations), args.pairs), read_lines(args.source)
    rows = [["score", "with gaps", "without", "CPU"]]
    for name in args.scorers.split(","):
        for gaps in (False, True):
            rows += losses(name, tokens, source, gaps, args.threads)[len(rows) > 1 :]
    print(*align_columns(rows), sep="\n")


if __name__ == "__main__":
    main()
