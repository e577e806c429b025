"""Phrases of both sides, with translations in parallel text and contexts in all text, and graphs of phrases."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lscfg import log
from lscfg.errors import InputError
from lscfg.extract.hiero import extract_files
from lscfg.extract.hiero_settings import HieroLimits
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.table import RuleTable
from lscfg.induce.propagated.contexts import count_contexts, frequent_columns
from lscfg.induce.propagated.held import hold_out
from lscfg.induce.propagated.ngrams import Finder, NGrams, count_ngrams
from lscfg.induce.propagated.parallel import loose_pairs
from lscfg.induce.propagated.retrieval import SENTENCES, LinkedWords, from_sentences
from lscfg.induce.propagated.text import Text, read_words
from lscfg.io.layout import check_layout, check_offsets, check_range
from lscfg.io.sides import SIDES
from lscfg.io.tensors import load, metadata_json, save
from lscfg.settings import Declared, setting

MIN_TARGET = 2
"""Minimum count in text of a target phrase that is not a known translation."""

READERS = ("parallel", "sentences")
"""Sources of candidates that read the text."""

Name = str | os.PathLike[str]
"""Of a file."""

LIMITS = HieroLimits(max_phrase=7, max_symbols=7, max_arity=0)
"""Limits of phrase pairs, which are the labels."""


@dataclass(frozen=True)
class PhraseSettings(Declared):
    """Settings of phrases and their contexts."""

    lengths: tuple[int, ...] = setting((1, 2), "lengths of source phrases, in words", least=1, most=5, metavar="LIST")
    min_count: int = setting(3, "minimum count of a source phrase in monolingual text, without --to-translate", least=1)
    mono_share: float = setting(1.0, "share of the monolingual text to read, from its beginning", above=0, most=1)
    target_words: int = setting(3, "maximum words of a target phrase", least=1, most=5)
    window: int = setting(4, "context words on each side of a phrase", least=1, most=100)
    q: int = setting(
        25,
        "number of most frequent words, which alone make no two phrases neighbours",
        least=0,
        option="frequent-words",
    )


@dataclass(frozen=True, eq=False)
class PhraseSide:
    """The phrases of one language; equal to itself alone.

    Attributes:
        phrases: the phrases, in the common vocabulary.
        count: int64 [n], counts in the text.
        contexts: int32 [n, 2 words]; frequent: int64, the columns of the q most frequent words.
    """

    phrases: NGrams
    count: np.ndarray
    contexts: sparse.csr_matrix
    frequent: np.ndarray

    def hash(self, words: Sequence[str]) -> str:
        """Hash of the phrases by their words, and of their contexts, which identifies the phrases of a graph."""
        digest = hashlib.sha256("\n".join(self.phrases.texts(words)).encode())
        contexts = self.contexts
        for array in (self.count, self.frequent, contexts.indptr, contexts.indices, contexts.data):
            digest.update(np.ascontiguousarray(array, np.int64).tobytes())
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class PhraseFile:
    """Both sides and their relations in parallel text.

    Attributes:
        words: the vocabulary.
        labels: float64 [source phrases, target phrases], P(e|f) of labelled phrases; empty rows of all others.
        lexicon: int32 [pairs, 2], words linked in parallel text, -1 for none; lexicon_count: int64 [pairs].
        proposed: by name of a source of candidates that reads the text, float64 [source phrases, target phrases],
            larger is better; see ``loose_pairs`` and ``from_sentences``.
        held: bool [source phrases], labelled phrases for learning a ranking; see ``hold_out``.
    """

    words: list[str]
    source: PhraseSide
    target: PhraseSide
    labels: sparse.csr_matrix
    lexicon: np.ndarray
    lexicon_count: np.ndarray
    proposed: Mapping[str, sparse.csr_matrix]
    held: np.ndarray

    @property
    def labelled(self) -> np.ndarray:
        """bool [source phrases]."""
        result: np.ndarray = np.diff(self.labels.indptr) > 0
        return result

    def unlabelled_texts(self) -> list[str]:
        """The phrases without a translation."""
        texts = self.source.phrases.texts(self.words)
        return [text for text, known in zip(texts, self.labelled, strict=True) if not known]

    def statistics(self) -> dict[str, int]:
        """Sizes for the log."""
        open_rows = ~self.labelled
        return {
            "labelled phrases": int(self.labelled.sum()),
            "unlabelled phrases": int(open_rows.sum()),
            "unlabelled phrases in no text": int((self.source.count[open_rows] == 0).sum()),
            "target phrases": len(self.target.phrases),
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes named arrays.

        The file contains the vocabulary of a rule table; ``lexicon.words`` and ``lexicon.count``; ``held``, int64, the
        numbers of held-out phrases; and of each side, as in ``source.count``: ``symbols``, int32, and ``offsets``,
        int64 [n + 1], of its phrases; ``count``; ``frequent``; and ``contexts``. The matrices ``labels``,
        ``proposed.NAME`` and ``source.contexts`` are compressed rows: ``indptr``, int64, ``indices``, int32, ``data``.
        """
        arrays = {name: value for name, value in _table(self.words, NGrams.of([])).arrays().items() if "vocab" in name}
        arrays |= {"lexicon.words": self.lexicon, "lexicon.count": self.lexicon_count}
        arrays |= _matrix_arrays("labels", self.labels, np.float64) | {"held": np.flatnonzero(self.held)}
        for name in READERS:
            arrays |= _matrix_arrays(f"proposed.{name}", self.proposed[name], np.float64)
        for name, side in zip(SIDES, (self.source, self.target), strict=True):
            arrays |= {f"{name}.symbols": side.phrases.symbols, f"{name}.offsets": side.phrases.offsets}
            arrays |= {f"{name}.count": side.count, f"{name}.frequent": side.frequent.astype(np.int64)}
            arrays |= _matrix_arrays(f"{name}.contexts", side.contexts, np.int32)
        save(path, arrays, {"lscfg": "phrases", "format": "1"})

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> PhraseFile:
        """The inverse of ``write``.

        Raises:
            InputError: the file is missing, of another kind or damaged.
        """
        arrays, _ = load(path, "phrases")
        try:
            none = NGrams.of([])
            words = RuleTable.from_arrays(_table([], none).arrays() | {k: arrays[k] for k in arrays if "vocab" in k})
            sides = [_read_side(arrays, name, len(words.words)) for name in SIDES]
            check_layout(arrays, {"lexicon.words": "int32 [pairs, 2]", "lexicon.count": "int64 [pairs]"})
            check_range("lexicon.words", arrays["lexicon.words"], -1, len(words.words))
            check_range("lexicon.count", arrays["lexicon.count"], 1, np.inf)
            shape = (len(sides[0].phrases), len(sides[1].phrases))
            labels = _read_matrix(arrays, "labels", shape, "float64")
            check_range("labels.data", labels.data, 0, 1.0001)
            proposed = {name: _read_matrix(arrays, f"proposed.{name}", shape, "float64") for name in READERS}
            for name, matrix in proposed.items():
                check_range(f"proposed.{name}.data", matrix.data, 0, np.inf)
            check_layout(arrays, {"held": "int64 [held]"})
            check_range("held", arrays["held"], 0, shape[0])
            held = np.zeros(shape[0], bool)
            held[arrays["held"]] = True
            lexicon = arrays["lexicon.words"], arrays["lexicon.count"]
            held &= np.diff(labels.indptr) > 0
            return cls(words.words, sides[0], sides[1], labels, *lexicon, proposed, held)
        except ValueError as error:
            raise InputError(f"{error}; make the file again", path) from error


