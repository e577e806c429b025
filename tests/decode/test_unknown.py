"""Substitutes of unknown words, their rules and features, against cases by hand and other ways to count."""

import math
import os
import random
import subprocess
import sys

import pytest
from decoders import SENTENCES, WEIGHTS, Provider, small_config

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.sentence import SentenceDecoder
from lscfg.decode.terms import Term
from lscfg.decode.unknown import (
    ENDING,
    FORM,
    SIMILAR,
    Substitute,
    SubstituteFinder,
    plain_form,
)
from lscfg.errors import InputError
from lscfg.formats.ini import format_ini, read_ini

VERBS = {f"{stem}{ending}": [stem + "aña"] for stem in ("camin", "trabaj", "cant", "salud") for ending in ("o", "as")}


def grams(word: str) -> set[str]:
    return {f"<{word}>"[i : i + n] for n in (2, 3, 4) for i in range(len(word) + 3 - n)}


def test_the_same_letters_without_capitals_and_accents_come_first():
    finder = SubstituteFinder({"rescate": [], "Ánimo": [], "animo": []})
    assert finder.find("rescaté") == [Substitute("rescate", FORM, 1.0)]
    assert finder.find("ÁNIMO") == [Substitute("animo", FORM, 1.0), Substitute("Ánimo", FORM, 1.0)]


def test_an_ending_counts_by_the_translations_of_known_words_that_begin_alike():
    finder = SubstituteFinder({**VERBS, "llego": ["x"]})  # all 4 pairs of -o and -as, in both directions, are related
    assert finder.find("llegas") == [Substitute("llego", ENDING, (4 + 5) / (4 + 5) * 4 / 6)]


def test_the_share_of_an_ending_is_smoothed_by_the_share_of_all_endings():
    verbs = {**VERBS, "canto": ["other"], "mesa": ["mesaxa"], "mesas": ["mesaxa"]}
    usual = 2 * (3 + 1) / (2 * (4 + 1))
    (found,) = SubstituteFinder({**verbs, "llego": ["x"]}).find("llegas")
    assert (found.word, found.kind) == ("llego", ENDING)
    assert found.similarity == pytest.approx((3 + 5 * usual) / (4 + 5) * 4 / 6)


def test_endings_of_words_with_different_translations_are_not_learnt():
    finder = SubstituteFinder({word: [word[::-1]] for word in (*VERBS, "llego")})
    assert [one.kind for one in finder.find("llegas")] in ([], [SIMILAR])


def test_another_ending_comes_before_a_more_similar_word():
    finder = SubstituteFinder({**VERBS, "llego": ["x"], "allegas": ["y"]})
    assert [(one.word, one.kind) for one in finder.find("llegas")] == [("llego", ENDING), ("allegas", SIMILAR)]


def test_similarity_is_the_cosine_of_weighted_character_ngrams():
    words = ["galletitas", "aletas", "casa", "ventana", "mojadas", "importante"]
    finder = SubstituteFinder({word: [word] for word in words})
    count = {gram: sum(gram in grams(word) for word in words) for word in words for gram in grams(word)}
    rarity = {gram: math.log((len(words) + 1) / number) for gram, number in count.items()}
    weight = lambda gram: rarity.get(gram, math.log(len(words) + 1))  # noqa: E731
    norm = lambda word: math.sqrt(sum(weight(gram) ** 2 for gram in grams(word)))  # noqa: E731
    for word in ("galletas", "mojados", "importancia", "ventanas"):
        cosines = {
            known: sum(weight(gram) ** 2 for gram in grams(word) & grams(known)) / norm(word) / norm(known)
            for known in words
        }
        expected = sorted(((c, known) for known, c in cosines.items() if c >= 0.5), key=lambda one: (-one[0], one[1]))
        found = finder.find(word)
        assert [one.word for one in found] == [known for _, known in expected[:3]]
        assert [one.similarity for one in found] == pytest.approx([c for c, _ in expected[:3]])


@pytest.mark.parametrize("word", ["1910", "$", "3kg", "...", "zzz"])
def test_numbers_signs_and_words_like_no_other_have_no_substitute(word):
    assert SubstituteFinder(VERBS).find(word) == []


def test_the_order_of_the_known_words_does_not_matter():
    random.seed(1)
    words = ["".join(random.choices("aeiost", k=random.randint(4, 8))) for _ in range(300)]
    table = {word: [word[:3]] for word in words}
    other = {word: table[word] for word in random.sample(sorted(table), len(table))}
    one, two = SubstituteFinder(table), SubstituteFinder(other)
    for word in ["".join(random.choices("aeiost", k=6)) for _ in range(50)]:
        assert one.find(word) == two.find(word)


