"""Rules on demand against the grammar of the whole text, filtered to a sentence."""

import gzip
import json
import random
import re

import numpy as np
import pytest
from damage import damaged_copies

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.extract import on_demand
from lscfg.extract.hiero import extract_files
from lscfg.extract.hiero_settings import HieroSettings
from lscfg.extract.on_demand import RuleIndex, write_index
from lscfg.formats.rule_index import is_index
from lscfg.grammar.features import RuleFeatures
from lscfg.grammar.select import select_rules
from lscfg.io.read import read_lines
from lscfg.io.tensors import load, save
from lscfg.io.write import write_lines
from lscfg.kernel import LineError, SuffixIndex

SOURCE_WORDS, TARGET_WORDS = "abcdefghijklmnopqrst", "ABCDEFGHIJKLMNOPQRST"


def random_pair(rng, types, most=9):
    """A pair of few words, some without links; links are monotone or of any kind."""
    source, target = (
        [rng.choice(words[:types]) for _ in range(rng.randint(1, most))] for words in (SOURCE_WORDS, TARGET_WORDS)
    )
    if rng.random() < 0.5:
        links = {(i, min(i, len(target) - 1)) for i in range(len(source)) if rng.random() < 0.7}
    else:
        links = {(i, j) for i in range(len(source)) for j in range(len(target)) if rng.random() < 1.2 / len(target)}
    return " ".join(source), " ".join(target), " ".join(f"{i}-{j}" for i, j in sorted(links))


def random_settings(rng):
    return HieroSettings(
        max_phrase=rng.choice([3, 5, 10]),
        max_target_phrase=rng.choice([0, 0, 4]),
        max_symbols=rng.choice([3, 4, 5, 9]),
        max_arity=rng.choice([0, 1, 2, 2]),
        loose=rng.random() < 0.3,
        min_hole=rng.choice([1, 1, 2]),
        max_targets=rng.choice([1, 3, 30]),
    )


def written(folder, pairs):
    """Files of source, target and links."""
    paths = [folder / name for name in ("source", "target", "links")]
    for path, lines in zip(paths, zip(*pairs, strict=True), strict=True):
        write_lines(path, lines)
    return paths


def filtered(files, settings, line):
    """The grammar of the text for one line."""
    source, target, *links = files
    counted = extract_files(source, target, links, settings, wanted=[line])
    kept = select_rules(counted, settings.max_targets, [line]).kept
    return counted.rules.kernel.text(kept, counted.features, RuleFeatures(counted)(kept)).decode() if len(kept) else ""


def check_random_corpora(folder, seeds):
    rules = 0
    for seed in seeds:
        rng = random.Random(seed)
        types = rng.choice([3, 5, 8, 20])
        pairs = [random_pair(rng, types) for _ in range(rng.randint(2, 12))]
        taught = rng.randrange(len(pairs))
        settings = random_settings(rng)
        write_index(folder / "index", *written_apart(folder, pairs[: len(pairs) - taught]), settings, 0)
        index = RuleIndex(folder / "index")
        index.teach(pairs[len(pairs) - taught :])
        files = written(folder, pairs)
        for line in (rng.choice(pairs)[0], random_pair(rng, min(types + 1, 20))[0]):
            expected = filtered(files, settings, line)
            assert index.text(line) == expected, (seed, line)
            rules += expected.count("\n")
    return rules


def written_apart(folder, pairs):
    source, target, links = written(folder, pairs)
    return source, target, [links]


def test_rules_of_random_text_are_those_of_its_grammar(tmp_path):
    """Features and order too, for text of which some is in the file and the rest in memory."""
    assert check_random_corpora(tmp_path, range(12)) > 100


@pytest.mark.nightly
def test_rules_of_much_random_text_are_those_of_its_grammar(tmp_path):
    assert check_random_corpora(tmp_path, range(1000, 2000)) > 10_000


@pytest.fixture
def corpus(tmp_path):
    rng = random.Random(5)
    pairs = [random_pair(rng, 6) for _ in range(60)]
    write_index(tmp_path / "index", *written_apart(tmp_path, pairs), HieroSettings(), 0)
    return pairs, tmp_path / "index"


