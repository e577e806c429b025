"""Corpora made of raw text: what is kept, dropped, set off and written, and the command ``lscfg prepare``."""

import gzip
import json
import random
import re
from collections import Counter
from dataclasses import replace

import messy
import pytest
from little_experiment import run_lscfg

from lscfg.corpus.parallel import check_plain, read_parallel
from lscfg.errors import InputError
from lscfg.io.read import read_lines
from lscfg.parallel.choose import in_processes
from lscfg.prepare import corpus
from lscfg.prepare.corpus import DROPPED, RawFiles, prepare_corpus
from lscfg.prepare.files import RECORD
from lscfg.prepare.near import near_form
from lscfg.prepare.record import Record
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.tokeniser import TOKENISERS
from lscfg.settings import SettingError

WORDS = ("Haus", "Katze", "läuft", "the", "rote", "Berlin", "schnell", "und", "sieht", "a|b", "[X,1]", "ein&aus")


def write(folder, name, lines):
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def raw(tmp_path):
    """300 different pairs as two files."""
    draw = random.Random(3)
    lines = [[" ".join(draw.choices(WORDS, k=draw.randint(3, 12))) + "." for _ in range(300)] for _ in range(2)]
    return tuple(
        write(tmp_path, f"raw.{language}", [f"{n} {line}" for n, line in enumerate(side)])
        for language, side in zip(("de", "en"), lines, strict=True)
    )


def plain(**settings):
    return PrepareSettings(**{"tokeniser": "none", "casing": "none", **settings})


def prepared(folder, files, settings, dev=(), test=(), engine=None):
    folder.mkdir()
    return prepare_corpus(RawFiles(tuple(files), tuple(dev), tuple(test)), settings, folder, engine)


def pairs(folder, name):
    return list(zip(read_lines(folder / f"{name}.de"), read_lines(folder / f"{name}.en"), strict=True))


def remarks(folder):
    head, *rows = (line.split("\t") for line in read_lines(folder / DROPPED))
    assert head == ["path", "line", "set", "done", "reason"]
    return [(int(line), part, done, reason) for _, line, part, done, reason in rows]


SOURCE = ["Ein Haus", "Ein\u00a0Haus", "", "wie hier", "a b c d e f", "x", "\u200b", "gut", "Test  Satz"]
TARGET = ["a house", "a house ", "b", "wie hier", "a", "a b c d e f g h", "y", "good", "test"]


def test_each_drop_has_its_line_and_reason(tmp_path):
    files = write(tmp_path, "a.de", SOURCE), write(tmp_path, "a.en", TARGET)
    held = write(tmp_path, "t.de", ["Test Satz", "", "a b c d e f g"]), write(tmp_path, "t.en", ["test", "", "z"])
    settings = plain(max_length=7, max_ratio=5, drop=["copy"])
    record = prepared(tmp_path / "out", files, settings, test=held)
    assert pairs(tmp_path / "out", "train") == [("Ein Haus", "a house"), ("gut", "good")]
    assert remarks(tmp_path / "out") == [
        (2, "train", "dropped", "duplicate"),
        (3, "train", "dropped", "empty"),
        (4, "train", "dropped", "copy"),
        (5, "train", "dropped", "ratio"),
        (6, "train", "dropped", "long"),
        (7, "train", "dropped", "empty"),
        (9, "train", "dropped", "held out"),
        (2, "test", "kept", "empty"),
    ]
    assert pairs(tmp_path / "out", "test") == [("Test Satz", "test"), ("", ""), ("a b c d e f g", "z")]
    assert record.sizes == {"read": 9, "train": 2, "test": 3}
    assert record.counts["dropped"] == {"copy": 1, "duplicate": 1, "empty": 2, "held out": 1, "long": 1, "ratio": 1}
    assert record.counts["kept"] == {"empty": 1}
    assert record.summary() == [
        "pairs: read 9, train 2, test 3",
        "dropped: copy 1, duplicate 1, empty 2, held out 1, long 1, ratio 1",
        "kept: empty 1",
    ]


