"""``lscfg evaluate corrections``: the best of all weights tried, and the measured gain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from decoders import WEIGHTS, small_config

from lscfg.bundle.system import open_system
from lscfg.cli import main
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.memory import Memory
from lscfg.decode.sentence_rules import added_weights
from lscfg.formats.ini import write_ini
from lscfg.formats.weights import read_weights, write_weights
from lscfg.tuning.corrections import SHARES, compare_corrected, fit_weights, replay
from lscfg.tuning.evaluate import corpus_score

REFERENCES = ["the house is green now", "a house in the town there"]


@pytest.mark.parametrize("memory", SHARES["Memory"])
@pytest.mark.parametrize("correction", SHARES["Correction"])
def test_the_best_weights_are_found(memory: float, correction: float) -> None:
    """Each weight that fits betters the text; the scale is the mean absolute weight."""
    asked = []

    def translate(weights: Mapping[str, float]) -> list[str]:
        asked.append(dict(weights))
        fits = (weights["Memory"] == memory * 2) + (weights["Correction"] == correction * 2)
        return [" ".join(text.split()[: 3 + fits]) for text in REFERENCES]

    found = fit_weights(translate, {"P": -3.0, "Glue": 1.0, "None": 0.0}, [REFERENCES])
    assert found == {"P": -3.0, "Glue": 1.0, "None": 0.0, "Memory": memory * 2, "Correction": correction * 2}
    assert len(asked) == sum(len(shares) for shares in SHARES.values())


def test_equal_scores_leave_the_weights_at_0() -> None:
    found = fit_weights(lambda weights: REFERENCES, {"P": 1.0}, [REFERENCES])
    assert found == {"P": 1.0, "Memory": 0.0, "Correction": 0.0}


def test_texts_are_compared() -> None:
    worse = [text.replace("house", "hut") for text in REFERENCES]
    found = compare_corrected(worse, REFERENCES, [REFERENCES])
    assert found[:2] == (corpus_score("bleu", worse, [REFERENCES]), 100.0) and 0 < found.p <= 1


def test_a_replay_stores_each_reference_after_its_translation(tmp_path: Path) -> None:
    """By hand: an equal later sentence gets the first one's reference; what cannot be stored is left out."""
    texts = ["la casa", "la casa verde", "la casa", "la casa verde"]
    references = ["his hut", "", "x", "y"]
    with EmbeddedDecoder(small_config(tmp_path)) as decoder:
        plain = [one.hypotheses[0].text for one in decoder.translate(texts, WEIGHTS)]
        found = replay(decoder, WEIGHTS, texts, references, decoder.align)
        assert found[0] == plain[0] and found[2] == "his hut" != plain[2] and found[3] != "y"
        assert replay(decoder, WEIGHTS, texts[:2], references[:2], decoder.align) == found[:2]


def test_fitted_weights_reach_a_served_system(tmp_path: Path) -> None:
    """The weight file of ``-o`` is that of ``lscfg serve -w``, ``lscfg pack -w`` and ``lscfg decode -w``."""
    write_ini(tmp_path / "cdec.ini", small_config(tmp_path))
    weights = {name: value for name, value in WEIGHTS.items() if name != "Latent"} | {"Memory": 0.5, "Correction": 0.25}
    write_weights(tmp_path / "weights", {"P": 1.0})
    write_weights(tmp_path / "fitted", weights)
    assert main(["pack", str(tmp_path), "-w", str(tmp_path / "fitted"), "-o", str(tmp_path / "bundle")]) == 0
    served = open_system(tmp_path / "bundle").weights
    assert served == open_system(tmp_path, tmp_path / "fitted").weights == read_weights(tmp_path / "fitted")
    assert added_weights(served)[1:3] == (0.25, 0.5)


def test_a_text_is_measured_and_weights_are_fitted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = small_config(tmp_path)
    write_ini(tmp_path / "cdec.ini", config)
    weights = {name: value for name, value in WEIGHTS.items() if name != "Latent"}
    write_weights(tmp_path / "weights", weights)
    memory = Memory(tmp_path / "memory", lambda source, target: [(k, k) for k in range(len(source))])
    memory.add("la casa otra verde", "the big one green")
    memory.add("casa", "house")
    text, references = ["la casa nueva verde", "casa"], ["the big nueva green", "house"]
    for name, lines in (("f", text), ("e", references)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    command = ["evaluate", "corrections", *(str(tmp_path / name) for name in ("", "memory", "f", "e"))]
    assert main([*command, "-o", str(tmp_path / "fitted")]) == 0
    fitted, printed = read_weights(tmp_path / "fitted"), capsys.readouterr().out
    assert {**fitted, "Memory": 0, "Correction": 0} == {**weights, "Memory": 0, "Correction": 0}
    assert main([*command, "-w", str(tmp_path / "fitted")]) == 0
    measured = capsys.readouterr().out
    assert "1 of 2; the others are stored" in measured
    assert printed == re.sub(r", p [0-9.]+", "", measured) + (
        "weights     fitted to this text, so no p-value; measure the gain on another text, with -w\n"
    )
    with EmbeddedDecoder(config) as decoder:
        outputs = [
            [one.hypotheses[0].text for one in decoder.translate(text[:1], fitted, memory=given)]
            for given in (None, memory)
        ]
    found = compare_corrected(*outputs, [references[:1]])
    alone = compare_corrected(["the big one green"], outputs[1], [references[:1]])
    assert [line[12:] for line in measured.splitlines()[1:]] == [
        f"{found.without:.2f} without corrections, {found.corrected:.2f} with, p {found.p:.4f}",
        f"1 of them: {found.without:.2f} without corrections, {found.corrected:.2f} with, p {found.p:.4f}",
        f"{alone.without:.2f} by the most similar correction itself, p {alone.p:.4f}",
        f"{found.without:.2f} with corrections of earlier sentences only, p 1.0000",
    ]
    assert outputs[1] == references[:1] and outputs[0] != references[:1]
    (tmp_path / "e2").write_text(f"{outputs[0][0]}\nhouse\n")
    assert main([*command, str(tmp_path / "e2"), "-w", str(tmp_path / "fitted")]) == 0
    score = corpus_score("bleu", outputs[0], [references[:1], outputs[0]])
    assert f"BLEU        {score:.2f} without corrections" in capsys.readouterr().out
    for lines, message in (
        ("", "the text contains no sentence"),
        ("casa\n", "all sentences are stored as corrections"),
    ):
        (tmp_path / "f2").write_text(lines)
        (tmp_path / "e2").write_text(lines)
        assert main([*command[:-2], str(tmp_path / "f2"), str(tmp_path / "e2")]) == 1
        assert f"f2: {message}" in capsys.readouterr().err
    (tmp_path / "e2").write_text("house\n")
    assert main([*command, str(tmp_path / "e2")]) == 1
    assert "e2" in capsys.readouterr().err
