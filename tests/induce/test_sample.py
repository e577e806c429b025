"""Sampled rules as a grammar: which sweeps count, filters, chains, the command and the system of an experiment."""

import gzip
import itertools
import json
from collections import Counter

import numpy as np
import pytest

from lscfg.cli import main
from lscfg.errors import InputError, counted
from lscfg.extract.extractor import EXTRACTORS, RuleInputs, extractor_names
from lscfg.grammar.select import select_rules
from lscfg.induce.sampled.chain import ChainSettings, run_chain
from lscfg.induce.sampled.convergence import history
from lscfg.induce.sampled.rules import SamplingSettings, sample_rules
from lscfg.induce.sampled.text import read_text
from lscfg.kernel.sample import SamplerOptions, TreeSampler
from lscfg.settings import SettingError

SOURCE = ["a b c d", "a b c", "c a", "b d a", "a", "d c b a"]
TARGET = ["p q r s", "p r q", "p r", "q s p", "p", "s r q p"]
LINKS = ["0-0 1-1 2-2 3-3", "0-0 1-2 2-1", "0-1 1-0", "0-0 1-1 2-2", "0-0", "0-0 1-1 2-2 3-3"]


@pytest.fixture
def corpus(tmp_path):
    for name, lines in (("f", SOURCE), ("e", TARGET), ("a", LINKS)):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return RuleInputs(tmp_path / "f", tmp_path / "e", (tmp_path / "a",))


def as_counts(rules):
    """Counts by the text of a rule."""
    lines = rules.rules.kernel.text(np.arange(len(rules.rules)), [], np.empty((len(rules.rules), 0)))
    return dict(zip(lines.decode().splitlines(), rules.count.tolist(), strict=True))


def test_the_average_is_the_mean_of_the_kept_sweeps(corpus):
    sizes = {"keep_every": 3, "rule_filter": "none"}
    average = sample_rules(corpus, SamplingSettings(sweeps=8, **sizes)).rules
    single = [sample_rules(corpus, SamplingSettings(sweeps=n, sample="last", **sizes)).rules for n in (0, 3, 6)]
    expected = {}
    for rules in single:
        assert rules.samples == 1 and (rules.count == rules.tokens).all()
        for rule, count in as_counts(rules).items():
            expected[rule] = expected.get(rule, 0) + count / 3
    assert as_counts(average) == pytest.approx(expected)
    assert average.samples == 3 and average.tokens.sum() == sum(rules.tokens.sum() for rules in single)


def test_chains_are_joined_and_threads_change_nothing(corpus):
    def run(chains, jobs):
        return as_counts(sample_rules(corpus, SamplingSettings(sweeps=10, chains=chains), jobs).rules)

    assert run(3, 1) == run(3, 3)
    assert run(3, 1) != run(1, 1)
    assert sum(run(3, 1).values()) < 3 * sum(run(1, 1).values())


def test_pairs_count_once_for_each_alignment(corpus):
    twice = RuleInputs(corpus.source, corpus.target, corpus.alignments * 2)
    settings = SamplingSettings(sweeps=0, rule_filter="none")
    once, both = sample_rules(corpus, settings), sample_rules(twice, settings, places=True)
    assert both.rules.pairs == 2 * once.rules.pairs
    assert both.places[:, 1].max() == once.rules.pairs - 1


def test_pairs_count_once_where_an_alignment_is_chosen(corpus, tmp_path):
    (tmp_path / "b").write_text("".join("0-0\n" for _ in LINKS))
    both = RuleInputs(corpus.source, corpus.target, (*corpus.alignments, tmp_path / "b"))
    settings = SamplingSettings(sweeps=30, level_sweeps=0, rule_filter="none", alignments="chosen", burn_in=10)
    found = sample_rules(both, settings, places=True)
    assert found.rules.pairs == len(SOURCE) and set(found.places[:, 1]) == set(range(len(SOURCE)))
    kept = Counter(tuple(place[1:4]) for place in found.places.tolist())
    assert all(kept[pair, 0, len(line.split())] >= found.rules.samples for pair, line in enumerate(SOURCE))
    (first,) = (sample_rules(corpus, settings, places=True).places,)
    assert len(found.places) < len(first), "the other alignment has one rule a pair"
    with pytest.raises(InputError, match="one of at most 8 alignments"):
        sample_rules(RuleInputs(corpus.source, corpus.target, corpus.alignments * 9), settings)