def test_duplicates_and_copies_may_stay(tmp_path):
    files = write(tmp_path, "a.de", SOURCE[:4]), write(tmp_path, "a.en", TARGET[:4])
    prepared(tmp_path / "out", files, plain(keep_duplicates=True))
    assert pairs(tmp_path / "out", "train") == [("Ein Haus", "a house")] * 2 + [("wie hier", "wie hier")]


@pytest.mark.parametrize("twice", [False, True])
def test_sets_are_disjoint_and_in_order(tmp_path, raw, twice):
    if twice:
        for path in raw:
            path.write_text(path.read_text() * 2)
    settings = plain(dev=20, test=30, keep_duplicates=twice, unicode="none")
    prepared(tmp_path / "out", raw, settings)
    found = {name: pairs(tmp_path / "out", name) for name in ("train", "dev", "test")}
    assert [len(set(part)) for part in found.values()] == [250, 20, 30] and len(found["train"]) == (
        500 if twice else 250
    )
    assert not {*found["train"]} & {*found["dev"], *found["test"]} and not {*found["dev"]} & {*found["test"]}
    for part in found.values():
        numbers = [int(source.split()[0]) for source, _ in part]
        assert numbers == (sorted(numbers) if not twice or len(part) < 250 else sorted(numbers[:250]) * 2)
    reasons = {row[1:] for row in remarks(tmp_path / "out")}
    assert reasons == ({("train", "dropped", "held out")} if twice else set())
    other = prepared(tmp_path / "other", raw, plain(dev=20, test=30, keep_duplicates=twice, seed=2))
    assert pairs(tmp_path / "other", "test") != found["test"] and other.sizes["test"] == 30


@pytest.mark.parametrize("tokeniser", TOKENISERS.names())
def test_no_pair_beyond_the_limits_is_drawn(tmp_path, raw, tokeniser):
    """A sentence too long to parse stays untranslated, and tuning would learn from it to translate shortly."""
    sides = [list(read_lines(path)) for path in raw]
    junk = {4: ("wort " * 400 + ".", "short ."), 30: ("ja", "word " * 50), 70: ("viele " * 130, "many " * 130)}
    for number, pair in junk.items():
        for side, line in zip(sides, pair, strict=True):
            side[number] = line
    files = [write(tmp_path, f"junk.{language}", side) for language, side in zip(("de", "en"), sides, strict=True)]
    held, own = 140, TOKENISERS[tokeniser].Settings()
    if tokeniser == "spm":
        held, own = 20, replace(own, vocabulary=60)
    settings = PrepareSettings(tokeniser=tokeniser, tokenisation=own, dev=held, test=held)
    prepared(tmp_path / "out", files, settings)
    lengths = [
        (len(source.split()), len(target.split()))
        for name in ("train", "dev", "test")
        for source, target in pairs(tmp_path / "out", name)
    ]
    assert max(map(max, lengths)) <= settings.max_length
    assert all(max(pair) <= settings.max_ratio * min(pair) for pair in lengths)
    dropped = {line: reason for line, part, done, reason in remarks(tmp_path / "out") if done == "dropped"}
    assert dropped.items() >= {5: "long", 31: "ratio", 71: "long"}.items()


@pytest.mark.parametrize("language", ["ja", "de"])
def test_blanks_judge_no_length_without_words(tmp_path, language):
    """A Japanese sentence has no blanks, and the limits are for sub-words where the tokeniser makes them."""
    text = zip(*{"ja": messy.JAPANESE, "de": messy.GERMAN}[language], strict=True)
    files = [write(tmp_path, f"a.{code}", side) for code, side in zip((language, "en"), text, strict=True)]
    tokenisation = replace(TOKENISERS["spm"].Settings(), vocabulary=150)
    settings = PrepareSettings(tokeniser="spm", tokenisation=tokenisation, dev=100)
    prepared(tmp_path / "out", files, settings)
    long = [len(line.split()) > settings.max_ratio for line in read_lines(tmp_path / "out" / "dev.ref.en")]
    assert any(long)  # pairs of all lengths are drawn
    if language == "de":
        settings = replace(settings, max_length=7)
    health, _ = corpus.check_health(RawFiles(tuple(files)), settings)
    assert {"long", "ratio"}.isdisjoint(one.fault for one in health.findings())


