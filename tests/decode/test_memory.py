"""Corrections: the journal on disk, phrases by enumeration, and translations that use a memory."""

from __future__ import annotations

import errno
import itertools
import json
import os
import pickle
import random
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import killed_writers
import numpy as np
import pytest
from decoders import GRAMMAR, SENTENCES, WEIGHTS, Provider, small_config

from lscfg.api.decoder import Decoder
from lscfg.corpus.edits import word_edits
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.memory import COMPILED, HALVED_BY, MOST_TARGETS, NEW_LINES, Memory, PairError, open_memory
from lscfg.decode.phrases import pair_phrases, phrase_spans
from lscfg.decode.recalled import SimilarPair
from lscfg.decode.similar import BUCKETS
from lscfg.decode.terms import ChosenSpan, Term
from lscfg.errors import InputError
from lscfg.formats.ini import write_ini
from lscfg.prepare.numbers import NumberFormats


def straight(source: Any, target: Any) -> list[tuple[int, int]]:
    return [(k, k) for k in range(min(len(source), len(target)))]


def test_phrases_by_enumeration() -> None:
    """All pairs of spans, filtered by the definition."""
    rng = random.Random(1)
    for _ in range(200):
        n, m = rng.randint(1, 5), rng.randint(1, 5)
        links = [pair for pair in itertools.product(range(n), range(m)) if rng.random() < 0.25]
        longest = rng.randint(1, 5)
        expected = {
            ((i, j), (k, q))
            for i, j in itertools.combinations(range(n + 1), 2)
            for k, q in itertools.combinations(range(m + 1), 2)
            if max(j - i, q - k) <= longest
            and any(i <= s < j and k <= t < q for s, t in links)
            and all((i <= s < j) == (k <= t < q) for s, t in links)
        }
        found = [*phrase_spans(n, m, links, longest)]
        assert {*found} == expected and len(found) == len(expected)


def test_rules_of_corrections_delete_no_words_at_their_ends(tmp_path: Path) -> None:
    """Unlinked source words are part of a rule only between linked ones."""
    memory = Memory(tmp_path, lambda source, target: [(0, 0), (2, 1)])
    assert memory.add("a b c d", "x y")[1] == 3
    rules = {(rule.source, rule.target) for rule in memory.recall("a b c d e").rules}
    assert rules == {("a", "x"), ("c", "y"), ("a b c", "x y")}


