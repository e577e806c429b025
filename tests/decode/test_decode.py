"""The embedded decoder's own behaviour: features, caches, processes, odd sentences."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from decoders import SENTENCES, WEIGHTS, Provider, small_config

from lscfg import log
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.parsing import first_parse, parse_options, read_grammar
from lscfg.errors import InputError, KernelError
from lscfg.formats.ini import DecoderConfig, read_ini
from lscfg.kernel import Forest, Grammar
from lscfg.parallel.choose import in_processes, in_threads
from lscfg.parallel.engine import Engine
from lscfg.parallel.processes import Processes
from lscfg.settings import LARGEST


@pytest.fixture
def config(tmp_path: Path) -> DecoderConfig:
    return small_config(tmp_path)


def test_features_and_score_of_a_known_derivation(config: DecoderConfig) -> None:
    with EmbeddedDecoder(config) as decoder:
        lists = decoder.decode(["la casa verde"], WEIGHTS, k=1000)
    hypothesis = next(h for h in lists[0] if h.text == "green the house" and "Glue" not in h.features)
    lm = (-0.25 - 1.125) + (-0.0625 - 1) - 0.5 + (-0.125 - 0.75)
    expected = {"P": 2.0, "Count": 1.0, "WordPenalty": -3 / math.log(10), "LanguageModel": lm}
    assert dict(hypothesis.features) == pytest.approx(expected)
    assert hypothesis.score == pytest.approx(2.0 - 0.9 / math.log(10) + 0.9 * lm)
    words = [h.text for h in lists[0]]
    assert "la casa verde" in words  # passed through
    unknown = next(h for h in lists[0] if h.text == "la casa verde")
    assert unknown.features["PassThrough"] == unknown.features["LanguageModel_OOV"] == 3


def test_scores_are_weighted_features(config: DecoderConfig) -> None:
    with EmbeddedDecoder(config, Provider) as decoder:
        assert decoder.feature_names == ("P", "Count", "Glue", "PassThrough", "WordPenalty", "LanguageModel",
                                         "LanguageModel_OOV", "Latent", "Half")  # fmt: skip
        for list_ in decoder.decode(SENTENCES, WEIGHTS, k=100):
            for h in list_:
                assert h.score == pytest.approx(sum(WEIGHTS.get(n, 0) * v for n, v in h.features.items()))
                assert h.features["Latent"] > 0


def test_what_does_not_depend_on_weights_is_kept(config: DecoderConfig) -> None:
    grammar = read_grammar(config)
    provider = Provider(grammar)
    forests = [
        first_parse(grammar, grammar.vocab.add_line(line), parse_options(config, grammar))[0] for line in SENTENCES[:2]
    ]
    room = sum(forest.size + 3 * 8 * forest.n_apps for forest in forests if forest)  # penalty, two features
    with EmbeddedDecoder(config, lambda _: provider, cached=room) as decoder:
        first = decoder.decode(SENTENCES[:2], WEIGHTS, k=5)
        assert decoder.decode(SENTENCES[:2], WEIGHTS, k=5) == first
        assert decoder.decode(SENTENCES[:2], {}, k=5) != first
        assert provider.calls == 2
        decoder.decode(["casa", "casa"], WEIGHTS)
        assert provider.calls == 4  # the cache is full


def test_a_stream_keeps_no_sentence(config: DecoderConfig) -> None:
    """Sentences without a parse, which take no room, are dropped, too."""
    with EmbeddedDecoder(replace(config, pass_through=False), cached=0) as decoder:
        assert len([*decoder.translate((f"w{n}" for n in range(5)), WEIGHTS)]) == 5
        here = decoder._opened.here
        assert here is not None and not here._sentences and not here._warned


def test_unique_lists_have_no_string_twice(config: DecoderConfig) -> None:
    with EmbeddedDecoder(config) as decoder:
        plain, unique = (decoder.decode(SENTENCES, WEIGHTS, k=1000, unique=u) for u in (False, True))
    for a, b in zip(plain, unique, strict=True):
        assert [h.text for h in b] == list(dict.fromkeys(h.text for h in a))
        assert len(b) < len(a) or len(a) == 1 or len({h.text for h in a}) == len(a)


@pytest.mark.parametrize("jobs", [2, 3, 8])
def test_processes_do_not_change_results(config: DecoderConfig, jobs: int) -> None:
    with in_processes(jobs) as engine, EmbeddedDecoder(config, Provider) as one:
        with EmbeddedDecoder(config, Provider, engine) as many:
            assert many.feature_names == one.feature_names and len(many.grammar) == len(one.grammar)
            for weights in (WEIGHTS, {"P": -1.0}):
                assert many.decode(SENTENCES, weights, k=20) == one.decode(SENTENCES, weights, k=20)
            engine.close()
            assert many.decode([], WEIGHTS) == []
            assert many.decode(SENTENCES[:1], WEIGHTS) == one.decode(SENTENCES[:1], WEIGHTS)
        with EmbeddedDecoder(config, None, engine) as other:  # in the same workers
            assert "Latent" not in other.feature_names
            assert len(other.decode(SENTENCES, WEIGHTS)) == len(SENTENCES)


@pytest.mark.parametrize("make", [lambda: Processes(2, start="spawn"), lambda: in_threads(2)])
def test_workers_inherit_nothing(config: DecoderConfig, make: Callable[[], Engine]) -> None:
    with make() as engine, EmbeddedDecoder(config, Provider, engine) as many, EmbeddedDecoder(config, Provider) as one:
        assert many.decode(SENTENCES * 5, WEIGHTS, k=20) == one.decode(SENTENCES * 5, WEIGHTS, k=20)


def test_each_worker_keeps_its_sentences(config: DecoderConfig) -> None:
    with in_processes(2) as engine, EmbeddedDecoder(config, Calls, engine) as decoder:
        for _ in range(3):
            lists = decoder.decode(SENTENCES, WEIGHTS)
            # "la casa verde" lies with either worker
            assert [found[0].features["Latent"] for found in lists] == [1.0, 1.0, 2.0, 2.0, 3.0]


def test_a_provider_that_cannot_be_sent_is_refused(config: DecoderConfig) -> None:
    with in_processes(2) as engine, pytest.raises(TypeError, match="cannot go to workers"):
        EmbeddedDecoder(config, lambda grammar: Provider(grammar), engine)


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_a_grammar_without_rules_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str) -> None:
    """It may be cut off."""
    (tmp_path / "e.g").write_text(text)
    (tmp_path / "ini").write_text(f"formalism=scfg\ngrammar={tmp_path / 'e.g'}\nadd_pass_through_rules=true\n")
    read_grammar(read_ini(tmp_path / "ini"))
    assert "e.g: contains no rule; is the file whole?" in caplog.text


def test_a_grammar_without_rules_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Each sentence reads the grammar, with its own."""
    lines = ["a", *(f'<seg grammar="{tmp_path / "own.g"}">{line}</seg>' for line in ("b", "c"))]
    for jobs in (1, 2):
        (tmp_path / f"{jobs}.g").write_text("")
        (tmp_path / "own.g").write_text(f"[X] ||| [X,1] [X,2] [X,3] a{jobs} ||| [1] [2] [3] a ||| \n")
        (tmp_path / "ini").write_text(
            f"formalism=scfg\ngrammar={tmp_path / f'{jobs}.g'}\nadd_pass_through_rules=true\n"
        )
        caplog.clear()
        with in_processes(jobs) as engine, EmbeddedDecoder.from_ini(tmp_path / "ini", engine) as decoder:
            assert [found[0].text for found in decoder.decode(lines, {})] == ["a", "b", "c"]
        assert caplog.text.count("contains no rule") == 1
        assert caplog.text.count("with a scope above 2") == (jobs == 1)  # a worker logs by itself


