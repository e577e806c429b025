"""Text to words and back: what is cleaned, protected, put into other letters and taken apart, and the way back."""

import re
import sys
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lscfg.corpus.parallel import check_plain, check_sentence
from lscfg.errors import InputError
from lscfg.kernel import words_fault
from lscfg.prepare.casing import (
    Letters,
    Lower,
    Truecaser,
    begins_small,
    count_forms,
    raise_starts,
    read_forms,
    shared_names,
    write_forms,
)
from lscfg.prepare.clean import UNICODE_FORMS, clean, protect_words, restore_words
from lscfg.prepare.sides import ModelFile, SideRecipe
from lscfg.prepare.spacing import MARKS, without_marks
from lscfg.prepare.tokeniser import TOKENISERS

TEXT = [
    "Two young, White males are outside near many bushes.",
    'He said: "It\'s 3.50 dollars (or so)!" Then he left.',
    "The Berlin-based firm's CEO, Mr. Smith, lives in Berlin.",
    "I saw Berlin; the firm isn't there.",
] * 5

HOSTILE = st.text(
    st.one_of(
        st.sampled_from("|[]X<&;>() \t\r\n'\"\u2581\xa0\u200b\u200d\u2028\ufeff\0\x1f\x85\xad\u0301.,-aZß"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=30,
) | st.sampled_from(["||| [X] [X,1]", "((('a',1)))", '<seg id="1"> x </seg>', "&vert; &amp;amp;", "<unk> <s> </s>"])


def accepted(words: str) -> None:
    """Makes the checks of ``lscfg align``, ``derive`` and the decoders."""
    check_sentence(words, "text", 1, allow_empty=True)
    check_plain([words], "text")
    assert words == " ".join(words.split()) and "\n" not in words


def recipe(tmp_path, tokeniser, casing="none", lines=TEXT, **settings) -> SideRecipe:
    """A side with a model of its own."""
    found = TOKENISERS[tokeniser]
    own = found.Settings(**settings)
    made = SideRecipe("en", "nfc", casing, tokeniser, own)
    if casing == "true":
        write_forms(tmp_path / "truecase", count_forms(lines, not made.subwords))
        made = replace(made, case_model=ModelFile.of(tmp_path / "truecase"))
    if (data := found.train_model(lines, "source", own)) is not None:
        (tmp_path / "model").write_bytes(data)
        made = replace(made, word_model=ModelFile.of(tmp_path / "model"))
    return made


def needs(tokeniser: str) -> None:
    """Skips without the tokeniser's package."""
    if tokeniser not in ("none", "words"):
        pytest.importorskip({"moses": "sacremoses", "spm": "sentencepiece"}[tokeniser])


# ---- cleaning ----


CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]


def lines_of(characters):
    """Lines of 512 characters, each between two letters."""
    for begin in range(0, len(characters), 512):
        yield "".join(f"a{character}b" for character in characters[begin : begin + 512])


@pytest.mark.parametrize("form", UNICODE_FORMS)
def test_no_character_is_left_that_is_refused(form):
    for raw in lines_of(CHARACTERS):
        line = clean(raw, form)
        assert words_fault(line) is None and line == " ".join(line.split()), ascii(raw)


def test_no_character_is_lost_that_words_may_have():
    for line in lines_of([character for character in CHARACTERS[0x21:] if character != "\u2581"]):
        if not (clean(line, "none") == line and words_fault(line) is None):
            for word in re.findall("a.b", line, re.DOTALL):
                assert (clean(word, "none") == word) is (words_fault(word) is None), ascii(word)


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("\ufeff a\xa0 b\u3000c\td ", "a b c d"),
        ("so\xadft ze\u200bro \u202amark\u202c", "soft zero mark"),
        ("नमस्\u200dते \u200c", "नमस्\u200dते \u200c"),
        ("cafe\u0301 \ufb01", "café \ufb01"),
        ("e\u200b\u0301", "é"),
        ("\u2581x", "_x"),
        ("\u200b \x07", ""),
    ],
)
def test_cleaning(raw, cleaned):
    assert clean(raw) == cleaned