def test_corrections_need_no_locks(tmp_path: Path, monkeypatch: Any, caplog: Any) -> None:
    """Some network folders have none; one warning suffices."""

    def refuse(file: object, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("lscfg.io.folders._reported", set())
    monkeypatch.setattr("fcntl.flock", refuse)
    memory = Memory(tmp_path, straight)
    memory.add("a b", "x y")
    memory.add("a c", "x z")
    assert len(Memory(tmp_path, straight)) == 2
    journal = tmp_path / "corrections.jsonl"
    assert caplog.messages == [f"{journal}: cannot be locked (No locks available); run one command at a time there"]


def test_edits_by_recursion() -> None:
    def slow(a: str, b: str) -> int:
        if not a or not b:
            return len(a) + len(b)
        return min(slow(a[1:], b) + 1, slow(a, b[1:]) + 1, slow(a[1:], b[1:]) + (a[0] != b[0]))

    rng = random.Random(1)
    for _ in range(60):
        a, b = ("".join(rng.choices("xyz", k=rng.randint(0, 5))) for _ in range(2))
        assert word_edits(a, b) == slow(a, b)
    assert word_edits(["a", "b"] * 40, ["b", "a"] * 40) == 2 and word_edits(["a"] * 90, ["b"] * 70) == 90


def state(memory: Memory, texts: list[str]) -> Any:
    return memory.pairs, [memory.recall(text) for text in texts]


def test_processes_see_each_other_and_undo_restores(tmp_path: Path) -> None:
    texts = ["a b c", "a", "b c", "c b a"]
    one, two = Memory(tmp_path, straight), Memory(tmp_path, straight)
    before = state(one, texts)
    assert one.add("a b c", "x y z")[1] == 6 and two.add("b  c", "v w")[0].id == 2
    one.refresh()
    assert state(one, texts) == state(two, texts) == state(Memory(tmp_path, straight), texts)
    recalled = one.recall("b c")
    assert recalled.pair and recalled.pair.target == "v w"
    halved = 0.5 ** (1 / HALVED_BY)
    assert sorted((rule.source, rule.target, rule.value) for rule in recalled.rules) == [
        ("b", "v", 1), ("b", "y", halved), ("b c", "v w", 2), ("b c", "y z", 2 * halved),
        ("c", "w", 1), ("c", "z", halved),
    ]  # fmt: skip
    two.undo(2)
    one.undo(1)
    two.refresh()
    assert state(one, texts) == state(two, texts) == before
    with pytest.raises(InputError, match="no correction 1"):
        one.undo(1)
    assert two.add("a", "x")[0].id == 3


def test_a_sentence_uses_the_latest_translations_of_a_phrase(tmp_path: Path) -> None:
    """As a list of all pairs gives them, also after undoing."""
    memory, rng, live = Memory(tmp_path, straight), random.Random(4), {}
    for _ in range(60):
        target = f"t{rng.randint(0, 20)}"
        live[memory.add("a", target)[0].id] = target
        if rng.random() < 0.4:
            memory.undo(number := rng.choice([*live]))
            del live[number]
        latest = {target: number for number, target in sorted(live.items())}
        expected = sorted(latest, key=lambda target: latest[target])[-MOST_TARGETS:]
        assert sorted(rule.target for rule in memory.recall("a").rules) == sorted(expected)
    assert len(latest) > MOST_TARGETS
    assert memory.recall("a") == Memory(tmp_path, straight).recall("a")


def test_a_later_pair_of_the_same_source_answers(tmp_path: Path) -> None:
    memory = Memory(tmp_path, straight)
    memory.add("a", "x")
    memory.add("a", "y")
    assert (found := memory.recall(" a ").pair) and found.target == "y"
    assert memory.add("a", "y")[0].id == 2  # stored already
    memory.undo(2)
    assert (found := memory.recall("a").pair) and found.target == "x"


@pytest.mark.parametrize("buckets", [3, BUCKETS])
def test_similar_sentences_by_comparison_with_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, buckets: int
) -> None:
    monkeypatch.setattr("lscfg.decode.similar.BUCKETS", buckets)
    memory, rng = Memory(tmp_path, straight), random.Random(3)
    for number in range(300):  # more than the index first has room for
        memory.add(" ".join(rng.choices("abcde", k=rng.randint(2, 6))), f"x{number}")
    for number in range(1, 300, 3):
        memory.undo(number)
    for _ in range(40):
        words = rng.choices("abcdef", k=rng.randint(1, 9))
        found = []
        for pair in memory.pairs:
            other = pair.source.split(" ")
            similarity = 1 - word_edits(words, other) / max(len(words), len(other))
            if 0.7 <= similarity < 1:
                found.append(SimilarPair(pair, similarity))
        found.sort(key=lambda one: (-one.similarity, -one.pair.id))
        assert memory.recall(" ".join(words)).similar == tuple(found[:3])


def test_phrases_are_looked_up_as_far_as_pairs_contain_the_words(tmp_path: Path) -> None:
    memory, rng = Memory(tmp_path, straight), random.Random(5)
    for number in range(30):
        memory.add(" ".join(rng.choices("abcdefgh", k=rng.randint(1, 6))), f"x{number} y z v w u")
    memory.undo(2)
    phrases = {phrase for pair in memory.pairs for phrase in pair_phrases(pair)}
    for _ in range(30):
        words = rng.choices("abcdefghi", k=rng.randint(1, 12))
        spans = {" ".join(words[i:j]) for i in range(len(words)) for j in range(i + 1, len(words) + 1)}
        found = {(rule.source, rule.target) for rule in memory.recall(" ".join(words)).rules}
        expected = {source for source, _ in phrases if source in spans}
        assert {source for source, _ in found} == expected and found <= phrases


ODD_WORDS = [
    "la",
    "casa",
    "verde",
    "[X,1]",
    "[1]",
    "|||",
    "שלום",
    "\u202eabc",
    "e\u0301",
    "é",
    "\u200b",
    "a\u00a0b",
    "\x07",
]
ODD_WORDS += ["<s>", "[X]", "𝒳", "\u2028", "\x00", "\ufeff"]


