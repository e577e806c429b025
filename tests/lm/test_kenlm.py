"""Language models of any origin: KenLM's set of accepted files and KenLM's scores, or a refusal with the cause."""

from __future__ import annotations

import gzip
import random
import re
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from arpas import NUMBERS, RandomArpa, open_kenlm, random_model, scores_of_search

import lscfg
from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.kernel import Vocab
from lscfg.kernel import lm as models
from lscfg.kernel.lm import LanguageModel, check_language_model

BINARIES = Path(__file__).parent / "binaries"


def is_accepted(path: Path) -> str:
    """Empty if lscfg opens the model, else the message."""
    try:
        check_language_model(path)
    except InputError as error:
        return str(error)
    return ""


def assert_scores_of_kenlm(path: Path, seed: int) -> None:
    """Every derivation of a forest has the score of its words, from whatever parts the search put it together."""
    model = open_kenlm(path)
    assert model is not None
    found = scores_of_search(path, random.Random(seed))
    assert len(found) > 100
    for text, lm, oov in found:
        expected = list(model.full_scores(text))
        assert oov == sum(unknown for _, _, unknown in expected), text
        assert lm == pytest.approx(sum(score for score, _, _ in expected), rel=1e-5, abs=1e-3), text


STRICTER = ("the log10 probability of", "damaged ARPA header")
"""Messages of the only refusals beyond KenLM's: infinite scores, and counts with letters after them."""


@pytest.mark.parametrize("seeds", [range(60 * part, 60 * part + 60) for part in range(5)], ids=str)
def test_300_random_models(seeds: range, tmp_path: Path) -> None:
    """KenLM accepts a model if and only if lscfg does, and the scores are KenLM's."""
    path, counts = tmp_path / "arpa", Counter[str]()
    for seed in seeds:
        text, odd = random_model(seed)
        path.write_text(text, encoding="utf-8", newline="")
        theirs, ours = open_kenlm(path) is not None, is_accepted(path)
        if theirs and ours:
            assert any(message in ours for message in STRICTER), (seed, odd, ours)
            continue
        assert theirs == (not ours), (seed, odd, ours)
        assert not ours or (ours.startswith(str(path)) and "\n" not in ours), (seed, odd, ours)
        if theirs:
            assert_scores_of_kenlm(path, seed)
            counts["kernel" if models._ngrams(path, Vocab()) is not None else "KenLM"] += 1
            counts["unknown"] += text.count("<unk>") > 1
    assert min(counts["kernel"], counts["KenLM"], counts["unknown"]) >= 3, counts


@pytest.mark.parametrize("place", [0, 2])
@pytest.mark.parametrize("number", NUMBERS)
def test_every_notation_of_a_number(number: str, place: int, tmp_path: Path) -> None:
    model = RandomArpa(random.Random(1), 3)
    row = next(row for row in model.sections[0] if row[1] == "a")
    row[place] = number
    path = tmp_path / "arpa"
    path.write_text(model.text(), encoding="utf-8")
    theirs, ours = open_kenlm(path), is_accepted(path)
    if place == 0 and number in ("-inf", "-1e39", "-1e999"):
        assert theirs is not None
        assert "arpa:10: the log10 probability of 'a' is -" in ours and "write -99" in ours
    else:
        assert (theirs is not None) == (not ours), ours
        if theirs:
            assert_scores_of_kenlm(path, 1)


@pytest.mark.parametrize(
    "kind", ["probing", "rest", "trie", "quantised", "array", "quantised-array", "no-vocabulary", "no-end"]
)
def test_binaries_of_every_type(kind: str, tmp_path: Path) -> None:
    """The model has n-grams with <unk> in them."""
    path = tmp_path / "binary"
    path.write_bytes(gzip.decompress((BINARIES / f"{kind}.gz").read_bytes()))
    for seed in range(4):
        assert_scores_of_kenlm(path, seed)


def test_binaries_are_of_the_model(tmp_path: Path) -> None:
    """All but the quantised ones and the one without </s> have its scores."""
    exact = scores_of_search(BINARIES / "model.arpa", random.Random(3))
    text = (BINARIES / "model.arpa").read_text()
    assert "c <unk>" in text and "<unk> " in text
    for kind in ("probing", "rest", "trie", "array", "no-vocabulary"):
        path = tmp_path / kind
        path.write_bytes(gzip.decompress((BINARIES / f"{kind}.gz").read_bytes()))
        found = {(text, round(lm, 3), oov) for text, lm, oov in scores_of_search(path, random.Random(3))}
        assert found == {(text, round(lm, 3), oov) for text, lm, oov in exact}


@pytest.mark.parametrize("order", [6, 7])
def test_orders_that_kenlm_was_not_built_for(order: int, tmp_path: Path) -> None:
    path = tmp_path / "arpa"
    rows = ["\\data\\", "ngram 1=4", *(f"ngram {n}=1" for n in range(2, order + 1)), "", "\\1-grams:", "-1\t<unk>"]
    rows += ["-1\t<s>\t-1", "-1\t</s>", "-1\ta\t-1", ""]
    for n in range(2, order + 1):
        rows += [f"\\{n}-grams:", "-1\t" + " ".join(["a"] * n) + ("\t-0.5" if n < order else ""), ""]
    path.write_text("\n".join([*rows, "\\end\\", ""]), encoding="utf-8")
    assert (open_kenlm(path) is not None) == (not is_accepted(path))
    assert open_kenlm(path) is not None or order > 6


