"""k-best lists with the scores of other programs: joined as features, weighted again, and ranked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from os import PathLike

import numpy as np

from lscfg import log
from lscfg.errors import InputError, quote
from lscfg.formats.kbest import Hypothesis, parse_hypothesis
from lscfg.io.numbers import parse_number
from lscfg.io.read import read_lines, split_fields
from lscfg.moses_bridge.nbest import is_nbest, parse_nbest
from lscfg.tuning.mbr import expected_utilities, posterior, which_texts
from lscfg.tuning.metrics.metric import PRIMARY
from lscfg.tuning.tune import TuneResult, TuneSettings, is_feature_name, tune

Lists = list[list[Hypothesis]]

TIE = 9
"""Decimals in which expected utilities and probabilities must differ."""


def read_scores(path: str | PathLike[str]) -> list[float]:
    """Reads a number from each line.

    Raises:
        InputError: a line is not a finite number.
    """
    found = []
    for number, line in enumerate(read_lines(path, closed=True), 1):
        try:
            found.append(parse_number(line))
        except ValueError as error:
            raise InputError(f"{error}; give a finite number for each hypothesis", path, number) from None
    return found


def read_lists(path: str | PathLike[str], columns: Mapping[str, str | PathLike[str]], sentences: int = 0) -> Lists:
    """Reads the lists of a file, of lscfg and cdec or of Moses, with further features.

    Args:
        columns: by the name of a feature the file of its values, one for each line of the lists.
        sentences: number of sentences; 0: as in the lists. A sentence without hypotheses has an empty list.

    Raises:
        InputError: a file is malformed, has another number of lines, or a name cannot be that of a new feature.
    """
    lines = read_lines(path, closed=True)
    scores = {name: read_scores(file) for name, file in columns.items()}
    for name, file in columns.items():
        if not is_feature_name(name):
            raise InputError(f"a feature cannot be named {quote(name)}", file)
        if len(scores[name]) != len(lines):
            raise InputError(
                f"{len(scores[name])} scores for {len(lines)} hypotheses of {path}; give one per line", file
            )
    lists: Lists = [[] for _ in range(sentences)]
    before = again = 0
    with_features = next((line for line in lines if any(split_fields(line)[2:3])), "")
    parse = parse_nbest if is_nbest(with_features) else parse_hypothesis
    for number, line in enumerate(lines, 1):
        sentence, hypothesis = parse(line, path, number)
        if sentence < 0:
            raise InputError(f"sentence {sentence}: numbers of sentences begin at 0", path, number)
        if sentences and sentence >= sentences:
            raise InputError(f"sentence {sentence} is outside 0 to {sentences - 1}", path, number)
        if sentence > len(lines) + len(lists):
            raise InputError(
                f"sentence {sentence} in a file of {len(lines)} hypotheses; are lines missing? Numbers begin at 0",
                path,
                number,
            )
        lists += [[] for _ in range(sentence + 1 - len(lists))]
        if lists[sentence] and sentence != before and not again:
            again = number
        before = sentence
        for name in columns:
            if name in hypothesis.features:
                raise InputError(
                    f"the lists have a feature {name} already; give the new one another name", path, number
                )
        features = {**hypothesis.features, **{name: column[number - 1] for name, column in scores.items()}}
        lists[sentence].append(Hypothesis(hypothesis.text, features, hypothesis.score))
    if again:
        log.warning(
            f"{path}:{again}: a sentence occurs again after others, and its hypotheses are joined; lists of two texts "
            "belong in two files"
        )
    if not lines:
        raise InputError("no k-best list in it; lscfg decode -k 100 writes them", path)
    if empty := sum(not one for one in lists):
        log.warning(f"{path}: {empty} of {len(lists)} sentences have no hypothesis and stay empty")
    return lists


def ranked(hypotheses: Sequence[Hypothesis], weights: Mapping[str, float] | None) -> list[Hypothesis]:
    """The hypotheses with their scores under the weights, best first, equal ones in their order.

    Args:
        weights: None: the scores stay.

    Raises:
        InputError: a score is not finite.
    """
    if weights is not None:
        hypotheses = [Hypothesis(one.text, one.features, _score(one, weights)) for one in hypotheses]
    return sorted(hypotheses, key=lambda one: -one.score)


def _score(hypothesis: Hypothesis, weights: Mapping[str, float]) -> float:
    try:
        score = math.fsum(weights.get(f, 0.0) * v for f, v in hypothesis.features.items())
    except (OverflowError, ValueError):  # a partial sum beyond the range of numbers, or inf - inf
        score = math.nan
    if not math.isfinite(score):
        raise InputError(f"the score of {quote(hypothesis.text)} is not finite; give smaller weights or features")
    return score


def ranked_by_risk(systems: Sequence[Sequence[Hypothesis]], utility: str, scale: float) -> list[Hypothesis]:
    """The hypotheses of one sentence by expected utility, which becomes their score; see ``lscfg.tuning.mbr``.

    Args:
        systems: the list of each system; systems that have hypotheses have an equal share of probability.
        scale: factor of the scores before they become probabilities.
    """
    return _by_risk(systems, utility, [scale])[0]


def agreed(systems: Sequence[Sequence[Hypothesis]], scales: Sequence[float], utility: str = PRIMARY) -> list[str]:
    """The consensus of systems for one sentence: the translation with the best expected utility under each scale.

    Empty if no system has a hypothesis.
    """
    return [found[0].text if found else "" for found in _by_risk(systems, utility, scales)]


def _by_risk(systems: Sequence[Sequence[Hypothesis]], utility: str, scales: Sequence[float]) -> list[list[Hypothesis]]:
    """The hypotheses under each scale; of equally good ones the most probable translation is the first."""
    lists = [one for one in systems if one]
    every = [one for hypotheses in lists for one in hypotheses]
    if not every:
        return [[] for _ in scales]
    parts = [[posterior([one.score for one in hypotheses], scale) for hypotheses in lists] for scale in scales]
    share = np.array([np.concatenate(part) for part in parts]) / len(lists)
    texts = [one.text for one in every]
    which, values = which_texts(texts), expected_utilities(texts, share, utility)
    found = []
    for own, value in zip(share, values, strict=True):
        keys = (-own, -np.bincount(which, own)[which], -value)
        order = np.lexsort([key.round(TIE) for key in keys]).tolist()  # sums of floats depend on the order of lists
        found.append([Hypothesis(every[k].text, every[k].features, float(value[k])) for k in order])
    return found


def distinct(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """The hypotheses without those whose translation comes before."""
    first: dict[str, Hypothesis] = {}
    for one in hypotheses:
        first.setdefault(one.text, one)
    return [*first.values()]


class ListDecoder:
    """A decoder that only chooses from lists, so that the tuning loop can find weights for them."""

    def __init__(self, lists: Sequence[Sequence[Hypothesis]]):
        self._lists = lists

    def decode(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int, unique: bool = False
    ) -> list[list[Hypothesis]]:
        """The lists under the weights; see ``lscfg.decode.host.KBestDecoder``."""
        found = []
        for one in self._lists:
            best = ranked(one, weights)
            found.append((distinct(best) if unique else best)[:k])
        return found


def tune_lists(
    lists: Lists, references: Sequence[Sequence[str]], weights: Mapping[str, float], settings: TuneSettings
) -> TuneResult:
    """Learns weights for the BLEU of the lists' best hypotheses from the whole lists.

    Raises:
        InputError: numbers of lines differ, or a weight or feature is not finite.
    """
    return tune(ListDecoder(lists), [""] * len(lists), references, weights, settings)
