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
from lscfg.prepare.casing import Lower, Truecaser, count_forms, raise_starts, read_forms, write_forms
from lscfg.prepare.clean import UNICODE_FORMS, clean, protect_words, restore_words
from lscfg.prepare.sides import ModelFile, SideRecipe
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
    """What ``lscfg align``, ``derive`` and the decoders ask of a line."""
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
    if tokeniser != "none":
        pytest.importorskip({"moses": "sacremoses", "spm": "sentencepiece"}[tokeniser])


# ---- cleaning ----


@pytest.mark.parametrize("form", UNICODE_FORMS)
def test_no_character_is_left_that_is_refused(form):
    for code in range(sys.maxunicode + 1):
        if not 0xD800 <= code < 0xE000:
            line = clean(f"a{chr(code)}b", form)
            assert words_fault(line) is None and line == " ".join(line.split()), hex(code)


def test_no_character_is_lost_that_words_may_have():
    for code in range(0x21, sys.maxunicode + 1):
        word = f"a{chr(code)}b"
        if not 0xD800 <= code < 0xE000 and code != 0x2581:
            assert (clean(word, "none") == word) is (words_fault(word) is None), hex(code)


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


def test_lower():
    assert Lower(True).encode("ÄBC Def") == "äbc def" and Lower(True).decode("äbc def .") == "Äbc def ."


def test_forms_in_a_file(tmp_path):
    forms = {"the": 3, "The": 1, "Öl": 2}
    write_forms(tmp_path / "forms", forms)
    assert read_forms(tmp_path / "forms") == forms
    for bad in ("the", "the\tmany", "\t3"):
        (tmp_path / "forms").write_text(f"a\t1\n{bad}\n")
        with pytest.raises(InputError, match="forms:2: not a word and its count"):
            read_forms(tmp_path / "forms")


# ---- there and back ----


@pytest.fixture(scope="module", params=[(t, c) for t in ("none", "moses", "spm") for c in ("none", "lower", "true")])
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
        with pytest.raises(InputError, match=f"moses does not split the words of {name}; use the tokeniser spm"):
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
    assert set(TOKENISERS.settings()) >= {"moses", "spm", "none"}