def _read_side(arrays: Mapping[str, np.ndarray], name: str, words: int) -> PhraseSide:
    layout = {"symbols": "int32 [symbols]", "offsets": "int64 [n + 1]", "count": "int64 [n]", "frequent": "int64 [q]"}
    sizes = check_layout(arrays, {f"{name}.{key}": value for key, value in layout.items()})
    symbols, offsets = arrays[f"{name}.symbols"], arrays[f"{name}.offsets"]
    check_offsets(f"{name}.offsets", offsets, len(symbols))
    check_range(f"{name}.symbols", symbols, 0, words)
    check_range(f"{name}.frequent", arrays[f"{name}.frequent"], 0, 2 * words)
    check_range(f"{name}.count", arrays[f"{name}.count"], 0, np.inf)
    contexts = _read_matrix(arrays, f"{name}.contexts", (sizes["n"], 2 * words), "int32")
    check_range(f"{name}.contexts.data", contexts.data, 1, np.inf)
    return PhraseSide(NGrams(symbols, offsets), arrays[f"{name}.count"], contexts, arrays[f"{name}.frequent"])


def _table(words: list[str], phrases: NGrams) -> RuleTable:
    none = np.zeros(len(phrases), np.int32)
    return RuleTable(words, phrases.symbols, phrases.offsets, none, none)


