"""Numbers in the formats of two languages, by hand; the decoders change unknown ones only."""

from __future__ import annotations

from pathlib import Path

import pytest
from decoders import WEIGHTS, small_config
from services import little_preparation

from lscfg import cli
from lscfg.api.decoder import Decoder
from lscfg.decode.confidence import Confidence
from lscfg.decode.memory import Memory
from lscfg.formats.ini import write_ini
from lscfg.prepare.numbers import NumberFormats
from lscfg.prepare.untouched import lost_parts, untouched_parts


@pytest.mark.parametrize(
    ("pair", "numbers"),
    [
        ("de-en", {"1.234,5": "1,234.5", "3,14": "3.14", "-0,5": "-0.5", "1.234.567": "1,234,567", "1.234": "1,234",
                   "1234,5": "1234.5", "1.234.567.890,5": "1,234,567,890.5",
                   "10.000-20.000": "10,000-20,000", "5–1.000": "5–1,000", "1.234,5km": "1,234.5km", "3,5%": "3.5%",
                   "1.000mAh": "1,000mAh", "-1,5°C": "-1.5°C"}),
        ("en-de", {"1,234.5": "1.234,5", "3.14": "3,14", "12,345": "12.345", "1,000-2,000": "1.000-2.000",
                   "2.5GB": "2,5GB"}),
        ("en-fr", {"1,234.5": "1234,5", "3.14": "3,14"}),
        ("fr-ja", {"1234,5": "1234.5"}),
        ("en-US-pt_BR", {"1,234.5": "1.234,5"}),
    ],
)  # fmt: skip
def test_separators_follow_the_target_language(pair: str, numbers: dict[str, str]) -> None:
    source, _, target = pair.rpartition("-")
    found = NumberFormats.of(source, target)
    assert found is not None
    assert {number: found.converted(number) for number in numbers} == numbers


def test_dates_times_addresses_and_words_stay() -> None:
    found = NumberFormats.of("de", "en")
    assert found is not None
    words = (
        "123.456.789-09 12.345.678-9 089-123.456 5,7-9 1-800-123.456 1.234x 1.234-x 3,5-a 24.12.-26.12. "
        "2-3 GB 24.12.2014 24.12. 2.5 10.30 192.168.100.200 1.2.3 1.2345 1,5er 1.234- "
        "A1,5 1,2,3 , . 1984 1.0 ٣,٥ 01.234"
    )
    assert [found.converted(word) for word in words.split()] == words.split()
    for source, target in (("de", "es"), ("en", "ja"), ("de-CH", "en"), ("es-MX", "en"), ("tlh", "en"), ("", "en")):
        assert NumberFormats.of(source, target) is None


def test_points_of_names_times_and_dates_stay() -> None:
    found = NumberFormats.of("en", "de")
    assert found is not None
    words = "802.11a 3.3a 9.30-17.00 12.05-14.05 1-800-123.456"
    assert [found.converted(word) for word in words.split()] == words.split()
    assert found.converted("3.5mm", "The") == "3,5mm" and found.converted("3.11", "Python") == "3.11"


def test_numbers_are_not_taken_for_versions() -> None:
    formats = NumberFormats.of("de", "en")
    text = "1.234.567 Euro, Version 1.2.3, 192.168.100.200"
    assert untouched_parts(text) == ["1.234.567", "1.2.3", "192.168.100.200"]
    assert untouched_parts(text, formats) == ["1.2.3", "192.168.100.200"]
    assert lost_parts("1.234.567 und 1.2.3", "1,234,567 and 1.2.3", formats) == []
    assert lost_parts("1.234.567 und 1.2.3", "1,234,568 and 1,2,3", formats) == ["1.2.3", "1.234.567"]


def little_system(experiment: Path) -> Path:
    """Writes a system of Spanish and English into the folder of an experiment."""
    little_preparation(experiment)
    folder = experiment / "systems" / "little"
    folder.mkdir(parents=True)
    write_ini(folder / "cdec.ini", small_config(folder))
    with (folder / "grammar").open("a") as file:
        file.write("[X] ||| 2,5 ||| 2,5 ||| P=1\n")
    (folder / "weights").write_text("".join(f"{name} {w}\n" for name, w in WEIGHTS.items() if name != "Latent"))
    return folder