def test_a_bad_grammar_is_told_at_once(config: DecoderConfig) -> None:
    config.grammars[0].write_text("[X] ||| casa\n")
    for jobs in (1, 2):
        with in_processes(jobs) as engine, pytest.raises(InputError, match="grammar:1: ") as error:
            EmbeddedDecoder(config, None, engine)
        assert (error.value.path, error.value.line) == (config.grammars[0], 1)


@pytest.mark.usefixtures("terminal")
def test_warnings_of_a_provider_are_shown_once(config: DecoderConfig, capfd: pytest.CaptureFixture[str]) -> None:
    with in_processes(3) as engine, EmbeddedDecoder(config, Warner, engine):
        assert capfd.readouterr().err == "[lscfg] warning: 6 rules\n"


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("jobs", [1, 2])
def test_odd_sentences_lose_no_line(
    config: DecoderConfig, tmp_path: Path, capfd: pytest.CaptureFixture[str], jobs: int
) -> None:
    (tmp_path / "grammar").write_text("[X] ||| casa ||| house ||| P=1\n")
    config = DecoderConfig(grammars=config.grammars)
    sentences = ["casa", "", "la  casa", "  ", "casa casa"]
    with in_processes(jobs) as engine, EmbeddedDecoder(config, None, engine) as decoder:
        for _ in range(2):
            lists = decoder.decode(sentences, {"P": 2.0}, k=3)
    assert [list_[0].text for list_ in lists] == ["house", "", "la casa", "", "house house"]
    assert [len(list_) for list_ in lists] == [1] * 5
    assert [list_[0].score for list_ in lists] == [2, 0, 0, 0, 4]
    warnings = sorted(line for line in capfd.readouterr().err.splitlines() if "warning" in line)
    assert warnings == [
        "[lscfg] warning: sentence 2 is empty",
        "[lscfg] warning: sentence 3 has no parse; its words are passed through",
        "[lscfg] warning: sentence 4 is empty",
    ]


def test_sentence_beyond_the_span_limit_is_glued(config: DecoderConfig) -> None:
    """Without glue rules it has no parse; it is translated all the same, and shorter sentences see no glue."""
    grammar = "[S] ||| [X,1] ||| [1] |||\n[X] ||| casa ||| house ||| P=1\n[X] ||| [X,1] [X,2] ||| [1] [2] |||\n"
    config.grammars[0].write_text(grammar)
    limited = DecoderConfig(grammars=config.grammars, glue=False, max_span=2)
    with EmbeddedDecoder(limited) as decoder:
        (short,), (long,) = decoder.decode(["casa casa", "casa casa casa"], {"P": 1.0, "Glue": -0.5})
    assert (short.text, dict(short.features)) == ("house house", {"P": 2.0})
    assert long.text == "house house house" and long.features["Glue"] == 1.0


