"""BLEU and use of hard terms that are drawn from references, against the same decoder without terms.

    python benchmarks/terms.py cdec.ini weights dev.ja dev.en dev.align train.ja train.en train.align

Terms are consistent phrase pairs of one to three source words, none of them among the most frequent words of the
training text, and at most two of a sentence. A sentence obeys only its own terms. Rows: ``none``; ``reference``, the
words of the reference; ``usual``, the most frequent translation in the training text where the reference contains that;
``forms``, this translation and its inflected forms (``forms=auto``) where the reference contains one of them;
``listed``, this translation alone for the same terms; ``random``, random target words; ``unknown``, a new word for each
term, which the decoder passes through, instead of a glossary. For ``masked BLEU`` a placeholder replaces each form in
translation and reference, so that words which cannot match do not count. Without terms, the placeholder replaces the
words that the decoder's links connect with the term. So the rows ``none`` and ``random`` differ by the harm to other
words. ``used`` counts forms found in the translation by their words, not by the decoder's record.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import runs

from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.derivations import Translated
from lscfg.decode.inflected import Inflections
from lscfg.decode.phrases import phrase_spans
from lscfg.decode.terms import MOST_FORMS, Term, TermIndex
from lscfg.formats.weights import read_weights
from lscfg.io.read import read_lines
from lscfg.log import progress
from lscfg.tuning.evaluate import corpus_score

MASK = "TERM"


class DrawnTerm(NamedTuple):
    """A term of a sentence."""

    source: str
    target: tuple[int, int]
    """Words [i, j) of the reference."""


def draw(source: list[str], target: list[str], links: str, frequent: set[str], rng: random.Random) -> list[DrawnTerm]:
    """At most two terms of a sentence, whose sources occur once and do not overlap."""
    spans = [*phrase_spans(len(source), len(target), pairs_of(links), 3)]
    rng.shuffle(spans)
    found: list[tuple[tuple[int, int], tuple[int, int]]] = []
    for one in spans:
        (i, j), (k, m) = one
        words = source[i:j]
        if frequent & {*words} or sum(source[p : p + j - i] == words for p in range(len(source))) > 1:
            continue
        if all((j <= a or b <= i) and (m <= c or d <= k) for (a, b), (c, d) in found):
            found.append(one)
    return [DrawnTerm(" ".join(source[i:j]), target_span) for (i, j), target_span in sorted(found[:2])]


def usual_forms(wanted: set[str], training: Sequence[Sequence[str]]) -> dict[str, str]:
    """The most frequent translation of each wanted phrase in the training text: source, target and links by line."""
    found: dict[str, Counter[str]] = {}
    for source, target, links in zip(*training, strict=True):
        if not any(f" {phrase} " in f" {source} " for phrase in wanted):
            continue
        sides = source.split(), target.split()
        for (i, j), (k, m) in phrase_spans(len(sides[0]), len(sides[1]), pairs_of(links), 3):
            if (phrase := " ".join(sides[0][i:j])) in wanted:
                found.setdefault(phrase, Counter())[" ".join(sides[1][k:m])] += 1
    return {phrase: max(sorted(counts), key=counts.__getitem__) for phrase, counts in found.items()}


def inflected_forms(usual: dict[str, str], training: Sequence[str], language: str) -> dict[str, tuple[str, ...]]:
    """The usual translations with their inflected forms."""
    counts = Counter(word for line in training for word in line.split())
    made, longest = Inflections(counts, language), max((len(form.split()) for form in usual.values()), default=0)
    known = {
        tuple(words[k : k + n])
        for words in (line.split() for line in training)
        for n in range(1, longest + 1)
        for k in range(len(words))
    }
    return {
        source: made.of_phrases([form], 0, lambda phrase: tuple(phrase) in known, MOST_FORMS)
        for source, form in usual.items()
    }


def pairs_of(links: str) -> list[tuple[int, int]]:
    """The links of a line."""
    return [(int(i), int(j)) for i, _, j in (link.partition("-") for link in links.split())]


def masked(words: Sequence[str], forms: Sequence[str]) -> str:
    """The words with a placeholder instead of each form, at its first place."""
    text = f" {' '.join(words)} "
    for form in forms:
        text = text.replace(f" {form} ", f" {MASK} ", 1)
    return text.strip()


def linked_masked(sentence: Translated, terms: Sequence[DrawnTerm]) -> str:
    """The translation with a placeholder instead of the words that are linked to each term."""
    source = sentence.sentence.split()
    owner: list[int] = [-1] * len(source)
    for number, term in enumerate(terms):
        words = term.source.split()
        begin = next(k for k in range(len(source)) if source[k : k + len(words)] == words)
        owner[begin : begin + len(words)] = [number] * len(words)
    found: list[str] = []
    used = set[int]()
    for word in sentence.details:
        owners = {owner[k] for k in word.links}
        if len(owners) != 1 or owners == {-1}:
            found.append(word.text)
        elif not owners <= used:
            found.append(MASK)
            used |= owners
    return " ".join(found)


def with_unknown(text: str, terms: Sequence[DrawnTerm]) -> tuple[str, list[str]]:
    """The source with a new word instead of each term, and these words."""
    names = [f"{MASK}{number}" for number in range(len(terms))]
    for term, name in zip(terms, names, strict=True):
        text = f" {text} ".replace(f" {term.source} ", f" {name} ", 1).strip()
    return text, names


def main() -> None:
    """Prints the scores and keeps them."""
    parser = runs.parser(__doc__)
    for name in (
        "ini",
        "weights",
        "source",
        "reference",
        "alignment",
        "train_source",
        "train_target",
        "train_alignment",
    ):
        parser.add_argument(name, type=Path)
    parser.add_argument("--frequent", type=int, default=200, help="words that no term has (default: %(default)s)")
    parser.add_argument("--language", default="en", help="of the target, for stems (default: %(default)s)")
    parser.add_argument("--rows", nargs="*", help="rows to make (default: all)")
    parser.add_argument("--lines", type=int, default=500, help="most sentences (default: %(default)s)")
    args = parser.parse_args()
    sources, references, links = (
        read_lines(path)[: args.lines] for path in (args.source, args.reference, args.alignment)
    )
    training = [read_lines(path) for path in (args.train_source, args.train_target, args.train_alignment)]
    counts = Counter(word for line in training[0] for word in line.split())
    frequent = {word for word, _ in counts.most_common(args.frequent)}
    rng = random.Random(1)
    words = sorted({word for line in references for word in line.split() if word.isalpha()})
    terms = [draw(s.split(), r.split(), a, frequent, rng) for s, r, a in zip(sources, references, links, strict=True)]
    own = [[" ".join(r.split()[slice(*t.target)]) for t in mine] for r, mine in zip(references, terms, strict=True)]
    drawn = [[" ".join(rng.choices(words, k=t.target[1] - t.target[0])) for t in mine] for mine in terms]
    known = usual_forms({term.source for mine in terms for term in mine}, training)
    usual = [
        [f if (f := known.get(t.source, "")) and f" {f} " in f" {r} " else "" for t in mine]
        for r, mine in zip(references, terms, strict=True)
    ]
    inflected = inflected_forms(known, training[1], args.language)
    auto = [
        [
            "|".join(f) if any(f" {one} " in f" {r} " for one in f) else ""
            for f in (inflected.get(t.source, ()) for t in mine)
        ]
        for r, mine in zip(references, terms, strict=True)
    ]
    run = runs.Run(args)
    run.table("hard terms", ["terms", "terms of all sentences", "used %", "BLEU", "masked BLEU"])
    weights = read_weights(args.weights)
    with EmbeddedDecoder.from_ini(args.ini, cached=0) as decoder:
        nothing = [["" for _ in mine] for mine in own]
        passed = [with_unknown(text, mine) for text, mine in zip(sources, terms, strict=True)]
        listed = [[f.partition("|")[0] for f in mine] for mine in auto]
        rows = {"none": nothing, "reference": own, "usual": usual, "forms": auto, "listed": listed, "random": drawn}
        rows["unknown"] = [f for _, f in passed]
        for name, forms in rows.items():
            if args.rows and name not in args.rows:
                continue
            texts = [text for text, _ in passed] if name == "unknown" else sources
            output: list[Translated] = []
            for text, mine, allowed in progress(zip(texts, terms, forms, strict=True), name, len(sources)):
                pairs = [(t, f) for t, f in zip(mine, allowed, strict=True) if f and name != "unknown"]
                given = [Term(t.source, tuple(f.split("|")) if name == "forms" else (f,)) for t, f in pairs]
                output += decoder.translate([text], weights, terms=TermIndex(given), details=name == "none")
            best = [one.hypotheses[0].text for one in output]
            used = sum(
                any(f" {one} " in f" {text} " for one in (f.split("|") if name == "forms" else [f]))
                for text, mine in zip(best, forms, strict=True)
                for f in mine
                if f
            )
            total = sum(bool(form) for mine in forms for form in mine)
            score = None
            if name == "none" or all(map(all, forms)):
                hidden = [masked(text.split(), mine) for text, mine in zip(best, forms, strict=True)]
                if name == "none":
                    hidden = [linked_masked(one, mine) for one, mine in zip(output, terms, strict=True)]
                truth = [masked(r.split(), mine) for r, mine in zip(references, own, strict=True)]
                score = corpus_score("bleu", hidden, [truth])
            run.row(name, total, 100 * used / total if total else None, corpus_score("bleu", best, [references]), score)
    run.save()


if __name__ == "__main__":
    main()