def test_unicode_forms():
    assert clean("e\u0301 ﬁ ①", "nfkc") == "é fi 1" and clean("e\u0301 ﬁ", "none") == "e\u0301 ﬁ"


@given(HOSTILE, st.sampled_from(UNICODE_FORMS))
def test_clean_text_stays_as_it_is(line, form):
    once = clean(line, form)
    assert clean(once, form) == once
    assert form == "none" or unicodedata.is_normalized(form.upper(), once)


@pytest.mark.parametrize(
    ("words", "protected"),
    [
        ("a ||| b |||| x|||", "a &vert;|| b |||| x|||"),
        ("[X] [] [a] a[b] [a]b", "&lbrack;X] [] &lbrack;a] a[b] [a]b"),
        ("((('a',1))) (((", "&lpar;(('a',1))) ((("),
        ("<SEG id=1> <seg>", "&lt;SEG id=1> <seg>"),
        ("R&D &amp; &vert;", "R&D &amp;amp; &amp;vert;"),
    ],
)
def test_only_reserved_words_are_protected(words, protected):
    assert protect_words(words) == protected and restore_words(protected) == words


@given(HOSTILE.map(clean))
def test_protection_is_undone(words):
    accepted(protect_words(words))
    assert restore_words(protect_words(words)) == words


# ---- capital letters ----


def test_the_truecaser_counts_forms_within_sentences():
    lines = ["The man saw the Berlin wall .", "Berlin is big . The wall is , too .", "iPhone owners like Mr. Smith"]
    forms = count_forms(lines, tokenised=True)
    assert forms["the"] == 1 and "The" not in forms and forms["Berlin"] == 1 and forms["Smith"] == 1
    caser = Truecaser(forms, tokenised=True)
    assert caser.encode("The Wall . Berlin Fell") == "the wall . Berlin Fell"
    assert caser.encode("THE BERLIN man") == "the Berlin man"
    assert caser.encode("Unknown Words stay") == "Unknown Words stay"
    assert caser.decode("the wall . berlin fell") == "The wall . Berlin fell"
    assert caser.decode("iPhone users") == "iPhone users"


def test_sentences_of_text_that_is_not_tokenised():
    forms = count_forms(["He is. The man is the one.", 'Yes." The end'], tokenised=False)
    assert forms["the"] == 1 and "The" not in forms
    assert raise_starts("¿ you are? \"it's e.g. this. well", False) == "¿ You are? \"It's e.g. This. Well"
    assert raise_starts("ßa ǆa 3 men", False) == "Ssa ǆa 3 men"


def test_equal_counts_are_decided_alike():
    forms = {"Ab": 2, "AB": 2, "ab": 1}
    assert Truecaser(forms, True).best == Truecaser(dict(reversed(forms.items())), True).best == {"ab": "AB"}


RARE_SMALL = ["the old house", "Jain ea", "María joni", "USA joni", "McGee joni"]
RARE_CAPITAL = ["er sah Haus Hof Garten", "Jain"]


def test_words_at_starts_only_are_written_like_other_rare_words():
    forms = count_forms(RARE_SMALL, True, names={"María"})
    assert {form for form, count in forms.items() if not count} == {"jain"}
    caser = Truecaser(forms, True)
    assert caser.encode("María jain . Jain USA") == "María jain . jain USA"
    assert caser.encode("ea Jain McGee") == "ea jain McGee"
    assert caser.decode("ea jain . jain") == "Ea jain . Jain"
    assert Truecaser(count_forms(RARE_SMALL, True), True).encode("María") == "maría"
    assert "jain" not in count_forms([line.title() for line in RARE_SMALL], True)
    assert "jain" not in count_forms(RARE_CAPITAL, True)


def test_names_are_capitalised_words_that_both_sides_begin_alike():
    sources = ["José vio a Jehová .", "Casa de Ana", "que Pedro"]
    targets = ["josé Jehovakan oinke", "Xobo Ananra", "Jawe pedro"]
    assert shared_names(sources, targets) == {"Jehová", "Jehovakan", "Ana", "Ananra"}


