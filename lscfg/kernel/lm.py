"""An n-gram model as the automaton of the decoder's search (lscfg_lm in lscfg/search.h).

The kernel itself reads ARPA files as lscfg and lmplz write them. KenLM reads all other models; the kernel asks KenLM
once for each new (state, word) and remembers the answer.
"""

from __future__ import annotations

import math
import mmap
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.errors import InputError, KernelError, quote
from lscfg.io.arpa import CURE, arpa_lines, check_arpa, is_binary
from lscfg.io.compression import is_compressed
from lscfg.io.encoding import MARK
from lscfg.io.read import open_bytes, read_bytes
from lscfg.kernel.base import Vocab, check, view
from lscfg.kernel.compiled import is_compiled, open_compiled

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"
FINAL = "|||"
"""End of a sentence for several models, which is no word of a rule."""

_REASON = re.compile(r" threw [\w:]*Exception(?: because `.*?')?\. ?(.*?)\)?$")
"""The end of KenLM's messages, after places in KenLM's source."""

MOST_EXTENSIONS = 2_000_000
"""Limit of n-grams above unigrams: reading more costs more time than the smaller search states save."""

MOST_ANSWERS = 1 << 23
"""Number of answers in a table of the kernel, 24 to 48 bytes each, above which the next search empties the table."""

MOST_STATES = 1 << 20
"""Number of states in Python, a few hundred bytes each, above which the next search forgets them."""


def new_table(order: int, end: int, step: Any, context: Any) -> Any:
    """Returns the kernel's empty table for the answers of a step.

    Raises:
        KernelError: memory is out.
    """
    pointer = lib.lscfg_lm_new(order, end, step, context)
    if pointer == ffi.NULL:
        raise KernelError("out of memory")
    return ffi.gc(pointer, lib.lscfg_lm_free)


class Automaton:
    """A model whose answers for states and words the kernel keeps in a table.

    Attributes:
        lock: held by a search that uses the model.
        failure: the exception of the latest search, if any.
        emptied: number of times that the table was emptied, after which states have other numbers.
    """

    _pointer: Any

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.failure: BaseException | None = None
        self.emptied = 0
        self._states: list[Any] = []  # that Python keeps
        self._forget: Callable[[], None] = _nothing  # all states but the first two

    def trim(self) -> None:
        """Empties the table if it is large, between searches; the caller holds the lock.

        Raises:
            KernelError: memory is out.
        """
        if lib.lscfg_lm_size(self._pointer) > MOST_ANSWERS or len(self._states) > MOST_STATES:
            if lib.lscfg_lm_clear(self._pointer):
                raise KernelError("out of memory")
            self._forget()
            self.emptied += 1


def _nothing() -> None:
    """Forgets no state."""


