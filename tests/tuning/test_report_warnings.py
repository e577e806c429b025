"""Warnings of the report: results that are not what they seem."""

from dataclasses import replace

import pytest
from little_report import little_content, little_manifest

from lscfg.tuning.report.page import render
from lscfg.tuning.report.warnings import result_warnings


@pytest.fixture
def content():
    """A result without a fault: translations that are the references."""
    made = little_content()
    return replace(made, outputs={name: list(made.references[0]) for name in made.outputs})


def test_a_good_result_has_no_warnings(content):
    assert result_warnings(content) == []
    assert 'id="warnings"' not in render(content, little_manifest())


@pytest.mark.parametrize(
    ("ratio", "penalty", "warning"),
    [
        (
            0.903,
            0.898,
            "MIN translates too short: 0.903 times the words of the references, so that the brevity",
        ),
        (1.2, 1.0, "MIN translates too long: 1.200 times the words of the references."),
    ],
)
def test_lengths(content, ratio, penalty, warning):
    content.results["systems"][0] |= {"test_length_ratio": ratio, "brevity_penalty": penalty}
    [found] = result_warnings(content)
    assert found.startswith(warning)
    page = render(content, little_manifest())
    assert page.index('id="warnings"') < page.index('id="results"') and warning in page


@pytest.mark.parametrize(
    ("output", "end"),
    [
        ("abcd abcd", "long: 2.000 times the letters of the references; chrF rewards"),
        ("▁ab", "short: 0.500 times"),
    ],
)
def test_letters(content, output, end):
    count = len(content.references[0])
    content.references[0] = ["￭ab cd￭"] * count
    content.outputs.update({name: ["a bcd"] * count for name in content.outputs} | {"MLE": [output] * count})
    [found] = [text for text in result_warnings(content) if "letters" in text]
    assert found.startswith(f"MLE translates too {end}")


def test_sentences_left_untranslated(content):
    content.outputs["MLE"][0] = content.sources[0]
    assert "MLE leaves 1 test sentence untranslated: 1." in result_warnings(content)
    content.references[0][0] = content.sources[0]  # as the reference does
    assert not any("untranslated" in text for text in result_warnings(content))


def test_unknown_words(content):
    total = sum(len(line.split()) for line in content.sources)
    known = replace(content, unknown_words=[0] * len(content.sources))
    assert result_warnings(known) == []
    unknown = replace(content, unknown_words=[total // 2, 0, 0])
    [found] = result_warnings(unknown)
    assert "of the words in the test source do not occur in the training text; 1 sentence of 3 contain" in found
