"""Proposals of rewrites, against texts whose spellings differ by known rules."""

import random

from lscfg.cli import main
from lscfg.commands import prepare as command
from lscfg.prepare.orthography import Orthography, Rewrite, read_orthography
from lscfg.prepare.proposals import LEAST_WORDS, propose

SYLLABLES = [c + v for c in ("k", "n", "r", "t", "sh", "ch", "m", "p") for v in "aeio"]


def text(words: int, seed: int) -> list[str]:
    """Words of a small language in one spelling, with suffixes that vary."""
    draw = random.Random(seed)
    stems = ["".join(random.Random(n).choices(SYLLABLES, k=2)) for n in range(150)]
    return [draw.choice(stems) + draw.choice(("", "na", "ri", "bo", "sh")) for _ in range(words)]


OLD = Orthography([Rewrite("k", "qu", "", "ei"), Rewrite("k", "c")])


def test_the_rules_of_another_spelling_are_found():
    train = [OLD.apply(word) for word in text(6000, 1)]
    found = propose(train, text(1500, 2))
    rewrites = {(one.rewrite.old, one.rewrite.new) for one in found}
    assert ("qu", "k") in rewrites
    spelling = Orthography(one.rewrite for one in found)
    known = {spelling.apply(word) for word in train}
    dev = text(1500, 3)
    assert sum(word in known for word in dev) > 0.95 * len(dev) > sum(word in {*train} for word in dev)
    assert all("ch" in spelling.apply(word) for word in train if "ch" in word)  # c is k, but ch is ch
    assert all(one.words >= LEAST_WORDS for one in found)


def test_inflection_is_no_spelling():
    assert propose(text(6000, 1), text(1500, 2)) == []
    other = [word.removesuffix("na") + "ri" * word.endswith("na") for word in text(1500, 2)]
    assert propose(text(6000, 1), other) == []


def test_nothing_comes_of_nothing():
    assert propose([], []) == propose(["kasa"], []) == propose([], ["kasa"]) == []


def test_the_printed_rows_are_a_table_of_rewrites(tmp_path):
    found = propose([OLD.apply(word) for word in text(6000, 1)], text(1500, 2))
    (tmp_path / "table.tsv").write_text("\n".join(map(str, found)) + "\n")
    table = read_orthography(tmp_path / "table.tsv")
    direct = Orthography(one.rewrite for one in found)
    assert all(table.apply(OLD.apply(word)) == direct.apply(OLD.apply(word)) for word in text(300, 4))


def test_the_check_prints_them(tmp_path, capsys):
    train, dev = [OLD.apply(word) for word in text(6000, 1)], text(1500, 2)
    for name, words in (("train", train), ("dev", dev)):
        for side in ("es", "shp"):
            content = [f"{side} {n} {word}" for n, word in enumerate(words)]
            (tmp_path / f"{name}.{side}").write_text("\n".join(content) + "\n")

    files = [str(tmp_path / name) for name in ("train.es", "train.shp", "dev.es", "dev.shp")]
    main(["prepare", "corpus", *files[:2], "--check", "--dev-files", *files[2:]])
    out = capsys.readouterr().out
    assert command.PROPOSALS in out and "\nqu\tk" in out
