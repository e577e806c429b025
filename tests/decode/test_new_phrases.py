"""Features of new phrases, and frames of similar sentences, compared with grammars that contain the rules."""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from decoders import WEIGHTS, small_config

from lscfg.decode import new_phrases
from lscfg.decode.columns import LayeredValues
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.frames import MOST_GAPS, Frame, differing_spans, frame_of
from lscfg.decode.memory import Memory
from lscfg.decode.recalled import StoredPair

NAMES = ("EgivenF", "MaxLexEgivenF", "MaxLexFgivenE", "IsSingletonF", "IsSingletonFE")


def line_of(source: str, target: str, features: Mapping[str, float]) -> str:
    return f"[X] ||| {source} ||| {target} ||| " + " ".join(f"{name}={value!r}" for name, value in features.items())


def random_grammar(rng: random.Random) -> dict[tuple[str, str], dict[str, float]]:
    """Phrases of one to three words over a, b, c, d, and one rule with a nonterminal, which no median may count."""
    rules = {("[X,1] a", "[1] u"): dict.fromkeys(NAMES, 9.0)}
    for word in "abcd":
        rules[word, rng.choice("uvw")] = {"EgivenF": 0.5, "MaxLexEgivenF": 0.25, "MaxLexFgivenE": 0.75}
    for _ in range(40):
        sides = tuple(" ".join(rng.choices(letters, k=rng.randint(1, 3))) for letters in ("abc", "uvwxy"))
        features = {name: rng.randint(1, 40) / 8 for name in NAMES[:3]}
        rules.setdefault((sides[0], sides[1]), features | {name: float(rng.random() < 0.5) for name in NAMES[3:]})
    return rules


def expected(rules: Mapping[tuple[str, str], Mapping[str, float]], source: str, target: str) -> dict[str, float]:
    """Features of a new phrase by loops over the rules."""
    known = any(source == one for one, _ in rules)

    def medians(length: int, known: bool) -> dict[str, float] | None:
        own = [
            features
            for (one, _), features in rules.items()
            if "[X" not in one and len(one.split()) == length
            if features.get("IsSingletonFE") and bool(features.get("IsSingletonF")) != known
        ]
        if not own:
            return None
        return {name: statistics.median(features.get(name, 0.0) for features in own) for name in NAMES}

    by_distance = sorted(range(1, 4), key=lambda length: (abs(length - len(source.split())), length))
    found = next(one for length in by_distance if (one := medians(length, known)))
    one_word = {sides: features for sides, features in rules.items() if all(len(side.split()) == 1 for side in sides)}
    for side, name in enumerate(("MaxLexEgivenF", "MaxLexFgivenE")):
        found[name] = 0.0
        for made in (target, source)[side].split():
            costs, worst = [], []
            for given in (source, target)[side].split():
                pair = (given, made) if side == 0 else (made, given)
                costs += [one_word[pair].get(name, 0.0)] if pair in one_word else []
                own = [one.get(name, 0.0) for sides, one in one_word.items() if sides[side] == given]
                worst.append(max(own, default=0.0))
            found[name] += min(costs or worst)
    return found


def k_best(folder: Path, lines: list[str], text: str, weights: Mapping[str, float], memory: Memory | None) -> list[Any]:
    config = small_config(folder)
    (folder / "grammar").write_text("\n".join(lines) + "\n")
    with EmbeddedDecoder(config) as decoder:
        (found,) = decoder.translate([text], weights, 20000, memory=memory)
    return sorted((round(one.score, 9), one.text) for one in found.hypotheses)


