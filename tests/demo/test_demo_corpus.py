"""The demo corpus: its contract, and whether its Spanish and English agree with themselves."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import islice, pairwise
from pathlib import Path

import pytest

from lscfg.demo import DemoCorpus, english, generate, spanish, write
from lscfg.demo.corpus import LONGEST, SHORTEST, Pair, pairs, phrasebook
from lscfg.demo.features import CODES
from lscfg.demo.grammar import ENGLISH, SPANISH, Choice, Grammar, GrammarError, Slot, Template
from lscfg.errors import InputError
from lscfg.io.text import read_lines


@pytest.fixture(scope="module")
def corpus() -> DemoCorpus:
    return generate()


@pytest.fixture(scope="module")
def everything(corpus: DemoCorpus) -> list[Pair]:
    return corpus.train + corpus.dev + corpus.test


def test_sizes(corpus: DemoCorpus) -> None:
    assert [len(part) for _, part in corpus.parts()] == [6000, 300, 300]


def test_equal_seeds_give_equal_bytes_and_others_do_not(corpus: DemoCorpus, tmp_path: Path) -> None:
    for name, made in (("a", generate(1)), ("b", generate(1)), ("c", generate(2))):
        write(made, tmp_path / name)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["dev.en", "dev.es", "test.en", "test.es", "train.en", "train.es"]
    for name in names:
        content = [(tmp_path / folder / name).read_bytes() for folder in "abc"]
        assert content[0] == content[1] != content[2]
    assert read_lines(tmp_path / "a" / "train.es") == [source for source, _ in corpus.train]
    assert read_lines(tmp_path / "a" / "test.en") == [target for _, target in corpus.test]


def test_parts_share_no_source_and_repeat_no_pair(corpus: DemoCorpus, everything: list[Pair]) -> None:
    train, dev, test = ({source for source, _ in part} for _, part in corpus.parts())
    assert not (train & dev or train & test or dev & test)
    assert len(set(everything)) == len(everything)
    assert len(dev) == len(test) == 300  # one reference each


def test_a_source_of_train_may_have_several_targets(corpus: DemoCorpus) -> None:
    targets = defaultdict(set)
    for source, target in corpus.train:
        targets[source].add(target)
    assert sum(len(several) > 1 for several in targets.values()) > 100


def test_tokenised_and_in_lower_case(everything: list[Pair]) -> None:
    contraction = re.compile(r"n't|'(m|s|re|ve|d|ll)|o'clock")
    for line in (side for pair in everything for side in pair):
        assert line == line.lower() == " ".join(line.split()) and line
        for token in line.split():
            assert (
                re.fullmatch(r"[^\W\d_]+(-[^\W\d_]+)*|[.,?!¿¡]", token)
                or contraction.fullmatch(token)
                or (token in ("mr.", "mrs."))
            ), line
    assert all(source.count("¿") == source.count("?") == target.count("?") for source, target in everything)
    assert all(source.count("¡") == source.count("!") == target.count("!") for source, target in everything)


def test_lengths(everything: list[Pair]) -> None:
    for side in (SPANISH, ENGLISH):
        lengths = [len(pair[side].split()) for pair in everything]
        assert min(lengths) >= SHORTEST and max(lengths) <= LONGEST
        assert 7.5 < sum(lengths) / len(lengths) < 9.5


def test_vocabulary_is_large_and_mostly_covered(corpus: DemoCorpus) -> None:
    for side in (SPANISH, ENGLISH):
        known = {word for pair in corpus.train for word in pair[side].split()}
        assert len(known) > 1500
        for part in (corpus.dev, corpus.test):
            running = [word for pair in part for word in pair[side].split()]
            unknown = sum(word not in known for word in running)
            assert 0 < unknown < 0.02 * len(running)


def test_tens_of_thousands_of_pairs_can_be_drawn() -> None:
    assert len(list(islice(pairs(3), 20_000))) == 20_000


def test_too_large_or_negative_sizes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="negative"):
        generate(dev=-1)
    monkeypatch.setattr("lscfg.demo.corpus.phrasebook", lambda: Grammar("phrase sentence:\nhola , ana = hello , ana"))
    assert generate(train=1, dev=0, test=0).train == [("hola , ana", "hello , ana")]
    with pytest.raises(InputError, match="fewer sentences"):
        generate(train=2, dev=0, test=0)


# Agreement: the lexicon says what gender and number a noun has; the corpus must heed it.


def noun_forms() -> dict[str, set[tuple[str, str]]]:
    """Gender and number of every noun form; a few words have several."""
    forms: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for _, word, features in phrasebook().nouns():
        forms[word].add((features.gender, features.number))
        if features.number == "s":
            forms[spanish.plural(word)].add((features.gender, "p"))
    forms["guía"].add(("m", "s"))  # a person as well as a book
    return forms


ARTICLES = {
    article: (gender, number)
    for gender, number, articles in (
        ("m", "s", "el un este ese del al nuestro otro"),
        ("f", "s", "la una esta esa nuestra otra"),
        ("m", "p", "los unos estos esos nuestros"),
        ("f", "p", "las unas estas esas nuestras"),
    )
    for article in articles.split()
}


def test_articles_agree_with_their_nouns(everything: list[Pair]) -> None:
    forms = noun_forms()
    checked = 0
    for source, _ in everything:
        for article, word in pairwise(source.split()):
            if article in ARTICLES and word in forms and word not in ("agua", "uno"):
                # "lo", "la", "los" and "las" are pronouns before a verb, which may look like a noun
                if (article, word) in (("la", "cena"),):
                    continue
                assert ARTICLES[article] in forms[word], source
                checked += 1
    assert checked > 4000
    assert not any(re.search(r"\b(la|una|a el|de el) agua\b", source) for source, _ in everything)


def test_predicates_agree_with_their_subjects(everything: list[Pair]) -> None:
    forms = noun_forms()
    endings = {("m", "s"): "o", ("f", "s"): "a", ("m", "p"): "os", ("f", "p"): "as"}
    checked = 0
    for source, _ in everything:
        match = re.match(r"(?:el|la|los|las) (\w+) (?:está|están) (?:muy |demasiado )?(\w+?)(o|a|os|as) \.", source)
        if match and match[1] in forms:
            assert match[3] in {endings[form] for form in forms[match[1]]}, source
            checked += 1
    assert checked > 10


def test_contractions_are_made(everything: list[Pair]) -> None:
    for source, target in everything:
        assert not re.search(r"\b(a|de) el\b|\by (i|hi[^e])|\bo ho?", source.replace(" o'", " ")), source
        assert not re.search(r"\b(i is|i are|he am|we is|they is|do not|can not|will not)\b", target), target


def test_indefinite_article_suits_the_sound(everything: list[Pair]) -> None:
    vowel = re.compile(r"(?!uni|eu|one|use)[aeiou]|hour")
    for _, target in everything:
        for article, word in pairwise(target.split()):
            if article in ("a", "an"):
                assert (article == "an") == bool(vowel.match(word)), target
    assert any(" an hour" in target for _, target in everything)


def test_english_verbs_agree_with_their_subjects(everything: list[Pair]) -> None:
    wrong = re.compile(r"\b(he|she|it) (have|do|want|are|go)\b|\b(i|we|they|you) (has|does|wants|is|goes)\b")
    for _, target in everything:
        for match in wrong.finditer(target):
            # inverted questions and subordinate clauses bring the auxiliary before the subject
            assert re.search(r"(do|does|did|to|what|where|is|can|will|if) $", target[: match.start()]), target


AMBIGUOUS = {
    "banco": ("bank", "bench"),
    "billete": ("ticket", "note|bill"),
    "carta": ("menu", "letter"),
    "cuarto": ("room", "fourth", "quarter"),
    "cuenta": ("bill|check", "account"),
    "deja": ("lend", "let"),
    "derecho": ("straight", "law"),
    "dirección": ("address", "direction"),
    "entrada": ("ticket|admission", "entrance"),
    "estación": ("station", "season"),
    "hora": ("time", "hour", "appointment"),
    "lleva": ("wearing", "carrying", "been", "in the"),
    "llevo": ("take", "been"),
    "muñeca": ("wrist", "doll"),
    "pedir": ("order", "appointment"),
    "perdió": ("lost", "missed"),
    "piso": ("flat|apartment", "floor"),
    "quedamos": ("meet", "staying"),
    "sacó": ("took", "withdrew|took out|got"),
    "servicio": ("service", "toilet|restroom"),
    "su": ("his", "her", "your", "their"),
    "tarde": ("afternoon", "late"),
    "tiempo": ("weather", "time"),
    "tienda": ("shop|store", "tent"),
    "tomar": ("have", "take"),
    "verdes": ("green", "unripe"),
}


@pytest.mark.parametrize("word", AMBIGUOUS)
def test_ambiguous_words_have_their_senses(corpus: DemoCorpus, word: str) -> None:
    for sense in AMBIGUOUS[word]:
        found = [
            source
            for source, target in corpus.train
            if word in source.split() and re.search(rf"\b({sense})s?\b", target)
        ]
        assert found, (word, sense)


def test_the_context_decides_between_senses(everything: list[Pair]) -> None:
    def targets(pattern: str) -> list[str]:
        found = [target for source, target in everything if re.search(pattern, source)]
        assert found, pattern
        return found

    assert all("bench" in target for target in targets(r"sentad[oa]s? en un banco"))
    assert all("bank" in target and "bench" not in target for target in targets(r"ir al banco|euros del banco"))
    assert all("account" in target for target in targets(r"abrir una cuenta|de mi cuenta"))
    assert all(re.search(r"\b(bill|check)\b", target) for target in targets(r"(trae|traerme|pidi\w+) la cuenta"))
    assert all("weather" in target for target in targets(r"qué tiempo"))
    assert all("time" in target for target in targets(r"tiene tiempo"))
    assert all(
        re.search(r"\bmiss", target) for target in targets(r"(perdido|perdió|perdí) el (tren|bus|autobús|avión)")
    )
    assert all(re.search(r"\b(lost|lose)\b", target) for target in targets(r"(perdido|perdió|perdí) (mi|su|nuestro)\b"))
    assert all("floor" in target for target in targets(r"(primer|segundo|tercer|cuarto|quinto) piso"))
    # su is his, her, their or your: whose it is stands at the other end of the clause
    assert all(" his " in target for target in targets(r"^mi (padre|hijo|hermano) ha perdido su"))
    assert all(" her " in target for target in targets(r"^mi (madre|hija|hermana) ha perdido su"))
    assert all(" their " in target for target in targets(r"^mis (padres|hijos|hijas) han perdido su"))
    assert all(" your " in target for target in targets(r"necesito su|cuál es su"))


# The notation and the word forms beneath.


def slots(template: Template) -> set[str]:
    """Keys of the slots anywhere in a template."""
    found: set[str] = set()
    for node in template:
        found |= {node.key} if isinstance(node, Slot) else set()
        found |= {key for option in node.options for key in slots(option)} if isinstance(node, Choice) else set()
    return found


def test_both_sides_of_an_entry_fill_the_same_slots() -> None:
    grammar = phrasebook()
    for phrases in grammar.classes.values():
        for entry in phrases.entries:
            for key, _ in entry.slots:
                if key != "it" and grammar.classes[key.rstrip("+*0123456789")].kind != "person":
                    assert all(key in slots(side) for sides in entry.sides for side in sides), entry.text


def test_alternatives_belong_together(everything: list[Pair]) -> None:
    """What may be left out on one side alone must not carry meaning: days, places and the like."""
    weekdays = {"lunes": "monday", "martes": "tuesday", "jueves": "thursday", "sábado": "saturday", "domingo": "sunday"}
    for source, target in everything:
        for word, translation in (*weekdays.items(), ("ayer", "yesterday"), ("madrid", "madrid")):
            if word in source.split() and "anteayer" not in source and "noche" not in source:
                assert translation in target, (source, target)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("phrase a:\n{b} = {b}", "no class 'b'"),
        ("phrase a:\nroto@b = broken\nnoun b:\nm x = y", "agree with"),
        ("noun a:\nx = y", "starts with one of"),
        ("phrase a:\n(x|y = z", "unbalanced"),
        ("phrase a:\nx | y = z", "parentheses"),
        ("phrase a:\n{B c} {9} = z", "cannot read"),
        ("phrase a:\nx@ = z", "cannot read"),
    ],
)
def test_bad_notation_is_refused(text: str, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        Grammar(text)


@pytest.mark.parametrize(
    ("lemma", "form", "forms"),
    [
        ("hablar", "pres", "hablo hablas habla hablamos hablan"),
        ("perder", "pres", "pierdo pierdes pierde perdemos pierden"),
        ("jugar", "pres", "juego juegas juega jugamos juegan"),
        ("pedir", "pret", "pedí pediste pidió pedimos pidieron"),
        ("dormir", "subj", "duerma duermas duerma durmamos duerman"),
        ("sacar", "pret", "saqué sacaste sacó sacamos sacaron"),
        ("decir", "pret", "dije dijiste dijo dijimos dijeron"),
        ("leer", "pret", "leí leíste leyó leímos leyeron"),
        ("coger", "subj", "coja cojas coja cojamos cojan"),
        ("tener", "fut", "tendré tendrás tendrá tendremos tendrán"),
        ("vivir", "impf", "vivía vivías vivía vivíamos vivían"),
        ("romperse", "perf", "me~he~roto te~has~roto se~ha~roto nos~hemos~roto se~han~roto"),
        ("bañarse", "inf", "bañarme bañarte bañarse bañarnos bañarse"),
    ],
)
def test_spanish_conjugation(lemma: str, form: str, forms: str) -> None:
    made = [spanish.conjugate(lemma, form, who) for who in spanish.PERSONS]
    assert made == [form.replace("~", " ") for form in forms.split()]


def test_plurals_numbers_and_degrees() -> None:
    words = {"luz": "luces", "estación": "estaciones", "autobús": "autobuses", "café": "cafés", "lunes": "lunes"}
    assert {word: spanish.plural(word) for word in words} == words
    assert [spanish.number(n) for n in (0, 22, 31, 100, 101, 580)] == [
        "cero",
        "veintidós",
        "treinta y uno",
        "cien",
        "ciento uno",
        "quinientos ochenta",
    ]
    assert [english.number(n) for n in (0, 22, 100, 205)] == [
        "zero",
        "twenty-two",
        "one hundred",
        "two hundred and five",
    ]
    degrees = [english.compare(word, "er") for word in ("cheap", "big", "pretty", "good", "comfortable", "modern")]
    assert degrees == ["cheaper", "bigger", "prettier", "better", "more comfortable", "more modern"]
    assert [english.compare(word, "est") for word in ("good", "big", "famous")] == ["best", "biggest", "most famous"]
    assert [english.plural(word) for word in ("box", "city", "knife", "key")] == ["boxes", "cities", "knives", "keys"]


def test_possessives_agree_with_owner_and_thing() -> None:
    assert spanish.agree("mi", CODES["fp"], CODES["1p"]) == "nuestras"
    assert spanish.agree("mi", CODES["mp"], CODES["3f"]) == "sus"
    assert english.agree("my", CODES["fp"], CODES["3f"]) == "her"
