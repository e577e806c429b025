"""Language models: the estimator against lmplz, numbers by hand and a slow twin; ARPA files; the command."""

import argparse
import gzip
import itertools
import math
import random
import stat
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import kenlm
import pytest
from arpa_files import Arpa, read_arpa
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lscfg.commands import lm as command
from lscfg.errors import InputError
from lscfg.io.arpa import check_arpa
from lscfg.kernel.lm import _extended
from lscfg.lm.counts import tokenized_lines
from lscfg.lm.estimate import DEFAULT_FALLBACK, estimate_ngrams, write_arpa
from lscfg.lm.lmplz import build_lm

Gram = tuple[str, ...]


def model_of(text: str, folder: Path, order: int, prune: Sequence[int] = (), fallback: bool = True) -> Path:
    """Estimates a model of the text with the built-in estimator; returns the ARPA file."""
    (folder / "text").write_bytes(text.encode())
    write_arpa(estimate_ngrams(folder / "text", order, prune, DEFAULT_FALLBACK if fallback else None), folder / "arpa")
    return folder / "arpa"


def natural_text(sentences: int = 400, words: int = 900, seed: int = 1) -> str:
    """Sentences of Zipf-distributed words in which the word before matters, so that all discounts exist."""
    draw = random.Random(seed)
    lines = []
    for _ in range(sentences):
        line: list[int] = []
        for _ in range(draw.randint(1, 9)):
            rank = int(words ** draw.random()) - 1
            line.append((rank + 7 * line[-1]) % words if line and draw.random() < 0.6 else rank)
        lines.append(" ".join(f"w{word}" for word in line))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def natural_arpa(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trigram model of ``natural_text`` (no fallback needed)."""
    return model_of(natural_text(), tmp_path_factory.mktemp("lm"), 3, fallback=False)


# --- against lmplz ---------------------------------------------------------------------------------------------------


def assert_same(mine: Arpa, other: Arpa, tolerance: float) -> None:
    """Compares n-grams, and each probability and backoff within the tolerance (log10)."""
    assert mine.counts == other.counts
    assert mine.log_probs.keys() == other.log_probs.keys()
    assert mine.log_backoffs.keys() == other.log_backoffs.keys()
    assert max(abs(mine.log_probs[gram] - other.log_probs[gram]) for gram in other.log_probs) < tolerance
    if other.log_backoffs:
        assert max(abs(mine.log_backoffs[g] - other.log_backoffs[g]) for g in other.log_backoffs) < tolerance


def test_agrees_with_lmplz(shared: Path, tmp_path: Path) -> None:
    with open(shared / "data/ja-en/train.en", encoding="utf-8", newline="\n") as file:
        text = "".join(itertools.islice(file, 3000))
    arpa = read_arpa(model_of(text, tmp_path, 4, fallback=False))
    assert_same(arpa, read_arpa(shared / "oracle/cdec/lmplz.4.first3000.arpa.gz"), 1e-5)


def test_agrees_with_lmplz_when_pruning(shared: Path, tmp_path: Path) -> None:
    write_arpa(estimate_ngrams(shared / "data/ja-en/train.en", 3, [0, 0, 1], DEFAULT_FALLBACK), tmp_path / "arpa")
    assert_same(read_arpa(tmp_path / "arpa"), read_arpa(shared / "oracle/cdec/lm3.arpa.gz"), 1e-5)


# --- against numbers by hand and a slow twin -------------------------------------------------------------------------


def test_bigrams_by_hand(tmp_path: Path) -> None:
    """Text "a b / a c"; no n-gram has count 3, so the fallback discounts 0.5, 1, 1.5 are in force.

    Raw bigrams: "<s> a" 2; "a b", "a c", "b </s>", "c </s>" 1 each. Adjusted unigrams (different words before):
    a 1 (<s>), b 1 (a), c 1 (a), </s> 2 (b, c); their sum is 5. V = {<unk>, </s>, a, b, c}, so 1/|V| = 0.2.
    Backoff of the empty context: (3 * 0.5 + 1 * 1) / 5 = 0.5, of which each word gets 0.5 * 0.2 = 0.1.
        p(<unk>) = 0.1    p(a) = p(b) = p(c) = (1 - 0.5) / 5 + 0.1 = 0.2    p(</s>) = (2 - 1) / 5 + 0.1 = 0.3    sum 1
    Backoffs: <s> 1 / 2 = 0.5;  a (0.5 + 0.5) / 2 = 0.5;  b and c 0.5 / 1 = 0.5;  </s> and <unk> are no contexts: 1.
        p(a | <s>) = (2 - 1) / 2 + 0.5 * 0.2 = 0.6          p(b | a) = p(c | a) = (1 - 0.5) / 2 + 0.5 * 0.2 = 0.35
        p(</s> | b) = p(</s> | c) = (1 - 0.5) / 1 + 0.5 * 0.3 = 0.65
    """
    path = model_of("a b\na c\n", tmp_path, 2)
    arpa = read_arpa(path)
    probs = {" ".join(gram): 10**value for gram, value in arpa.log_probs.items()}
    assert probs == pytest.approx(
        {"<unk>": 0.1, "<s>": 0.1, "</s>": 0.3, "a": 0.2, "b": 0.2, "c": 0.2}
        | {"<s> a": 0.6, "a b": 0.35, "a c": 0.35, "b </s>": 0.65, "c </s>": 0.65}
    )
    backoffs = {" ".join(gram): 10**value for gram, value in arpa.log_backoffs.items()}
    assert backoffs == pytest.approx({"<unk>": 1, "<s>": 0.5, "</s>": 1, "a": 0.5, "b": 0.5, "c": 0.5})

    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[:5] == ["\\data\\", "ngram 1=6", "ngram 2=5", "", "\\1-grams:"]
    assert lines[5] == "-1\t<unk>\t0"
    assert lines[lines.index("\\2-grams:") + 1] == "-0.1870866\tb </s>"  # suffix order, no backoff in the last section
    assert lines[-2:] == ["", "\\end\\"]

    # Seen: <s> a, a b, b </s>. Unseen: p(b | <s>) = 0.5 * 0.2, p(a | b) = 0.5 * 0.2, p(</s> | a) = 0.5 * 0.3.
    model = kenlm.Model(str(path))
    assert model.score("a b") == pytest.approx(math.log10(0.6 * 0.35 * 0.65), abs=1e-6)
    assert model.score("b a") == pytest.approx(math.log10(0.1 * 0.1 * 0.15), abs=1e-6)
    # An unknown word after a, then the end after what is no context: p = 0.5 * 0.1 and 0.3.
    assert model.score("a x") == pytest.approx(math.log10(0.6 * 0.05 * 0.3), abs=1e-6)


def test_pruned_bigrams_by_hand(tmp_path: Path) -> None:
    """The text of the test above with bigrams seen once pruned: only "<s> a" stays.

    Counts and discounts are as before; a, b and c now give back everything, so that their backoffs are 1.
    """
    arpa = read_arpa(model_of("a b\na c\n", tmp_path, 2, [0, 1]))
    assert arpa.counts == (6, 1)
    assert 10 ** arpa.log_probs["<s>", "a"] == pytest.approx(0.6)
    assert 10 ** arpa.log_backoffs["<s>",] == pytest.approx(0.5)
    assert [arpa.log_backoffs[word,] for word in "abc"] == [0, 0, 0]


def slow_model(text: str, order: int, thresholds: list[int]) -> tuple[dict[Gram, float], dict[Gram, float]]:
    """Probabilities and backoffs straight from the definitions, one n-gram at a time."""
    raw: Counter[Gram] = Counter()
    for line in text.removesuffix("\n").split("\n"):
        sentence = ["<s>", *[word for word in line.split(" ") if word], "</s>"]
        for length in range(1, order + 1):
            raw.update(tuple(sentence[at : at + length]) for at in range(len(sentence) - length + 1))
    del raw["<s>",]
    left: dict[Gram, set[str]] = {gram: set() for gram in raw}
    followers: dict[Gram, list[str]] = {}
    for gram in raw:
        followers.setdefault(gram[:-1], []).append(gram[-1])
        if len(gram) > 1:
            left[gram[1:]].add(gram[0])

    def adjusted(gram: Gram) -> int:
        return raw[gram] if len(gram) == order or gram[0] == "<s>" else len(left[gram])

    discounts = {}
    for length in range(1, order + 1):
        n = Counter(adjusted(gram) for gram in raw if len(gram) == length)
        discounts[length] = [0.0, *DEFAULT_FALLBACK]
        if n[1] and n[2] and n[3]:
            y = n[1] / (n[1] + 2 * n[2])
            found = [0.0] + [count - (count + 1) * y * n[count + 1] / n[count] for count in (1, 2, 3)]
            if all(0 <= found[count] <= count for count in (1, 2, 3)):
                discounts[length] = found

    def is_kept(gram: Gram) -> bool:
        return gram in (("<unk>",), ("<s>",), ("</s>",)) or raw[gram] > thresholds[len(gram) - 1]

    vocabulary = {gram for gram in [*raw, ("<unk>",)] if len(gram) == 1 and is_kept(gram)}

    def discounted(gram: Gram) -> float:
        count = adjusted(gram)
        return count - discounts[len(gram)][min(count, 3)]

    @cache
    def backoff(context: Gram) -> float:
        grams = [(*context, word) for word in followers.get(context, [])]
        total = sum(adjusted(gram) for gram in grams)
        # What pruning and discounts leave is exactly what the kept n-grams do not use up.
        return 1 - sum(discounted(gram) for gram in grams if is_kept(gram)) / total if total else 1.0

    def prob(gram: Gram) -> float:
        if not gram:
            return 1 / len(vocabulary)
        own = 0.0
        if gram in raw:
            own = discounted(gram) / sum(adjusted((*gram[:-1], word)) for word in followers[gram[:-1]])
        return own + backoff(gram[:-1]) * prob(gram[1:])

    kept = [gram for gram in [*raw, ("<unk>",), ("<s>",)] if is_kept(gram)]
    return {gram: prob(gram) for gram in kept}, {gram: backoff(gram) for gram in kept if len(gram) < order}


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    lines=st.lists(st.lists(st.sampled_from(["a", "b", "c", "é", "x\u00a0y"]), max_size=6), min_size=1, max_size=12),
    order=st.integers(2, 5),
    steps=st.lists(st.integers(0, 1), max_size=5),
)
def test_agrees_with_slow_twin(lines: list[list[str]], order: int, steps: list[int]) -> None:
    assume(max(map(len, lines)) >= max(1, order - 2))
    thresholds = list(itertools.accumulate((steps + [0] * order)[:order]))
    text = "".join(" ".join(line) + "\n" for line in lines)
    with tempfile.TemporaryDirectory() as folder:
        arpa = read_arpa(model_of(text, Path(folder), order, thresholds))
    probs, backoffs = slow_model(text, order, thresholds)
    assert {gram: 10**value for gram, value in arpa.log_probs.items()} == pytest.approx(probs, rel=1e-5)
    assert {gram: 10**value for gram, value in arpa.log_backoffs.items()} == pytest.approx(backoffs, rel=1e-5)


def test_natural_text_agrees_with_slow_twin(natural_arpa: Path) -> None:
    """Here the discounts come from the text."""
    arpa = read_arpa(natural_arpa)
    probs, backoffs = slow_model(natural_text(), 3, [0, 0, 0])
    assert {gram: 10**value for gram, value in arpa.log_probs.items()} == pytest.approx(probs, rel=1e-5)
    assert {gram: 10**value for gram, value in arpa.log_backoffs.items()} == pytest.approx(backoffs, rel=1e-5)


# --- what a user of the model sees -----------------------------------------------------------------------------------


@pytest.mark.parametrize("thresholds", [[], [0, 0, 1], [1, 1, 2]])
def test_probabilities_sum_to_one(tmp_path: Path, thresholds: list[int]) -> None:
    """After every context, seen or not, over the vocabulary with <unk> and </s>."""
    path = model_of(natural_text(150, 30), tmp_path, 3, thresholds)
    model = kenlm.Model(str(path))
    outcomes = [gram[0] for gram in read_arpa(path).log_probs if len(gram) == 1 and gram[0] != "<s>"]
    words = [word for word in outcomes if word != "</s>"]
    contexts = [(), ("<s>",), *[(first,) for first in words], *itertools.product(["<s>", *words], words)]
    for context in contexts:
        state, after = kenlm.State(), kenlm.State()
        if context[:1] == ("<s>",):
            model.BeginSentenceWrite(state)
        else:
            model.NullContextWrite(state)
        for word in context[1:] if context[:1] == ("<s>",) else context:
            model.BaseScore(state, word, after)
            state, after = after, state
        assert sum(10 ** model.BaseScore(state, word, after) for word in outcomes) == pytest.approx(1, abs=1e-5)


def test_kenlm_scores_sentences_the_same(natural_arpa: Path) -> None:
    model, arpa = kenlm.Model(str(natural_arpa)), read_arpa(natural_arpa)
    assert model.order == arpa.order == check_arpa(natural_arpa) == 3
    for sentence in [*natural_text().splitlines()[:50], "", "w1 unknown w2", "w59 w58 w57"]:
        words = ("<s>", *sentence.split(), "</s>")
        expected = sum(arpa.log_prob(words[max(0, at - 2) : at], words[at]) for at in range(1, len(words)))
        assert model.score(sentence) == pytest.approx(expected, abs=1e-4)


def test_lines_are_split_as_lmplz_splits(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(" a\tb\0c\rd \r\n\nx\u00a0y\u3000z e\x0bf\u2028g\nlast".encode())
    assert list(tokenized_lines(path)) == [["a", "b", "c", "d"], [], ["x\u00a0y\u3000z", "e\x0bf\u2028g"], ["last"]]


def test_bytes_depend_on_words_only(tmp_path: Path) -> None:
    text = natural_text(50)
    first = model_of(text, tmp_path, 3).read_bytes()
    second = model_of(text.replace(" ", "\t ").replace("\n", " \r\n").rstrip(), tmp_path, 3).read_bytes()
    assert first == second
    (tmp_path / "text.gz").write_bytes(gzip.compress(text.encode()))
    for output in ("one.gz", "two.gz"):
        build_lm(tmp_path / "text.gz", tmp_path / output, 3, (), DEFAULT_FALLBACK, "lscfg")
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.gz").read_bytes()) == first


@pytest.mark.usefixtures("terminal")
def test_fallback_warns_and_without_it_the_cure_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model_of("a b\na c\n", tmp_path, 2)
    assert "fallback discounts 0.5 1 1.5 for 2-grams" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"text: .*no 1-gram has adjusted count 3.*--discount-fallback; in an exper"):
        model_of("a b\na c\n", tmp_path, 2, fallback=False)
    # Of words before them there are 1, 2 and 3, but 4 so often that the discount of 3 is negative.
    before = [("b", 2), ("c", 2), ("d", 3), *((word, 4) for word in "efghijklmn")]
    lines = [f"x{number} {word}\n" for word, count in before for number in range(count)]
    with pytest.raises(InputError, match=r"1-grams of adjusted count 3 is outside 0\.\.3"):
        model_of("".join(lines), tmp_path, 2, fallback=False)


@pytest.mark.parametrize("word", ["<s>", "</s>", "<unk>"])
def test_reserved_word_in_text(tmp_path: Path, word: str) -> None:
    with pytest.raises(InputError, match=f"text:2: word {word} is reserved.*replace it in the text"):
        model_of(f"a b\nc {word} d\n", tmp_path, 2)


def test_words_that_no_grammar_contains_are_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model_of("a b\nc\u202bd b\na\u00a0b a\nb a\u200cb a\n", tmp_path, 2)
    warned = caplog.records[0].getMessage()
    assert "text:2: 2 lines have words with invisible characters or other spaces than the blank" in warned


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n"])
def test_text_without_words(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="no words"):
        model_of(text, tmp_path, 2)
    assert not (tmp_path / "arpa").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order": 1}, r"order 1 .* 2\.\.6"),
        ({"order": 7}, r"order 7 .* 2\.\.6"),
        ({"order": 5}, "no 5-grams: the longest sentence has 4"),
        ({"order": 2, "prune": [0, 0, 1]}, "3 prune thresholds"),
        ({"order": 2, "prune": [1, 0]}, "never fall"),
        ({"order": 2, "prune": [-1]}, "start at 0"),
        ({"discount_fallback": []}, "0 fallback discounts"),
        ({"discount_fallback": [0.5, 2.5]}, r"discount 2.5 for count 2 is outside 0\.\.2"),
        ({"estimator": "srilm"}, "unknown estimator srilm"),
    ],
)
def test_bad_arguments(tmp_path: Path, arguments: dict, message: str) -> None:
    (tmp_path / "text").write_text("a b\na c\n")
    with pytest.raises(InputError, match=message):
        build_lm(
            tmp_path / "text",
            tmp_path / "arpa",
            **{"order": 2, "discount_fallback": DEFAULT_FALLBACK, "estimator": "lscfg"} | arguments,
        )
    assert not (tmp_path / "arpa").exists()


# --- ARPA files ------------------------------------------------------------------------------------------------------


def damaged(path: Path, folder: Path, old: str, new: str) -> Path:
    """A copy with a part of its text replaced."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    (folder / "damaged").write_text(text.replace(old, new, 1), encoding="utf-8")
    return folder / "damaged"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\\data\\\n", "", ":1: not an ARPA file"),
        ("ngram 2=", "ngram 3=", ":3: damaged ARPA header: expected ngram 2=COUNT"),
        ("ngram 2=", "ngram 2=x", ":3: damaged ARPA header"),
        ("\\2-grams:", "\\4-grams:", r"expected \\2-grams: here"),
        ("ngram 2=", "ngram 2=1", r"2-grams, but 1\d+ in the header"),
        ("\\end\\\n", "", r"no \\end\\ line"),
        ("\\end\\\n", "\\end\\\n\n-1\tw\n", r"text after the \\end\\ line"),
    ],
)
def test_damaged_frame(natural_arpa: Path, tmp_path: Path, old: str, new: str, message: str) -> None:
    path = damaged(natural_arpa, tmp_path, old, new)
    for check in (check_arpa, read_arpa):
        with pytest.raises(InputError, match=message):
            check(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\t<unk>\t", "\t<unk> x\t", ":7: expected a probability, 1 words and optionally a backoff"),
        ("\t<s>\t-", "\t<s>\tx", ":8: bad number"),
        ("\t<s>\t-", "\t<s>\tnan ", ":8: expected"),
        ("\t<s>\t", "\t</s>\t", ":9: n-gram </s> occurs twice"),
        ("-grams:\n-", "-grams:\n", ":7: log10 probability above 0"),
    ],
)
def test_damaged_line(natural_arpa: Path, tmp_path: Path, old: str, new: str, message: str) -> None:
    path = damaged(natural_arpa, tmp_path, old, new)
    with pytest.raises(InputError, match=message):
        read_arpa(path)


