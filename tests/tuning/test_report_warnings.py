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


def test_sentences_left_untranslated(content):
    content.outputs["MLE"][0] = content.sources[0]
    assert result_warnings(content) == ["MLE leaves 1 test sentence untranslated: 1."]
    content.references[0][0] = content.sources[0]  # as the reference does
    assert result_warnings(content) == []


def test_unknown_words(content):
    total = sum(len(line.split()) for line in content.sources)
    known = replace(content, unknown_words=[0] * len(content.sources))
    assert result_warnings(known) == []
    unknown = replace(content, unknown_words=[total // 2, 0, 0])
    [found] = result_warnings(unknown)
    assert "of the words in the test source do not occur in the training text; 1 sentence of 3 contain" in found