def _matrix_arrays(name: str, matrix: sparse.csr_matrix, dtype: type) -> dict[str, np.ndarray]:
    matrix = matrix.sorted_indices()
    kinds = {"indptr": np.int64, "indices": np.int32, "data": dtype}
    return {f"{name}.{part}": getattr(matrix, part).astype(kind) for part, kind in kinds.items()}


def _read_matrix(arrays: Mapping[str, np.ndarray], name: str, shape: tuple[int, int], dtype: str) -> sparse.csr_matrix:
    layout = {"indptr": "int64 [rows + 1]", "indices": "int32 [entries]", "data": f"{dtype} [entries]"}
    sizes = check_layout(arrays, {f"{name}.{part}": declared for part, declared in layout.items()})
    indptr, indices, data = (arrays[f"{name}.{part}"] for part in layout)
    if sizes["rows"] != shape[0]:
        raise ValueError(f"array '{name}.indptr' has {sizes['rows']} rows, expected {shape[0]}")
    check_offsets(f"{name}.indptr", indptr, len(indices))
    check_range(f"{name}.indices", indices, 0, shape[1])
    return sparse.csr_matrix((data, indices, indptr), shape=shape)


def collect(
    parallel: tuple[Name, Name],
    alignments: Sequence[Name],
    monolingual: tuple[Sequence[Name], Sequence[Name]],
    texts: Sequence[Name],
    settings: PhraseSettings,
    threads: int = 1,
) -> PhraseFile:
    """Phrases with their translations and contexts.

    Args:
        parallel: source and target side of the aligned text; monolingual: files of further text, source and target.
        texts: source text with the phrases to translate; none: the frequent phrases of the monolingual source.

    Raises:
        InputError: a file is missing, malformed or empty, q reaches the size of the vocabulary, or parallel text has no
            phrase of one of the lengths.
    """
    counted = extract_files(*parallel, alignments, LIMITS)
    numbers = {word: number for number, word in enumerate(counted.rules.words)}
    labels = _labels(counted, settings)
    alone = [_read(files, numbers, settings.mono_share) for files in monolingual]
    both = [one + read_words([own], numbers) for one, own in zip(alone, parallel, strict=True)]
    known = {f for f, _ in labels}
    if texts:
        wanted = count_ngrams(read_words(texts, numbers), settings.lengths, threads=threads)
    else:
        wanted = count_ngrams(alone[0], settings.lengths, settings.min_count, threads)
    sources = [*dict.fromkeys(f for f, _ in labels), *sorted(f for f in wanted if f not in known)]
    more = count_ngrams(both[1], range(1, settings.target_words + 1), MIN_TARGET, threads)
    targets = [*dict.fromkeys(e for _, e in labels)]
    targets += sorted(more.keys() - set(targets))
    sides = [
        _side(name, text, NGrams.of(one), len(numbers), settings, threads)
        for name, text, one in zip(SIDES, both, (sources, targets), strict=True)
    ]
    rows, columns = ({one: number for number, one in enumerate(every)} for every in (sources, targets))
    places = [rows[f] for f, _ in labels], [columns[e] for _, e in labels]
    matrix = sparse.csr_matrix(([*labels.values()], places), shape=(len(sources), len(targets)))
    phrases = sides[0].phrases, sides[1].phrases
    loose = loose_pairs(parallel, alignments, numbers, *phrases)
    labelled = np.diff(matrix.indptr) > 0
    held = hold_out(labelled, phrases[0].lengths, sides[0].count, np.diff(loose.indptr) > 0)
    linked = LinkedWords(counted.lexicon, counted.lexicon_count, len(numbers))
    first = alone[0].beginning(SENTENCES).array(), alone[1].beginning(SENTENCES).array()
    left = from_sentences(first, phrases, held | ~labelled, linked, sides[1].count, threads)
    proposed = {"parallel": loose, "sentences": left}
    lexicon = counted.lexicon, counted.lexicon_count
    return PhraseFile([*numbers], sides[0], sides[1], matrix, *lexicon, proposed, held)