def test_similarities_do_not_depend_on_the_seed_of_hashes():
    """Sums of floats in the order of a set would."""
    program = """
from lscfg.decode.unknown import SubstituteFinder
words = ["galletitas", "aletas", "importante", "importaciones", "ventanales", "mojaduras"]
finder = SubstituteFinder({word: [word] for word in words})
print([finder.find(f"x{word[1:]}") for word in words])
"""
    command = [sys.executable, "-P", "-c", program]
    outputs = {
        subprocess.run(command, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1 and outputs.pop().count(b"kind='similar'") >= 6


@pytest.fixture
def config(tmp_path):
    found = small_config(tmp_path)
    return type(found)(**{**vars(found), "substitutes": True})


def test_an_unknown_word_borrows_rules_with_their_features(config):
    weights = {**WEIGHTS, "SubstituteForm": 1.5}
    with EmbeddedDecoder(config) as decoder:
        (found,) = decoder.decode_arrays(["Casá"], weights, 5, True)
        names = decoder.feature_names
    by_text = {text: dict(zip(names, row, strict=True)) for text, row in zip(found.texts, found.features, strict=True)}
    assert set(by_text) == {"house", "Casá"}
    assert by_text["house"]["P"] == 1 and by_text["house"]["SubstituteForm"] == 1
    assert by_text["house"]["SubstituteSimilarity"] == 0 and by_text["house"]["PassThrough"] == 0
    assert by_text["Casá"]["PassThrough"] == 1 and by_text["Casá"]["SubstituteForm"] == 0
    for text, score in zip(found.texts, found.scores, strict=True):
        assert score == pytest.approx(sum(weights.get(name, 0) * value for name, value in by_text[text].items()))


def test_sentences_of_known_words_keep_their_translations(config, tmp_path):
    known = [text for text in SENTENCES if "otra" not in text]
    with EmbeddedDecoder(config) as new, EmbeddedDecoder(small_config(tmp_path)) as old:
        for one, other in zip(new.decode(known, WEIGHTS, 9), old.decode(known, WEIGHTS, 9), strict=True):
            assert [(h.text, h.score) for h in one] == [(h.text, h.score) for h in other]


def test_latent_features_of_a_borrowed_rule_are_those_of_the_copied_word(config):
    decoder = SentenceDecoder(config, Provider, 0)
    sentence = decoder.prepare(0, "la Casá verde")
    spans = sentence.forest.node_span[sentence.forest.edge_head[sentence.forest.app_edge]]
    own = sentence.extra[:][:, 0]
    layer = sentence.forest.app_rule >= len(decoder.grammar) + 6
    assert layer.any()
    assert own[layer].tolist() == [1.0] * int(layer.sum())
    assert own[~layer].tolist() == (spans[:, 1] - spans[:, 0])[~layer].tolist()


def test_a_hard_term_beats_a_substitute(config):
    with EmbeddedDecoder(config) as decoder:
        (found,) = decoder.translate(
            ["Casá verde"], {**WEIGHTS, "SubstituteForm": 9.0}, terms=[Term("Casá", ("green",))]
        )
    assert sorted(found.hypotheses[0].text.split()) == ["green", "green"]


def test_the_configuration_keeps_the_setting(config, tmp_path):
    (tmp_path / "cdec.ini").write_text("\n".join(format_ini(config)) + "\n")
    assert read_ini(tmp_path / "cdec.ini").substitutes
    with pytest.raises(InputError, match="Moses does not support unknown_words=similar; remove the line"):
        config.check_common("Moses")
    (tmp_path / "cdec.ini").write_text("formalism=scfg\nunknown_words=guess\n")
    with pytest.raises(InputError, match=r"cdec\.ini:2: unknown_words must be copy or similar, found 'guess'"):
        read_ini(tmp_path / "cdec.ini")


def test_a_substitute_teaches_nothing(config):
    with EmbeddedDecoder(config) as decoder:
        (found,) = decoder.translate(["Casá verde otra"], WEIGHTS, terms=[Term("verde", ("green",))])
    assert found.taught == (1,)


def test_plain_forms():
    assert [plain_form(word) for word in ("Áé", "ñandú", "ỹ", "x1")] == ["ae", "nandu", "y", "x1"]
