"""The demo corpus: its notation, its word forms, and what its sentences keep to."""

import re
from itertools import islice, pairwise
from pathlib import Path
from random import Random

import pytest

from lscfg.demo import DemoCorpus, english, generate, japanese, write
from lscfg.demo.corpus import LONGEST, SHORTEST, Pair, demo_grammar, pairs
from lscfg.demo.grammar import Grammar, GrammarError
from lscfg.errors import InputError
from lscfg.io.read import read_lines


@pytest.fixture(scope="module")
def corpus() -> DemoCorpus:
    return generate(1, 6000, 300, 300)


@pytest.fixture(scope="module")
def everything(corpus: DemoCorpus) -> list[Pair]:
    return [pair for _, part in corpus.parts() for pair in part]


def test_equal_seeds_give_equal_bytes_and_others_do_not(tmp_path: Path) -> None:
    one = generate(1)
    for name, made in (("a", one), ("b", generate(1)), ("c", generate(2))):
        write(made, tmp_path / name)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["dev.en", "dev.ja", "test.en", "test.ja", "train.en", "train.ja"]
    for name in names:
        content = [(tmp_path / folder / name).read_bytes() for folder in "abc"]
        assert content[0] == content[1] != content[2]
    assert read_lines(tmp_path / "a" / "train.ja") == [source for source, _ in one.train]
    assert read_lines(tmp_path / "a" / "test.en") == [target for _, target in one.test]


def test_parts_share_no_source_and_repeat_no_pair(corpus: DemoCorpus, everything: list[Pair]) -> None:
    train, dev, test = ({source for source, _ in part} for _, part in corpus.parts())
    assert not (train & dev or train & test or dev & test)
    assert len(set(everything)) == len(everything)
    assert len(dev) == len(test) == 300  # one reference each


def test_tokenised_and_in_lower_case(everything: list[Pair]) -> None:
    for source, target in everything:
        assert all(re.fullmatch(r"[a-z]+|[.,]", word) for word in source.split()), source
        assert all(re.fullmatch(r"[a-z]+|[.,?]|'s|o'clock|m[rs]\.", word) for word in target.split()), target
        assert (source.split()[-2] == "ka") == target.endswith("?")


def test_lengths(everything: list[Pair]) -> None:
    for side in range(2):
        lengths = [len(pair[side].split()) for pair in everything]
        assert min(lengths) >= SHORTEST and max(lengths) <= LONGEST
        assert 8 < sum(lengths) / len(lengths) < 11


def test_words_are_many_and_mostly_known(corpus: DemoCorpus) -> None:
    for side in range(2):
        known = {word for pair in corpus.train for word in pair[side].split()}
        assert len(known) > 500
        for part in (corpus.dev, corpus.test):
            running = [word for pair in part for word in pair[side].split()]
            assert sum(word not in known for word in running) < 0.01 * len(running)


def test_tens_of_thousands_of_pairs_can_be_drawn() -> None:
    assert len(list(islice(pairs(3), 20_000))) == 20_000


def test_too_large_or_negative_sizes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="negative"):
        generate(dev=-1)
    monkeypatch.setattr(
        "lscfg.demo.corpus.demo_grammar", lambda: Grammar("[sentence]\nan wa ne masu . = ann will sleep .")
    )
    assert generate(train=1, dev=0, test=0).train == [("an wa ne masu .", "ann will sleep .")]
    with pytest.raises(InputError, match="fewer sentences"):
        generate(train=2, dev=0, test=0)


def test_every_entry_can_be_said() -> None:
    """No slot asks for a form that its words do not have, and none is left without one."""
    grammar, rng = demo_grammar(), Random(1)
    for name in grammar.classes:
        for _ in range(200):
            source, target = grammar.draw(name, rng)
            assert source or name == "degree"
            assert not {*"{}@;="} & {*" ".join(source + target)}


SENSES = [
    (r"shashin o to[rt]", "picture"),
    (r"sakana o to[rt]", "fish"),
    (r"yasumi o to[rt]", "holiday"),
    (r"kaze o hi", r"(catch|catches|catching|caught) a cold"),
    (r"piano o hi", "play"),
    (r"jisho o hi", "us(e|es|ed|ing) a dictionary"),
    (r"megane o kake", "w(ear|ore|orn)"),
    (r"kagi o kake", "lock"),
    (r"kusuri o no[mn]", "t(ake|akes|aken|aking|ook) medicine"),
    (r"mizu o no[mn]", "dr[aiu]nk"),
    (r"hashi o wata", "bridge"),
    (r"hashi de", "chopsticks"),
    (r"hana ga saki", "flowers"),
    (r"hana o ka[mn]", "nose"),
    (r"sake o no[mn]", "rice wine"),
    (r"sake o tabe", "salmon"),
    (r"takai (kuruma|tokei|hon)", "expensive"),
    (r"atsui hon", "thick"),
    (r"atsui koohii", "hot"),
]