@pytest.mark.parametrize(
    ("firsts", "small"), [("a" * 10 + "B" * 10, True), ("a" * 9 + "B" * 11, False), ("a" * 19 + "漢" * 9, None)]
)
def test_lines_begin_small_if_half_of_them_do(firsts, small):
    numbers = ["1 Casa", "2"]
    assert begins_small([f"“{first}字x" if first != "漢" else "漢字" for first in firsts] + 20 * numbers) is small


@pytest.mark.parametrize("casing", ["true", "lower"])
def test_sentences_that_begin_small_in_the_text_stay_small(tmp_path, casing):
    made = replace(recipe(tmp_path, "none", casing), starts=False).side()
    assert made.decode("ya hijo . ya") == "ya hijo . ya"


def test_lower():
    assert Lower(True).encode("ÄBC Def") == "äbc def" and Lower(True).decode("äbc def .") == "Äbc def ."


def test_forms_in_a_file(tmp_path):
    forms = {"the": 3, "The": 1, "Öl": 2}
    write_forms(tmp_path / "forms", forms)
    assert read_forms(tmp_path / "forms") == forms
    for bad in ("the", "the\tmany", "\t3", f"the\t{'9' * 5000}"):
        (tmp_path / "forms").write_text(f"a\t1\n{bad}\n")
        with pytest.raises(InputError, match="forms:2: not a word and its count"):
            read_forms(tmp_path / "forms")


# ---- capital letters of languages ----


@pytest.mark.parametrize(
    ("language", "raw", "low", "back"),
    [
        ("tr", "İyi Irak iyi.", "iyi ırak iyi.", "İyi ırak iyi."),
        ("tur_Latn", "Irak güzel. İyi.", "ırak güzel. iyi.", "Irak güzel. İyi."),
        ("az", "İI\u0307Iı.", "iiıı.", "İiıı."),
        ("aze-Cyrl", "Ии II.", "ии ii.", "Ии ii."),
        ("en", "İstanbul.", "i\u0307stanbul.", "İstanbul."),
        ("nl", "IJsland. IJs, Ijzer.", "ijsland. ijs, ijzer.", "IJsland. IJs, ijzer."),
        ("nld", "'s Avonds is 't laat.", "'s avonds is 't laat.", "'s Avonds is 't laat."),
        ("af", "’n Man kom. ’n Vrou.", "’n man kom. ’n vrou.", "’n Man kom. ’n Vrou."),
        ("en", "'S is.", "'s is.", "'S is."),
        ("lt", "Ìšėjo Į\u0301.", "i\u0307\u0300šėjo į\u0307\u0301.", "Ìšėjo į\u0307\u0301."),
        ("el", "ΟΔΥΣΣΕΥΣ; Άνθρωπος.", "οδυσσευς; άνθρωπος.", "Οδυσσευς; Άνθρωπος."),
        ("de", "Straße GROẞ.", "straße groß.", "Straße groß."),
        ("hr", "ǅep. Ǆ.", "ǆep. ǆ.", "ǅep. ǅ."),
        ("haw", "ʻĀina. ʻOno.", "ʻāina. ʻono.", "ʻĀina. ʻOno."),
        ("chr", "ᏣᎳᎩ Ꭶ.", "ᏣᎳᎩ Ꭶ.", "ᏣᎳᎩ Ꭶ."),
        ("yo", "Ọ̀rẹ́. Ẹ̀.", "ọ̀rẹ́. ẹ̀.", "Ọ̀rẹ́. Ẹ̀."),
        ("hy", "Ա բ։ Գ դ։", "ա բ։ գ դ։", "Ա բ։ Գ դ։"),
        ("", "H̱ay. T̈. ʼN.", "ẖay. ẗ. ʼn.", "H̱ay. T̈. ʼN."),
    ],
)
def test_letters_of_languages(language, raw, low, back):
    raw, low, back = (unicodedata.normalize("NFC", text) for text in (raw, low, back))
    for tokenised, spread in ((False, str), (True, lambda text: re.sub(r"([.;։])", r" \1", text))):
        caser = Lower(tokenised, language)
        assert caser.encode(spread(raw)) == spread(low)
        assert caser.decode(spread(low)) == spread(back)