@pytest.mark.parametrize("seed", range(5))
def test_new_phrases_decode_as_rules_of_the_grammar(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One grammar with the features that loops over the rules yield gives the same list as the memory."""
    monkeypatch.setattr(new_phrases, "ENOUGH", 1)
    rng = random.Random(seed)
    rules = random_grammar(rng)
    memory = Memory(tmp_path / "memory", lambda source, target: [(0, 0), (len(source) - 1, len(target) - 1)])
    source, target = " ".join(rng.choices("abc", k=3)), " ".join(rng.choices("uvwxz", k=3))
    memory.add(source, target)
    text = f"{source} d d d"
    lines = [line_of(*sides, features) for sides, features in rules.items()]
    given = WEIGHTS | {"EgivenF": -0.3, "MaxLexEgivenF": -0.7, "MaxLexFgivenE": 0.4, "IsSingletonFE": -0.2}
    weights = given | {"IsSingletonF": 0.9, "Correction": 0.6}
    learned = k_best(tmp_path, lines, text, weights, memory)
    more = {(one.source, one.target): one.value for one in memory.recall(text).rules}
    assert more and not memory.recall(text).similar
    corrected = {
        sides: (rules[sides] if sides in rules else expected(rules, *sides)) | {"Correction": value}
        for sides, value in more.items()
    }
    lines = [line_of(*sides, features) for sides, features in (rules | corrected).items()]
    assert learned == k_best(tmp_path, lines, text, weights, None)


def test_a_grammar_without_such_features_gives_medians_of_its_phrases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_phrases, "ENOUGH", 1)
    lines = [line_of(word, word.upper(), {"Own": k}) for k, word in enumerate("abcde")]
    memory = Memory(tmp_path / "memory", lambda source, target: [(0, 0)])
    memory.add("f", "new")
    with_rule = [*lines, line_of("f", "new", {"Own": 2.0})]
    weights = WEIGHTS | {"Own": 0.5}
    assert k_best(tmp_path, lines, "a f", weights, memory) == k_best(tmp_path, with_rule, "a f", weights, None)


# ---- frames ----


def random_pair(rng: random.Random) -> StoredPair:
    n, m = rng.randint(1, 6), rng.randint(1, 6)
    links = {(rng.randrange(n), rng.randrange(m)) for _ in range(rng.randint(0, 6))}
    source, target = (" ".join(rng.choices(letters, k=k)) for letters, k in (("abc", n), ("uvw", m)))
    return StoredPair(1, source, target, tuple(sorted(links)))


def filled(side: str, parts: Mapping[str, str]) -> str:
    return " ".join(parts.get(word, word) for word in side.split())


def test_frames_by_definition() -> None:
    """Gaps filled with the sentence's words give the sentence; with the stored words, both sides of the pair."""
    rng, made = random.Random(7), 0
    for _ in range(2500):
        pair = random_pair(rng)
        words, stored, target = rng.choices("abcd", k=rng.randint(1, 6)), pair.source.split(), pair.target.split()
        if words == stored:
            continue
        gaps = differing_spans(words, stored)
        assert all(a < b and c < d for (a, b), (c, d) in gaps)
        frame = frame_of(words, pair)
        linked = [[t for s, t in pair.links if c <= s < d] for _, (c, d) in gaps]
        separate = all(own for own in linked) and not any(
            min(own) <= t <= max(own) and not c <= s < d
            for own, (_, (c, d)) in zip(linked, gaps, strict=True)
            for s, t in pair.links
        )
        if frame is None:
            covered = sum(max(own) + 1 - min(own) for own in linked) if separate else 0
            assert not separate or covered == len(target) or sum(b - a for (a, b), _ in gaps) == len(words)
            continue
        made += 1
        assert separate
        source_parts = {f"[X,{k + 1}]": " ".join(words[a:b]) for k, ((a, b), _) in enumerate(gaps)}
        stored_parts = {f"[X,{k + 1}]": " ".join(stored[c:d]) for k, (_, (c, d)) in enumerate(gaps)}
        target_parts = {f"[{k + 1}]": " ".join(target[min(t) : max(t) + 1]) for k, t in enumerate(linked)}
        assert filled(frame.source, source_parts) == " ".join(words)
        assert filled(frame.source, stored_parts) == pair.source
        assert filled(frame.target, target_parts) == pair.target
    assert made > 100


def test_frames_reorder_and_have_a_limit() -> None:
    pair = StoredPair(1, "a b c d", "x y z", ((0, 2), (1, 1), (3, 0)))
    assert frame_of(["e", "b", "c", "f"], pair) == Frame("[X,1] b c [X,2]", "[2] y [1]")
    assert frame_of(["a", "b", "e", "d"], pair) is None  # no translation of c
    assert frame_of(["a", "b", "c", "d", "e"], pair) == Frame("a b c [X,1]", "[1] y z")  # d e instead of d
    for size in (MOST_GAPS, MOST_GAPS + 1):
        words = [word for k in range(size) for word in (f"k{k}", f"o{k}")]
        links = tuple((k, k) for k in range(len(words)))
        long = StoredPair(1, " ".join(words), " ".join(words), links)
        found = frame_of([word.replace("o", "n") for word in words], long)
        assert (found is None) == (size > MOST_GAPS)


def test_frames_decode_as_rules_of_the_grammar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The frame has the features of the sentence's phrase of median cost, and its own two."""
    monkeypatch.setattr(new_phrases, "ENOUGH", 1)
    lines = [line_of(word, word.upper(), {"EgivenF": k / 4}) for k, word in enumerate("abcde")]
    memory = Memory(tmp_path / "memory", lambda source, target: [(0, 3), (1, 2), (2, 1), (3, 0)])
    memory.add("a b c d", "s q r p")
    text = "a e c d"  # EgivenF of its words: 0, 1, 0.5, 0.75; the upper median is 0.75
    weights = WEIGHTS | {"EgivenF": -0.4, "Memory": 2.0, "MemoryScore": 0.8}
    learned = k_best(tmp_path, lines, text, weights, memory)
    recalled = memory.recall(text)
    assert [one.similarity for one in recalled.similar] == [0.75]
    assert {(one.source, one.target) for one in recalled.rules} == {("a", "p"), ("c", "q"), ("d", "s"), ("c d", "s q")}
    added = [line_of(one.source, one.target, {"EgivenF": 0.5}) for one in recalled.rules]
    frame = line_of("a [X,1] c d", "s q [1] p", {"EgivenF": 0.75, "Memory": 1.0, "MemoryScore": 0.75})
    assert learned == k_best(tmp_path, [*lines, *added, frame], text, weights, None)


def test_layered_values_are_rows_of_one_array() -> None:
    rng = np.random.default_rng(1)
    values, further, row_of = rng.normal(size=(9, 4)), rng.normal(size=(2, 4)), rng.integers(0, 11, 30)
    layered, dense = LayeredValues(values, further, row_of), np.concatenate([values, further])[row_of]
    apps, weights = rng.integers(0, 30, 12), rng.normal(size=4)
    assert layered[:].tobytes() == dense.tobytes() and layered[apps].tobytes() == dense[apps].tobytes()
    assert np.allclose(layered @ weights, dense @ weights, rtol=1e-14)
    assert layered.nbytes == values.nbytes + further.nbytes + row_of.nbytes