def test_two_alignments_count_twice(tmp_path):
    rng = random.Random(3)
    pairs = [random_pair(rng, 5) for _ in range(8)]
    files = written(tmp_path, pairs)
    write_lines(tmp_path / "more", [links.split(" ")[0] for *_, links in pairs])
    files.append(tmp_path / "more")
    write_index(tmp_path / "index", *files[:2], files[2:], HieroSettings(), 0)
    for source, *_ in pairs:
        assert RuleIndex(tmp_path / "index").text(source) == filtered(files, HieroSettings(), source)


def test_pairs_are_forgotten(corpus):
    pairs, path = corpus
    index = RuleIndex(path)
    before = index.text(pairs[0][0])
    index.teach([("a b new", "A new", "0-0 2-1"), pairs[3]])
    assert index.text("new") != index.text("zz") == ""
    index.teach([pairs[3]])
    assert index.text("new") == "" and index.text(pairs[0][0]) != before
    index.teach([])
    assert index.text(pairs[0][0]) == before
    with pytest.raises(LineError, match="link '3-0' points beyond"):
        index.teach([("a", "A", "3-0")])


@pytest.mark.parametrize("change", [lambda index: index.teach("a", "A", "0-0"), lambda index: index.forget()])
def test_counts_of_a_text_that_has_changed_are_refused(corpus, change):
    pairs, path = corpus
    index = RuleIndex(path)._index
    index.teach(*pairs[0])
    index.look_up(pairs[0][0], 0, 0)
    change(index)
    with pytest.raises(InputError, match="the text has changed; look up the sentence again"):
        index.count_targets(np.arange(1), 0)


def test_taught_pairs_are_never_sampled(corpus, tmp_path):
    """A rule of one taught pair is found although its words are frequent and one place of each is examined."""
    pairs, path = corpus
    write_index(path, *written_apart(tmp_path, pairs), HieroSettings(max_targets=1000))
    index = RuleIndex(path)
    index.places = 1
    index.teach([("a b c", "Q R S", "0-0 1-1 2-2")] + pairs * 10)
    for rule in ("[X] ||| a b c ||| Q R S |||", "[X] ||| a [X,1] c ||| Q [X,1] S |||", "[X] ||| b ||| R |||"):
        assert any(line.startswith(rule) for line in index.text("a b c").splitlines()), rule


def test_the_oldest_pairs_leave_the_memory_together(corpus, monkeypatch):
    pairs, path = corpus
    monkeypatch.setattr(on_demand, "MOST_TAUGHT", 5)
    monkeypatch.setattr(on_demand, "FORGOTTEN", 2)
    index, other = RuleIndex(path), RuleIndex(path)
    left = []
    for size in range(1, 12):
        left.append(index.teach(pairs[:size]))
        other.teach(pairs[left[-1] : size])
        assert index.text(pairs[0][0]) == other.text(pairs[0][0])
    assert left == [0, 0, 0, 0, 0, 2, 2, 4, 4, 6, 6]


def test_counts_of_earlier_sentences_do_not_change_later_ones(corpus):
    """Target sides are counted once, and again after the text in memory or the samples have changed."""
    pairs, path = corpus
    index, lines = RuleIndex(path), [source for source, *_ in pairs[:12]]
    for places, taught in ((0, []), (3, []), (3, pairs[:2]), (0, pairs[:2]), (0, [])):
        index.places = places
        index.teach(taught)
        for line in lines:
            fresh = RuleIndex(path)
            fresh.places = places
            fresh.teach(taught)
            assert index.text(line) == fresh.text(line), (places, line)


def test_wide_rules_are_left_out(corpus):
    """A limit of three words leaves the rules that can cover three words of the sentence."""
    _, path = corpus
    index, line = RuleIndex(path), "a b c d e f a c"
    _, kept = index.rules(line, max_span=3)
    everything = index.text(line)
    narrow = index.text(line, max_span=3)
    assert 0 < narrow.count("\n") < everything.count("\n")
    windows = [line.split()[i : i + 3] for i in range(6)]
    allowed = {rule for window in windows for rule in index.text(" ".join(window)).splitlines()}
    assert {*narrow.splitlines()} == allowed and narrow.count("\n") == len(kept)