@pytest.mark.parametrize("language", ["tr", "az", "nl", "lt", "el", "de", "en", "chr", "zz"])
def test_casing_keeps_the_normal_form_of_every_letter(language):
    letters = Letters(language)
    for code in range(0x20000):
        character = chr(code)
        cased = code < 0x3000 or character.swapcase() != character
        if cased and character.isalpha() and unicodedata.is_normalized("NFC", character):
            for after in ("", "\u0301", "\u0323", "\u0307"):
                word = unicodedata.normalize("NFC", character + after)
                low = letters.lower(word)
                assert unicodedata.is_normalized("NFC", low) and letters.lower(low) == low, ascii(word)
                assert unicodedata.is_normalized("NFC", letters.title(low)), ascii(word)


def test_truecasing_by_the_letters_of_a_language():
    lines = ["Bu Irak ve İyi .", "Bu iyi Irak .", "Iyi o ."]
    caser = Truecaser(count_forms(lines, True, "tr"), True, "tr")
    assert caser.encode("IRAK iyi") == "Irak iyi" and caser.encode("İYİ IRAK") == "iyi Irak"
    assert caser.decode("iyi Irak . ısı") == "İyi Irak . Isı"


def test_marked_stops_end_sentences():
    assert raise_starts("a ￭. b ▁! ▁ c", True) == "A ￭. B ▁! ▁ C"
    assert raise_starts("8 p . m . ya ￭. e . g ￭. x", True) == "8 p . m . Ya ￭. E . g ￭. X"


@pytest.mark.parametrize(
    ("line", "tokenised", "raised"),
    [
        ("A page ?￭ id =￭ 5 ?￭ ￭=￭ x", True, "A page ?￭ id =￭ 5 ?￭ ￭=￭ x"),
        ('a . ￭" so . "￭ he', True, 'A . ￭" So . "￭ He'),
        ("a ( ? ) buys [￭ … ￭] x", True, "A ( ? ) buys [￭ … ￭] x"),
        ("a (?) buys [...] x. (no.) y? (!) z", False, "A (?) buys [...] x. (No.) Y? (!) Z"),
    ],
)
def test_stops_within_words_and_brackets_end_no_sentence(line, tokenised, raised):
    assert raise_starts(line, tokenised) == raised


# ---- words of scripts and languages ----

REAL = {
    "fa": ["می\u200cروم به خانه؛ آیا «تو» می\u200cآیی؟", "کتاب‌ها، قلم‌ها."],
    "ar": ["ذَهَبَ الوَلَدُ إِلَى المَدْرَسَةِ، ثُمَّ عادَ؟", "بلغت ٣٫٥٪ (تقريبًا)."],
    "hi": ["नमस्ते दुनिया। क्या हाल है? ठीक॥", "क्\u200dष और क्\u200cष अलग हैं।"],
    "ml": ['അവന്‍ പറഞ്ഞു: "വരൂ".'],
    "ta": ["வணக்கம், உலகம்!"],
    "he": ['צה״ל וצה"ל, בית־ספר (ג׳ירפה).', "הוּא אָמַר: „שָׁלוֹם”."],
    "hy": ["Ինչո՞ւ, այո՛։ «Լավ»։"],
    "am": ["ሰላም፡ለዓለም። እንዴት፣ ነህ፤"],
    "ka": ["„გამარჯობა“, თქვა მან — კარგი."],
    "ko": ["안녕하세요, “세계”! 서울(서울시)에서는 3.5%가…"],
    "el": ["Τι κάνεις; Καλά· ευχαριστώ («πολύ»)."],
    "ru": ["Он сказал: «Привет!» — и ушёл. Стра́нно."],
    "uk": ["П'ять об’єктів і 'лапки'; з'їзд."],
    "fr": ["L'eau d'ici : « Oui ! » Non? Aujourd’hui l’été."],
    "tdt": ["Ne'e duni, Timór-Leste: ema-nia direitu."],
    "pt": ["«Água» · d'água; os/as étudiant·e·s?"],
    "it": ["L'acqua dell'isola; un po' di più: perch'è così."],
    "ca": ["L'home de l'illa, il·lusió: agafa'l · d'aigua."],
    "ga": ["D'ól sé b'fhéidir; an tAthair 'sea'."],
    "mt": ["Ta' Malta, x'inhu u l-iskola; sa' llum."],
    "fi": ["EU:n ja USA:ssa 20:een: näin klo 10:30."],
    "sv": ["S:t Erik, EU:s: ”ja” sade ’hon’."],
    "de": ["„Gut“, sagte er; »So« geht's nicht – ok (1990–2000)/x."],
    "tr": ["Ankara'nın İzmir'de '4'ün katı'."],
    "yo": ["Ọ̀rẹ́ mi, ẹ kú àárọ̀."],
    "vi": ["Xin chào, “thế giới”!"],
    "en": [
        "Family 👨‍👩‍👧‍👦 here 🇩🇪🇫🇷, 👍🏽 1️⃣ ❤️!",
        'It\'s 10:30: "and/or" a_b, R&D -- user@example.com, http://a.b/c?d=e&f=g#h.',
        "The boys' toys; don’t ‘quote’ “this”… 50 % of $5 or 5€, ￭ and ￭￭ x￭y.",
        "<b>x</b> 3 < 4, DOTMULTI DOTDOTMULTI. ... .. a...b ( c ) [d ] ' e '",
        "日本語 です。 中文，和English混合。",
    ],
    "quc": ["K'o jun ri k'aslemal, ri'."],
}


