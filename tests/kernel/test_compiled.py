"""Compiled grammars and language models: the same as their texts, never stale, and harmless when they are damaged."""

import random
from pathlib import Path

import numpy as np
import pytest
from searches import LM_WEIGHT, OOV_WEIGHT, random_arpa

from lscfg import log
from lscfg.errors import InputError
from lscfg.io.tensors import load, save
from lscfg.kernel import Grammar, GrammarLayer, ParseOptions, Vocab
from lscfg.kernel.compiled import compiled_file, save_compiled
from lscfg.kernel.lm import LanguageModel, PhraseScorer, ngram_arrays
from lscfg.kernel.search import SearchOptions, search

RULES = """\
[X] ||| a ||| x ||| F=1.5 G=-0.0 ||| 0-0
[X] ||| a ||| y é ||| G=2 F=1e-300
# a comment

[NP] ||| a b ||| x ||| 0.25 0.5
[X] ||| b [NP,1] ||| [NP,1] y ||| F=1.5 ||| 0-1 1-0
[S] ||| [X,1] b [X,2] ||| [2] x [1] ||| G=1
[X] ||| c ||| ||| F=3
[X] ||| d d ||| z z
[S] ||| [X] ||| [1] ||| F=1 ||| not links
[X] ||| [X,1] [X,2] ||| [X,2] [X,1] ||| H=0.1
[X] ||| d ||| w v ||| H=0.2 ||| 0-1 0-0
"""
SENTENCE = "d b a c b a b d d"


def text_and_compiled(folder, text=RULES):
    """The paths of equal grammars, the second with its compiled form."""
    for name in ("text", "both"):
        (folder / name).write_text(text, encoding="utf-8")
    read = Grammar()
    read.read(folder / "both")
    save_compiled(folder / "both", "grammar", read.arrays())
    return folder / "text", folder / "both"


def content(grammar: Grammar) -> tuple[object, ...]:
    rules = [
        (grammar.lhs(r), grammar.src(r), grammar.tgt(r), grammar.links(r), grammar.arity(r))
        for r in range(len(grammar))
    ]
    words = [grammar.vocab.word(k) for k in range(len(grammar.vocab))]
    categories = [grammar.category_name(k) for k in range(3)]
    features = [array.tobytes() for array in grammar.features()]
    forest = grammar.parse(grammar.vocab.add_line(SENTENCE), ParseOptions(100))
    assert forest is not None
    arrays = [forest.node_cat, forest.node_span, forest.edge_head, forest.edge_tail, forest.edge_apps, forest.app_rule]
    return rules, words, categories, grammar.feature_names, features, [array.tolist() for array in arrays]


def test_a_compiled_grammar_is_that_of_the_text(tmp_path):
    text, both = text_and_compiled(tmp_path)
    first, second = Grammar.from_files([text]), Grammar.from_files([both])
    assert content(first) == content(second)
    both.unlink()  # but the text is still needed, for its hash
    with pytest.raises(InputError, match="cannot read"):
        Grammar().read(both)


def test_words_and_features_that_are_known_keep_their_numbers(tmp_path):
    paths = text_and_compiled(tmp_path)
    found = []
    for path in paths:
        vocab = Vocab()
        vocab.add_line("y unknown b")
        grammar = Grammar(vocab)
        grammar.read_text("[X] ||| e ||| e e ||| H=1 K=2\n")
        grammar.read(path)
        grammar.read_text("[X] ||| f ||| x ||| K=1 L=2 ||| 0-0\n")
        grammar.finish()
        layer = GrammarLayer(grammar)
        layer.add(0, grammar.vocab.add_line("a").tolist(), grammar.vocab.add_line("new").tolist())
        found.append((content(grammar), len(layer)))
    assert found[0] == found[1]


def test_an_empty_grammar_and_empty_sides(tmp_path):
    text, both = text_and_compiled(tmp_path, "")
    assert len(Grammar.from_files([text])) == len(Grammar.from_files([both])) == 0


def lists(path, folder):
    grammar = Grammar()
    for source in "abc":
        for target in ("a b", "b", "c a", "later", "a <unk>", "b b a"):
            grammar.read_text(f"[X] ||| {source} ||| {target} ||| F=1\n")
    grammar.read_text("[X] ||| [X,1] [X,2] ||| [X,2] [X,1] ||| F=1\n")
    grammar.finish()
    model = LanguageModel(path, grammar.vocab)
    forest = grammar.parse(grammar.vocab.add_line("a b c a b c"), ParseOptions())
    assert forest is not None
    options = SearchOptions(30, 100, False, LM_WEIGHT, OOV_WEIGHT)
    found = search(forest, grammar, model, np.zeros(forest.n_apps), options)
    return [getattr(found, name).tobytes() for name in ("score", "lm", "oov", "words", "apps")]