class LanguageModel(Automaton):
    """An n-gram model over the words of a vocabulary.

    Only one search at a time may use the model (``lock``): the kernel fills in its table during the search. The model
    also works in a forked process. ``order`` is the length of the longest n-grams; ``failure`` is the exception of the
    latest search, if any.

    Raises:
        InputError: the file cannot be read, contains only unigrams, or is not a KenLM model (ARPA or binary).
    """

    def __init__(self, path: str | os.PathLike[str], vocab: Vocab):
        super().__init__()
        self._vocab = vocab  # lives as long as the model does
        self._context = None if is_binary(path) else _ngrams(path, vocab)
        if self._context is not None:
            self.order = int(lib.lscfg_ngrams_order(self._context))
            self._step = ffi.addressof(lib, "lscfg_ngrams_step")
        else:
            model = _load(path)
            self.order = int(model.order)
            self._step = lib.lscfg_python_lm_step
            step, self._states, self._forget = _stepper(self, model, path, vocab)
            self._context = ffi.new_handle(step)
        self._pointer = new_table(self.order, vocab.add(END), self._step, self._context)

    def word_scores(self, words: Sequence[int], in_context: bool = True) -> np.ndarray:
        """Scores of the words of a sentence, in order.

        Args:
            words: numbers of the words in the vocabulary, without sentence boundaries.
            in_context: False: each word alone; True: after the words before, from the beginning of the sentence.

        Returns:
            float64 [len(words), 2]: log10 p, and the reach of each word as in ``lscfg/search.h``, 0 for unknown words.
        """
        found = np.zeros((len(words), 2))
        log10p, successor, reach = ffi.new("float *"), ffi.new("int32_t *"), ffi.new("int32_t *")
        state = lib.LSCFG_LM_BEGIN if in_context else lib.LSCFG_LM_NULL
        with self.lock:
            for row, word in zip(found, words, strict=True):
                if self._step(self._context, state, word, log10p, successor, reach):
                    raise self.failure or KernelError("out of memory")
                row[:] = log10p[0], max(reach[0], 0)
                state = successor[0] if in_context else state
        return found

    def contains(self, words: Sequence[str]) -> bool:
        """True if the model contains the n-grams of a phrase that end in each of its words and are as long as possible.

        States show shorter n-grams than ``order`` only if the model extends them to the right, as in all unpruned
        models.
        """
        ids = [self._vocab.add(word) for word in words]
        with self.lock:
            self.trim()
            longer = [self._walk(ids[begin:]) for begin in range(len(ids))]
        for end in range(len(ids)):
            begin = max(0, end + 1 - self.order)
            (state, reach) = longer[begin][end - begin]
            if reach < 1 or (end - begin + 1 == self.order and reach < self.order):
                return False
            if begin < end and end - begin + 1 < self.order and state == longer[begin + 1][end - begin - 1][0]:
                return False
        return True

    def _walk(self, words: Sequence[int]) -> list[tuple[int, int]]:
        """The state after each word, beginning without context, and the word's reach; the caller holds the lock."""
        found = []
        log10p, successor, reach = ffi.new("float *"), ffi.new("int32_t *"), ffi.new("int32_t *")
        state = lib.LSCFG_LM_NULL
        for word in words:
            if self._step(self._context, state, word, log10p, successor, reach):
                raise self.failure or KernelError("out of memory")
            state = successor[0]
            found.append((state, reach[0]))
        return found


class WordWindows(Automaton):
    """Scores of words after the words before them, as an automaton for ``JoinedModels``.

    Args:
        order: words that a score depends on, the word itself included; 1 to 13.
        score: finite score of a word after at most ``order`` - 1 words, given by their numbers; the first may be
            ``<s>``, and the word ``</s>``.
        vocab: vocabulary of the search.
    """

    def __init__(self, order: int, score: Callable[[tuple[int, ...], int], float], vocab: Vocab):
        super().__init__()
        self.order, self._score, self._vocab = order, score, vocab
        self._states = [(), (vocab.add(BEGIN),)]
        self._numbers: dict[tuple[int, ...], int] = {}
        self._forget = self._number_states
        self._number_states()
        self._context = ffi.new_handle(self._step)
        self._pointer = new_table(order, vocab.add(END), lib.lscfg_python_lm_step, self._context)

    def _number_states(self) -> None:
        """Numbers the first two states alone."""
        del self._states[2:]
        self._numbers = {state: number for number, state in enumerate(self._states)}

    def _step(self, state: int, word: int, value: Any, successor: Any, reach: Any) -> int:
        try:
            before = self._states[state]
            value[0] = self._score(before, word)
            after = (*before, word)[-self.order + 1 :] if self.order > 1 else ()
            number = self._numbers.setdefault(after, len(self._states))
            if number == len(self._states):
                self._states.append(after)
            successor[0] = number
            reach[0] = self.order - 1
            return 0
        except BaseException as error:  # of any kind: the caller of the search gets it, not the kernel
            self.failure = error
            return 1


