"""Words that the training text shows: signs inside words, blanks, and lines that come back."""

import json
import random
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lscfg.errors import InputError
from lscfg.prepare.clean import clean
from lscfg.prepare.corpus import RawFiles, prepare_corpus
from lscfg.prepare.record import Record
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.prepare.words import LearntWords, WordTokeniser, learn_words

GLOTTAL = [
    "Ye' tso' e' ñe'.",
    "Be' tso' ye' wa̱.",
    "E' ta̱i' wé, e' tso'.",
    "E' tö iché: \"ye' ñe'\".",
    "Wé e' tso' Juan-pa' ta̱?",
] * 3
SPANISH = ["Dijo 'hola' y 'adiós'.", "El 'perro' come 1,500 'uvas'; ¿sí?", "Hola, y adiós.", "Perro, come uvas."] * 3
VOWEL = ["'Ik+ p+ tsie m+k+ xewit+.", "+k+ m+tsi, p+ +ra.", "Xewit+ p+ +ra m+k+."] * 3
TOKENISED = ["ce tlacatl , ce cihuatl .", "¿ tlen oquichihuh ?", "amo ( axcan ) , cihuatl .", "ce tlacatl ."] * 4
TORN = [
    "jach 'a marka yanapt 'iri.",
    "yanapt 'aña jach 'anaka.",
    "uñt ’ ayi jach ’ a.",
    "jach ’ amp uñt ’ ayir marka.",
] * 3


def words_of(lines: list[str], line: str) -> str:
    return " ".join(LearntWords(learn_words(lines)).encode(line))


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        (GLOTTAL, "Ye' tso', e'.", "Ye' tso' , e' ."),
        (SPANISH, "El 'hola' de 1,500.", "El ' hola ' de 1,500 ."),
        (VOWEL, "p+ +ra.", "p+ +ra ."),
        (SPANISH, "p+ ra.", "p + ra ."),
        (SPANISH, "12/05/2020 a las 10:30, 3.5kg.", "12/05/2020 a las 10:30 , 3.5kg ."),
        (SPANISH, "x ,y", "x ▁,￭ y"),
        (TOKENISED, "ce tlacatl, ce cihuatl.", "ce tlacatl , ce cihuatl ."),
        (TOKENISED, "ce tlacatl , ce cihuatl .", "ce tlacatl , ce cihuatl ."),
        (TOKENISED, "ce tlacatl, ce cihuatl .", "ce tlacatl , ce cihuatl ▁."),
        (TORN, "jach 'a yanapt'iri", "jach'a yanapt'iri"),
        (TORN, "uñt ’ ayi", "uñt’ayi"),
        (SPANISH, "a🇩🇪👍🏽! 🇩🇪🇫", "a 🇩🇪 ￭👍🏽 ￭! 🇩🇪 ￭🇫"),
        (SPANISH, "👩🏽‍🚀👩🏿‍❤️‍👨🏻 1️⃣", "👩🏽‍🚀 ￭👩🏿‍❤️‍👨🏻 1️⃣"),
        (SPANISH, "🏴\U000e0067\U000e0062\U000e007f🏴", "🏴\U000e0067\U000e0062\U000e007f ￭🏴"),
        (SPANISH, "Ọ̀rẹ́ kú àárọ̀ 👨‍👩‍👧 ok!", "Ọ̀rẹ́ kú àárọ̀ 👨‍👩‍👧 ok !"),
    ],
)
def test_words_are_those_of_the_text(lines, line, words):
    assert words_of(lines, clean(line)) == " ".join(map(clean_word, words.split()))


def clean_word(word: str) -> str:
    return unicodedata.normalize("NFC", word)


@pytest.mark.parametrize(
    ("lines", "line"),
    [(GLOTTAL, "e ' a"), (SPANISH, "a 'b' c"), (VOWEL, "+ +"), (TOKENISED, "a, b ."), (TORN, "'a b'")],
)
def test_lines_come_back(lines, line):
    learnt = LearntWords(learn_words(lines))
    assert learnt.decode(learnt.encode(line)) == line


