"""Language models of word classes, and of rules that write sentence marks, against plain models of other text."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from decoders import ARPA, GRAMMAR, SENTENCES, WEIGHTS, small_config

from lscfg.bundle.pack import pack
from lscfg.bundle.system import open_system
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig, NamedModel, read_ini, write_ini
from lscfg.formats.word_classes import read_word_classes

CLASSES = "D the -0.5\nN house -0.25\nN home -1.5\n"
CLASS_ARPA = ARPA.replace("the", "D").replace("house", "N").replace("green", "other")
EMISSIONS = {"the": -0.5, "house": -0.25, "home": -1.5}
ALL = WEIGHTS | {"Class": 0.7, "Class_OOV": -0.5, "Class_Emit": 0.6, "LanguageModel_OOV": -1.0}


@pytest.fixture
def config(tmp_path: Path) -> DecoderConfig:
    (tmp_path / "classes").write_text(CLASSES)
    (tmp_path / "class.lm").write_text(CLASS_ARPA)
    made = small_config(tmp_path)
    (tmp_path / "grammar").write_text(f"{GRAMMAR}[X] ||| casa ||| home ||| P=0.75\n")
    return replace(made, path=tmp_path / "cdec.ini", pop_limit=10_000)


def test_a_model_of_classes_scores_the_classes(config: DecoderConfig, tmp_path: Path) -> None:
    """With the model of words, in any order; the plain model reads the classes of each translation by itself."""
    model = NamedModel("Class", tmp_path / "class.lm", classes=tmp_path / "classes")
    with EmbeddedDecoder(replace(config, further_models=(model,))) as decoder, EmbeddedDecoder(config) as plain:
        found = decoder.decode(SENTENCES, ALL, k=500)
        without = plain.decode(SENTENCES, ALL, k=500)
        for own, others in zip(found, without, strict=True):
            assert len(own) == len(others) > 0
            for one in own:
                features, words = dict(one.features), one.text.split()
                log10p, unknown = class_score([CLASS_OF.get(word) for word in words])
                emission = sum(EMISSIONS.get(word, 0.0) for word in words)
                assert features.get("Class", 0.0) == pytest.approx(log10p, abs=1e-5)
                assert features.get("Class_OOV", 0.0) == unknown
                assert features.get("Class_Emit", 0.0) == pytest.approx(emission)
                total = sum(ALL.get(name, 0.0) * value for name, value in features.items())
                assert one.score == pytest.approx(total, abs=1e-4)
            assert sorted(one.text for one in own) == sorted(one.text for one in others)


CLASS_OF = {"the": "D", "house": "N", "home": "N"}
UNIGRAMS = {None: (-1.5, 0.0), "<s>": (-99.0, -0.25), "D": (-1.0, -0.5), "N": (-1.25, -0.125), "</s>": (-0.75, 0.0)}
BIGRAMS = {("<s>", "D"): -0.25, ("D", "N"): -0.5}


def class_score(classes: list[str | None]) -> tuple[float, int]:
    """Sum of log10 p and number of unknown words, by the definition of backoff."""
    line = ["<s>", *classes, "</s>"]
    values = [
        BIGRAMS.get((before, word), UNIGRAMS[before][1] + UNIGRAMS[word][0])  # type: ignore[arg-type]
        for before, word in itertools.pairwise(line)
    ]
    return sum(values), classes.count(None)


MARKED = GRAMMAR + "[S] ||| [X,1] ||| <s> [X,1] </s> |||\n"
LOOSE = "[S] ||| [X,1] ||| [X,1] </s> |||\n[S] ||| [X,1] ||| <s> [X,1] |||\n[S] ||| [X,1] ||| [X,1] |||\n"


@pytest.mark.parametrize("more", [0, 1])
def test_marks_of_rules_equal_marks_of_the_model(more: int, config: DecoderConfig, tmp_path: Path) -> None:
    """Also for two models; a missing mark costs 100."""
    (tmp_path / "marked").write_text(MARKED + LOOSE)
    (tmp_path / "grammar").write_text(f"{GRAMMAR}[S] ||| [X,1] ||| [X,1] |||\n")
    config = replace(config, glue=False, max_span=100)
    models = tuple(NamedModel(f"LM{n}", tmp_path / "lm", True) for n in range(1 + more))
    marked = replace(config, grammars=(tmp_path / "marked",), language_model=None, further_models=models)
    weights = {"P": 1.0, "PassThrough": -2.0, "WordPenalty": 0.0}
    for n in range(1 + more):
        weights |= {f"LM{n}": 0.9 / (1 + more), f"LM{n}_OOV": -1.0 / (1 + more)}
    wanted = {"P": 1.0, "PassThrough": -2.0, "LanguageModel": 0.9, "LanguageModel_OOV": -1.0}
    lines = ["la casa verde", "la casa", "casa verde", "casa"]
    with EmbeddedDecoder(marked) as decoder, EmbeddedDecoder(config) as plain:
        for own, others in zip(decoder.decode(lines, weights, k=500), plain.decode(lines, wanted, k=500), strict=True):
            good = [one for one in own if one.text.startswith("<s> ") and one.text.endswith(" </s>")]
            assert [(one.text[4:-5], one.score) for one in good] == [
                (one.text, pytest.approx(one.score, abs=1e-5)) for one in others
            ]
            assert own[0].text == good[0].text and len(own) == 4 * len(good)
            for one in own:
                missing = (not one.text.startswith("<s> ")) + (not one.text.endswith(" </s>"))
                assert -100.0 * missing - 20 < dict(one.features)["LM0"] < -100.0 * missing


@pytest.mark.parametrize(
    ("rules", "sentence", "text", "scores"),
    [
        ("[X] ||| a ||| zzz <s> the", "a", "<s> zzz <s> the </s>", (-1.75, -100, -0.25, -1.25)),
        ("[X] ||| a [X,1] ||| zzz [X,1] |||\n[X] ||| b ||| <s> the", "a b", "<s> zzz <s> the </s>", (-1.75, -101.5)),
        ("[X] ||| a ||| the <s> <s> the", "a", "<s> the <s> <s> the </s>", (-0.25, -100, -100, -0.25, -1.25)),
        (
            "[X] ||| a ||| the </s> <s> house green",
            "a",
            "<s> the </s> <s> house green </s>",
            (-0.25, -1.25, -100, -101.25, -101.125, -100.75),
        ),
    ],
)
def test_misplaced_marks_and_words_after_the_end_cost_100(
    rules: str, sentence: str, text: str, scores: tuple[float, ...], config: DecoderConfig, tmp_path: Path
) -> None:
    """By hand, also after a word that leaves no context, such as an unknown one."""
    (tmp_path / "grammar").write_text(f"{rules} |||\n[S] ||| [X,1] ||| <s> [X,1] </s> |||\n")
    model = NamedModel("LM", tmp_path / "lm", True)
    config = replace(config, language_model=None, further_models=(model,), glue=False, pass_through=False)
    with EmbeddedDecoder(config) as decoder:
        (found,) = decoder.decode([sentence], {"LM": 1.0, "LM_OOV": -1.0}, k=10)
    assert [(one.text, one.features["LM"]) for one in found] == [(text, pytest.approx(sum(scores)))]


def test_options_are_written_and_packed(config: DecoderConfig, tmp_path: Path) -> None:
    model = NamedModel("Class", tmp_path / "class.lm", classes=tmp_path / "classes")
    system = tmp_path / "system"
    system.mkdir()
    wide = replace(config, language_model=None, further_models=(model,))
    write_ini(system / "cdec.ini", wide)
    (system / "weights").write_text("".join(f"{name} {value}\n" for name, value in ALL.items()))
    assert read_ini(system / "cdec.ini").models == (model,)
    pack(system, tmp_path / "bundle")
    with EmbeddedDecoder(wide) as decoder, open_system(tmp_path / "bundle").decoder() as packed:
        assert packed.decode(SENTENCES, ALL, 20) == decoder.decode(SENTENCES, ALL, 20)
    with pytest.raises(InputError, match="Moses takes a language model of words without -x and -m"):
        wide.check_common("Moses")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("D the", "expected CLASS WORD LOGP, found 'D the'"),
        ("D the x", "expected CLASS WORD LOGP"),
        ("D the nan", "expected CLASS WORD LOGP, but 'nan' is not finite"),
        ("D a 0.5", "'0.5' is not the logarithm of a probability"),
        ("D a 1_0", "expected CLASS WORD LOGP, but '1_0' is not a number"),
        ("N the -1", "a second class of 'the'; keep one of the two"),
    ],
)
def test_bad_classes_are_refused_by_line(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "classes").write_text(f"D the -1\n{line}\n")
    with pytest.raises(InputError, match=f":2: {message}"):
        read_word_classes(tmp_path / "classes")


def test_classes_that_are_none_of_the_model_are_refused(config: DecoderConfig, tmp_path: Path) -> None:
    """Exchanged columns made every word unknown."""
    (tmp_path / "exchanged").write_text("the D -1\nhouse N -1\n")
    model = NamedModel("Class", tmp_path / "class.lm", classes=tmp_path / "exchanged")
    with pytest.raises(InputError, match=r"class\.lm: no word of this model is a class of its file of classes"):
        EmbeddedDecoder(replace(config, further_models=(model,)))
    for text, message in (("", "no classes; write CLASS WORD LOGP"), ("D the -1", "may be cut")):
        (tmp_path / text[:1]).with_suffix(".classes").write_text(text)
        with pytest.raises(InputError, match=message):
            read_word_classes((tmp_path / text[:1]).with_suffix(".classes"))


def test_classes_that_change_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "classes"
    for value in (-1.0, -2.5, 1e-12):
        path.write_text(f"D the {value}\n")
        assert read_word_classes(path).emissions == {"the": value}
