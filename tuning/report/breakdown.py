"""The section of tables that divide the test set by words, lengths and n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from lscfg.tuning.report.buckets import Breakdown, Bucket, Found, bounds_name, times
from lscfg.tuning.report.content import Content
from lscfg.tuning.report.explorer import system_lists
from lscfg.tuning.report.markup import data_row, data_table, decimal


def breakdown_section(content: Content, breakdown: Breakdown) -> str:
    """Tables by frequency and length for all systems, and the n-grams of the first two systems to compare."""
    several = " (the first one)" if len(content.references) > 1 else ""
    text = '<p class="note scripted" hidden>A row opens its sentences in the list below.</p>'
    if breakdown.frequency:
        caption = (
            f"F1 of the words of the reference{several}, by how often they stand in the training text. The best "
            "system of a row is bold."
        )
        text += "<h3>By word frequency</h3>" + _buckets("seen", "words", breakdown.frequency, caption, "frequency")
    caption = f"BLEU of the sentences by words of the reference{several}."
    text += "<h3>By sentence length</h3>" + _buckets("length", "sentences", breakdown.length, caption, "length")
    one, other = content.pair
    if one != other:
        text += (
            '<h3>By n-gram</h3><p class="note">N-grams of the reference that one system has and the other lacks, as '
            "BLEU counts them; sorted by (<i>b</i> + 1) / (<i>a</i> + <i>b</i> + 2), where <i>a</i> and <i>b</i> are "
            "the matches of both. An n-gram within a longer one of the same matches is left out.</p>"
            f'<div class="controls scripted" hidden>{"".join(system_lists(content, "grams-"))}</div>'
            f'<div id="grams" class="grid pair">{_grams(one, other, breakdown.grams[one, other])}'
            f"{_grams(other, one, breakdown.grams[other, one])}</div>"
        )
    return text


def _buckets(head: str, unit: str, buckets: Sequence[Bucket], caption: str, kind: str) -> str:
    names = list(buckets[0].scores)
    rows = []
    for k, bucket in enumerate(buckets):
        shown = {name: decimal(bucket.scores[name], 1) for name in names}
        best = decimal(max((score for score in bucket.scores.values() if score is not None), default=None), 1)
        cells = [f'<td class="best">{text}</td>' if text == best else text for text in shown.values()]
        title = times(bucket.bounds) if kind == "frequency" else f"{bounds_name(bucket.bounds)} words"
        rows.append(data_row(title, [f"{bucket.size:,}", *cells], mark=f' data-set="{kind}-{k}"'))
    return data_table([head, unit, *map(escape, names)], rows, caption)


def _grams(one: str, other: str, found: Sequence[Found]) -> str:
    rows = [data_row(item.gram, map(str, item.matches)) for item in found]
    caption = f"{escape(other)} has more often than {escape(one)}."
    return f"<div>{data_table(['n-gram', escape(one), escape(other)], rows, caption)}</div>"
