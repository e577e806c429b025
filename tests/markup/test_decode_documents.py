"""``lscfg decode`` translates documents byte for byte as the service does."""

from __future__ import annotations

from pathlib import Path

import pytest
from asgi import Client
from services import little_system, prepared_bundle

from lscfg import cli
from lscfg.prepare.record import Record
from lscfg.prepare.sides import word_counter
from lscfg.serve.texts import LanguagePair, SplitText

pytest.importorskip("uvicorn", reason="lscfg serve needs uvicorn: pip install 'lscfg[serve]'")

DOCUMENTS = {
    "a.html": "<!doctype html>\n<p title='x'>La <b>casa</b> roja &amp; <i>una flor</i>.<br>En la "
    "<a href='/'>casa</a></p>\n",
    "a.xlf": '<?xml version="1.0"?>\n<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file '
    'original="a" source-language="es" target-language="en" datatype="plaintext"><body><trans-unit id="1"><source>'
    'la <g id="1">casa</g> roja</source></trans-unit></body></file></xliff>\n',
    "a.txt": "La casa\n\nuna flor\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, system = (tmp_path_factory.mktemp(name) for name in ("raw", "system"))
    bundle = prepared_bundle(little_system(system), folder)
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text)
    return bundle


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_are_those_of_the_service(name: str, bundle: Path, tmp_path: Path) -> None:
    source = bundle.parent / name
    (tmp_path / "terms").write_text("source\ttarget\ncasa\thut\n")
    client = Client(bundle)
    for terms in (False, True):
        options = ["--glossary", str(tmp_path / "terms")] if terms else []
        command = ["decode", "-c", str(bundle / "cdec.ini"), "--xml-input", "document", str(source), *options]
        assert cli.main([*command, "-o", str(tmp_path / "out")]) == 0
        form = {"glossary": '[{"source": "casa", "target": "hut"}]'} if terms else {}
        files = {"file": (name, source.read_bytes())}
        answer = client("POST", "/translate_file?download=1", data=form, files=files)
        assert answer.status_code == 200, answer.text
        assert (tmp_path / "out").read_bytes() == answer.content
        assert ("hut" in answer.text.lower()) == terms


