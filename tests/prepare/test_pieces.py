"""Rare target words in pieces: cutting, joining, and preparation with them."""

import random

import pytest

from lscfg.decode.terms import inside_word
from lscfg.errors import InputError
from lscfg.prepare.corpus import RawFiles, prepare_corpus
from lscfg.prepare.cut import cut_corpus
from lscfg.prepare.pieces import MARK, WHOLE, Cutting, WordCutter, best_morphs, join_pieces, train_cutter, train_morphs
from lscfg.prepare.record import Record
from lscfg.prepare.settings import PrepareSettings
from lscfg.settings import SettingError

STEMS = [a + b for a in ("uta", "marka", "jaqi", "warmi", "yatiq", "aru") for b in ("", "cha", "ya", "si", "rpa")]
ENDINGS = [a + b for a in ("naka", "mpi", "taki", "ru", "tuqi") for b in ("", "wa", "xa", "ti", "raki")]


def lines(count: int = 300, seed: int = 1) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choice(STEMS) + draw.choice(ENDINGS) for _ in range(4)) + " ." for _ in range(count)]


@pytest.fixture(scope="module", params=["unigram:40", "bpe:40", "morfessor"])
def cutter(tmp_path_factory, request):
    pytest.importorskip("sentencepiece")
    pytest.importorskip("morfessor")
    path = tmp_path_factory.mktemp("pieces") / "pieces.xx.model"
    train_cutter([*lines(20), *(["siempre"] * WHOLE)], Cutting.read(f"target:{request.param}"), path)
    return WordCutter(path)


def test_pieces_come_back_as_words(cutter):
    for line in (*lines(50, 2), "￭utanaka ▁￭x (▁ 12ab &vert;", "ñandú Ωmega 1910 .", ""):
        cut = cutter.cut(line)
        assert join_pieces(cut) == line
        assert all(not piece.startswith(MARK) or piece != MARK for piece in cut.split())


def test_rare_words_are_cut_and_frequent_words_numbers_and_signs_are_not(cutter):
    assert cutter.cut("siempre 1910 3kg ... &vert; ▁￭x") == "siempre 1910 3kg ... &vert; ▁￭x"
    assert cutter.cut("warmichatuqixa").split()[1].startswith(MARK)


def test_no_mark_survives_at_the_beginning_or_alone():
    assert join_pieces(f"{MARK}naka uta {MARK} {MARK}ru") == "naka utaru"
    assert join_pieces(MARK) == ""