def test_truncated_anywhere(tmp_path: Path) -> None:
    """Whatever a copy that broke off has left, the check says no; the same for compressed files."""
    whole = model_of("a b\na c\n", tmp_path, 2).read_bytes()
    cut = tmp_path / "cut"
    for size in range(len(whole) - 1):
        cut.write_bytes(whole[:size])
        with pytest.raises(InputError):
            check_arpa(cut)
    packed = gzip.compress(whole)
    for size in range(1, len(packed)):
        (tmp_path / "cut.gz").write_bytes(packed[:size])
        with pytest.raises(InputError, match=r"cut\.gz"):
            check_arpa(tmp_path / "cut.gz")
    (tmp_path / "bad.gz").write_bytes(packed[:40] + bytes(20) + packed[60:])
    with pytest.raises(InputError, match=r"bad\.gz"):
        check_arpa(tmp_path / "bad.gz")


def test_other_order_and_other_formats(natural_arpa: Path, tmp_path: Path) -> None:
    assert check_arpa(natural_arpa, 3) == 3
    with pytest.raises(InputError, match="ARPA file of order 3, expected 4"):
        check_arpa(natural_arpa, 4)
    with pytest.raises(InputError, match="cannot read"):
        check_arpa(tmp_path / "missing")
    (tmp_path / "packed").write_bytes(gzip.compress(natural_arpa.read_bytes()))
    assert check_arpa(tmp_path / "packed") == 3  # the content shows the compression
    (tmp_path / "binary").write_bytes(b"mmap lm http://kheafield.com/code format version 5\n\0\0")
    with pytest.raises(InputError, match="a compiled language model of KenLM; name its ARPA file"):
        check_arpa(tmp_path / "binary")