def test_held_out_pairs_of_too_many_rules_count_no_words(corpus, tmp_path, capsys):
    """With and without such a pair, the figure is that of the other pair; alone, it has none."""
    long = [" ".join(f"{side}{k}" for k in range(15)) for side in "fe"] + [" ".join(f"{k}-{k}" for k in range(15))]
    short, found = ["a b", "p q", "0-0 1-1"], {}
    for name, pairs in (("short", [short]), ("both", [long, short]), ("long", [long])):
        for file, lines in zip("xyz", zip(*pairs, strict=True), strict=True):
            (tmp_path / file).write_text("".join(f"{line}\n" for line in lines))
        options = ["--held-out", *(str(tmp_path / file) for file in "xyz"), "--write", f"trace={tmp_path / name}"]
        options += ["--sweeps", "20", "--chains", "2", "--set", "max_cut=15"]
        assert main(arguments(corpus, str(tmp_path / "out"), *options)) == 0
        said = capsys.readouterr().err
        warning = "not scored: 1 held-out pair of more than a million rules; hold out shorter pairs or lower max_cut"
        assert said.count(warning) == (name != "short")
        assert ("held-out log-likelihood of a target word" in said) == (name != "long")
        records = map(json.loads, (tmp_path / name).read_text().splitlines())
        found[name] = [record["held_out"] for record in records if "held_out" in record]
    assert found["both"] == found["short"] and len(found["short"]) == 6 and not found["long"]


def test_held_out_text_is_told_of_and_not_sampled(corpus, tmp_path, capsys):
    for name, line in zip("xyz", ("a b", "p q", "0-0 1-1"), strict=True):
        (tmp_path / name).write_text(f"{line}\n")
    trace, out = tmp_path / "trace", str(tmp_path / "out")
    options = ["--held-out", *(str(tmp_path / name) for name in "xyz"), "--write", f"trace={trace}", "--sweeps", "20"]
    assert main(arguments(corpus, out, *options)) == 0
    told = {r["sweep"]: r["held_out"] for r in map(json.loads, trace.read_text().splitlines()) if "held_out" in r}
    assert set(told) == {0, 10, 20} and all(-20 < value < 0 for value in told.values())
    assert f"held-out log-likelihood of a target word {sum(told.values()) / 3:8.4f}" in capsys.readouterr().err
    assert main(arguments(corpus, out + "2", "--sweeps", "20")) == 0
    assert (tmp_path / "out").read_bytes() == (tmp_path / "out2").read_bytes()
    (tmp_path / "z").write_text("7-7\n")
    assert main(arguments(corpus, out, *options)) == 1
    assert "z:1: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        "--set moves=blocked",
        "--set moves=type --set multiplicity=corrected",
        "--set shards=3",
        "--set shards=6 --set moves=blocked --set base=lexical --set multiplicity=corrected --set offtree=informed "
        "--set burn_in=3",
        "--set moves=blocked --set tables=exact --set multiplicity=corrected",
        "--set base=lexical --set length=geometric",
        "--set start=minimal --set offtree=informed --set burn_in=5",
        "--set start=whole --set process=dp --set tables=exact --set resample=true",
    ],
)
def test_a_chain_of_any_kind_has_the_same_bytes_again(corpus, tmp_path, options):
    outputs = []
    for jobs in ("1", "2"):
        out = tmp_path / jobs
        words = [*options.split(), "--chains", "2", "--sweeps", "12", "--set", "level_sweeps=3", "--jobs", jobs]
        assert main(arguments(corpus, str(out), *words)) == 0
        outputs.append(out.read_bytes())
    assert outputs[0] == outputs[1] and outputs[0]


def test_shards_on_a_cluster_of_this_machine_have_the_same_bytes(corpus, tmp_path):
    outputs = []
    for name, where in (("here", ["--jobs", "1"]), ("there", ["--cluster", "local:2"])):
        words = [
            "--set",
            "shards=2",
            "--set",
            "states=2",
            "--sweeps",
            "12",
            "--write",
            f"derivations={tmp_path / f'{name}.deriv'}",
        ]
        assert main(arguments(corpus, str(tmp_path / name), *words, *where)) == 0
        outputs.append((tmp_path / name).read_bytes() + (tmp_path / f"{name}.deriv").read_bytes())
    assert outputs[0] == outputs[1]