NO_END = (
    "\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-1\t<unk>\t0\n-99\t<s>\t-0.3\n-0.7\tthe\t-0.3\n-0.7\tdog\t-0.3\n\n"
    "\\2-grams:\n-0.1\t<s> the\n-0.2\tthe dog\n\n\\end\\\n"
)


@pytest.fixture
def system(tmp_path: Path) -> Path:
    (tmp_path / "g").write_text("[X] ||| der ||| the ||| A=1\n[X] ||| hund ||| b ||| A=1\n")
    (tmp_path / "ini").write_text(
        "formalism=scfg\ngrammar=g\nfeature_function=KLanguageModel lm\nadd_pass_through_rules=true\n"
    )
    (tmp_path / "w").write_text("LanguageModel 1\nA 1\nPassThrough -5\n")
    (tmp_path / "s").write_text("der hund\n")
    (tmp_path / "e").write_text("the dog\n")
    return tmp_path


@pytest.mark.parametrize("command", ["decode", "tune", "pack", "Decoder"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (NO_END.encode(), "lm: not a language model that KenLM can read: The ARPA file is missing </s>"),
        ((BINARIES / "infinite.arpa").read_bytes(), "lm:11: the log10 probability of 'b' is -inf; a decoder needs"),
        (b"\\data\\\nngram 1=1\n\n\\1-grams:\n-1\ta\n\n\\end\\\n", "lm: KenLM cannot read unigram models"),
    ],
)
def test_every_command_checks_the_model_in_the_same_way(
    system: Path, content: bytes, message: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (system / "lm").write_bytes(content)
    ini, weights, source = str(system / "ini"), str(system / "w"), str(system / "s")
    out = ("-o", str(system / "tuned"))
    words = {
        "decode": ["decode", source, "-c", ini, "-w", weights],
        "tune": ["tune", "weights", "-s", source, "--reference", str(system / "e"), "-c", ini, "-w", weights, *out],
        "pack": ["pack", ini, "-w", weights, "-o", str(system / "bundle")],
    }
    if command == "Decoder":
        with pytest.raises(InputError, match=message.split(":")[-1]):
            lscfg.Decoder(ini, weights)
        return
    assert main(words[command]) == 1
    assert message in capsys.readouterr().err


def test_a_failure_during_the_search_names_file_word_and_number(
    system: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A binary shows its probabilities only when they are asked for."""
    (system / "lm").write_bytes(gzip.decompress((BINARIES / "infinite.gz").read_bytes()))
    assert main(["decode", str(system / "s"), "-c", str(system / "ini"), "-w", str(system / "w")]) == 1
    said = capsys.readouterr().err
    assert f"{system / 'lm'}: the log10 probability of 'b' is -inf; a decoder needs" in said


def test_sums_that_leave_single_precision_name_the_word(tmp_path: Path) -> None:
    model = RandomArpa(random.Random(1), 3)
    for row in model.sections[0]:
        row[0], row[2] = "-3e38", "-3e38"
    (tmp_path / "arpa").write_text(model.text())
    with pytest.raises(InputError, match=r"arpa: the log10 probability of '.*' is -inf"):
        scores_of_search(tmp_path / "arpa", random.Random(1))


def test_infinite_begin_markers_do_no_harm(tmp_path: Path) -> None:
    """Nothing predicts <s>."""
    model = RandomArpa(random.Random(1), 3)
    next(row for row in model.sections[0] if row[1] == "<s>")[0] = "-inf"
    (tmp_path / "arpa").write_text(model.text())
    assert_scores_of_kenlm(tmp_path / "arpa", 1)
    assert LanguageModel(tmp_path / "arpa", Vocab()).order == 3


@pytest.mark.parametrize("gram", ["<s> the", "the dog"])
def test_infinite_probabilities_of_words_are_refused(gram: str, tmp_path: Path) -> None:
    (tmp_path / "arpa").write_text(re.sub(rf"\S+\t{gram}\n", f"-inf\t{gram}\n", NO_END))
    assert f"the log10 probability of '{gram}' is -inf" in is_accepted(tmp_path / "arpa")


def test_a_full_disk_of_temporary_files_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lm.gz").write_bytes(gzip.compress(NO_END.encode()))
    with open("/dev/full", "wb", 0) as full:
        monkeypatch.setattr(tempfile, "NamedTemporaryFile", lambda *_, **__: full)
        with pytest.raises(InputError, match=r"/dev/full: cannot write a temporary file: No space left .*; set TMPDIR"):
            models._load(tmp_path / "lm.gz")


@pytest.mark.parametrize(
    "damage", [(b"\t-0.", b"\xff\xfe-0."), (b"\n-", b"\n-\xff."), (b"\\1-grams:\n", b"\\1-grams:\n\xff\t\n")]
)
def test_a_message_of_kenlm_is_one_line(tmp_path: Path, damage: tuple[bytes, bytes]) -> None:
    good = (BINARIES / "model.arpa").read_bytes()
    (tmp_path / "lm").write_bytes(good.replace(*damage))
    with pytest.raises(InputError) as error:
        check_language_model(tmp_path / "lm")
        models._load(tmp_path / "lm")
    assert "\n" not in str(error.value) and ".cc:" not in str(error.value)