@pytest.mark.parametrize("tokeniser", ["moses", "words", "none"])
def test_a_paste_error_changes_no_other_pair(tmp_path, raw, tokeniser):
    """With 400 words next to ten, the rest is prepared, drawn and hence tuned on as without that line."""
    settings = PrepareSettings(tokeniser=tokeniser, dev=30, test=30)
    prepared(tmp_path / "clean", raw, settings)
    sides = [list(read_lines(path)) for path in raw]
    sides[0].insert(99, " ".join(random.Random(1).choices(WORDS, k=400)) + ".")
    sides[1].insert(99, "the house.")
    files = [write(tmp_path, f"junk.{language}", side) for language, side in zip(("de", "en"), sides, strict=True)]
    record = prepared(tmp_path / "junk", files, settings)
    assert record.counts["dropped"]["long"] == 1
    for part in ("train", "dev", "test"):
        assert pairs(tmp_path / "junk", part) == pairs(tmp_path / "clean", part)


@pytest.mark.parametrize(
    "pair",
    {
        "copy": ("ein haus am see .", "ein haus am see ."),
        "script": ("ein haus am see .", "Привет мой друг a house ."),
        "lost characters": ("ein h\ufffdus am see .", "a house at the lake ."),
    }.items(),
    ids=lambda pair: pair[0],
)
def test_no_doubtful_pair_is_drawn(tmp_path, raw, pair):
    """Such a pair may train, but a score against it means nothing."""
    _, (source, target) = pair
    sides = [list(read_lines(path)) for path in raw]
    bad = range(0, 300, 25)
    for number in bad:
        sides[0][number], sides[1][number] = f"{number} {source}", f"{number} {target}"
    files = [write(tmp_path, f"junk.{language}", side) for language, side in zip(("de", "en"), sides, strict=True)]
    prepared(tmp_path / "out", files, plain(dev=120, test=120, unicode="none"))
    rows = {part: {source.split()[0] for source, _ in pairs(tmp_path / "out", part)} for part in ("dev", "test")}
    assert not {str(number) for number in bad} & (rows["dev"] | rows["test"])
    assert {str(number) for number in bad} <= {source.split()[0] for source, _ in pairs(tmp_path / "out", "train")}


def test_doubtful_pairs_are_drawn_where_all_are_doubtful(tmp_path, caplog):
    files = [write(tmp_path, f"f.{language}", [f"same words {n}" for n in range(60)]) for language in ("de", "en")]
    assert prepared(tmp_path / "out", files, plain(dev=10, test=10)).sizes["dev"] == 10
    assert "60 of 60 pairs are doubtful, so dev and test contain such pairs" in caplog.text


def test_too_few_pairs_within_the_limits(tmp_path):
    files = [write(tmp_path, f"f.{language}", ["w " * 101 + str(n) for n in range(9)] + ["a"]) for language in "xy"]
    with pytest.raises(InputError, match=r"1 different pair within max_length and max_ratio is too few .*; add pairs$"):
        prepared(tmp_path / "out", files, plain(source_language="de", target_language="en", dev=5))


def test_long_lines_of_a_given_set_are_warned_of(tmp_path, raw, caplog):
    dev = [write(tmp_path, f"dev.{side}", ["a b", "a " * 120, "c"]) for side in ("de", "en")]
    prepared(tmp_path / "out", raw, plain(), dev)
    assert len(pairs(tmp_path / "out", "dev")) == 3
    warned = caplog.records[-1].getMessage()
    assert f"{dev[0]}: line 2 of 120 words" in warned
    assert "split or remove" in warned