def test_filters_by_the_definition(corpus):
    found = {
        name: sample_rules(corpus, SamplingSettings(sweeps=30, rule_filter=name)).rules for name in ("none", "scope")
    }
    found["hiero"] = sample_rules(corpus, SamplingSettings(sweeps=30, max_symbols=2)).rules
    assert as_counts(found["none"]) == as_counts(found["scope"]) == as_counts(found["hiero"])
    rules = found["none"].rules
    adjacent, scope = rules.scopes()
    for k in range(len(rules)):
        gaps = [symbol < 0 for symbol in rules.src(k).tolist()]
        beside = sum(a and b for a, b in itertools.pairwise(gaps))
        assert (adjacent[k], scope[k]) == (beside, beside + gaps[0] + gaps[-1])
    kept = {name: set(select_rules(counted, 0).kept.tolist()) for name, counted in found.items()}
    small = rules.arity <= 9
    bare = np.array([(rules.src(k) < 0).all() for k in range(len(rules))])
    assert kept["none"] == set(np.flatnonzero(small))
    assert kept["scope"] == set(np.flatnonzero(small & (scope <= 2)))
    assert kept["hiero"] == set(np.flatnonzero((rules.arity <= 2) & (adjacent == 0) & (rules.src_length <= 2) & ~bare))
    assert found["none"].own_glue and not found["scope"].own_glue
    assert select_rules(found["scope"], 0).dropped["outside the filter scope"] == int((small & (scope > 2)).sum())


def test_tokens_are_at_the_places_of_the_rules(corpus):
    source = EXTRACTORS["sampled"]
    settings = source.Settings(sweeps=20, keep_every=5)
    found = source.tokens(corpus, settings)
    counted = source.rules(corpus, settings)
    numbers = select_rules(counted, 0).kept
    assert np.array_equal(np.bincount(found.places[:, 0], minlength=len(numbers)), counted.tokens[numbers])
    for rule, pair, begin, end, *gaps in found.places.tolist():
        words, symbols = SOURCE[pair].split(), []
        position = begin
        while position < end:
            if position in gaps[::2]:
                symbols.append(None)
                position = gaps[2 * gaps[::2].index(position) + 1]
            else:
                symbols.append(words[position])
                position += 1
        spelt = [found.rules.words[s] if s >= 0 else None for s in found.rules.src(rule).tolist()]
        assert symbols == spelt


def test_sources_join_with_others():
    assert extractor_names("sampled+minimal") == ("sampled", "minimal")
    source = EXTRACTORS["sampled"]
    assert source.decoding(source.Settings()).glue
    assert not source.decoding(source.Settings(rule_filter="none")).glue


def test_which_sweeps_and_levels_and_temperatures():
    settings = ChainSettings(sweeps=20, burn_in=20, keep_every=10, level_sweeps=10, start_temperature=8.0)
    assert settings.kept() == (20, 30, 40)
    assert [settings.max_level(t) for t in (1, 10, 11, 40)] == [1, 1, 2, 4]
    assert [settings.temperature(t) for t in (1, 20, 40)] == pytest.approx([8, 1, 1])
    assert ChainSettings(burn_in=2, start_temperature=8.0).temperature(1) == 8
    assert ChainSettings().kept() == (0, 10, 20, 30, 40, 50, 60, 70) and ChainSettings().max_level(70) == 7
    assert ChainSettings(level_sweeps=0).max_level(9) is None