def test_a_sample_repeats_and_is_scaled(tmp_path):
    rng, path = random.Random(5), tmp_path / "index"
    pairs = [random_pair(rng, 6) for _ in range(600)]
    write_index(path, *written_apart(tmp_path, pairs), HieroSettings(), 0)
    index, line = RuleIndex(path), "a b c d e"
    whole, _ = index.rules(line)
    all_places = index.examined()[0]
    index.places = 40
    sampled, kept = index.rules(line)
    assert index.examined()[0] < all_places / 2
    assert index.text(line) == index.text(line)
    names = {whole.rules.text(rule): rule for rule in range(len(whole.rules))}
    assert {sampled.rules.text(rule) for rule in range(len(sampled.rules))} <= {*names}
    assert sampled.count.sum() == pytest.approx(whole.count.sum(), rel=0.3)
    assert np.isfinite(RuleFeatures(sampled)(kept)).all()
    index.places = 10**6
    assert index.text(line) == RuleIndex(path).text(line)


@pytest.mark.parametrize(
    ("settings", "name"), [({"no_singletons": True}, "no_singletons"), ({"significance": 1.0}, "significance")]
)
def test_settings_of_the_whole_text_are_refused(tmp_path, settings, name):
    files = written_apart(tmp_path, [("a", "A", "0-0")])
    with pytest.raises(InputError, match=f"{name} needs the rules of the whole text"):
        write_index(tmp_path / "index", *files, HieroSettings(**settings))