class Calls(Provider):
    """Counts its calls in a feature of the translation."""

    def features(self, forest: Forest) -> np.ndarray:
        self.calls += 1
        only_last = forest.edge_head[forest.app_edge] == forest.n_nodes - 1
        return np.stack([only_last * self.calls, np.zeros(forest.n_apps)], axis=1).astype(float)


class Warner(Provider):
    def __init__(self, grammar: Grammar) -> None:
        super().__init__(grammar)
        log.warning(f"{len(grammar)} rules")


class Dying(Provider):
    def features(self, forest: Forest) -> np.ndarray:
        if forest.n_words == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().features(forest)


class Failing(Provider):
    def features(self, forest: Forest) -> np.ndarray:
        if forest.n_words == 2:
            raise ZeroDivisionError("two words")
        return super().features(forest)


def test_death_of_a_process_names_the_sentence(config: DecoderConfig) -> None:
    with in_processes(2) as engine, EmbeddedDecoder(config, Dying, engine) as decoder:
        with pytest.raises(KernelError, match=r"SIGKILL\) at sentence 4: 'verde casa'"):
            decoder.decode(["casa", "casa", "casa", "verde casa"], WEIGHTS)
        assert len(decoder.decode(["casa", "casa"], WEIGHTS)) == 2  # new processes


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_come_out_of_processes(config: DecoderConfig, jobs: int) -> None:
    with in_processes(jobs) as engine, EmbeddedDecoder(config, Failing, engine) as decoder:
        with pytest.raises(ZeroDivisionError, match="two words"):
            decoder.decode(SENTENCES, WEIGHTS)
        assert len(decoder.decode(["casa"], WEIGHTS)) == 1


class NotFinite(Provider):
    def features(self, forest: Forest) -> np.ndarray:
        return np.full((forest.n_apps, 2), np.nan)


class WrongShape(Provider):
    def features(self, forest: Forest) -> np.ndarray:
        return np.zeros((forest.n_apps, 1))


def test_bad_arguments_are_refused(config: DecoderConfig) -> None:
    with EmbeddedDecoder(config) as decoder:
        bad: Mapping[str, float] = {"P": math.nan}
        with pytest.raises(InputError, match="weight of P is nan"):
            decoder.decode(["casa"], bad)
        with pytest.raises(InputError, match="k must be"):
            decoder.decode(["casa"], {}, k=0)
        for weight in (1e308, -1e308):
            with pytest.raises(InputError, match="sentence 2 has a score that is not finite"):
                decoder.decode(["", "casa casa casa"], {"P": weight, "PassThrough": weight})
    with pytest.raises(InputError, match="names no grammar"):
        EmbeddedDecoder(DecoderConfig())
    with EmbeddedDecoder(config, NotFinite) as decoder, pytest.raises(InputError, match=r"sentence 1 .* not finite"):
        decoder.decode(["casa"], {})
    with EmbeddedDecoder(config, WrongShape) as decoder, pytest.raises(ValueError, match="shape"):
        decoder.decode(["casa"], {})


def test_another_goal(tmp_path: Path) -> None:
    (tmp_path / "grammar").write_text("[X] ||| casa ||| house ||| P=1\n[TOP] ||| [X,1] ||| [X,1] ||| P=1\n")
    config = DecoderConfig(grammars=(tmp_path / "grammar",), goal="TOP", glue=False)
    with EmbeddedDecoder(config) as decoder:
        (hypothesis,) = decoder.decode(["casa"], {"P": 1.0}, k=5)[0]
    assert (hypothesis.text, hypothesis.score) == ("house", 2.0)


@pytest.mark.usefixtures("terminal")
def test_a_sentence_of_too_large_a_forest_is_passed_through(config: DecoderConfig, capsys) -> None:
    with EmbeddedDecoder(config) as decoder:
        long = " ".join(["casa"] * 6000)
        lists = decoder.decode([SENTENCES[0], long, SENTENCES[0]], WEIGHTS)
    assert [h.text for h in lists[1]] == [long] and lists[0] == lists[2] != lists[1]
    told = capsys.readouterr().err
    assert "sentence 2 of 6000 words has more than 33,554,432 rule applications or spans: split the sentence" in told


def test_hypergraphs_of_the_largest_setting(config: DecoderConfig) -> None:
    """Edges per word times words exceed 32 bits."""
    with EmbeddedDecoder(config) as decoder:
        graphs = [decoder.decode_graphs(SENTENCES[:1], WEIGHTS, 5, False, most)[1][0] for most in (100_000, LARGEST)]
    assert graphs[0] is not None and graphs[1] is not None
    assert np.array_equal(graphs[0].features, graphs[1].features) and graphs[0].words == graphs[1].words