def test_decoders_change_numbers_that_no_rule_contains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = little_system(tmp_path)
    text = ["casa 1.234,5", "casa 2,5", "casa 3,5 casa 24.12.2014"]
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in text))
    names = [str(folder / "cdec.ini"), str(folder / "weights")]
    assert cli.main(["decode", "-c", names[0], "-w", names[1], "-j", "2", str(tmp_path / "text")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [sorted(line.split()) for line in lines] == [
        ["1,234.5", "house"], ["2,5", "house"], ["24.12.2014", "3.5", "house", "house"]
    ]  # fmt: skip
    with Decoder(*names) as decoder:
        assert decoder.translate(text) == lines
        (folder / "own").write_text("[X] ||| 7,5 ||| 7,5 ||| P=1\n")
        segments = [f"<seg id='3' {own}> casa 9,5 7,5 2,5 </seg>" for own in ("", f'grammar="{folder / "own"}"')]
        found = [{*line.split()} for line in decoder.translate(segments)]
        assert found == [{"house", "9.5", "7.5", "2,5"}, {"house", "9.5", "7,5", "2,5"}]
    (tmp_path / "plain").mkdir()
    write_ini(tmp_path / "plain" / "cdec.ini", small_config(tmp_path / "plain"))  # no preparation, so no languages
    with Decoder(tmp_path / "plain" / "cdec.ini", names[1]) as decoder:
        assert "1.234,5" in decoder.translate(text)[0].split()


def test_comparisons_and_measures_are_those_of_changed_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, text = little_system(tmp_path), ["casa 1.234,5 la casa", "la casa 2,5 casa", "la casa verde 3,5"] * 8
    with Decoder(folder / "cdec.ini", folder / "weights") as decoder:
        output = decoder.translate(text)
        assert all(any(number in line for number in ("1,234.5", "2,5", "3.5")) for line in output)
        for source, target in zip(text[:3], output, strict=False):
            assert decoder.why_not(source, target).verdict == "same"
        found = decoder.why_not("casa 1.234,5", "home 1,234.5")
        assert [(rule.source, rule.target) for rule in found.missing] == [("casa", "home")]
    for name, lines in (("f", text), ("e", output)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    files = [str(tmp_path / name) for name in ("f", "e")]
    learned = tmp_path / "confidence.json"
    assert cli.main(["evaluate", "confidence", str(folder), *files, "-o", str(learned)]) == 0
    bands = Confidence.read(learned).words.bands
    assert sum(band.right for band in bands) == sum(band.count for band in bands) > 0
    Memory(tmp_path / "memory", lambda source, target: [(k, k) for k in range(len(source))]).add("otra", "other")
    capsys.readouterr()
    assert cli.main(["evaluate", "corrections", str(folder), str(tmp_path / "memory"), *files]) == 0
    assert "BLEU        100.00 without corrections, 100.00 with" in capsys.readouterr().out


def test_numbers_after_names_are_versions() -> None:
    found = NumberFormats.of("en", "de")
    assert found is not None
    for text, number in (
        ("Python 3.11", "3.11"),
        ("PHP 8.2", "8.2"),
        ("version 3.11", "3.11"),
        ("Version 2.0", "2.0"),
        ("section 4.2", "4.2"),
        ("about 3.11", "3,11"),
        ("EUR 3.50", "3,50"),
        ("Rs. 3.50", "3,50"),
        ("$ 3.50", "3,50"),
        ("( 3.50", "3,50"),
        ("2020 3.50", "3,50"),
        ("Apple 1,234.5", "1.234,5"),
        ("Apple 1,234", "1.234"),
    ):
        before, word = text.split()
        assert found.converted(word, before) == number, text
    assert found.converted("3.11") == "3,11"
    german = NumberFormats.of("de", "en")
    assert german is not None
    assert (german.converted("3,11", "Python"), german.converted("1.234", "Apple")) == ("3.11", "1,234")
    for before in ("Version", "version", "Kapitel", "Abb."):
        assert german.converted("1.234", before) == "1.234" and german.converted("1.234,5", before) == "1,234.5"