@pytest.mark.parametrize("seed", range(3))
def test_any_history_leaves_the_live_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Two processes add, undo, restart and crash in any order; after all is undone, translations are the old ones."""
    rng, live = random.Random(seed), set[int]()
    monkeypatch.setattr("lscfg.decode.memory.NEW_LINES", 3)
    memories = [Memory(tmp_path, straight), Memory(tmp_path, straight)]
    for _ in range(60):
        memory, kind = rng.choice(memories), rng.random()
        if kind < 0.6:
            words = rng.sample(ODD_WORDS, 3) + ODD_WORDS[:3]
            sides = [" ".join(rng.choices(words, k=rng.choice([0, 1, 2, 3, 5, 8, 100, 101]))) for _ in range(2)]
            with suppress(PairError):
                live.add(memory.add(*sides)[0].id)
        elif kind < 0.8 and live:
            memory.refresh()
            memory.undo(number := rng.choice([*live]))
            live.discard(number)
        elif kind < 0.9:
            memories[rng.randrange(2)] = Memory(tmp_path, straight)
        else:
            compiled = tmp_path / COMPILED
            compiled.write_bytes(compiled.read_bytes()[: rng.randint(0, 3000)] if compiled.is_file() else b"")
            with open(memory.path, "ab") as journal:
                journal.write(b'{"id": 999, "sour')
    fresh = Memory(tmp_path)
    texts = [" ".join(rng.choices(ODD_WORDS[:9], k=rng.randint(1, 6))) for _ in range(5)]
    for pair in fresh.pairs:
        texts += [pair.source, " ".join([*pair.source.split(" ")[1:], "nueva"])]
    assert {pair.id for pair in fresh.pairs} == live
    for memory in memories:
        memory.refresh()
        assert state(memory, texts) == state(fresh, texts)
    with EmbeddedDecoder(small_config(tmp_path), cached=0) as decoder:

        def translations(memory: Memory | None) -> list[Any]:
            found = decoder.translate(texts, WEIGHTS, 3, memory=memory)
            return [[(one.text, one.score) for one in sentence.hypotheses] for sentence in found]

        assert translations(memories[0]) == translations(fresh)
        for number in live:
            memories[1].undo(number)
        assert translations(None) == translations(memories[1]) == translations(Memory(tmp_path))


def test_a_full_memory_refuses_pairs_until_one_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lscfg.decode.memory.MOST_PAIRS", 2)
    memory = Memory(tmp_path, straight)
    for number in (1, 2):
        memory.add(f"a{number}", "x")
    with pytest.raises(InputError, match="contains 2 pairs already; name another folder"):
        memory.add("a3", "x")
    assert memory.add("a2", "x")[0].id == 2  # stored already
    memory.undo(1)
    assert memory.add("a3", "x")[0].id == 3 and len(Memory(tmp_path)) == 2


def test_a_line_that_a_crash_cut_is_ignored_and_removed(tmp_path: Path) -> None:
    memory = Memory(tmp_path, straight)
    memory.add("a b", "x y")
    whole = memory.path.read_bytes()
    line = whole.replace(b'"id": 1', b'"id": 2')
    for cut in range(1, len(line) - 1):
        memory.path.write_bytes(whole + line[:cut])
        assert len(Memory(tmp_path, straight)) == 1
    late = Memory(tmp_path, straight)
    assert late.add("c", "z")[0].id == 2
    assert memory.path.read_bytes().startswith(whole) and memory.path.read_bytes().count(b"\n") == 2
    memory.refresh()
    assert memory.pairs == late.pairs


def test_a_last_line_without_newline_is_used(tmp_path: Path) -> None:
    """Not every editor ends the last line."""
    memory = Memory(tmp_path, straight)
    memory.add("a b", "x y")
    whole = memory.path.read_bytes()
    line = whole.replace(b'"id": 1', b'"id": 2').replace(b"x y", b"z y")
    memory.path.write_bytes(whole + line.removesuffix(b"\n"))
    assert [pair.target for pair in Memory(tmp_path).pairs] == ["x y", "z y"]
    memory.refresh()
    memory.refresh()
    assert [pair.target for pair in memory.pairs] == ["x y", "z y"]
    memory.add("c c", "v")  # adds the newline, too
    assert memory.path.read_bytes().startswith(whole + line) and len(Memory(tmp_path)) == 3
    memory.path.write_bytes(whole + line.removesuffix(b"\n"))
    late = Memory(tmp_path, straight)
    assert memory.path.read_bytes() == whole + line
    assert late.add("c", "w")[0].id == 3
    assert memory.path.read_bytes().startswith(whole + line) and memory.path.read_bytes().count(b"\n") == 3
    memory.refresh()
    assert memory.pairs == late.pairs == Memory(tmp_path).pairs and len(late) == 3
    memory.path.write_bytes(whole + b'{"undo": 7}')
    with pytest.raises(InputError, match="no correction 7 to undo"):
        Memory(tmp_path)


def test_killed_writers_lose_no_stored_correction(tmp_path: Path) -> None:
    """200 processes are killed while they write; the journal contains every correction that one of them reported."""
    program = [sys.executable, killed_writers.__file__, tmp_path, "200"]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "") and int(done.stdout) >= 200


def many(folder: Path, lines: int) -> Memory:
    """A memory with so many lines in its journal, some of which remove corrections."""
    rng, memory, live = random.Random(8), Memory(folder, straight), []
    while memory._lines < lines:
        if live and rng.random() < 0.1:
            memory.undo(live.pop(rng.randrange(len(live))))
        else:
            pair, _ = memory.add(*(" ".join(rng.choices("abcdefgh", k=rng.randint(1, 5))) for _ in range(2)))
            live = sorted({*live, pair.id})
    return memory


def test_compiled_phrases_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memories with and without the compiled file agree, also after more corrections and removals."""
    monkeypatch.setattr(os, "fsync", lambda file: None)
    texts = ["a b c", "d", "a a b", "h g f e d", "c d e"]
    memory = many(tmp_path, NEW_LINES + 1)
    compiled = tmp_path / COMPILED
    assert not compiled.exists()
    Memory(tmp_path, straight)
    data = compiled.read_bytes()
    again = Memory(tmp_path, straight)
    assert again._compiled == NEW_LINES + 1 and state(again, texts) == state(memory, texts)
    rng = random.Random(9)
    for number in rng.sample([pair.id for pair in again.pairs], 60):
        again.undo(number)
        again.add(" ".join(rng.choices("abcdefgh", k=3)), "x y z")
    memory.refresh()
    assert state(again, texts) == state(memory, texts) == state(Memory(tmp_path, straight), texts)
    assert compiled.read_bytes() == data  # few lines are new
    many_more = many(tmp_path, memory._lines + NEW_LINES)
    assert Memory(tmp_path, straight)._compiled and compiled.read_bytes() != data
    assert state(Memory(tmp_path), texts) == state(many_more, texts)


