"""The weight of soft terms: bisection against a search over all weights, use counted by hand, a decoder."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from decoders import WEIGHTS, small_config

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.soft_terms import FEWEST, HALVINGS, SHARES, WANTED, fit_terminology, least_weight, used_soft
from lscfg.decode.terms import Occurrence, Term, TermIndex
from lscfg.formats.ini import DecoderConfig


@pytest.mark.parametrize("seed", range(20))
def test_the_least_weight(seed: int) -> None:
    rng = random.Random(seed)
    scale = rng.choice((0.5, 1.0, 3.0))
    needed = sorted(rng.expovariate(1 / 5) - 0.5 for _ in range(50))  # of each term, the weight that it needs
    asked: list[float] = []

    def use(weight: float) -> float:
        asked.append(weight)
        return sum(one <= weight for one in needed) / len(needed)

    found, truth = least_weight(use, scale), max(0.0, needed[round(WANTED * len(needed)) - 1])
    assert found.use == use(found.weight) >= WANTED and found.weight >= truth
    step = max(share for share in SHARES if share * scale <= max(truth, scale)) * scale / 2**HALVINGS
    assert found.weight - truth <= 2 * step and len(asked) <= len(SHARES) + HALVINGS + 1


def test_terms_that_no_weight_brings_in() -> None:
    assert least_weight(lambda weight: min(weight / 8, 0.5), 1.0) == (4.0, 0.5)
    assert least_weight(lambda weight: 0.9, 1.0) == (0.0, 0.9)


def test_each_soft_term_needs_a_form() -> None:
    def soft(*forms: str) -> Occurrence:
        return Occurrence((0, 1), forms, False)

    assert used_soft(["a", "b", "a"], [soft("a"), soft("a"), soft("a"), soft("b", "c")]) == 3
    assert used_soft(["a", "b", "c"], [soft("b c"), soft("c"), Occurrence((0, 1), ("a",), True)]) == 1
    assert used_soft([], [soft("a")]) == 0


def test_a_decoder_uses_the_terms(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    terms, text = TermIndex([Term("casa", ("x",), "soft"), Term("verde", ("old",))]), ["la casa verde", "la"] * FEWEST
    with EmbeddedDecoder(small_config(tmp_path)) as decoder:
        caplog.set_level("INFO")
        weight = fit_terminology(decoder, WEIGHTS, terms, text)
        assert weight is not None and "Terminology" in caplog.text
        for value, used in ((weight, True), (weight / 2, False)):
            found = next(decoder.translate(text[:1], WEIGHTS | {"Terminology": value}, terms=terms))
            assert ("x" in found.hypotheses[0].text.split()) == used
        assert fit_terminology(decoder, WEIGHTS, terms, text[: 2 * FEWEST - 2]) is None
    assert f"{FEWEST - 1} in the text, too few" in caplog.text


RULES = (
    "[X] ||| a ||| x ||| A=1",
    "[X] ||| a ||| y ||| A=2",
    "[X] ||| b ||| z ||| A=1",
    "[X] ||| a b ||| z x ||| A=0.5",
    "[X] ||| a [X,1] ||| [1] y ||| A=0.5",
    "[X] ||| [X,1] b ||| x z [1] ||| A=0.25",
    "[X] ||| c [X,1] a ||| x [1] y ||| A=0.75",
    "[X] ||| c ||| w ||| A=1",
)


@pytest.mark.parametrize("seed", range(12))
def test_a_large_weight_makes_soft_terms_hard(seed: int, tmp_path: Path) -> None:
    """Of the translations with the most terms, the best one: rules that contain a form also count."""
    rng = random.Random(seed)
    (tmp_path / "grammar").write_text("\n".join(RULES) + "\n")
    forms = rng.sample(
        [("a", ("x",)), ("a", ("y", "x")), ("b", ("z",)), ("a b", ("z x",)), ("c", ("w",)), ("b", ("q",))], 3
    )
    config = DecoderConfig(grammars=(tmp_path / "grammar",), pop_limit=100_000)
    weights = {"A": rng.uniform(-1, 1), "Glue": rng.uniform(-1, 1), "Terminology": 1000.0}
    with EmbeddedDecoder(config) as decoder:
        for _ in range(8):
            text = " ".join(rng.choices("abc", k=rng.randint(1, 6)))
            kinds = [[Term(source, targets, mode) for source, targets in forms] for mode in ("soft", "hard")]
            soft, hard = (next(decoder.translate([text], weights, terms=terms)) for terms in kinds)
            number = len(hard.found.occurrences)
            assert used_soft(soft.hypotheses[0].text.split(), soft.found.occurrences) == number
            assert soft.hypotheses[0].score == pytest.approx(hard.hypotheses[0].score + 1000 * number)
