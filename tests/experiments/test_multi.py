"""experiments/multi.py: words, references and halves by hand, and scores that repeated references leave unchanged."""

import json
import random
import sys
from collections import defaultdict
from importlib import import_module
from itertools import product
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU, CHRF

from lscfg.errors import InputError
from lscfg.io.read import read_lines

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
multi = import_module("multi")
sys.path.remove(str(ROOT / "experiments"))

TRAINING = ["彼 は 東京 に 住 ん で い る 。", "京都 に 行 っ た 。", "彼 は ここ に い る 。", "１０ 人 の 彼"]
"""Segmented text."""


def cost(words):
    """The cost of a sequence of words, or None for one that no training word explains."""
    counted = [multi.Segmenter(TRAINING)._unigram(word) for word in words]
    if None in counted:
        return None
    segmenter = multi.Segmenter(TRAINING)
    end = segmenter._words[""] / segmenter._total
    return sum(
        segmenter._cost(before, word, unigram)
        for before, word, unigram in zip(["", *words], [*words, ""], [*counted, end], strict=True)
    )


def segmentations(text):
    for borders in product((False, True), repeat=len(text) - 1):
        words = [text[0]]
        for character, border in zip(text[1:], borders, strict=True):
            if border:
                words.append(character)
            else:
                words[-1] += character
        yield words


@pytest.mark.parametrize("text", ["彼は京都にいる", "東京都に行った", "ロンドンに", "彼猫"])
def test_the_segmentation_is_the_best_of_all(text):
    costs = {tuple(words): cost(words) for words in segmentations(text)}
    best = min(value for value in costs.values() if value is not None)
    assert costs[tuple(multi.Segmenter(TRAINING).words(text))] == pytest.approx(best, rel=1e-12)


def test_words_are_those_of_the_training_text():
    segmenter = multi.Segmenter(TRAINING)
    assert " ".join(segmenter.words("彼はロンドンに住んでいる。")) == "彼 は ロンドン に 住 ん で い る 。"
    assert segmenter.words("10人の ＡＢ") == ["１０", "人", "の", "ａｂ"]
    assert segmenter.words("ﾛﾝﾄﾞﾝ") == ["ロンドン"] and segmenter.words(" ") == []
    assert multi.agreement(segmenter, TRAINING) == 1
    assert multi.agreement(segmenter, ["彼は 東京"]) == pytest.approx(2 * 1 / (2 + 3))


def test_english_words():
    assert multi.english("He said, “I can't go at 8 o’clock!”") == "he said , '' i can 't go at 8 o 'clock ! ''"
    sentences = ["I can't.", "I can't!", "Mr Smith's dog-house"]
    assert multi.english_agreement(sentences, ["i can 't .", "mr smith 's dog - house"]) == (2, 1)


def test_references_share_nothing_with_the_corpus():
    pairs = [
        ("私は猫です。", "I am a cat."),
        ("私は猫です！", "I'm a cat!"),
        ("私は猫です。", "i am a cat"),
        ("彼は犬です。", "He is a dog."),
        ("Ａは鳥です", "A is a bird"),
        ("魚です", "Seen in training!"),
        ("魚です", "A fish."),
    ]
    known = {multi.bare("彼 は 犬 で す")}, {multi.bare("seen in training .")}
    found = multi.references(pairs, known)
    assert {source: sorted(texts) for source, texts in found.items()} == {
        "私は猫です。": ["I am a cat.", "I'm a cat!"],
        "Ａは鳥です": ["A is a bird"],
    }


def test_halves_hold_every_sentence_once_and_no_common_reference():
    draw = random.Random(1)
    found = {f"文{k}": [f"text {draw.randrange(300)}", f"text {draw.randrange(300)}"] for k in range(120)}
    first, second = multi.halves(found)
    assert sorted([*first, *second]) == sorted(found) and min(len(first), len(second)) > 20
    assert not {text for one in first for text in found[one]} & {text for one in second for text in found[one]}
    backwards = dict(reversed(found.items()))
    assert [*multi.halves(backwards)] == [first, second]


def test_repeated_references_change_neither_bleu_nor_chrf():
    """Against sacrebleu's scores of as many references as each sentence has."""
    words = random.Random(2)

    def line():
        return " ".join(words.choice("abcdef") for _ in range(words.randrange(4, 9)))

    texts = [[line() for _ in range(1 + k % 4)] for k in range(40)]
    outputs = [line() for _ in texts]
    repeated = multi.columns(texts, 4)
    own = [[one[k] if k < len(one) else None for one in texts] for k in range(4)]
    for metric in (BLEU(tokenize="none", force=True), CHRF(word_order=2)):
        assert metric.corpus_score(outputs, repeated).score == metric.corpus_score(outputs, own).score > 1
    by_sentence = defaultdict(set)
    for column in repeated:
        for k, text in enumerate(column):
            by_sentence[k].add(text)
    assert all(by_sentence[k] == set(one) for k, one in enumerate(texts))


@pytest.fixture
def corpus(tmp_path):
    for part in multi.PARTS:
        (tmp_path / f"{part}.ja").write_text("".join(f"{line}\n" for line in TRAINING))
        (tmp_path / f"{part}.en").write_text("he lives in tokyo .\nx\nhe is here .\n10 men\n")
    return tmp_path


def run(folder, monkeypatch, text):
    (folder / "jpn.txt").write_text(text)
    command = ["multi.py", str(folder / "jpn.txt"), "--data", str(folder), "-o", str(folder / "multi")]
    monkeypatch.setattr(sys, "argv", command)
    multi.main()


def test_the_sets_are_written(corpus, monkeypatch, capsys):
    lines = ["He lives in Tokyo.\t彼は東京に住んでいる。", "Short.\t彼は", "Brief.\t彼は"]
    for k in range(8):
        lines += [f"{text}{k}\t彼は京都に{k}人住んでいる。\tfurther" for text in ("He can't ", "They won't ")]
    run(corpus, monkeypatch, "".join(f"{line}\n" for line in lines))
    counts = dict(map(json.loads, capsys.readouterr().out.splitlines()))
    assert counts["pairs"] == 19 and counts["sentences"] == 10 and counts["sentences apart from the corpus"] == 8
    assert counts["with 2 references"] == 8 == counts["multi-dev"] + counts["multi-test"]
    assert counts["with 3 references"] == 0 and counts["F1 of Japanese words, %"] == 100
    assert counts["English lines of the corpus"] == counts["with its words"] == 1
    for name in multi.SETS:
        texts = {path.name.removeprefix(name): read_lines(path) for path in (corpus / "multi").glob(f"{name}.*")}
        assert {len(found) for found in texts.values()} == {counts[name]} and len(texts) == 10
        for k, source in enumerate(texts[".raw.ja"]):
            number = source[5]
            assert texts[".ja"][k].split()[:4] == ["彼", "は", "京都", "に"]
            assert {texts[f".en.{n}"][k] for n in (1, 2)} == {f"he can 't {number}", f"they won 't {number}"}
            assert texts[".en.1"][k] == texts[".en.3"][k] and texts[".raw.en.2"][k] == texts[".raw.en.4"][k]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A cat.\t猫\nno tab\n", r"jpn\.txt:2: no tab; each line needs"),
        ("A cat.\t猫\n", r"jpn\.txt: no sentence has 2 references"),
    ],
)
def test_errors_name_the_file(corpus, monkeypatch, text, message):
    with pytest.raises(InputError, match=message):
        run(corpus, monkeypatch, text)
