"""Held-out scores of low-dimensional context models by dimensions, by whitening, and by the views of directions.

    python experiments/view_settings.py places train.ja train.deriv --lm lm.arpa --held-out dev.deriv [--models ls]
    python experiments/view_settings.py places train.ja train.deriv --lm lm.arpa [--models ls]
    python experiments/view_settings.py views train.ja train.deriv [--pairs 5000] [--lm lm.arpa --held-out dev.deriv]
    python experiments/view_settings.py views train.ja train.deriv [--pairs 5000] --classes classes.ja

"places" lists settings of Tables 4.2 and 4.3 and Figure 4.1 of Saluja (2015), with directions from the tokens whose
source phrase has several target phrases, as in lscfg, and from all tokens, as in the thesis. The questions are those of
lscfg inspect choices --measure translations: of the held-out derivations or, without any, of a random twentieth of the
training tokens. "gain" is the reduction in loss, together with P(e|f), from the first kind of directions to the second,
with sentences as independent units.

"views" lists losses of generalised correlation of up to four views (words to the left, to the right, in gaps and in the
whole sentence), next to lscfg's correlation by pairs; residual and mlr see the items of the views. The questions are
those of experiments/gaps.py, about rules with gaps, or with --held-out those of "places", about phrases, which have
none. "gain" is the reduction in loss from the first row of the same model. With --classes, a file of lines "word
class", the classes of two words on each side are a further view.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from gaps import first_tokens, held_out_losses, with_further

from lscfg.context.generalised import generalised_directions
from lscfg.context.learner import CONTEXT_MODELS
from lscfg.context.low_dimensional import Fitted, SentenceSettings, Task, ViewSettings, ViewVectorSettings
from lscfg.context.views import Look, Views, number_words
from lscfg.estimate.features import read_classes
from lscfg.extract.derive import Derivations
from lscfg.extract.phrases import phrase_tokens
from lscfg.grammar.tokens import RuleTokens
from lscfg.io.columns import align_columns
from lscfg.io.read import read_lines
from lscfg.kernel import CONTEXT_EXTRA_WORDS
from lscfg.model.low_dimensional import end_of_items, first_gap_item
from lscfg.study.disambiguation import InventorySettings, Questions
from lscfg.study.gains import mean_gain
from lscfg.study.mrr import P_OF_TARGET, Candidate, ScoreEvaluator

SHARE = 0.05
"""Share of the training tokens that the thesis holds out."""

RANKS = (10, 25, 50, 100, 200)
"""Dimensions of each side in Figure 4.1."""

LEFT, RIGHT, SENTENCE, GAPS = VIEWS = ("left", "right", "sentence", "gaps")
"""Names of views, in the order of their items."""

CLASSES = "classes"
"""Name of the view of word classes, whose items follow all others."""

CLASS_WINDOW = 2
"""Words on each side whose classes the view contains."""

FREQUENT = ("softmax", "residual")
"""Models that learn what to add to log relative frequencies."""

TABLES: dict[str, tuple[dict[str, Any], ...]] = {
    "cca": tuple({"k": k, "m": m} for k in (50, 100) for m in (50, 100)),
    "cca-mm": ({"hidden": 25}, {"hidden": 50}),
    "ls": tuple({"k": k, "whiten": whiten} for whiten in ("diag", "identity", "rand") for k in RANKS),
    "ls-online": ({"penalty": 1e-5}, {"penalty": 1e-8}),
    "mlp": ({"hidden": 10, "rate": 0.05}, {"hidden": 25, "rate": 0.05}),
    "sg": ({"dims": 50}, {"dims": 100}, {"dims": 200}),
}
"""Settings by model."""


# ---- directions ----


def from_all_places(task: Task, tokens: RuleTokens, source: list[str], look: Look) -> Task:
    """Returns the task with items and directions of all tokens, including those without a choice."""
    text = Views.of(number_words(source, tokens.rules.words), len(tokens.rules.words), tokens.places[:, 1:], look)
    chosen = tokens.has_choice()[tokens.places[:, 0]]
    return dataclasses.replace(task, views=dataclasses.replace(text, matrix=text.matrix[chosen]), text=text, bases={})


@dataclass(frozen=True)
class TogetherTask(Task):
    """A task whose directions come from generalised correlation of the views named in ``together``."""

    together: tuple[str, ...] = (LEFT, RIGHT)

    def basis(self, settings: ViewVectorSettings) -> np.ndarray:
        """float64 [items, k], contribution of each item to the coordinates that all views share."""
        key = (self.together, settings.k, settings.gamma, settings.seed)
        if key not in self.bases:
            views, n_words = self.text or self.views, len(self.tokens.rules.words)
            parts = [parts_of(views, n_words)[(*VIEWS, CLASSES).index(name)] for name in self.together]
            columns, gammas = views.matrix.tocsc(), [settings.gamma] * len(parts)
            sides = [columns[:, part].tocsr() for part in parts]
            found, _ = generalised_directions(sides, settings.k, gammas, seed=settings.seed)
            basis = np.zeros((len(views.items), settings.k))
            for part, directions in zip(parts, found, strict=True):
                basis[part] = directions
            self.bases[key] = basis
        return self.bases[key]


def parts_of(views: Views, n_words: int) -> list[slice]:
    """The items of each of ``VIEWS`` and of the classes."""
    base, window = n_words + CONTEXT_EXTRA_WORDS, views.look.window
    firsts = (0, window * base, 2 * window * base, first_gap_item(window, n_words), end_of_items(window, n_words))
    return [slice(*pair) for pair in pairwise([*np.searchsorted(views.items, firsts).tolist(), len(views.items)])]


def with_classes(task: Task, source: list[str], classes: Mapping[str, str]) -> Task:
    """The task with the classes of the words around each token as additional items, which follow those of gaps.

    Args:
        classes: class of each word; other words count as unknown.
    """
    names = sorted({*classes.values()})
    unknown = "-".join(["", *names])  # no class, since it is longer than each
    lines = [" ".join(classes.get(word, unknown) for word in line.split()) for line in source]
    look = Look(CLASS_WINDOW, False, 1)
    more = Views.of(number_words(lines, names), len(names), task.tokens.places[:, 1:], look)
    first = end_of_items(task.views.look.window, len(task.tokens.rules.words))
    return with_further(task, more.items + first, more.matrix)


def together(task: Task, views: tuple[str, ...]) -> TogetherTask:
    """The task with directions of these views together."""
    return TogetherTask(**{field.name: getattr(task, field.name) for field in dataclasses.fields(Task)}, together=views)


# ---- questions about phrases ----


class PhraseQuestions:
    """Questions about translations of phrases, and the tokens to learn from.

    Args:
        held_out: derivations of unseen pairs; None: ``SHARE`` of the training tokens.
        lm: file of the language model.
    """

    def __init__(self, train: Derivations, held_out: Derivations | None, lm: str):
        tokens, settings = phrase_tokens(train), InventorySettings()
        self.tokens = tokens if held_out else tokens.without(SHARE)
        if held_out:
            self.questions = Questions.held_out(train, held_out, settings)
        else:
            self.questions = Questions.of_tokens(train, settings, SHARE)
        self.evaluator = ScoreEvaluator.of(self.questions, lm)
        self._plain = self.evaluator.base()[P_OF_TARGET]
        self._base = self.evaluator.losses([*self.evaluator.base().values()])

    def scores(self, task: Task, fitted: Fitted) -> np.ndarray:
        """float64 [options], as in a decoder.

        Raises:
            ValueError: the model lacks a score of an option.
        """
        asked, rules = self.questions, task.tokens.rules
        _, numbers = rules.with_those_of(asked.inventory.rules)
        numbers = numbers[asked.rule]
        if numbers.max() >= len(rules) or (rows := task.row[numbers]).min() < 0:
            raise ValueError("the model has no score of an option")
        words = number_words(asked.source, rules.words)
        places = np.column_stack([asked.sentence, asked.span[:, :2]])
        items = task.views.matrix_of(words, len(rules.words), places)
        return fitted.scores(items[np.repeat(np.arange(items.shape[0]), asked.choices.sizes)], rows)

    def measure(self, name: str, task: Task, fitted: Fitted) -> tuple[dict[str, Any], np.ndarray]:
        """The figures of ``ScoreEvaluator.measure``, and float64 [questions], losses together with P(e|f)."""
        values = self.scores(task, fitted)
        ranking = self._plain + values if name in FREQUENT else values
        found = self.evaluator.measure(Candidate(name, values, ranking), self._base)
        return found, self.evaluator.losses([self._plain, ranking])


def names_of(settings: dict[str, Any]) -> str:
    """Settings as text."""
    return ", ".join(f"{key} = {value}" for key, value in settings.items())


def gain(unit: np.ndarray, gains: np.ndarray) -> str:
    """The mean of a gain with its error; ``unit`` is the sentence or document of each."""
    mean, error = mean_gain(np.bincount(unit, gains), np.bincount(unit))
    return f"{mean:+.4f} ± {error:.4f}"


def figures(found: dict[str, Any]) -> list[str]:
    """Cells of a score."""
    return [f"{found['mrr']:.3f}", f"{found['loss']:.4f}", f"{found['adds']:+.4f} ± {found['error']:.4f}"]


def place_rows(asked: PhraseQuestions, source: list[str], models: Sequence[str]) -> Iterator[list[str]]:
    """The table of places."""
    chosen = Task.of(asked.tokens, source, ViewSettings())
    every = from_all_places(chosen, asked.tokens, source, ViewSettings().look)
    base = asked.evaluator.measure(asked.evaluator.references()[0], None)
    print(*(f"{len(views.items):,} items of {views.matrix.shape[0]:,} tokens" for views in (chosen.views, every.text)))
    yield [P_OF_TARGET, f"{base['mrr']:.3f}", f"{base['loss']:.4f}", *["-"] * 5]
    for name in models:
        learner = CONTEXT_MODELS[name]
        for given in TABLES[name]:
            losses: list[np.ndarray] = []
            row = [f"{name}, {names_of(given)}"]
            for task in (chosen, every):
                fitted = learner.fit(task, learner.Settings(**given))
                found, loss = asked.measure(name, task, fitted)
                losses.append(loss)
                row += figures(found)
            yield [*row, gain(asked.questions.sentence, losses[0] - losses[1])]


# ---- views ----

SETS: tuple[tuple[str, ...], ...] = ((LEFT, RIGHT, GAPS), (LEFT, RIGHT), (LEFT, RIGHT, SENTENCE), VIEWS)
"""Sets of views, of which lscfg correlates the first two by pairs."""

CLASS_SETS: tuple[tuple[str, ...], ...] = ((LEFT, RIGHT, GAPS, CLASSES), (*VIEWS, CLASSES))
"""Sets of views with classes."""

PAIRED_K = (50, 100)
"""Dimensions of each view of lscfg, first its default."""


class ViewTasks:
    """Tasks by views.

    Args:
        gaps: True for tokens with gaps.
        shared: settings of generalised correlation.
        classes: class of each source word; None: no view of classes.
    """

    def __init__(
        self,
        tokens: RuleTokens,
        source: list[str],
        gaps: bool,
        shared: list[dict[str, Any]],
        classes: Mapping[str, str] | None = None,
    ):
        self._inputs, self._gaps, self._shared, self._classes = (tokens, source), gaps, shared, classes
        self._sets = SETS if classes is None else (*SETS, *CLASS_SETS)
        self._tasks: dict[tuple[SentenceSettings, bool], Task] = {}

    def of(self, views: tuple[str, ...]) -> Task:
        """The task that sees these views."""
        key = SentenceSettings(sentence=SENTENCE in views, gaps=GAPS in views), CLASSES in views
        if key not in self._tasks:
            task = Task.of(*self._inputs, key[0])
            self._tasks[key] = with_classes(task, self._inputs[1], self._classes or {}) if key[1] else task
        return self._tasks[key]

    def rows(self, name: str) -> Iterator[tuple[str, dict[str, Any], Task]]:
        """Names, settings and tasks of a model's rows; a model without directions of views sees all of their items."""
        correlates = issubclass(CONTEXT_MODELS[name].Settings, ViewVectorSettings)
        plain = [{"k": k} for k in PAIRED_K]
        kinds = [("items", self._sets, plain)]
        if correlates:
            kinds = [("pairs", SETS[:2], plain), ("together", self._sets, self._shared)]
        sets = [(kind, views, given) for kind, several, settings in kinds for views in several for given in settings]
        for kind, views, given in sets:
            if self._gaps or GAPS not in views:
                task = together(self.of(views), views) if kind == "together" else self.of(views)
                yield f"{kind}: {', '.join(views)}, {names_of(given)}", given, task