@pytest.mark.parametrize("order", [2, 3, 5])
def test_a_compiled_language_model_gives_the_same_lists(tmp_path, order):
    path = random_arpa(tmp_path / "arpa", order, random.Random(order))
    before = lists(path, tmp_path)
    arrays = ngram_arrays(path)
    assert arrays is not None
    save_compiled(path, "ngrams", arrays)
    assert lists(path, tmp_path) == before
    again = ngram_arrays(path)  # of the mapped model
    assert again is not None
    assert all(np.array_equal(arrays[name], again[name]) for name in arrays)


def test_another_source_is_read_instead_with_a_warning(tmp_path):
    _, both = text_and_compiled(tmp_path)
    both.write_text("[X] ||| a ||| other ||| F=1\n", encoding="utf-8")
    path = random_arpa(tmp_path / "arpa", 3, random.Random(1))
    arrays = ngram_arrays(path)
    assert arrays is not None
    save_compiled(path, "ngrams", arrays)
    path.write_bytes(random_arpa(tmp_path / "other", 2, random.Random(2)).read_bytes())
    with log.held_back() as warnings:
        grammar = Grammar.from_files([both])
        assert LanguageModel(path, Vocab()).order == 2
    assert [grammar.vocab.word(k) for k in range(2)] == ["a", "other"]
    assert [f"{compiled_file(one)}: made from another file" in warnings[k] for k, one in enumerate((both, path))] == [
        True,
        True,
    ]


def test_another_version_is_not_read(tmp_path):
    _, both = text_and_compiled(tmp_path)
    arrays, metadata = load(compiled_file(both), "grammar")
    for version in ("1", "3"):
        save(compiled_file(both), {"unheard": arrays["rules"]}, metadata | {"format": version})
        with log.held_back() as warnings:
            assert len(Grammar.from_files([both])) == 10
        assert len(warnings) == 1
    with pytest.raises(InputError, match="made by another version of lscfg; pack the system again"):
        Grammar().read(compiled_file(both))


def test_a_compiled_file_needs_no_text(tmp_path):
    text, both = text_and_compiled(tmp_path)
    both.unlink()
    assert content(Grammar.from_files([compiled_file(both)])) == content(Grammar.from_files([text]))
    path = random_arpa(tmp_path / "arpa", 3, random.Random(5))
    before = lists(path, tmp_path)
    save_compiled(path, "ngrams", ngram_arrays(path))
    path.unlink()
    assert lists(compiled_file(path), tmp_path) == before
    with pytest.raises(InputError, match="which KenLM cannot read; name the ARPA file"):
        PhraseScorer(compiled_file(path))


def fault(path, kind):
    """The message of a compiled file, None if it can be used."""
    try:
        opened(path, kind)
    except InputError as error:
        return str(error)
    return None


def opened(path, kind):
    if kind == "grammar":
        grammar = Grammar.from_files([path])
        grammar.parse(grammar.vocab.add_line(SENTENCE), ParseOptions(100))
    else:
        lists(path, None)


@pytest.fixture(params=["grammar", "ngrams"])
def compiled(request, tmp_path):
    """A source with its compiled form, and their kind."""
    if request.param == "grammar":
        return text_and_compiled(tmp_path)[1], "grammar"
    path = random_arpa(tmp_path / "arpa", 3, random.Random(3))
    arrays = ngram_arrays(path)
    assert arrays is not None
    save_compiled(path, "ngrams", arrays)
    return path, "ngrams"