@pytest.mark.parametrize("tokeniser", ["none", "moses", "spm", "words"])
def test_the_bytes_are_the_same_for_any_number_of_processes(tmp_path, raw, tokeniser, monkeypatch):
    if tokeniser not in ("none", "words"):
        pytest.importorskip({"moses": "sacremoses", "spm": "sentencepiece"}[tokeniser])
    monkeypatch.setattr(corpus, "BLOCK", 17)
    own = {"vocabulary": 150} if tokeniser == "spm" else {}
    tokenisation = TOKENISERS[tokeniser].Settings(**own)
    settings = PrepareSettings(tokeniser=tokeniser, tokenisation=tokenisation, dev=10, test=10)
    found = []
    for number, jobs in enumerate((1, 1, 3)):
        with in_processes(jobs) as engine:
            prepared(tmp_path / f"{number}", raw, settings, engine=engine)
        found.append({path.name: path.read_bytes() for path in (tmp_path / f"{number}").iterdir()})
    assert found[0] == found[1] == found[2] and {"train.de", "truecase.en", RECORD} <= found[0].keys()
    for name in ("train", "dev", "test"):  # what lscfg align, derive and tune ask
        for lines in read_parallel(tmp_path / "0" / f"{name}.de", tmp_path / "0" / f"{name}.en"):
            check_plain(lines, name)


def test_new_text_goes_the_way_of_the_corpus(tmp_path, raw):
    made = prepared(tmp_path / "out", raw, plain(casing="true", dev=10, test=10))
    read = Record.read(tmp_path / "out")
    assert read == made
    source, target = (recipe.side() for recipe in read.sides)
    sources = {line.split()[0]: line for line in read_lines(raw[0])}
    for words in read_lines(tmp_path / "out" / "train.de"):
        assert source.encode(sources[words.split()[0]]) == words
    for words, text in zip(
        read_lines(tmp_path / "out" / "test.en"), read_lines(tmp_path / "out" / "test.ref.en"), strict=True
    ):
        assert target.decode(words) == text


@pytest.mark.parametrize("tokeniser", ["none", "moses"])
def test_held_out_pairs_are_found_after_the_words_are_made(tmp_path, tokeniser):
    files = write(tmp_path, "l.de", ["Der Hund.", "Die Katze."]), write(tmp_path, "l.en", ["The dog.", "The cat."])
    held = write(tmp_path, "h.de", ["Der Hund ."]), write(tmp_path, "h.en", ["the dog"])
    record = prepared(tmp_path / "out", files, plain(tokeniser=tokeniser), test=held)
    assert len(pairs(tmp_path / "out", "train")) == 1 and record.counts["dropped"] == {"held out": 1}
    assert remarks(tmp_path / "out") == [(1, "train", "dropped", "held out")]


def test_pairs_that_dev_and_test_share_are_warned_of(tmp_path, raw, caplog):
    dev, test = (
        [write(tmp_path, f"{name}.{side}", lines) for side in ("de", "en")]
        for name, lines in (("dev", ["Ja !", "a b", ""]), ("test", ["c", "ja!", ""]))
    )
    prepared(tmp_path / "out", raw, plain(), dev, test)
    assert f"1 pairs of dev are in test, too: {test[0]}; remove them" in [row.getMessage() for row in caplog.records]


@pytest.mark.parametrize("name", ["dev", "test"])
@pytest.mark.parametrize("sides", [(0, 1, 1), (1, 0, 0), (0, 0, 1), (0, 1, 0)])
def test_files_of_sets_in_the_language_of_the_other_side_are_warned_of(tmp_path, caplog, name, sides):
    """Few pairs suffice; each reference is examined, and --check warns as the preparation does."""
    texts = list(zip(*messy.GERMAN, strict=True))
    files = [write(tmp_path, f"a.{code}", text[:50]) for code, text in zip(("de", "en"), texts, strict=True)]
    held = [write(tmp_path, f"h.{number}", texts[side][60 + number : 70 + number]) for number, side in enumerate(sides)]
    prepared(tmp_path / "out", files, plain(), **{name: held})
    wrong = [f"{path}:" for path, side, own in zip(held, sides, (0, 1, 1), strict=True) if side != own]
    found = [text for text in caplog.messages if "side of the training text; name the source first" in text]
    assert [text.split()[0] for text in found] == wrong
    caplog.clear()
    corpus.check_health(RawFiles(tuple(files), **{name: tuple(held)}), plain())
    assert [text for text in caplog.messages if "name the source first" in text] == found


