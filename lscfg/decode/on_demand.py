"""Rules of a sentence from the index that a configuration names instead of a grammar."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from lscfg import log
from lscfg.decode.memory import Memory
from lscfg.errors import InputError
from lscfg.extract.on_demand import RuleIndex
from lscfg.formats.ini import DecoderConfig


class RulesOnDemand:
    """Rules of an index and of the corrections of a memory.

    Args:
        path: file of the index; config: settings of the decoder.

    Raises:
        InputError: the file cannot be read or is damaged, or a setting needs all rules.
    """

    def __init__(self, path: Path, config: DecoderConfig):
        if config.substitutes:
            raise InputError("unknown_words=similar needs all rules; remove the line, or name a grammar", config.path)
        self.index, self._max_span = RuleIndex(path), config.max_span
        self._memory: Memory | None = None
        self._taught: tuple[object, ...] = ()
        self._left_out = 0

    def learn(self, folder: Path | None) -> bool:
        """Adds the corrections in the folder of a memory to the text; returns True if they have changed.

        Ignores faults of the memory: the caller reads the memory, too, and reports them.
        """
        if folder is None:
            changed = bool(self._taught)
            if changed:
                self.index.teach(())
                self._taught = ()
            return changed
        if self._memory is None or self._memory.path.parent != folder:
            self._memory = Memory(folder, indexed=False)
        with suppress(InputError):
            self._memory.refresh()
        if self._memory.state == self._taught:
            return False
        pairs = self._memory.pairs
        left = self.index.teach((one.source, one.target, " ".join(f"{i}-{j}" for i, j in one.links)) for one in pairs)
        if left > self._left_out:
            log.warning(
                f"{folder}: the index lacks the rules of the oldest {left:,} of {len(pairs):,} corrections; "
                "make the index again from text that contains them"
            )
        self._left_out = left
        self._taught = self._memory.state
        return True

    def lines(self, sentence: str) -> tuple[str, ...]:
        """Rules that can translate a part of a sentence, as lines of a grammar."""
        return tuple(self.index.text(sentence, self._max_span).splitlines())