def test_a_compiled_file_that_does_not_fit_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda file: None)
    expected = state(many(tmp_path, NEW_LINES + 1), ["a b", "c"])
    Memory(tmp_path, straight)
    data = (tmp_path / COMPILED).read_bytes()
    damaged = [data[: len(data) // 2], b"", b"x", data[:900] + bytes([data[900] ^ 1]) + data[901:]]
    for bad in damaged:
        (tmp_path / COMPILED).write_bytes(bad)
        memory = Memory(tmp_path)
        assert memory._compiled == 0 and state(memory, ["a b", "c"]) == expected
    (tmp_path / COMPILED).write_bytes(data)
    journal = memory.path.read_bytes()
    memory.path.write_bytes(journal.replace(b'"id": 1,', b'"id":  1,', 1))  # another journal
    assert Memory(tmp_path)._compiled == 0
    memory.path.write_bytes(journal[: journal.rindex(b"\n", 0, -1) + 1])  # shorter
    assert Memory(tmp_path)._compiled == 0
    memory.path.write_bytes(journal)
    assert Memory(tmp_path)._compiled == NEW_LINES + 1


def test_threads_lose_no_correction(tmp_path: Path) -> None:
    def work(name: str) -> None:
        memory = Memory(tmp_path, straight)
        for k in range(20):
            memory.add(f"{name} {k}", "x")

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pairs = Memory(tmp_path, straight).pairs
    assert [pair.id for pair in pairs] == [*range(1, 61)]
    assert {pair.source for pair in pairs} == {f"{name} {k}" for name in "abc" for k in range(20)}


def test_a_list_needs_no_indexes(tmp_path: Path) -> None:
    memory = Memory(tmp_path, straight)
    for text in ("a b c d", "a b c e", "f"):
        memory.add(text, text.upper())
    listed = Memory(tmp_path, indexed=False)
    assert listed.pairs == memory.pairs and not listed.recall("a b c x").similar
    listed.undo(1, 3)
    memory.refresh()
    assert [pair.id for pair in listed.pairs] == [pair.id for pair in memory.pairs] == [2]
    assert len(memory.recall("a b c x").similar) == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x", "damaged, or not written by lscfg .*; remove the line, or restore the file"),
        ("[1]", "damaged"),
        ('{"id": 1, "source": "a", "target": "b", "links": []}', "id 1 is not above 1"),
        ('{"id": 2, "source": "a", "target": "b"}', "links"),
        ('{"id": 2, "source": "a  b", "target": "b", "links": []}', "two blanks in a row"),
        ('{"id": 2, "source": "[X]", "target": "b", "links": []}', "source '\\[X\\]'"),
        ('{"id": 2, "source": "a", "target": "b", "links": [[0, 1]]}', "a link is outside the sentences"),
        ('{"undo": 7}', "no correction 7 to undo"),
        ('{"undo": true}', "undo"),
    ],
)
def test_damaged_lines_are_named(tmp_path: Path, line: str, message: str) -> None:
    memory = Memory(tmp_path, straight)
    memory.add("a", "b")
    with open(memory.path, "a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(InputError, match=message) as found:
        Memory(tmp_path, straight)
    assert str(found.value).startswith(f"{memory.path}:2: ")


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("", "x", "the source is empty"), ("a", " ", "the target is empty"), ("[X]", "x", r"the source '\[X\]'"),
        ("a " * 101, "x", "has 101 words; at most 100 are stored"), ("a", "x\u200b", "the target"),
    ],
)  # fmt: skip
def test_bad_pairs_are_refused(tmp_path: Path, source: str, target: str, message: str) -> None:
    memory = Memory(tmp_path, straight)
    with pytest.raises(InputError, match=message):
        memory.add(source, target)
    assert memory.path.read_bytes() == b""