@pytest.fixture(scope="module")
def many() -> list[Pair]:
    return list(islice(pairs(1), 15_000))


@pytest.mark.parametrize(("pattern", "meaning"), SENSES, ids=[pattern for pattern, _ in SENSES])
def test_words_nearby_decide_what_an_ambiguous_word_means(many: list[Pair], pattern: str, meaning: str) -> None:
    found = [target for source, target in many if re.search(rf"\b{pattern}", source)]
    assert found
    assert all(re.search(meaning, target) for target in found), found


def test_verbs_agree_with_their_subjects(everything: list[Pair]) -> None:
    wrong = re.compile(r"\b(i|we|they|you) (is|has|wants|likes|knows|does)\b|\b(he|she) (are|am|have|want|like|do)\b")
    for _, target in everything:
        for match in wrong.finditer(target):  # questions bring the auxiliary before the subject
            assert re.search(r"(do|does|did|will|not|who|with|has) $", target[: match.start()]), target


def test_the_indefinite_article_suits_the_sound(everything: list[Pair]) -> None:
    for _, target in everything:
        for article, word in pairwise(target.split()):
            if article in ("a", "an"):
                assert (article == "an") == (word[0] in "aeiou"), target


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a]\n{b} = {b}", "no class 'b'"),
        ("[a]\n{b} = {b}\n[b]", "no class 'b'"),
        ("[a]\nb", "no entry of the form"),
        ("a = b", "before the first class"),
        ("[a]\n{b} = c\n[b]\nx = y", "different slots"),
        ("[a]\n{b = {b}\n[b]\nx = y", "cannot read"),
        ("[a]\nx = be@b", "agrees with no slot"),
        ("[a]\n{b.past} = {b}\n[b]\nx = y", "no form of Japanese"),
        ("[a]\n{b} = {b.te}\n[b]\nx = y", "no form of English"),
    ],
)
def test_bad_notation_is_refused(text: str, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        Grammar(text)


def test_entries_have_weights_and_words_the_frequencies_of_ranks() -> None:
    grammar, rng = Grammar("[s]\n3* {a} = {a} ; x = y\n[a]\nfirst = one ; second = two"), Random(1)
    drawn = [grammar.draw("s", rng)[1][0] for _ in range(8000)]
    assert abs(drawn.count("y") / 8000 - 1 / 4) < 0.02
    assert abs(drawn.count("one") / 8000 - 3 / 4 * 4 / 7) < 0.02


@pytest.mark.parametrize(
    ("words", "forms"),
    [
        ("tabe", {"masu": "tabe", "te": "tabe te", "ta": "tabe ta"}),
        ("tegami o kai/kat", {"masu": "tegami o kai", "te": "tegami o kat te", "ta": "tegami o kat ta"}),
        ("nomi/non-", {"masu": "nomi", "te": "non de", "ta": "non da"}),
        ("taka", {"i": "takai", "katta": "takakatta", "ku": "takaku"}),
    ],
)
def test_japanese_forms(words: str, forms: dict[str, str]) -> None:
    assert {form: " ".join(japanese.formed(words.split(), form)) for form in forms} == forms


@pytest.mark.parametrize(
    ("words", "forms"),
    [
        ("eat rice", {"past": "ate rice", "done": "eaten rice", "ing": "eating rice"}),
        ("carry", {"past": "carried", "done": "carried", "ing": "carrying"}),
        ("put out the fire", {"past": "put out the fire", "ing": "putting out the fire"}),
        ("use", {"past": "used", "ing": "using"}),
        ("tom", {"my": "tom 's", "me": "tom"}),
        ("they", {"my": "their", "me": "them"}),
        ("at school", {"to": "to school", "np": "school"}),
        ("at home", {"to": "home", "np": "home"}),
        ("box", {"s": "boxes"}),
        ("dictionary", {"s": "dictionaries"}),
        ("pair of glasses", {"s": "pairs of glasses"}),
        ("easy", {"er": "easier"}),
        ("cute", {"er": "cuter"}),
        ("small", {"er": "smaller"}),
        ("expensive", {"er": "more expensive"}),
    ],
)
def test_english_forms(words: str, forms: dict[str, str]) -> None:
    assert {form: " ".join(english.formed(words.split(), form)) for form in forms} == forms


@pytest.mark.parametrize(
    ("verb", "subject", "form", "expected"),
    [
        ("be", "i", "pres", "am"),
        ("be", "tom", "pres", "is"),
        ("be", "we", "past", "were"),
        ("be", "my aunt", "past", "was"),
        ("be", "she", "done", "been"),
        ("have", "he", "pres", "has"),
        ("do", "they", "pres", "do"),
        ("do", "ann", "pres", "does"),
        ("study", "mr. ito", "pres", "studies"),
        ("teach", "she", "pres", "teaches"),
    ],
)
def test_verbs_agree(verb: str, subject: str, form: str, expected: str) -> None:
    assert english.formed([verb], form, subject.split()) == [expected]