class JoinedModels:
    """Several language models as one for the search: their weighted sum, so that its own weight is 1.

    Only one search at a time may use it or its models (``lock``). ``failure`` is the exception of the latest search.

    Args:
        models: of one vocabulary.
        weights: float64 [models, 2], weights of the sum of log10 p and of the number of unknown words.
        windows: further scores, of weight 1; needed without models.
    """

    def __init__(self, models: Sequence[LanguageModel], weights: np.ndarray, windows: WordWindows | None = None):
        self.lock = threading.Lock()
        self.models, self.weights = tuple(models), np.array(weights, np.float64)
        if self.weights.shape != (len(self.models), 2):
            raise ValueError(f"{len(self.models)} models, weights {self.weights.shape}")
        self._all: tuple[LanguageModel | WordWindows, ...] = self.models
        if windows is not None:
            self._all += (windows,)
        self.order = max(model.order for model in self._all)
        self._join()

    def _join(self) -> None:
        """Joins the models with an empty table."""
        pointers = ffi.new("lscfg_lm *[]", [model._pointer for model in self._all])
        all_weights = np.vstack([self.weights, np.array([[1.0, 0.0]])[: len(self._all) - len(self.models)]])
        columns = [ffi.from_buffer("double[]", np.ascontiguousarray(column)) for column in all_weights.T]
        end = self._all[0]._vocab.add(FINAL)
        joined = lib.lscfg_joined_new(len(self._all), pointers, *columns, end)
        if joined == ffi.NULL:
            raise KernelError("out of memory")
        context = ffi.gc(joined, lib.lscfg_joined_free)
        self._pointer = new_table(self.order, end, ffi.addressof(lib, "lscfg_joined_step"), context)
        self._context = context  # as long as the table is there
        self._emptied = [model.emptied for model in self._all]

    def trim(self) -> None:
        """Empties the tables that are large, between searches; the caller holds the lock.

        Raises:
            KernelError: memory is out.
        """
        for model in self._all:
            with model.lock:
                model.trim()
        own_is_large = lib.lscfg_lm_size(self._pointer) > MOST_ANSWERS
        if own_is_large or self._emptied != [model.emptied for model in self._all]:
            self._join()

    @property
    def failure(self) -> BaseException | None:
        """The exception of a model in the latest search, if any."""
        return next((model.failure for model in self._all if model.failure is not None), None)

    @failure.setter
    def failure(self, failure: BaseException | None) -> None:
        for model in self._all:
            model.failure = failure

    def sums(self, words: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """The sum of log10 p and the number of unknown words of each sentence by each model.

        float64 [sentences, models, 2].

        Args:
            words: int32, vocabulary ids; sentence s has ``words[offsets[s] : offsets[s + 1]]``.
        """
        found = np.empty((len(offsets) - 1, len(self.models), 2))
        error, log10p, unknown = ffi.new("lscfg_error *"), ffi.new("double *"), ffi.new("int32_t *")
        starts = offsets.tolist()
        with self.lock:
            for s, row in enumerate(found):
                part = np.ascontiguousarray(words[starts[s] : starts[s + 1]], np.int32)
                for model, cell in zip(self.models, row, strict=True):
                    buffer = ffi.from_buffer("int32_t[]", part)
                    check(lib.lscfg_lm_score(model._pointer, buffer, len(part), log10p, unknown, error), error)
                    cell[:] = log10p[0], unknown[0]
        return found


def _ngrams(path: str | os.PathLike[str], vocab: Vocab) -> Any:
    """Returns the kernel's own model; None if KenLM must read the file and report its errors."""
    error, result = ffi.new("lscfg_error *"), ffi.new("lscfg_ngrams **")

    def opened(compiled: bytes, sha256: Any, fault: Any) -> int:
        return int(lib.lscfg_ngrams_open(vocab._pointer, compiled, sha256, result, fault))

    if open_compiled(path, opened):
        return ffi.gc(result[0], lib.lscfg_ngrams_free)
    with _content(path) as text:
        code = lib.lscfg_ngrams_read(vocab._pointer, ffi.from_buffer(text), len(text), result, error)
    if code == lib.LSCFG_EINPUT:
        return None
    check(code, error)
    return ffi.gc(result[0], lib.lscfg_ngrams_free)


def ngram_arrays(path: str | os.PathLike[str]) -> dict[str, np.ndarray] | None:
    """Returns the arrays of a compiled language model; None if only KenLM reads the file.

    Raises:
        InputError: the file cannot be read.
    """
    if is_binary(path):
        return None
    vocab = Vocab()
    model = _ngrams(path, vocab)
    if model is None:
        return None
    found = ffi.new("lscfg_ngrams_view *")
    lib.lscfg_ngrams_get(model, found)
    owner = (model, vocab)
    offsets = view(found.word_offsets, found.n_words + 1, np.int64, owner)
    nodes = view(found.nodes, (found.n_nodes, 5), np.int32, owner)
    slots = view(found.slots, (found.n_slots, 3), np.int32, owner)
    longer = slots[slots[:, 2] >= 0]
    context, last = np.zeros(len(nodes), np.int32), np.arange(len(nodes), dtype=np.int32)
    context[longer[:, 2]], last[longer[:, 2]] = longer[:, 0], longer[:, 1]
    return {
        "facts": np.array([found.order, found.unknown], np.int32),
        "log10p": nodes[:, 0].copy().view(np.float32),
        "backoff": nodes[:, 1].copy().view(np.float32),
        "suffix": nodes[:, 2].copy(),
        "context": context,
        "last": last,
        "unigrams": view(found.unigrams, found.n_words, np.int32, owner),
        "words": view(found.words, int(offsets[-1]), np.uint8, owner),
        "word_offsets": offsets,
    }


@contextmanager
def _content(path: str | os.PathLike[str]) -> Iterator[bytes | mmap.mmap]:
    """Yields the file's bytes, mapped unless they are compressed."""
    if not _is_plain(path) or not os.path.getsize(path):
        yield read_bytes(path).removeprefix(MARK)
        return
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        yield text


def _is_plain(path: str | os.PathLike[str]) -> bool:
    """True for a file that KenLM can read as it is: neither compressed nor with a byte order mark."""
    if is_compressed(path):
        return False
    with open_bytes(path) as file:
        return file.read(len(MARK)) != MARK


def _load(path: str | os.PathLike[str]) -> Any:
    if is_compiled(path):
        raise InputError("a compiled language model, which KenLM cannot read; name the ARPA file", path)
    if not is_binary(path) and check_arpa(path) < 2:
        raise InputError("KenLM cannot read unigram models; build one of order 2 or more", path)
    import kenlm

    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    try:
        with _plain(path) as plain:
            return kenlm.Model(plain, config)
    except (OSError, UnicodeDecodeError) as error:  # its message may hold any bytes of the file
        said = error.object.decode("utf-8", "replace") if isinstance(error, UnicodeDecodeError) else str(error)
        reason = _REASON.search(line := " ".join(said.split()))
        raise InputError(f"not a language model that KenLM can read: {reason[1] if reason else line}", path) from error


@contextmanager
def _plain(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yields the path of a copy without compression and byte order mark, which not every build of KenLM reads."""
    if _is_plain(path):
        yield os.fspath(path)
        return
    import tempfile

    with tempfile.NamedTemporaryFile("wb", 0, prefix="lscfg-", suffix=".arpa") as plain:
        with open_bytes(path) as compressed:
            _write(compressed.read(len(MARK)).removeprefix(MARK), plain)
            while block := compressed.read(1 << 20):
                _write(block, plain)
        yield plain.name


def _write(data: bytes, file: IO[bytes]) -> None:
    """Writes data to an unbuffered temporary file.

    Raises:
        InputError: there is no room, which is no fault of the file that is read meanwhile.
    """
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[file.write(rest) :]
        except OSError as error:
            raise InputError(f"cannot write a temporary file: {error.strerror}; set TMPDIR", file.name) from error


def _stepper(
    owner: LanguageModel, model: Any, path: str | os.PathLike[str], vocab: Vocab
) -> tuple[Callable[[int, int, Any, Any, Any], int], list[Any], Callable[[], None]]:
    """Returns the transition function as a closure, its states, and a function that forgets all states but two."""
    import kenlm

    order, extended = owner.order, _extended(path)
    null, begin = kenlm.State(), kenlm.State()
    model.NullContextWrite(null)
    model.BeginSentenceWrite(begin)
    states = [null, begin]
    # for each state the latest words on some way to it, as many as can be in a state
    latest: list[tuple[str, ...]] = [(), (BEGIN,)]
    # the null context wins where both are one, since nothing depends on <s>
    first = {begin: lib.LSCFG_LM_BEGIN, null: lib.LSCFG_LM_NULL}
    numbers = dict(first)
    words: list[str] = []
    full_score = model.BaseFullScore

    def step(state: int, word: int, log10p: Any, successor: Any, reach: Any) -> int:
        try:
            if word >= len(words):
                words.extend(vocab.word(i) for i in range(len(words), len(vocab)))
            out = kenlm.State()
            score = full_score(states[state], words[word], out)
            if not math.isfinite(score.log_prob):
                raise InputError(f"the log10 probability of {quote(words[word])} is {score.log_prob}; {CURE}", path)
            gram = (*latest[state], UNKNOWN if score.oov else words[word])
            number = numbers.setdefault(out, len(states))
            if number == len(states):
                states.append(out)
                latest.append(gram[-order + 1 :] if order > 1 else ())
            log10p[0] = score.log_prob
            successor[0] = number
            if score.oov:
                reach[0] = lib.LSCFG_LM_UNKNOWN_EXTENDS if extended.unknown else lib.LSCFG_LM_UNKNOWN
            else:
                length = score.ngram_length
                known = extended.grams is None or length == order or " ".join(gram[-length:]) in extended.grams
                reach[0] = length if known else length - 1
            return 0
        except BaseException as error:  # of any kind: the caller of the search gets it, not the kernel
            owner.failure = error
            return 1

    def forget() -> None:
        del states[2:], latest[2:]
        numbers.clear()
        numbers.update(first)

    return step, states, forget


class _Extended(NamedTuple):
    """N-grams of a model that a word before them can extend."""

    grams: frozenset[str] | None
    """Ends of longer n-grams; None if finding them takes long or is impossible. The search works without them, with
    more states than necessary."""
    unknown: bool
    """False if a word before an unknown word can never change its probability."""


def _extended(path: str | os.PathLike[str]) -> _Extended:
    """Finds the ends of n-grams, split as KenLM splits them."""
    grams: set[str] = set()
    order, unknown, anything = 0, False, _Extended(None, True)
    try:
        if is_binary(path):
            return anything
        for _, line in arpa_lines(path):
            if line.startswith(b"\\"):
                order = int(line[1 : line.index(b"-")]) if line.endswith(b"-grams:") else 0
            elif order > 1 and line:
                words = line.decode("utf-8", "replace").replace("\t", " ").replace("\r", " ").split(" ")
                words = [UNKNOWN if word == "<UNK>" else word for word in words if word][1 : order + 1]
                if len(words) < order or len(grams) > MOST_EXTENSIONS:
                    return anything
                unknown = unknown or UNKNOWN in words[1:]
                # KenLM adds missing n-grams, so that each end of an n-gram is one.
                grams.update(" ".join(words[k:]) for k in range(1, order))
    except ValueError:  # KenLM reports faults of the file
        return anything
    return _Extended(frozenset(grams), unknown)


@ffi.def_extern(error=1)  # type: ignore[untyped-decorator]
def lscfg_python_lm_step(context: Any, state: int, word: int, log10p: Any, successor: Any, reach: Any) -> int:
    """Advances the automaton; called by the kernel with the handle of a model's closure."""
    return int(ffi.from_handle(context)(state, word, log10p, successor, reach))


def check_language_model(path: str | os.PathLike[str], order: int | None = None) -> None:
    """Opens a model as a decoder does.

    Args:
        path: an ARPA file or a binary of KenLM.
        order: expected length of the longest n-grams; None: any.

    Raises:
        InputError: as in ``LanguageModel``, or the order differs.
    """
    found = LanguageModel(path, Vocab()).order
    if order is not None and found != order:
        raise InputError(f"language model of order {found}, expected {order}", path)


class PhraseScorer:
    """Scores phrases in their sentence, by KenLM.

    Raises:
        InputError: as in ``LanguageModel``.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self._model = _load(path)
        self.order = int(self._model.order)

    def score(self, before: Sequence[str], phrases: Sequence[Sequence[str]], after: Sequence[str]) -> np.ndarray:
        """Returns float64 [phrases, 2]: the sum and the number of log10 probabilities that depend on each phrase.

        Args:
            before: all words of the sentence before the phrase.
            phrases: words of each phrase.
            after: all words of the sentence after the phrase.
        """
        import kenlm

        reach = self.order - 1
        start, end = kenlm.State(), kenlm.State()
        near = before[max(len(before) - reach, 0) :]
        write = self._model.NullContextWrite if len(before) > len(near) else self._model.BeginSentenceWrite
        write(start)
        for word in near:
            self._model.BaseScore(start, word, end)
            start, end = end, start
        behind = [*after, END][:reach]
        found = np.empty((len(phrases), 2))
        for row, phrase in zip(found, phrases, strict=True):
            state, total = start, 0.0
            for word in (*phrase, *behind):
                following = kenlm.State()
                total += self._model.BaseScore(state, word, following)
                state = following
            row[:] = total, len(phrase) + len(behind)
        return found