# ---- translations ----


def k_best(folder: Path, sentence: str, weights: dict[str, float], memory: Memory | None = None) -> list[Any]:
    with EmbeddedDecoder(small_config(folder), Provider) as decoder:
        (found,) = decoder.translate([sentence], weights, 20000, memory=memory)
    return sorted((round(one.score, 9), one.text) for one in found.hypotheses)


def test_known_rules_get_the_feature_of_corrections(tmp_path: Path) -> None:
    """The list is that of a grammar whose rules have the feature; two corrections may teach a rule."""
    memory = Memory(tmp_path / "memory", straight)
    memory.add("la casa", "the house")
    memory.add("verde", "green")
    weights = WEIGHTS | {"Correction": 0.7}
    learned = k_best(tmp_path, "la casa verde", weights, memory)
    halved = 0.5 ** (1 / HALVED_BY)
    values = {
        "la casa ||| the house": 2 * halved,
        "casa ||| house": halved,
        "la ||| the": halved,
        "verde ||| green": 1.0,
    }
    lines = []
    for line in GRAMMAR.splitlines():
        sides = line.removeprefix("[X] ||| ").rsplit(" |||", 1)[0]
        lines.append(line + (f" Correction={values[sides]!r}" if sides in values else ""))
    assert sum("Correction" in line for line in lines) == 4
    config = small_config(tmp_path)
    (tmp_path / "grammar").write_text("\n".join(lines) + "\n")
    with EmbeddedDecoder(config, Provider) as decoder:
        (found,) = decoder.translate(["la casa verde"], weights, 20000)
    assert learned == sorted((round(one.score, 9), one.text) for one in found.hypotheses)
    assert learned != k_best(tmp_path, "la casa verde", weights)


def test_equal_sentences_are_answered_and_terms_and_choices_count(tmp_path: Path) -> None:
    with EmbeddedDecoder(small_config(tmp_path)) as decoder:
        memory = open_memory(tmp_path / "memory", decoder.align)
        plain = [one.hypotheses for one in decoder.translate(SENTENCES, WEIGHTS, 5)]
        pair, _ = memory.add("la casa verde", "the green hut")
        assert pair.links == ((0, 0), (1, 2), (2, 1))  # words without a partner as a block
        first, *_, last = decoder.translate(["la casa verde", "casa"], WEIGHTS, details=True, memory=memory)
        assert first.hypotheses[0].text == "the green hut" and first.answered == pair and last.answered is None
        assert [(word.text, word.links) for word in first.details] == [("the", (0,)), ("green", (2,)), ("hut", (1,))]
        (found,) = decoder.translate(["la casa verde"], WEIGHTS, terms=[Term("casa", ("home",))], memory=memory)
        assert found.answered is None and "home" in found.hypotheses[0].text
        (found,) = decoder.translate(["la casa verde"], WEIGHTS, terms=[Term("casa", ("hut",))], memory=memory)
        assert found.answered == pair and [(one.source, one.target) for one in found.terms] == [((1, 2), (2, 3))]
        (found,) = decoder.translate(["la casa verde"], WEIGHTS, choices=[ChosenSpan((0, 1), "that")], memory=memory)
        assert found.answered is None and "that" in found.hypotheses[0].text
        (found,) = decoder.translate(["la casa verde verde"], WEIGHTS, memory=memory)
        assert [(one.pair, one.similarity) for one in found.recalled.similar] == [(pair, 0.75)]
        memory.undo(pair.id)
        assert [one.hypotheses for one in decoder.translate(SENTENCES, WEIGHTS, 5, memory=memory)] == plain