def test_limits_count_words_and_text_is_restored(tmp_path):
    pytest.importorskip("sentencepiece")
    text = [line.capitalize().replace(" .", ".") for line in lines()]
    for name, content in (("a.es", [f"frase {n} ." for n in range(300)]), ("a.aym", text)):
        (tmp_path / name).write_text("\n".join(content) + "\n")
    settings = PrepareSettings("es", "aym", tokeniser="words", pieces=("target:unigram:40",), dev=20, max_length=5)
    made = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        prepare_corpus(RawFiles((tmp_path / "a.es", tmp_path / "a.aym")), settings, folder)
        made.append({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    assert made[0] == made[1]
    record = Record.read(tmp_path / "one")
    assert record.sizes["train"] == 280  # of five words each, though of more pieces
    train = (tmp_path / "one" / "train.aym").read_text().split("\n")[:-1]
    assert sum(MARK in line for line in train) > 100
    side = record.sides[1].side()
    assert side.recipe.has_pieces and not record.sides[0].has_pieces
    assert all(side.decode(side.encode(line)) == line for line in text)
    assert side.decode(f"copied {MARK}naka .") == "Copiednaka."


def test_a_damaged_model_is_refused(tmp_path):
    pytest.importorskip("sentencepiece")
    for content in ('{"words": [], "model": "%"}', '{"words": [], "model": "AAAA"}', "{}"):
        (tmp_path / "model").write_text(content)
        with pytest.raises(InputError, match="model"):
            WordCutter(tmp_path / "model")


def test_morphs_are_those_of_morfessor():
    """Trained twice with equal counts, without a trace in the random state; each word as Morfessor itself splits it."""
    morfessor = pytest.importorskip("morfessor")
    words = sorted({word for line in lines(40) for word in line.split()} - {"."})
    random.seed(7)
    made = train_morphs(words)
    drawn = random.random()
    random.seed(7)
    assert drawn == random.random() and train_morphs(words) == made
    model = morfessor.BaselineModel()
    model.load_segmentations((1, word, best_morphs(word, **made)) for word in words)
    assert dict(model.get_constructions()) == made["morphs"]
    for word in (*words, "warmichanakataki", "xyzuta", "ñ"):
        assert best_morphs(word, **made) == model.viterbi_segment(word, addcount=0)[0], word
    assert max(len(best_morphs(word, **made)) for word in words) > 1
    assert best_morphs("añb", {"a": 3, "b": 1}, 9) == ["a", "ñ", "b"] and best_morphs("ab", {}, 0) == ["a", "b"]


def test_both_sides_can_be_cut_and_terms_begin_with_words(tmp_path):
    pytest.importorskip("sentencepiece")
    pytest.importorskip("morfessor")
    for name, seed in (("a.es", 1), ("a.aym", 2)):
        (tmp_path / name).write_text("\n".join(lines(200, seed)) + "\n")
    settings = PrepareSettings("es", "aym", tokeniser="words", pieces=("source:bpe:60", "target:morfessor"), dev=5)
    (tmp_path / "out").mkdir()
    prepare_corpus(RawFiles((tmp_path / "a.es", tmp_path / "a.aym")), settings, tmp_path / "out")
    record = Record.read(tmp_path / "out")
    assert record.settings.pieces == settings.pieces
    for number, side in enumerate(record.sides):
        text = lines(3, 5 + number)[0]
        assert MARK in side.side().encode(text)
        assert join_pieces(side.side().encode(text)) == text
    words = ["uta", "￭￭naka", "warmi"]
    found = [inside_word(words, span, False) for span in ((0, 1), (0, 2), (1, 2), (2, 3))]
    assert found == [True, False, True, False]
    assert record.sides[0].has_pieces


@pytest.mark.parametrize("cutting", ["target:unigram:40", "source:bpe:60", "target:morfessor", ""])
def test_cutting_a_prepared_corpus_is_preparing_it_with_pieces(tmp_path, cutting):
    pytest.importorskip("sentencepiece")
    pytest.importorskip("morfessor")
    for name, seed in (("a.es", 1), ("a.aym", 2)):
        (tmp_path / name).write_text("\n".join(lines(200, seed)) + "\n")
    plain = PrepareSettings("es", "aym", tokeniser="words", pieces=("source:bpe:50",), dev=5, test=4)
    side = Cutting.read(cutting).side if cutting else 1
    wanted = plain.with_pieces(side, cutting)
    assert cutting == "" or cutting in wanted.pieces
    for name, settings in (("cut", wanted.with_pieces(side, "")), ("direct", wanted)):
        (tmp_path / name).mkdir()
        prepare_corpus(RawFiles((tmp_path / "a.es", tmp_path / "a.aym")), settings, tmp_path / name)
    cut_corpus(tmp_path / "cut", wanted, Cutting.read(cutting) if cutting else None)
    made = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("cut", "direct")]
    assert made[0] == made[1]


def test_chosen_pieces_need_tuning(tmp_path):
    settings = PrepareSettings("es", "aym", pieces=("target:auto",))
    assert settings.chosen_side == 1 and settings.with_pieces(1, "").chosen_side is None
    with pytest.raises(SettingError, match="pieces can be auto in lscfg run only, which tunes; name a model"):
        prepare_corpus(RawFiles((tmp_path / "a.es", tmp_path / "a.aym")), settings, tmp_path)
    with pytest.raises(SettingError, match="pieces can be auto for one side only"):
        PrepareSettings("es", "aym", pieces=("target:auto", "source:auto"))


@pytest.mark.parametrize("value", ["4000", "target:4000", "target:bpe:7", "both:bpe:9", "target:morfessor:9", ""])
def test_values_of_another_form_are_refused(value):
    with pytest.raises(SettingError, match=r"must have a form such as target:unigram:4000, .* or target:morfessor"):
        PrepareSettings("es", "aym", pieces=(value,))
    with pytest.raises(SettingError, match="each side at most once"):
        PrepareSettings("es", "aym", pieces=("target:morfessor", "target:bpe:9"))


def test_pieces_of_pieces_are_refused():
    with pytest.raises(SettingError, match="spm makes pieces itself"):
        PrepareSettings("es", "aym", tokeniser="spm", pieces=("source:bpe:100",))