def _read(files: Sequence[Name], numbers: dict[str, int], share: float) -> Text:
    """The given share of the sentences of some files."""
    text = read_words(files, numbers)
    if share == 1 or not files:
        return text
    sentences = text.sentences()
    if not round(share * sentences):
        raise InputError(f"a share of {share:g} of {sentences} sentences is empty; raise mono_share", files[0])
    return text.beginning(round(share * sentences))


def _labels(counted: RuleCounts, settings: PhraseSettings) -> dict[tuple[tuple[int, ...], tuple[int, ...]], float]:
    rules = counted.rules
    share = counted.count / np.bincount(rules.source_id, counted.count)[rules.source_id]
    found: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = {}
    for length in settings.lengths:
        chosen = np.flatnonzero(rules.src_length == length)
        if not len(chosen):
            raise InputError(f"no phrase of {length} words has a translation in parallel text; omit this length")
        found |= {(tuple(rules.src(r).tolist()), tuple(rules.tgt(r).tolist())): share[r] for r in chosen.tolist()}
    return found


def _side(name: str, text: Text, phrases: NGrams, words: int, settings: PhraseSettings, threads: int) -> PhraseSide:
    often = text.counts(words)
    if 0 < (used := int((often > 0).sum())) <= settings.q:
        few = f"the {name} text has {used} different words, but q is {settings.q}"
        raise InputError(f"{few}; choose a smaller q")
    contexts = count_contexts(text, phrases, words, settings.window, threads)
    return PhraseSide(phrases, Finder(phrases).count(text), contexts, frequent_columns(often, settings.q))


# ---- graphs ----


def write_graph(
    path: str | os.PathLike[str], graph: sparse.csr_matrix, phrases: PhraseFile, about: Mapping[str, object]
) -> None:
    """Writes a graph of the source phrases, compressed rows of its weights, float32 [phrases, phrases].

    The file contains the arrays ``graph.indptr``, int64 [phrases + 1], ``graph.indices``, int32, and ``graph.data``.
    Its metadata contain ``about`` and the hash of the phrases.
    """
    facts = json.dumps({**about, "phrases": phrases.source.hash(phrases.words)}, sort_keys=True)
    save(path, _matrix_arrays("graph", graph, np.float32), {"lscfg": "graph", "format": "1", "about": facts})


def read_graph(path: str | os.PathLike[str], phrases: PhraseFile) -> tuple[sparse.csr_matrix, dict[str, object]]:
    """The similarities of a graph of these source phrases, and its metadata.

    Raises:
        InputError: the file is missing, of another kind or damaged, or belongs to other phrases.
    """
    arrays, metadata = load(path, "graph")
    try:
        about = metadata_json(metadata, "about")
        if about.pop("phrases", None) != phrases.source.hash(phrases.words):
            raise InputError(
                "is a graph of other phrases; create a graph of these phrases with lscfg propagate graph", path
            )
        size = len(phrases.source.phrases)
        graph = _read_matrix(arrays, "graph", (size, size), "float32")
        check_range("graph.data", graph.data, 0, np.inf)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{error}; make the file again", path) from error
    isolated = int((np.diff(graph.indptr) == 0).sum())
    if isolated:
        log.info(f"{isolated} phrases have no neighbours")
    return graph.astype(float).sorted_indices(), about