def test_a_correction_answers_only_with_a_place_for_each_hard_term(tmp_path: Path) -> None:
    with EmbeddedDecoder(small_config(tmp_path)) as decoder:
        memory = open_memory(tmp_path / "memory", decoder.align)
        pair, _ = memory.add("casa verde casa", "a hut and a house")
        for target, answered in (("a", pair), ("hut", None)):
            terms = [Term("casa", (target,))]
            (found,) = decoder.translate([pair.source], WEIGHTS, terms=terms, memory=memory)
            assert found.answered == answered and [one.source for one in found.terms] == [(0, 1), (2, 3)]
            assert found.hypotheses[0].text.split().count(target) == 2


def test_numbers_that_a_correction_translates_keep_their_separators(tmp_path: Path) -> None:
    with EmbeddedDecoder(small_config(tmp_path)) as decoder:
        memory = Memory(tmp_path / "memory", straight)
        memory.add("casa 1,5", "hut 1½")
        more = {"memory": memory, "numbers": NumberFormats.of("de", "en")}
        found = decoder.translate(["la casa 1,5", "la casa 2,5"], WEIGHTS | {"Correction": 5.0}, **more)
        assert [one.hypotheses[0].text for one in found] == ["the hut 1½", "the hut 2.5"]


def test_decoders_of_python_correct_and_undo(tmp_path: Path) -> None:
    config = small_config(tmp_path)
    write_ini(tmp_path / "cdec.ini", config)
    weights = {name: value for name, value in WEIGHTS.items() if name != "Latent"}
    with Decoder(tmp_path / "cdec.ini", weights, corrections=tmp_path / "memory") as decoder:
        before = decoder.translate(["casa verde"])
        number = decoder.correct("casa verde", "a green hut")
        copy = pickle.loads(pickle.dumps(decoder))
        assert decoder.translate(["casa verde"]) == copy.translate(["casa verde"]) == ["a green hut"]
        assert number in [pair.id for pair in decoder.stored()]
        decoder.undo(number)
        assert number not in [pair.id for pair in decoder.stored()]
        assert decoder.translate(["casa verde"]) == copy.translate(["casa verde"]) == before
        with pytest.raises(InputError, match="no correction 1"):
            decoder.undo(1)
        with pytest.raises(TypeError, match="target"):
            decoder.correct("a", 1)  # type: ignore[arg-type]
    with Decoder(tmp_path / "cdec.ini", weights) as decoder, pytest.raises(InputError, match="corrections=FOLDER"):
        decoder.correct("a", "b")


def test_200_corrections_count_for_the_next_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is obeyed at once, in the equal sentence and in a larger one."""
    rng = np.random.default_rng(5)
    weights = WEIGHTS | {"Correction": 50.0}
    with EmbeddedDecoder(small_config(tmp_path)) as decoder:
        memory = open_memory(tmp_path / "memory", decoder.align)
        for number in range(200):
            source, target = f"casa{rng.integers(60)}", f"hut{number}"
            memory.add(source, target)
            (equal, larger) = decoder.translate([source, f"la {source} verde"], weights, memory=memory)
            assert equal.hypotheses[0].text == target and equal.answered
            assert target in larger.hypotheses[0].text.split() and not larger.answered
    lines = [json.loads(line) for line in memory.path.read_text().splitlines()]
    assert [line["id"] for line in lines] == [*range(1, 201)]


@pytest.mark.parametrize("number", [0, 2**31, 2**63])
def test_an_id_that_the_compiled_file_cannot_hold_is_refused(number: int, tmp_path: Path) -> None:
    line = f'{{"id": {number}, "source": "a", "target": "b", "links": [[0, 0]]}}'
    (tmp_path / "corrections.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match=r"corrections\.jsonl:1: damaged"):
        Memory(tmp_path)