def test_windows_line_ends_change_no_end_of_an_n_gram(natural_arpa: Path, tmp_path: Path) -> None:
    text = natural_arpa.read_bytes()
    (tmp_path / "arpa").write_bytes(text.replace(b"\n", b"\r\n"))
    found = _extended(natural_arpa)
    assert _extended(tmp_path / "arpa") == found and found.grams is not None and len(found.grams) > 100
    assert not found.unknown
    (tmp_path / "arpa").write_bytes(text.replace(b"\n\n\\3-grams:", b"\n-0.1\ta <unk>\n\n\\3-grams:"))
    assert _extended(tmp_path / "arpa").unknown


def test_reads_what_srilm_writes(tmp_path: Path) -> None:
    """Blank line first, padded counts, no backoff where it would be 0."""
    (tmp_path / "arpa").write_text(
        "\n\\data\\\nngram 1=3\nngram  2=  1\n\n\\1-grams:\n-0.3\t</s>\n-99\t<s>\t-0.5\n-0.3\ta\n\n"
        "\\2-grams:\n-0.1\t<s> a\n\n\\end\\\n"
    )
    arpa = read_arpa(tmp_path / "arpa")
    assert arpa.log_backoffs == {("</s>",): 0, ("<s>",): -0.5, ("a",): 0}
    assert arpa.log_prob(("<s>",), "</s>") == pytest.approx(-0.8)
    assert arpa.log_prob((), "b") == -math.inf  # such a model has no <unk>


