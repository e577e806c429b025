"""A language model over classes of words, or whose sentence marks are words of the rules, as in cdec."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from lscfg._kernel import ffi, lib
from lscfg.errors import InputError
from lscfg.kernel.base import Vocab
from lscfg.kernel.lm import BEGIN, END, FINAL, UNKNOWN, LanguageModel, new_table

MISPLACED = -100.0
"""cdec's log10 p of a missing or misplaced sentence mark."""

_ENDED, _AFTER, _OWN = 2, 3, 4
"""States after the mark at the end, and the first of the model itself, which differs from one before any word."""


class MappedModel(LanguageModel):
    """A language model that reads other words than those of the rules.

    With ``marked``, a translation that begins with ``<s>``, ends with ``</s>`` and contains neither elsewhere gets the
    scores of its words; each mark that is missing or elsewhere costs 100, and so does each word after ``</s>``.

    Args:
        path, vocab: see ``LanguageModel``.
        classes: class of each word; other words are unknown. None: words are their own classes.
        marked: rules write ``<s>`` and ``</s>``; False: the model adds both.

    Raises:
        InputError: see ``LanguageModel``; or the model contains none of the classes.
    """

    def __init__(
        self, path: str | os.PathLike[str], vocab: Vocab, classes: Mapping[str, str] | None = None, marked: bool = False
    ):
        super().__init__(path, vocab)
        if classes is not None and not any(self.contains([name]) for name in {*classes.values()}):
            raise InputError("no word of this model is a class of its file of classes, CLASS WORD LOGP", path)
        self._own_step, self._own_context = self._step, self._context
        self._classes, self._marked = classes, marked
        self._begin, self._end, self._final = (vocab.add(word) for word in (BEGIN, END, FINAL))
        self._numbers: dict[int, int] = {}
        self._step = lib.lscfg_python_lm_step
        self._context = ffi.new_handle(self._marked_step if marked else self._mapped_step)
        self._pointer = new_table(self.order, self._final if marked else self._end, self._step, self._context)

    def _mapped(self, word: int) -> int:
        """The number of a word's class."""
        if self._classes is None or word in (self._begin, self._end):
            return word
        number = self._numbers.get(word)
        if number is None:
            number = self._vocab.add(self._classes.get(self._vocab.word(word), UNKNOWN))
            self._numbers[word] = number
        return number

    def _mapped_step(self, state: int, word: int, log10p: Any, successor: Any, reach: Any) -> int:
        try:
            return int(self._own_step(self._own_context, state, self._mapped(word), log10p, successor, reach))
        except BaseException as error:  # of any kind: the caller of the search gets it, not the kernel
            self.failure = error
            return 1

    def _marked_step(self, state: int, word: int, log10p: Any, successor: Any, reach: Any) -> int:
        """Own states are numbered from ``_OWN`` on; a sentence begins without a context."""
        first, reach[0] = state in (lib.LSCFG_LM_NULL, lib.LSCFG_LM_BEGIN), 0
        ended, cost = state in (_ENDED, _AFTER), 0.0
        if word == self._final:
            log10p[0] = MISPLACED * ((state != _ENDED) + (state == lib.LSCFG_LM_BEGIN))
            successor[0] = _AFTER
            return 0
        if word == self._begin:
            log10p[0] = 0.0 if first else MISPLACED
            successor[0] = _ENDED if ended else _OWN + lib.LSCFG_LM_BEGIN
            reach[0] = int(state == lib.LSCFG_LM_NULL)
            return 0
        if ended or state == lib.LSCFG_LM_BEGIN:
            cost, state = MISPLACED, lib.LSCFG_LM_NULL
        failed = self._mapped_step(max(state - _OWN, lib.LSCFG_LM_NULL), word, log10p, successor, reach)
        log10p[0] += cost
        successor[0] = _ENDED if ended or word == self._end else _OWN + successor[0]
        if first:  # a mark before the word may be missing
            reach[0] = max(reach[0], 1) if reach[0] >= 0 else lib.LSCFG_LM_UNKNOWN_EXTENDS
        return failed