def test_segments_that_are_not_translated_are_told(
    bundle: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = '<seg-source><mrk mtype="seg" mid="1">la casa</mrk> <mrk mtype="seg" mid="1">una flor</mrk></seg-source>'
    target = '<target>x <mrk mtype="seg" mid="1">y</mrk><mrk mtype="seg" mid="2"/></target>'
    unit = f'<trans-unit id="1"><source>la casa una flor</source>{source}{target}</trans-unit>'
    text = f'<xliff version="1.2"><file source-language="es" target-language="en"><body>{unit}</body></file></xliff>'
    (tmp_path / "a.xlf").write_text(text)
    command = ["decode", "-c", str(bundle / "cdec.ini"), "--xml-input", "document", str(tmp_path / "a.xlf")]
    assert cli.main([*command, "-o", str(tmp_path / "out")]) == 0
    assert "not translated: the target contains other text" in caplog.text
    assert (tmp_path / "out").read_text() == text


def test_terms_are_counted_and_obeyed_before_a_full_stop(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Tokenisers leave some full stops at their words, as in *Vitamin C.*"""
    (tmp_path / "a.txt").write_text("La casa.\nUna flor /home/casa\n")
    (tmp_path / "terms").write_text("source\ttarget\ncasa\thut\nperro\tdog\n")
    command = ["decode", "-c", str(bundle / "cdec.ini"), "--xml-input", "document", str(tmp_path / "a.txt")]
    assert cli.main([*command, "--glossary", str(tmp_path / "terms")]) == 0
    assert sorted(capsys.readouterr().out.splitlines()[0].lower().split()[-2:]) == [".", "hut"]
    assert "1 of 2 terms occur, at 1 place; 1 of 1 hard ones are used" in caplog.text
    assert "terms that do not occur in the text (1): line 3 'perro'" in caplog.text


def test_faults_are_one_line(bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["decode", "-c", str(bundle / "cdec.ini"), "--xml-input", "document"]
    (tmp_path / "a.odt").write_text("x")
    (tmp_path / "bad.xlf").write_text("<xliff version='1.2'><file>")
    french = DOCUMENTS["a.xlf"].replace('"es"', '"fr"')
    (tmp_path / "fr.xlf").write_text(french)
    second = french[french.index("<file") :]
    (tmp_path / "two.xlf").write_text(DOCUMENTS["a.xlf"].replace("</xliff>\n", second))
    for words, fault in (
        ([str(tmp_path / "a.odt")], "a.odt: not the name of a document; documents are .txt, .html"),
        ([str(tmp_path / "bad.xlf")], "bad.xlf: "),
        ([str(tmp_path / "fr.xlf")], "fr.xlf: names the language 'fr'; the system translates es to en"),
        ([str(tmp_path / "two.xlf")], "two.xlf: names the language 'fr'; the system translates es to en"),
        (["-"], "--xml-input document needs the name of a file"),
        ([str(bundle.parent / "a.html"), "-k", "3"], "-k does not fit --xml-input document"),
        ([str(bundle.parent / "a.html"), "-r"], "-r does not fit --xml-input document"),
    ):
        assert cli.main([*command, *words]) in (1, 2)
        said = capsys.readouterr().err
        assert fault in said and "Traceback" not in said and len(said.splitlines()) == 1, said


def test_a_folder_without_corrections_is_refused_and_not_made(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["decode", "-c", str(bundle / "cdec.ini"), "--xml-input", "document", str(bundle.parent / "a.txt")]
    assert cli.main([*command, "--corrections", str(tmp_path / "typo")]) == 1
    assert "typo: contains no corrections.jsonl; name a folder of" in capsys.readouterr().err
    assert not (tmp_path / "typo").exists()


def test_warnings_and_faults_name_their_places(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    command = ["decode", "-c", str(bundle / "cdec.ini"), "--xml-input", "document"]
    lines = ["La casa 12.", "", "La casa 17."] + ["La flor 34. Una casa 34."] * 4 + ["La casa 56."] * 3
    for name, text in (("a.txt", "\n".join(lines)), ("a.html", "<p>La casa y la flor &amp; la casa otra vez 12.</p>")):
        (tmp_path / name).write_text(text)
        (tmp_path / "terms").write_text("source\ttarget\n" + "".join(f"{n}\tN\n{n}.\tN .\n" for n in (12, 17, 34, 56)))
        assert cli.main([*command, str(tmp_path / name), "--glossary", str(tmp_path / "terms")]) == 0
    said = [one.getMessage().replace(f"{tmp_path}/", "") for one in caplog.records if "lacks" in one.getMessage()]
    assert said == [
        "a.txt: lines 4, 5 and 2 more: the translation lacks '34'",
        "a.txt: lines 8, 9 and 10: the translation lacks '56'",
        "a.txt:1: the translation lacks '12'",
        "a.txt:3: the translation lacks '17'",
        "a.html: 'La casa y la flor & la casa otra vez 12.': the translation lacks '12'",
    ]
    capsys.readouterr()
    (tmp_path / "b.txt").write_text("La casa\n\nLa\0 flor\n")
    assert cli.main([*command, str(tmp_path / "b.txt")]) == 1
    assert capsys.readouterr().err.rstrip().endswith("b.txt:3: contains a NUL character")


def test_long_sentences_are_cut_with_a_warning_at_once_or_refused_before_any_work(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    long = " ".join(["flor"] * 160)
    (tmp_path / "a.txt").write_text(f"La casa 12\n{long}\n")
    warning = "has a sentence of 160 words, translated in 2 pieces; end sentences by full stops or new lines"
    (tmp_path / "terms").write_text("source\ttarget\n12\tN\n")
    options = ["--glossary", str(tmp_path / "terms"), "--xml-input", "document", str(tmp_path / "a.txt")]
    assert cli.main(["decode", "-c", str(bundle / "cdec.ini"), *options]) == 0
    said = [one.getMessage().rpartition("a.txt:")[2] for one in caplog.records if "a.txt:" in one.getMessage()]
    assert said == [f"2: {warning}", "1: the translation lacks '12'"]
    client = Client(bundle)
    made = client("POST", "/translate_file", files={"file": ("a.txt", (tmp_path / "a.txt").read_bytes())}).json()
    assert made["warnings"] == [f"line 2: {warning}"]
    assert client.post("/translate", {"q": long, "source": "es", "target": "en"}).json()["warnings"] == [warning]
    capsys.readouterr()
    words = little_system(tmp_path)  # without preparation each line is a sentence
    (tmp_path / "b.txt").write_text(f"la casa\n\n{long}\n")
    command = ["decode", "-c", str(words / "cdec.ini"), "-w", str(words / "weights"), "--xml-input", "document"]
    assert cli.main([*command, str(tmp_path / "b.txt")]) == 1
    assert capsys.readouterr().err.rstrip().endswith("b.txt:3: has 160 words; at most 150 are translated")


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle whose words are sub-words, most of one letter."""
    pytest.importorskip("sentencepiece")
    folder = tmp_path_factory.mktemp("pieces")
    system = little_system(tmp_path_factory.mktemp("system"))
    raw = (
        "".join(f"La casa {n} roja .\nEn la casa una flor\n" for n in range(20)),
        "".join(f"The house {n} red .\nIn the house a flower\n" for n in range(20)),
    )
    return prepared_bundle(system, folder, raw, "spm --set vocabulary=32")


def test_sentences_of_sub_words_are_cut_where_the_translator_would_refuse_them(
    pieces: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A sentence of few words may have more sub-words than a sentence may have."""
    source = Record.read(pieces.parent / "prepare").sides[0]
    count = word_counter(source)
    long = "La " + " ".join(["fleralencasa"] * 40) + "."
    whole = "flerasacan" * 80
    assert count(long) > 150 and count(whole) > 150
    assert count("La casa") == len(source.side().encode("La casa").split())
    found = SplitText.of(f"La casa. {long}", LanguagePair("es", "en"), True, 150, count=count)
    assert len(found.sentences) > 2 and all(count(sentence) <= 150 for sentence in found.sentences)
    first, *parts = found.sentences
    warning = f"has a sentence of {sum(map(count, parts)):,} words, translated in {len(parts)} pieces"
    assert first == "La casa." and " ".join(parts) == long
    assert [text.partition(";")[0] for text in found.warnings] == [warning]
    (tmp_path / "a.txt").write_text(f"La casa\n{long}\nuna flor {whole} roja\n")
    command = ["decode", "-c", str(pieces / "cdec.ini"), "--xml-input", "document", str(tmp_path / "a.txt")]
    assert cli.main([*command, "-o", str(tmp_path / "out")]) == 0
    assert f"a.txt:2: {warning}" in caplog.text
    assert f"a.txt:3: keeps '{whole[:60]}" in caplog.text
    out = (tmp_path / "out").read_text().splitlines()
    assert len(out) == 3 and f" {whole} " in out[2]
    client = Client(pieces)
    for text, warned in ((long, warning), (whole, "keeps "), ("La casa", "")):
        answer = client.post("/translate", {"q": text, "source": "es", "target": "en"})
        assert answer.status_code == 200, answer.text
        said = [one for one in answer.json()["warnings"] if warned and one.startswith(warned)]
        assert len(said) == bool(warned)
    answer = client("POST", "/translate_file?download=1", files={"file": ("a.txt", (tmp_path / "a.txt").read_bytes())})
    assert answer.status_code == 200 and answer.content == (tmp_path / "out").read_bytes()


def test_a_word_that_cannot_be_cut_stays() -> None:
    """The document is translated without it."""
    long = "-" * 200
    pair = LanguagePair("es", "en")
    found = SplitText.of(f"la casa {long}  roja", pair, True, 150)
    assert found.sentences == ["la casa", "roja"] and found.joined(["the house", "red"]) == f"the house {long}  red"
    (warning,) = found.warnings
    assert warning.startswith("keeps '----") and warning.endswith("words without a blank; separate them by blanks")
    assert SplitText.of(long, pair, True, 150).joined([]) == long


def test_a_text_without_a_sentence_names_its_place(
    bundle: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    line = "-" * 200
    for name, text, place in (("a.txt", f"La casa\n{line}\n", "a.txt:2"), ("a.html", f"<p>{line}", "a.html: '-")):
        caplog.clear()
        (tmp_path / name).write_text(text)
        command = ["decode", "-c", str(bundle / "cdec.ini"), "--xml-input", "document", str(tmp_path / name)]
        assert cli.main([*command, "-o", str(tmp_path / "out")]) == 0
        assert place in caplog.text and "keeps '----" in caplog.text
        assert line in (tmp_path / "out").read_text()