@pytest.mark.parametrize("language", REAL)
def test_text_of_every_script_comes_back(language):
    pytest.importorskip("sacremoses")
    tokeniser = TOKENISERS["moses"]
    splitter = tokeniser.open(language, tokeniser.Settings(), None)
    for line in map(clean, REAL[language]):
        words = splitter.encode(line)
        accepted(protect_words(" ".join(words)))
        assert splitter.decode(words) == line
        assert not any(unicodedata.category((word.strip(MARKS) or word)[0])[0] == "M" for word in words), words


@pytest.mark.parametrize(
    ("language", "line", "words"),
    [
        ("fa", "می\u200cروم به خانه.", "می\u200cروم به خانه ."),
        ("en", "Family 👨‍👩‍👧 here.", "Family 👨‍👩‍👧 here ."),
        ("en", "Flags 🇩🇪🇫🇷!", "Flags 🇩🇪 ￭🇫🇷 !"),
        ("fra_Latn", "L'amitié d'esprit.", "L' amitié d' esprit ."),
        ("fi", "EU:n: näin", "EU:n : näin"),
        ("ca", "L'home, il·lusió", "L' home , il·lusió"),
        ("gle", "D'ól sé", "D' ól sé"),
        ("uk", "П'ять 'так'", "П'ять ' так '"),
        ("mt", "x'inhu", "x' inhu"),
        ("tr", "Ankara'nın", "Ankara ' nın"),
        ("en", "and/or at 10:30", "and / or at 10 : 30"),
        ("en", "x ,y", "x ▁,￭ y"),
        ("he", "צה״ל", "צה״ל"),
        ("hi", "है।", "है ।"),
    ],
)
def test_words_and_marks(language, line, words):
    pytest.importorskip("sacremoses")
    tokeniser = TOKENISERS["moses"]
    splitter = tokeniser.open(language, tokeniser.Settings(), None)
    assert " ".join(splitter.encode(line)) == words and splitter.decode(words.split()) == line


LANGUAGES = [
    "en",
    "fr",
    "it",
    "ga",
    "ca",
    "mt",
    "fi",
    "sv",
    "de",
    "uk",
    "tr",
    "he",
    "fa",
    "hi",
    "ko",
    "vi",
    "cs",
    "quc",
    "nl",
    "zz",
]


@given(HOSTILE.map(clean), st.sampled_from(LANGUAGES))
def test_any_line_comes_back_from_moses_rules(line, language):
    pytest.importorskip("sacremoses")
    tokeniser = TOKENISERS["moses"]
    splitter = tokeniser.open(language, tokeniser.Settings(), None)
    assert splitter.decode(splitter.encode(line)) == line