def test_damaged_bytes_are_one_error(compiled):
    path, kind = compiled
    place = Path(compiled_file(path))
    data = place.read_bytes()
    rng = random.Random(1)
    for cut in (0, 5, len(data) // 2, len(data) - 1):
        place.write_bytes(data[:cut])
        assert str(place) in (message := fault(path, kind)) and "; " in message
    for _ in range(100):
        damaged = bytearray(data)
        at = rng.randrange(len(data))
        damaged[at] ^= 1 << rng.randrange(8)
        place.write_bytes(damaged)
        with log.held_back() as warnings:
            message = fault(path, kind)
        if message is None:
            assert warnings, at  # of the hash of the source or of the version
        else:
            assert str(place) in message and "; " in message  # the cure
            assert "\n" not in message


def test_hostile_values_with_a_right_checksum_never_crash(compiled):
    path, kind = compiled
    arrays, metadata = load(compiled_file(path), kind)
    rng, refused, rounds = np.random.default_rng(7), 0, 300
    for _ in range(rounds):
        changed = {name: array.copy() for name, array in arrays.items()}
        name = sorted(changed)[rng.integers(len(changed))]
        array = changed[name]
        if rng.random() < 0.2 or not array.size:
            changed[name] = np.resize(array, (max(0, array.shape[0] + rng.integers(-2, 3)), *array.shape[1:]))
        else:
            for _ in range(rng.integers(1, 4)):
                value = [-1, -2, 0, 1, 7, 127, 255, 2**31 - 1, -(2**31), int(rng.integers(50))][rng.integers(10)]
                flat = array.reshape(-1)
                flat[rng.integers(flat.size)] = np.array(value).astype(array.dtype)
        save(compiled_file(path), changed, metadata)
        message = fault(path, kind)
        refused += message is not None
        assert message is None or ("\n" not in message and "; " in message)
    assert rounds / 5 < refused <= rounds


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("rules", lambda a: np.concatenate([a, a]), "'symbols' does not fit"),
        ("rules", lambda a: a[:, :4].copy(), "'rules' does not fit"),
        ("values", lambda a: a * np.nan, "'values' does not fit"),
        ("links", lambda a: a + 9, "'links' does not fit"),
        ("links", lambda a: a * 0, "'links' does not fit"),  # of a nonterminal
        ("ids", lambda a: a * 0, "'ids' does not fit"),  # a rule's feature twice
        ("which", lambda a: a - 1, "'which' does not fit"),
        ("ids", lambda a: a[1:].copy(), "'which' does not fit"),
        ("word_offsets", lambda a: a[::-1].copy(), "'words' does not fit"),
    ],
)
def test_faults_of_grammars_are_named(tmp_path, name, change, message):
    _, both = text_and_compiled(tmp_path)
    arrays, metadata = load(compiled_file(both), "grammar")
    save(compiled_file(both), {**arrays, name: change(arrays[name])}, metadata)
    with pytest.raises(InputError, match=message):
        Grammar().read(both)


def test_faults_of_language_models_are_named(tmp_path):
    path = random_arpa(tmp_path / "arpa", 3, random.Random(4))
    arrays = ngram_arrays(path)
    assert arrays is not None
    last = len(arrays["last"]) - 1
    for name, at, value in (
        ("suffix", last, last),  # a circle
        ("context", last, last),
        ("context", last, 0),
        ("last", last, last),
        ("last", 2, 1),
        ("log10p", last, np.nan),
        ("backoff", 2, np.inf),
    ):
        changed = arrays[name].copy()
        changed[at] = value
        others = (
            {"last": np.r_[arrays["last"][:-1], arrays["last"][-2]]} if value == arrays["context"][last - 1] else {}
        )
        save_compiled(path, "ngrams", {**arrays, **others, name: changed})
        with pytest.raises(InputError, match="'context' does not fit"):
            LanguageModel(path, Vocab())
    twice = {
        name: np.r_[arrays[name], arrays[name][-1:]] for name in ("log10p", "backoff", "suffix", "context", "last")
    }
    save_compiled(path, "ngrams", {**arrays, **twice})  # an n-gram
    with pytest.raises(InputError, match="'context' does not fit"):
        LanguageModel(path, Vocab())
    save_compiled(path, "ngrams", {**arrays, "suffix": arrays["suffix"][1:]})
    with pytest.raises(InputError, match="'context' does not fit"):
        LanguageModel(path, Vocab())


def test_the_checksum_covers_files_of_every_length(tmp_path):
    """The kernel's checksum goes by 64, 16 and single bytes; the writer's is zlib's."""
    path = tmp_path / "grammar"
    for length in range(1, 130):
        path.write_text(f"[X] ||| {'w' * length} ||| x ||| F=1\n", encoding="utf-8")
        read = Grammar()
        read.read_text(path.read_text(encoding="utf-8"))
        save_compiled(path, "grammar", read.arrays())
        assert Grammar.from_files([path]).vocab.word(0) == "w" * length
        data = bytearray(Path(compiled_file(path)).read_bytes())
        data[-5 - length % 20] ^= 1
        Path(compiled_file(path)).write_bytes(data)
        with pytest.raises(InputError, match="the checksum does not fit"):
            Grammar().read(path)
        Path(compiled_file(path)).unlink()