# --- lmplz as a program and the command ------------------------------------------------------------------------------


def fake_lmplz(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Puts a shell script named lmplz, which sees the options as $*, alone on the PATH beside /bin."""
    (folder / "bin").mkdir()
    program = folder / "bin/lmplz"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")


LMPLZ = ("--estimator", "lmplz")


def run_command(*arguments: str) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    command.run(parser.parse_args(arguments))


def test_lmplz_is_used_where_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arpa = model_of("a b\na c\n", tmp_path, 2)
    log = tmp_path / "log"
    fake_lmplz(
        tmp_path,
        monkeypatch,
        f'echo "$*" >{log}; while [ "$1" != --text ]; do shift; done; cat "$2" >>{log}; cat {arpa} >"$4"',
    )
    (tmp_path / "text").write_bytes(b"a\tb\r\na c")
    run_command(str(tmp_path / "text"), "-o", str(tmp_path / "out.gz"), "--order", "2", "--prune", "0", "1", *LMPLZ)
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == arpa.read_bytes()
    options, text = log.read_text().split("\n", 1)
    assert options.startswith("-o 2 ")
    assert options.endswith("--prune 0 1")
    assert text == "a b\na c\n"
    build_lm(tmp_path / "text", tmp_path / "out", 2, (), DEFAULT_FALLBACK, "lmplz")
    assert log.read_text().split("\n", 1)[0].endswith("--discount_fallback 0.5 1 1.5")
    log.unlink()
    build_lm(tmp_path / "text", tmp_path / "out", 2, (), DEFAULT_FALLBACK)  # lscfg's own, whatever is installed
    assert not log.exists()


def test_lmplz_failure_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text").write_text("a b\n")
    fake_lmplz(tmp_path, monkeypatch, 'echo "=== 1/5 Counting ===\n----5---10\nBad luck; try again." >&2; exit 3')
    with pytest.raises(InputError, match=r"lmplz failed \(status 3\): Bad luck; try again; .*--estimator lscfg"):
        build_lm(tmp_path / "text", tmp_path / "arpa", 2, estimator="lmplz")
    (tmp_path / "bin/lmplz").write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(InputError, match="no valid model"):
        build_lm(tmp_path / "text", tmp_path / "arpa", 2, estimator="lmplz")
    (tmp_path / "bin/lmplz").write_text("#!/no/such/shell\n")
    with pytest.raises(InputError, match="cannot run"):
        build_lm(tmp_path / "text", tmp_path / "arpa", 2, estimator="lmplz")
    assert not (tmp_path / "arpa").exists()


@pytest.mark.usefixtures("terminal")
def test_without_lmplz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "text").write_text(natural_text())
    run_command(str(tmp_path / "text"), "-o", str(tmp_path / "arpa"), "--order", "3")
    assert "3-grams of" in capsys.readouterr().err
    assert check_arpa(tmp_path / "arpa", 3) == 3
    (tmp_path / "text").write_text("a b\n")
    run_command(str(tmp_path / "text"), "-o", str(tmp_path / "arpa"), "--order", "2", "--discount-fallback")
    assert check_arpa(tmp_path / "arpa") == 2
    with pytest.raises(InputError, match="lmplz is not on the PATH"):
        run_command(str(tmp_path / "text"), "-o", str(tmp_path / "other"), "--estimator", "lmplz")