def rule_view_rows(tasks: ViewTasks, models: Sequence[str]) -> Iterator[list[str]]:
    """The table of views for rules, with losses of tokens with gaps, of those without, and of all."""
    for name in models:
        first = None
        for shown, given, task in tasks.rows(name):
            found = held_out_losses(task, name, CONTEXT_MODELS[name].Settings(**given))
            if first is None:
                first = found.losses
                yield [P_OF_TARGET, *found.means(found.plain), "-"]
            yield [f"{name}, {shown}", *found.means(found.losses), gain(found.unit, first - found.losses)]


def phrase_view_rows(tasks: ViewTasks, models: Sequence[str], asked: PhraseQuestions) -> Iterator[list[str]]:
    """The table of views for questions about phrases."""
    for name in models:
        learner, first = CONTEXT_MODELS[name], None
        for shown, given, task in tasks.rows(name):
            found, losses = asked.measure(name, task, learner.fit(task, learner.Settings(**given)))
            first = losses if first is None else first
            yield [f"{name}, {shown}", *figures(found), gain(asked.questions.sentence, first - losses)]


def print_rows(head: list[str], rows: Iterator[list[str]]) -> None:
    """Prints rows and their CPU time as they come, then all of them in columns."""
    found, begin = [[*head, "gain", "CPU"]], time.process_time()
    for row in rows:
        found.append([*row, f"{time.process_time() - begin:.0f} s"])
        print(*found[-1], sep="\t", flush=True)
        begin = time.process_time()
    print("", *align_columns(found), sep="\n")


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("places", "views"))
    parser.add_argument("source", help="source side of the corpus")
    parser.add_argument("derivations", help="derivations of lscfg derive")
    parser.add_argument("--held-out", help="derivations of other pairs")
    parser.add_argument("--lm", help="language model of the target side")
    parser.add_argument("--pairs", type=int, help="first sentence pairs whose rules are used (default: all)")
    parser.add_argument("--models", metavar="LIST", help="context models (default: all of places; softmax, ls and cca)")
    parser.add_argument("--dims", default="100,200", help="coordinates that views share (default: %(default)s)")
    parser.add_argument("--gammas", default="2", help="regularisation of views together (default: %(default)s)")
    parser.add_argument("--classes", metavar="FILE", help="lines 'word class' of the source, for questions about rules")
    args = parser.parse_args()
    if args.classes and (args.table != "views" or args.held_out):
        parser.error("--classes belongs to questions about rules: views without --held-out")
    models = (args.models or ",".join(TABLES if args.table == "places" else ("softmax", "ls", "cca"))).split(",")
    train, source = Derivations.load(args.derivations), read_lines(args.source)
    shared = [{"k": int(k), "gamma": float(g)} for k in args.dims.split(",") if k for g in args.gammas.split(",")]
    if args.table == "views" and not args.held_out:
        tokens = first_tokens(train, args.pairs)
        classes = read_classes(args.classes) if args.classes else None
        rows = rule_view_rows(ViewTasks(tokens, source, True, shared, classes), models)
        return print_rows(["score", "with gaps", "without", "all"], rows)
    if not args.lm:
        parser.error("questions about phrases need --lm")
    asked = PhraseQuestions(train, Derivations.load(args.held_out) if args.held_out else None, args.lm)
    head = ["score", "MRR", "loss", "adds"]
    if args.table == "views":
        tasks = ViewTasks(asked.tokens, source, False, shared)
        return print_rows(head, phrase_view_rows(tasks, models, asked))
    print_rows([*head, "MRR, all", "loss, all", "adds, all"], place_rows(asked, source, models))


if __name__ == "__main__":
    main()