def test_an_index_is_recognised(corpus, tmp_path):
    _, path = corpus
    assert is_index(path) and not is_index(tmp_path / "source") and not is_index(tmp_path / "none")
    (tmp_path / "index.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert is_index(tmp_path / "index.gz")
    with pytest.raises(InputError, match=r"index\.gz: the file is compressed; decompress it with gzip -d"):
        RuleIndex(tmp_path / "index.gz")


def test_damaged_settings(corpus, tmp_path):
    _, path = corpus
    arrays, metadata = load(path, "index")
    for wrong, fault in (
        ("[", "its metadata 'settings' is not JSON"),
        ("{}", "places"),
        ('{"places": "many"}', "places"),
        ('{"places": 1.5}', "places"),
        ('{"places": true}', "places"),
        ('{"places": -1}', "places must be at least 0, not -1"),
        ('{"places": 3000000000}', "places must be at most 2147483647, not 3000000000"),
        ('{"places": 1, "max_phrase": 0}', "max_phrase must be at least 1, not 0"),
        ('{"places": 1, "max_phrase": "x"}', "max_phrase must be a whole number, not 'x'"),
        ('{"places": 1, "max_phrase": null}', "max_phrase must be a whole number, not"),
        ('{"places": 1, "word": 1}', "word is unknown"),
    ):
        save(tmp_path / "bad", arrays, metadata | {"settings": wrong})
        with pytest.raises(InputError, match=rf"bad: damaged settings \({fault}.*\); make the index again") as found:
            RuleIndex(tmp_path / "bad")
        assert not re.search(r"__init__|NoneType|KeyError|argument", str(found.value)), found.value
    assert json.loads(metadata["settings"])["max_phrase"] == 10


def test_damaged_arrays_are_refused_or_harmless(corpus, tmp_path):
    """Wrong numbers in any array give an error or other rules, but no crash."""
    pairs, path = corpus
    arrays, metadata = load(path, "index")
    refused = 0
    for name in sorted(arrays):
        for seed in range(6):
            rng = np.random.default_rng(seed)
            wrong = arrays[name].copy()
            where = rng.integers(0, wrong.size, 1 + wrong.size // 4)
            extreme = np.iinfo(wrong.dtype)
            values = [extreme.min, extreme.max, 0, len(wrong), 1]
            wrong.reshape(-1)[where] = rng.choice(np.array(values, wrong.dtype), len(where))
            save(tmp_path / "bad", arrays | {name: wrong}, metadata)
            try:
                index = RuleIndex(tmp_path / "bad")
                for line in (pairs[0][0], pairs[1][0]):
                    index.text(line)
            except InputError as error:
                refused += "damaged" in str(error)
    assert refused > 10


def test_arrays_of_other_sizes_are_refused(corpus, tmp_path):
    _, path = corpus
    arrays, metadata = load(path, "index")
    fixed = ("src.starts", "tgt.starts", "links.starts", "vocab.offsets", "vocab.order", "lexicon.rows")
    for name in (*fixed, "lexicon.count", "lexicon.total"):
        save(tmp_path / "bad", arrays | {name: arrays[name][:-1]}, metadata)
        with pytest.raises(InputError, match="damaged"):
            RuleIndex(tmp_path / "bad")
    for name in arrays:
        save(tmp_path / "bad", {other: array for other, array in arrays.items() if other != name}, metadata)
        with pytest.raises(InputError, match=f"'{name}' is missing"):
            RuleIndex(tmp_path / "bad")


def test_the_command_writes_the_index_that_the_options_describe(tmp_path, capsys):
    pairs = [random_pair(random.Random(seed), 5) for seed in range(20)]
    files = [str(path) for path in written(tmp_path, pairs)]
    command = ["grammar", "hiero", *files, "--format", "index", "-o", str(tmp_path / "made")]
    assert main([*command, "--places", "0", "--max-targets", "2", "--set", "max_phrase=4"]) == 0
    assert "20 sentence pairs" in capsys.readouterr().err
    settings = HieroSettings(max_phrase=4, max_targets=2)
    index = RuleIndex(tmp_path / "made")
    assert all(index.text(source) == filtered(files, settings, source) for source, *_ in pairs[:5])
    every = ["--filter", files[0], "--per-sentence"]
    assert main(["grammar", "hiero", str(tmp_path / "made"), *every, str(tmp_path / "few")]) == 0
    options = ["--max-targets", "2", "--set", "max_phrase=4"]
    assert main(["grammar", "hiero", *files, *every, str(tmp_path / "all"), *options]) == 0
    names = sorted(path.name for path in (tmp_path / "all").iterdir())
    assert len(names) == 21 and names == sorted(path.name for path in (tmp_path / "few").iterdir())
    for name in names[:-1]:
        assert read_lines(tmp_path / "few" / name) == read_lines(tmp_path / "all" / name)
    assert main(["grammar", "hiero", str(tmp_path / "made"), "-o", str(tmp_path / "none")]) == 1
    assert "an index gives only grammars of sentences" in capsys.readouterr().err
    assert main(["grammar", "hiero", *files, "--places", "3", "-o", str(tmp_path / "none")]) == 1
    assert "--places belongs to --format index" in capsys.readouterr().err
    for wrong, message in (
        (["--places", "-1"], "--places must be 0 to 2,147,483,647, not -1"),
        (["--places", "3000000000"], "--places must be 0 to 2,147,483,647, not 3000000000"),
        (["--sizes"], "--format index needs -o, and no --per-sentence"),
        (["--filter", files[0]], "--format index needs -o, and no --per-sentence"),
    ):
        assert main([*command, *wrong]) == 1
        assert message in capsys.readouterr().err
    assert main(["grammar", "biparsed", *files, "--format", "index", "-o", str(tmp_path / "none")]) == 1
    assert "--format index works with hiero, not with biparsed" in capsys.readouterr().err
    assert main(["grammar", "hiero", *files, "-o", str(tmp_path / "none"), "--format", "index", "--memory", "1"]) == 1


def test_messages_of_the_reader_name_no_model(tmp_path):
    """Indexes, grammars and language models have the format of models."""
    (tmp_path / "bad").write_bytes((200).to_bytes(8, "little") + b"{" + b"x" * 199)
    for name, message in (
        ("bad", "header is malformed; make the index again"),
        ("none", "cannot open the file: No such"),
    ):
        with pytest.raises(InputError, match=message):
            SuffixIndex(tmp_path / name, (10, 0, 5, 2, False, 1))


def test_a_changed_byte_is_refused(corpus, tmp_path):
    """A word that becomes another word of the text fits all arrays, and would change translations."""
    _, path = corpus
    for data in damaged_copies(path.read_bytes(), 40, 3):
        (tmp_path / "bad").write_bytes(data)
        with pytest.raises(InputError, match=r"bad: .*(checksum|damaged|safetensors|not an lscfg|format|metadata)"):
            RuleIndex(tmp_path / "bad")