def test_languages_with_the_rules_of_others_are_told():
    pytest.importorskip("sacremoses")
    remark = TOKENISERS["moses"].remark
    assert remark("fra_Latn") == remark("deu") == "" == TOKENISERS["none"].remark("xyz")
    assert remark("tr") == (
        "Moses knows no abbreviations of the language tr; English ones and general rules for punctuation are used"
    )
    assert "those of the related language de are used" in remark("gsw")


# ---- limits ----


def test_a_line_beyond_the_limit_is_refused_before_work():
    made = SideRecipe("en", "nfc", "lower", "none", TOKENISERS["none"].Settings())
    side = made.side()
    assert side.encode("a " * 50_000) and side.decode("a" * 100_000)
    for work in (side.encode, side.decode):
        with pytest.raises(InputError, match="a line has 100,001 characters; at most 100,000 of a line are prepared"):
            work("a" * 100_001)


def test_marks_in_a_row_are_broken_up():
    line = clean("a" + "\u0323\u0301" * 50)
    assert max(len(run) for run in line.split("\u034f")) <= 31 and clean(line) == line


# ---- there and back ----


@pytest.fixture(
    scope="module", params=[(t, c) for t in ("none", "moses", "spm", "words") for c in ("none", "lower", "true")]
)
def side(request, tmp_path_factory):
    """Every tokeniser with every casing."""
    tokeniser, casing = request.param
    needs(tokeniser)
    settings = {"vocabulary": 120} if tokeniser == "spm" else {}
    return recipe(tmp_path_factory.mktemp("side"), tokeniser, casing, **settings)


def test_any_text_becomes_words_that_all_commands_take(side):
    @given(HOSTILE)
    def check(line):
        words = side.side().encode(line)
        accepted(words)
        assert bool(words) == bool(clean(line))
        text = side.side().decode(words)
        assert "\n" not in text and text == clean(text.replace("\u2581", "_"), "none")
        if side.casing == "none" and side.tokeniser != "moses":
            assert text == clean(line)

    check()


def test_any_words_become_a_line_of_text(side):
    @given(HOSTILE)
    def check(line):
        text = side.side().decode(line)
        assert "\n" not in text and "\r" not in text

    check()


def test_ordinary_sentences_come_back(side):
    if side.casing == "true" and side.tokeniser != "none":  # "Berlin-based" and the like aside, of any known sentence
        for line in TEXT:
            assert side.side().decode(side.side().encode(line)) == line
    for line in ("It's 3.50 dollars.", "Is it there?", "(He isn't.)", "Two men, one woman; no child!"):
        back = side.side().decode(side.side().encode(line))
        assert back == line


def test_moses_rules_are_those_of_the_language():
    pytest.importorskip("sacremoses")
    tokeniser = TOKENISERS["moses"]
    french, english = (tokeniser.open(name, tokeniser.Settings(), None) for name in ("fr-CA", "en"))
    assert french.encode("L'eau d'ici") == ["L'", "eau", "d'", "ici"] and english.encode("it's") == ["it", "'s"]
    assert french.decode(["L'", "eau"]) == "L'eau" and english.decode(["it", "'s", "."]) == "it's."
    for name in ("ja", "zh-TW"):
        with pytest.raises(InputError, match=f"the tokeniser moses cannot split {name} into words; use spm"):
            tokeniser.open(name, tokeniser.Settings(), None)


# ---- models ----


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_pieces_are_exact_and_the_model_is_the_same_twice(tmp_path, model_type):
    pytest.importorskip("sentencepiece")
    made = [recipe(tmp_path, "spm", vocabulary=100, model_type=model_type) for _ in range(2)]
    assert made[0] == made[1]
    side = made[0].side()
    for line in (*TEXT, "Zürich ☃ |||", "<unk> [X]"):
        words = side.encode(line)
        accepted(words)
        assert side.decode(words) == clean(line) and len(words.split()) > len(line.split())