def test_duplicates_are_found_after_the_words_are_made(tmp_path):
    pytest.importorskip("sacremoses")
    source = ["Der Hund.", "Der Hund .", "der Hund.", "Der Hund!", "Der Kater."]
    files = write(tmp_path, "l.de", source), write(tmp_path, "l.en", ["The dog."] * 5)
    record = prepared(tmp_path / "out", files, plain(tokeniser="moses", casing="lower"))
    assert [pair[0] for pair in pairs(tmp_path / "out", "train")] == ["der hund .", "der hund !", "der kater ."]
    assert remarks(tmp_path / "out") == [
        (2, "train", "dropped", "duplicate"),
        (3, "train", "dropped", "duplicate"),
        (4, "train", "kept", "near duplicate"),
    ]
    assert record.counts == {"dropped": {"duplicate": 2}, "kept": {"near duplicate": 1}}
    record = prepared(tmp_path / "all", files, plain(tokeniser="moses", casing="lower", keep_duplicates=True))
    assert len(pairs(tmp_path / "all", "train")) == 5 and record.counts == {"dropped": {}, "kept": {}}


def test_target_words_alone_carry_marks(tmp_path):
    pytest.importorskip("sacremoses")
    files = write(tmp_path, "l.de", ["Hund ,da und/oder", "x"]), write(tmp_path, "l.en", ["dog ,there and / or", "y"])
    prepared(tmp_path / "out", files, plain(tokeniser="moses"))
    assert pairs(tmp_path / "out", "train")[0] == ("Hund , da und / oder", "dog ▁,￭ there and ▁/▁ or")
    source, target = (recipe.side() for recipe in Record.read(tmp_path / "out").sides)
    assert source.encode("a ,b") == "a , b" and target.encode("a ,b") == "a ▁,￭ b"
    assert target.decode("dog ▁,￭ there and ▁/▁ or") == "dog ,there and / or"


def test_rules_of_another_language_are_warned_of(tmp_path, caplog):
    pytest.importorskip("sacremoses")
    files = write(tmp_path, "l.swh", ["a", "x"]), write(tmp_path, "l.fra_Latn", ["L'eau", "y"])
    prepared(tmp_path / "out", files, plain(tokeniser="moses"))
    assert read_lines(tmp_path / "out" / "train.fra_Latn")[0] == "L' eau"
    assert [row.message for row in caplog.records if "Moses" in row.message] == [
        "Moses knows no abbreviations of the language swh; English ones and general rules for punctuation are used"
    ]


def test_lines_beyond_the_limit(tmp_path):
    files = write(tmp_path, "l.de", ["a" * 100_001, "x"]), write(tmp_path, "l.en", ["b", "y"])
    record = prepared(tmp_path / "out", files, plain(max_length=3))
    assert record.counts["dropped"] == {"long": 1} and pairs(tmp_path / "out", "train") == [("x", "y")]
    with pytest.raises(InputError, match=r"l.de:1: has 100,001 characters; at most 100,000 of a line are prepared"):
        prepared(tmp_path / "other", files, plain(), test=files)


def test_no_near_form_of_a_drawn_pair_is_trained_on(tmp_path):
    lines = [f"Satz {n:03} {end}" for end in (".", "!", "") for n in range(40)]
    files = write(tmp_path, "l.de", lines), write(tmp_path, "l.en", [line.upper() for line in lines])
    prepared(tmp_path / "out", files, plain(dev=10, test=10))
    forms = {name: [near_form(pair) for pair in pairs(tmp_path / "out", name)] for name in ("train", "dev", "test")}
    assert len(forms["train"]) == 60 and len(set(forms["dev"])) == len(set(forms["test"])) == 10
    assert not {*forms["train"]} & {*forms["dev"], *forms["test"]} and not {*forms["dev"]} & {*forms["test"]}


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("Der Hund .", "der hund", True),
        ("„Ja“, sagte er", '"Ja", sagte er.', True),
        ("ｆｕｌｌ", "full", True),
        ("می\u200cروم", "میروم", True),
        ("3 €", "3 $", False),
        ("हिंदी", "हदी", False),
        ("!!!", "???", False),
        ("a b", "a c", False),
    ],
)
def test_near_forms(one, other, near):
    assert (near_form([one]) == near_form([other])) is near