def test_blanks_left_by_tokenisation_do_not_come_back():
    learnt = LearntWords(learn_words(TOKENISED))
    assert learnt.decode(learnt.encode("¿ tlen , ce ?")) == "¿tlen, ce?"
    learnt = LearntWords(learn_words(TORN))
    assert learnt.decode(learnt.encode("yanapt 'iri")) == "yanapt'iri"


ANY = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("'’-+ .,\"ab1́‍"), max_size=20)


@settings(max_examples=40)
@given(st.lists(ANY, max_size=4), ANY)
def test_any_line_comes_back_with_a_model_of_any_text(lines, line):
    model = learn_words(list(map(clean, lines)))
    learnt, line = LearntWords(model), clean(line)
    back = learnt.decode(learnt.encode(line))
    if 2 not in model["blanks"].values() and not any("torn" in places for places in model["signs"].values()):
        assert back == line
    assert back.replace(" ", "") == line.replace(" ", "")


def test_random_unicode_comes_back_exactly():
    draw = random.Random(1)
    codes = [
        code for code in (*range(0x20, 0x3000), *range(0x1F300, 0x1F700)) if clean(f"a{chr(code)}b", "nfc") != "ab"
    ]
    lines = [clean("".join(chr(draw.choice(codes)) for _ in range(40)) + "'a b' c-d ") for _ in range(100)]
    learnt = LearntWords(learn_words(lines[:50]))
    assert sum(learnt.decode(learnt.encode(line)) == line for line in lines) >= 0.995 * len(lines)


def test_a_preparation_learns_from_its_training_text(tmp_path):
    target = [f"Ye' tso' e' {number}, ñe'." for number in range(60)]
    source = [f"Yo tengo {number}, sí." for number in range(60)]
    for name, lines in (("raw.es", source), ("raw.bzd", target)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    chosen = PrepareSettings(tokeniser="words", dev=10, test=10)
    made = prepare_corpus(RawFiles((tmp_path / "raw.es", tmp_path / "raw.bzd")), chosen, tmp_path)
    assert json.loads((tmp_path / "words.bzd.model").read_text())["signs"]["'"] == ["inner", "last"]
    assert Record.read(tmp_path) == made
    side = made.sides[1].side()
    assert side.encode("Tso' e'.").split()[-1] == "." and side.decode(side.encode("Tso' e'.")) == "Tso' e'."
    references = (tmp_path / "dev.ref.bzd").read_text().splitlines()
    assert [side.decode(line) for line in (tmp_path / "dev.bzd").read_text().splitlines()] == references


def test_bad_models_and_languages_are_refused(tmp_path):
    words = TOKENISERS["words"]
    with pytest.raises(InputError, match="the tokeniser words needs blanks between words, which ja lacks; use spm"):
        words.remark("ja")
    path = Path(tmp_path / "model")
    for content in ("{}", '{"signs": {}, "blanks": {"w w": "x"}}', "no JSON"):
        path.write_text(content)
        with pytest.raises(InputError, match="prepare the corpus again"):
            words.open("aym", words.Settings(), path)


def test_moses_warns_of_words_that_it_would_split():
    pytest.importorskip("sacremoses")
    moses = TOKENISERS["moses"]
    assert 'such as Ye\'; tokeniser = "words"' in moses.damage("xyz", GLOTTAL)
    assert moses.damage("xyz", ["Una frase normal."] * 9) == moses.damage("fr", ["L'eau d'ici."] * 9) == ""


@pytest.mark.parametrize(
    ("lines", "said"),
    [(TORN, "words torn at"), (TOKENISED, "blanks before signs are not restored"), (SPANISH, "")],
)
def test_blanks_that_do_not_come_back_are_warned_of(lines, said, caplog):
    WordTokeniser().train_model(lines, "target", WordTokeniser.Settings())
    assert [said in message for message in caplog.messages] == ([True] if said else [])