def test_a_given_model_is_taken(tmp_path):
    pytest.importorskip("sentencepiece")
    tokeniser = TOKENISERS["spm"]
    data = tokeniser.train_model(TEXT, "source", tokeniser.Settings(vocabulary=90))
    (tmp_path / "given").write_bytes(data)
    settings = tokeniser.Settings(source_model=tmp_path / "given", vocabulary=50)
    assert tokeniser.train_model(["other"], "source", settings) == data
    assert tokeniser.train_model(TEXT, "target", settings) != data


def test_pieces_of_another_model_get_their_blanks(tmp_path):
    """Source words without a rule are passed through in pieces of the source's model."""
    pytest.importorskip("sentencepiece")
    tokeniser = TOKENISERS["spm"]
    (tmp_path / "model").write_bytes(tokeniser.train_model(TEXT, "target", tokeniser.Settings(vocabulary=90)))
    opened = tokeniser.open("en", tokeniser.Settings(), tmp_path / "model")
    settings = tokeniser.Settings(vocabulary=20, model_type="bpe")
    foreign = tokeniser.train_model(["日本 Qxzyj Wvk Qxzyj"] * 9, "source", settings)
    (tmp_path / "foreign").write_bytes(foreign)
    pieces = tokeniser.open("ja", tokeniser.Settings(), tmp_path / "foreign").encode("Qxzyj Wvk 日本 Qxzyj")
    assert "\u2581Qxzyj" in pieces
    assert opened.decode(pieces) == "Qxzyj Wvk 日本 Qxzyj"
    assert opened.decode([*opened.encode("the house"), *pieces]) == "the house Qxzyj Wvk 日本 Qxzyj"


def test_damaged_models_of_sentencepiece(tmp_path, capfd):
    pytest.importorskip("sentencepiece")
    tokeniser = TOKENISERS["spm"]
    data = tokeniser.train_model(TEXT, "source", tokeniser.Settings(vocabulary=90))
    path = tmp_path / "bad"
    for bad in (data[: len(data) // 2], data[:1], b"", b"no model\n", b"\0" * 100, data[::-1]):
        path.write_bytes(bad)
        for use in (
            lambda: tokeniser.train_model(TEXT, "source", tokeniser.Settings(source_model=path)),
            lambda: tokeniser.open("en", tokeniser.Settings(), path),
        ):
            with pytest.raises(InputError) as caught:
                use()
            assert str(caught.value) == f"{path}: not a SentencePiece model, or cut off or damaged"


def test_text_that_does_not_do_for_a_model():
    pytest.importorskip("sentencepiece")
    tokeniser = TOKENISERS["spm"]
    for lines, settings in ((TEXT, tokeniser.Settings(vocabulary=10)), ([], tokeniser.Settings())):
        with pytest.raises(InputError, match=r"no SentencePiece model of .* pieces can be made of the source text: "):
            tokeniser.train_model(lines, "source", settings)


@pytest.mark.parametrize("which", ["case_model", "word_model"])
def test_a_model_that_was_changed_is_refused(tmp_path, which):
    pytest.importorskip("sentencepiece")
    made = recipe(tmp_path, "spm", "true", vocabulary=90)
    path = getattr(made, which).path
    path.write_bytes(path.read_bytes() + b"\n")
    other = replace(made, language="other")  # not the side that this process keeps
    with pytest.raises(InputError, match=f"{re.escape(str(path))}: not the model that the corpus was prepared with"):
        other.side()


@pytest.mark.parametrize(("name", "package"), [("moses", "sacremoses"), ("spm", "sentencepiece")])
def test_without_its_package_the_extra_is_named(tmp_path, monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    tokeniser = TOKENISERS[name]
    with pytest.raises(InputError, match=rf"the tokeniser {name} needs {package}: pip install 'lscfg\[train\]'"):
        tokeniser.train_model(TEXT, "source", tokeniser.Settings())
        tokeniser.open("en", tokeniser.Settings(), tmp_path)


def test_every_tokeniser_has_settings():
    assert set(TOKENISERS.settings()) >= {"moses", "spm", "words", "none"}


def test_a_joiner_of_a_source_becomes_a_sign_that_copies_keep():
    assert without_marks("a ▁￭ b￭ ▁￭c ￭, ▁x") == "a ■ b ■c , x"