def test_faults_are_repaired_or_warned_of_with_an_example(tmp_path, raw, caplog):
    odd = [
        ("Er sagt &quot;ja&quot;", "He says &quot;yes&quot;"),
        ("<b>gut</b>", "good"),
        ("MÃ¤dchen", "girl"),
        ("Привет A couple kissing", "kissing"),
        ("verloren \ufffd", "lost"),
        ("gleich", "gleich"),  # may be a name
        ("a\rb", "c"),
        ("Brückenstraße – „Ähre“ à la carte, ÄÖÜ", "bridge & <3, AT&T; a < b > c BMW α"),
    ]
    for path, side in zip(raw, zip(*odd, strict=True), strict=True):
        with path.open("a", newline="\n") as file:
            file.writelines(f"{line}\n" for line in side)
    prepared(tmp_path / "out", raw, plain())
    place = f"first {raw[0]}:30"
    assert [record.getMessage() for record in caplog.records] == [
        "1 pair has lost characters: U+FFFD or private characters; convert the text again;"
        f" drop = [\"damaged\"] drops them; {place}5: 'verloren \ufffd'",
        f"1 pair has carriage returns: they become blanks; if they end lines, convert them; {place}7: 'a\\rb'",
        "1 pair has letters of another script: they may be text of another language;"
        f" drop = [\"script\"] drops them; {place}4: 'Привет A couple kissing'",
    ]
    assert pairs(tmp_path / "out", "train")[300:303] == [
        ('Er sagt "ja"', 'He says "yes"'),
        ("gut", "good"),
        ("Mädchen", "girl"),
    ]


@pytest.mark.parametrize("casing", ["true", "lower", "none"])
def test_capitals_of_beginnings_follow_the_development_text(tmp_path, casing):
    train = [write(tmp_path, f"train.{side}", [f"Casa{n} {n}" for n in range(30)]) for side in ("de", "en")]
    dev = [write(tmp_path, "dev.de", ["Una"] * 20), write(tmp_path, "dev.en", ["yej"] * 20)]
    settings = PrepareSettings(tokeniser="none", casing=casing)
    for name, held, line in (("all", (), "Yej . yej"), ("held", dev, "yej . yej")):
        prepared(tmp_path / name, train, settings, held)
        sides = Record.read(tmp_path / name).sides
        expected = line.replace(". y", ". Y") if not held and casing != "none" else "yej . yej"
        assert sides[0].starts and sides[1].side().decode("yej . yej") == expected


def test_several_references(tmp_path, raw):
    held = [write(tmp_path, name, lines) for name, lines in (("d.de", ["Ja."]), ("r1", ["Yes!"]), ("r2", [" Oh  yes"]))]
    prepared(tmp_path / "out", raw, plain(casing="lower"), dev=held)
    found = {path.name: path.read_text() for path in (tmp_path / "out").glob("dev.*")}
    assert found == {
        **{"dev.de": "ja.\n", "dev.en": "yes!\n", "dev.2.en": "oh yes\n"},
        **{"dev.ref.en": "Yes!\n", "dev.ref.2.en": "Oh yes\n"},
    }


def test_bad_input(tmp_path, raw):
    def refused(files, settings, **sets):
        with pytest.raises(InputError) as caught:
            prepared(tmp_path / str(len(list(tmp_path.iterdir()))), files, settings, **sets)
        return str(caught.value)

    assert refused(raw, plain(dev=200, test=100)) == (
        f"{raw[0]}: 300 different pairs are too few for dev = 200, test = 100 and a training text; "
        "lower dev and test ([prepare], or --dev and --test)"
    )
    assert "too few for test = 300 and a training text; lower test ([prepare], or --test)" in refused(
        raw, plain(test=300)
    )
    assert refused(raw, plain(max_length=1)) == (
        f"{raw[0]}: no pair of 300 is left to train on: long 300 (first raw.de:1)"
    )
    one = write(tmp_path, "one", ["a"])
    assert "the dev set needs a source and a reference" in refused(raw, plain(), dev=[one])
    assert f"300 lines, but {one} has 1" in refused(raw, plain(), test=[one, raw[0]])
    empty = write(tmp_path, "empty", [])
    assert refused(raw, plain(), test=[empty, empty]) == f"{empty}: the test set is empty"
    assert refused(raw, plain(test=3), test=raw) == "test is for pairs of the corpus, but the test set has files"
    assert "target_language must be given" in refused([raw[0], one], plain())
    same = refused([raw[0], raw[0]], plain())
    assert "the same language, de; name the languages with --source-language and --target-language, or" in same
    assert "0 is left" in refused([empty, empty], plain(source_language="de", target_language="en"))