def test_a_chain_without_the_density_factor_is_that_of_the_kernel_and_another_distribution(corpus):
    """Figure 6 of Chung et al. (2014)."""
    made = {}
    for offtree in ("uniform", "ignored"):
        settings = ChainSettings(sweeps=15, level_sweeps=0, offtree=offtree)
        sampler = TreeSampler(read_text(corpus, 7, 100).forests, settings.options())
        assert settings.options() == SamplerOptions(density=offtree == "uniform")
        made[offtree] = run_chain(read_text(corpus, 7, 100), settings, 0, False, 10)
        for sweep in range(1, 16):
            sampler.sweep(sweep)
        assert made[offtree].trace[-1]["log_joint"] == sampler.state().log_joint
        assert history(made[offtree].trace, settings)["distribution"].get("offtree", "uniform") == offtree
    assert made["uniform"].trace[-1]["log_joint"] != made["ignored"].trace[-1]["log_joint"]


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"start_temperature": 200.0}, "start_temperature"),
        ({"start_temperature": 5.0}, "start_temperature"),
        ({"start_temperature": 0.5, "burn_in": 1}, "start_temperature"),
        ({"discount": 1.0}, "discount"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": -1.0}, "alpha"),
        ({"discount": -0.1}, "discount"),
        ({"mean_length": 0.0}, "mean_length"),
        ({"chains": 0}, "chains"),
        ({"keep_every": 0}, "keep_every"),
        ({"length": "none"}, "base"),
        ({"resample": True}, "resample"),
        ({"shards": 0}, "shards"),
        ({"shards": 2, "tables": "exact"}, "shards"),
        ({"shards": 2, "moves": "type"}, "shards"),
        ({"tables": "round"}, "tables"),
        ({"offtree": "ignored", "moves": "tree"}, "offtree"),
        ({"offtree": "ignored", "moves": "blocked"}, "offtree"),
    ],
)
def test_settings_out_of_range(values, name):
    with pytest.raises(SettingError) as error:
        ChainSettings(**values)
    assert error.value.name == name


def arguments(corpus, out, *options):
    return [
        "grammar",
        "sampled",
        str(corpus.source),
        str(corpus.target),
        str(corpus.alignments[0]),
        "-o",
        out,
        *options,
    ]


def test_the_command_writes_a_grammar_and_a_trace(corpus, tmp_path, capsys):
    out, trace = tmp_path / "out.gz", tmp_path / "trace"
    (tmp_path / "text").write_text("a\n")
    options = [
        "--write",
        f"trace={trace}",
        "--sweeps",
        "12",
        "--set",
        "rule_filter=scope",
        "--filter",
        str(tmp_path / "text"),
    ]
    assert main(arguments(corpus, str(out), *options)) == 0
    lines = gzip.decompress(out.read_bytes()).decode().splitlines()
    assert lines and all(line.split(" ||| ")[1] == "a" for line in lines)
    records = [json.loads(line) for line in trace.read_text().splitlines()]
    assert [record["sweep"] for record in records] == list(range(13))
    assert all(record["types"] <= record["tokens"] for record in records)
    assert counted(len(lines), "rule") in capsys.readouterr().err


def test_the_same_seed_writes_the_same_bytes(corpus, tmp_path):
    outputs = []
    for name, options in (("one", "--jobs 1 --seed 3"), ("two", "--jobs 2 --seed 3"), ("three", "--jobs 2 --seed 4")):
        out = tmp_path / name
        assert main(arguments(corpus, str(out), "--chains", "2", "--sweeps", "20", *options.split())) == 0
        outputs.append(out.read_bytes())
    assert outputs[0] == outputs[1] != outputs[2]


def test_levels_that_never_take_part_are_named(corpus, tmp_path, capsys):
    assert main(arguments(corpus, str(tmp_path / "out"), "--sweeps", "4", "--set", "level_sweeps=2")) == 0
    assert "nodes of levels 3 to 7 were never drawn" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("a", "0-0\n" * 5, [], "lines, but"),
        ("a", "9-0\n" * 6, [], "a:1"),
        ("a", "x\n" * 6, [], "a:1"),
        ("f", "\n" * 6, [], "f:1: empty line"),
        ("f", "[X]\n" * 6, [], "f:1"),
        ("f", "|||\n" * 6, [], "f:1"),
        ("e", "p [X,1]\n" * 6, [], "e:1"),
        ("e", "p q r s\n" * 5 + "\n", [], "e:6: empty line"),
        ("e", "p q r s\n" * 7, [], "lines, but"),
        ("f", "a b c\n" * 6, ["--set", "max_words=1"], "raise max_words"),
        ("a", "0-0\n" * 6, ["--set", "shards=7"], "7 shards, but only 6 pairs"),
        ("f", "a\n" * 6, ["--set", "discount=1"], "--set discount: discount must be less than 1"),
        ("a", "0-0\n" * 6, ["--max-targets", "-1"], "at least 1"),
    ],
)
def test_bad_input_is_one_error(corpus, tmp_path, capsys, name, text, options, message):
    (tmp_path / name).write_text(text)
    assert main(arguments(corpus, str(tmp_path / "out"), *options)) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("lscfg grammar") and message in error
    assert not (tmp_path / "out").exists()
