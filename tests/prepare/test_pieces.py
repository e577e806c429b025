"""Rare target words in pieces: cutting, joining, and preparation with them."""

import random

import pytest

from lscfg.errors import InputError
from lscfg.prepare.corpus import RawFiles, prepare_corpus
from lscfg.prepare.pieces import MARK, WHOLE, WordCutter, join_pieces, train_cutter
from lscfg.prepare.record import Record
from lscfg.prepare.settings import PrepareSettings
from lscfg.settings import SettingError

STEMS = [a + b for a in ("uta", "marka", "jaqi", "warmi", "yatiq", "aru") for b in ("", "cha", "ya", "si", "rpa")]
ENDINGS = [a + b for a in ("naka", "mpi", "taki", "ru", "tuqi") for b in ("", "wa", "xa", "ti", "raki")]


def lines(count: int = 300, seed: int = 1) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choice(STEMS) + draw.choice(ENDINGS) for _ in range(4)) + " ." for _ in range(count)]


@pytest.fixture(scope="module")
def cutter(tmp_path_factory):
    pytest.importorskip("sentencepiece")
    path = tmp_path_factory.mktemp("pieces") / "pieces.xx.model"
    train_cutter([*lines(20), *(["siempre"] * WHOLE)], 40, path)
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
    settings = PrepareSettings("es", "aym", tokeniser="words", target_pieces=40, dev=20, max_length=5)
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


def test_pieces_of_pieces_are_refused():
    with pytest.raises(SettingError, match="spm makes pieces itself"):
        PrepareSettings("es", "aym", tokeniser="spm", target_pieces=100)