@pytest.mark.parametrize("name", ["en", "pt-BR", "zh_Hans_CN", "mni"])
def test_languages(name):
    assert plain(source_language=name, target_language="de").languages([]) == (name, "de")


@pytest.mark.parametrize("name", ["../x", "e", "en/..", "de en", "12"])
def test_what_is_no_language(name):
    with pytest.raises(SettingError, match="source_language must be a language"):
        plain(source_language=name)


def test_a_damaged_record(tmp_path, raw):
    prepared(tmp_path / "out", raw, plain())
    path = tmp_path / "out" / RECORD
    good = path.read_text()
    for bad in (good[:100], "[]", "{}", '{"format": 1}', good.replace('"settings"', '"set"'), "null"):
        path.write_text(bad)
        with pytest.raises(
            InputError, match=f"{re.escape(str(path))}: damaged, or not written by this version of lscfg"
        ):
            Record.read(tmp_path / "out")
    path.write_text(good.replace('"format": 1', '"format": 2'))
    with pytest.raises(InputError, match="has format 2, not 1; prepare the corpus again"):
        Record.read(tmp_path / "out")
    path.unlink()
    with pytest.raises(InputError, match=f"no {RECORD} here; name a folder of lscfg prepare corpus"):
        Record.read(tmp_path / "out")


# ---- the command ----


def test_there_and_back_on_the_command_line(tmp_path, raw):
    out = tmp_path / "out"
    line = ("prepare", "corpus", *raw, "--tokeniser", "none", "--set", "casing=lower", "--test", 25, "-o", out)
    run = run_lscfg(*line)
    assert run.returncode == 0, run.stderr
    assert "pairs: read 300, train 275, test 25" in run.stderr and run.stdout == ""
    apply = run_lscfg("prepare", "apply", out, input="EIN Haus\u00a0|||\n\nZwei", encoding="utf-8")
    assert apply.stdout == "ein haus &vert;||\n\nzwei\n" and apply.returncode == 0
    side = run_lscfg("prepare", "apply", out, raw[1], "--side", "target")
    texts = [re.sub(r"\[x,1\](?= |$)", "&lbrack;x,1]", text.lower()) for text in read_lines(raw[1])]
    assert side.stdout.splitlines() == texts and any("&lbrack;" in text for text in texts)
    restore = run_lscfg("prepare", "restore", out, input=apply.stdout, encoding="utf-8")
    assert restore.stdout == "Ein haus |||\n\nZwei\n"
    bad = run_lscfg("prepare", "apply", out, input=b"gut\n\xff\n".decode("latin-1"), encoding="latin-1")
    assert bad.returncode == 1 and ":2: not valid UTF-8" in bad.stderr


def test_an_older_folder_stays_until_the_new_one_is_whole(tmp_path, raw):
    out = tmp_path / "out"
    line = ("prepare", "corpus", *raw, "--tokeniser", "none", "-o", out)
    assert run_lscfg(*line).returncode == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    failed = run_lscfg(*line, "--set", "max_length=1")
    assert failed.returncode == 1 and "no pair of 300 is left to train on" in failed.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert run_lscfg(*line, "--dev", 5).returncode == 0 and len(read_lines(out / "dev.de")) == 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "raw.de", "raw.en"]
    (out / RECORD).unlink()
    refused = run_lscfg(*line)
    assert refused.returncode == 1 and "exists and is not a folder with prepare.json" in refused.stderr


def test_files_of_somebody_else_in_an_older_folder_are_not_lost(tmp_path, raw):
    out = tmp_path / "out"
    line = ("prepare", "corpus", *raw, "--dev", 20, "--test", 20, "--tokeniser", "moses", "-o", out)
    assert run_lscfg(*line).returncode == 0
    for name in ("train.align", "notes/today.txt"):
        path = out / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine\n")
        refused = run_lscfg(*line)
        assert refused.returncode == 1 and path.read_text() == "mine\n"
        assert f"{path}: does not belong to the preparation and would be lost; move it" in refused.stderr
        path.unlink()
    assert run_lscfg(*line).returncode == 0
    (out / RECORD).write_text("{}")
    refused = run_lscfg(*line)
    assert refused.returncode == 1 and "so the folder's own files are unknown; remove the folder" in refused.stderr


def test_a_check_replaces_its_own_files_only(tmp_path, raw):
    out, prepared = tmp_path / "out", tmp_path / "prepared"
    check = ("prepare", "corpus", *raw, "--check", "-o")
    assert run_lscfg(*check, out).returncode == run_lscfg(*check, out).returncode == 0
    (out / "health.json").unlink()
    refused = run_lscfg(*check, out)
    assert refused.returncode == 1 and "health.html: already exists; name another folder" in refused.stderr
    assert run_lscfg("prepare", "corpus", *raw, "-o", prepared).returncode == 0
    refused = run_lscfg(*check, prepared)
    assert refused.returncode == 1 and "holds a prepared corpus with its own health.json" in refused.stderr


def test_options_of_kinds_and_a_table(tmp_path, raw):
    rows = zip(*map(read_lines, raw), strict=True)
    data = "\n".join(["number\ttarget\tsource", *(f"{n}\t{e}\t{f}" for n, (f, e) in enumerate(rows))])
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(data.encode()))
    line = (
        "prepare",
        "corpus",
        tmp_path / "t.tsv.gz",
        "--set",
        "source_column=3",
        "--set",
        "header=true",
        "--tokeniser",
        "none",
    )
    languages = ("--source-language", "de", "--target-language", "en")
    run = run_lscfg(*line, *languages, "-o", tmp_path / "out")
    assert run.returncode == 0, run.stderr
    record = json.loads((tmp_path / "out" / RECORD).read_text())
    assert record["settings"]["reading"] == {"encoding": None, "source_column": 3, "target_column": 2, "header": True}
    assert len(read_lines(tmp_path / "out" / "train.de")) == 300
    run = run_lscfg(*line, "-o", tmp_path / "out")
    assert run.returncode == 0 and "language is unknown" in run.stderr  # of made-up words
    assert "name both with --source-language, --target-language" in run.stderr
    run = run_lscfg(*line, *languages, "--set", "vocabulary=9", "-o", tmp_path / "out")
    assert run.returncode == 1 and "--set vocabulary: vocabulary is a setting of spm only" in run.stderr
    run = run_lscfg("prepare", "corpus", tmp_path / "t.tsv.gz", "--set", "format=text", "-o", tmp_path / "out")
    assert run.returncode == 1 and "plain text takes two files" in run.stderr


def test_a_file_counts_as_often_as_it_is_named(tmp_path):
    """Weights of parts of the training text: a dictionary once, the text three times; without the key, once each."""
    texts = {"text": (["uno dos tres", "cuatro"], ["maya paya kimsa", "pusi"]), "words": (["agua"], ["uma"])}
    for name, sides in texts.items():
        for lines, language in zip(sides, ("es", "aym"), strict=True):
            (tmp_path / f"{name}.{language}").write_text("\n".join(lines) + "\n")
    files = [tmp_path / f"{name}.{end}" for name in ("text", "words", "text", "text") for end in ("es", "aym")]
    for keep, weight in ((True, 3), (False, 1)):
        (tmp_path / str(keep)).mkdir()
        settings = PrepareSettings("es", "aym", tokeniser="words", keep_duplicates=keep)
        prepare_corpus(RawFiles(tuple(files)), settings, tmp_path / str(keep))
        source, target = (read_lines(tmp_path / str(keep) / f"train.{end}") for end in ("es", "aym"))
        counts = Counter(zip(source, target, strict=True))
        assert counts == {("uno dos tres", "maya paya kimsa"): weight, ("cuatro", "pusi"): weight, ("agua", "uma"): 1}
