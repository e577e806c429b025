"""cdec on many sentences: several processes, output in order, and no loss beyond a sentence that kills one."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lscfg import log
from lscfg.adapter import told_warnings, untranslated
from lscfg.errors import InputError, LscfgError, exit_reason
from lscfg.formats.segments import numbered
from lscfg.parallel.threads import Threads

_TUNABLES = {
    "mxfast": 0,  # small freed blocks are not kept in separate lists
    "hugetlb": 1,
    "top_pad": 64 << 20,
    "trim_threshold": 2_000_000_000,  # the next sentence uses the memory
    "mmap_threshold": 1_000_000_000,
}
_ALLOCATION = {"GLIBC_TUNABLES": ":".join(f"glibc.malloc.{name}={value}" for name, value in _TUNABLES.items())}
"""cdec allocates and frees millions of small blocks per sentence, which takes a fifth of its time."""


class CdecProcesses:
    """Runs cdec with a configuration; paths in it are relative to ``folder``.

    Args:
        program: the decoder.
        ini: its configuration.
        options: further options, without -k.
        k: length of the k-best lists.
        jobs: processes that share the sentences.
        folder: where cdec is run (default: the working directory).
        warned: warnings of lscfg's library so far; new ones are added.

    Raises:
        InputError: no such configuration, or k or jobs below 1.
    """

    def __init__(
        self,
        program: Path,
        ini: str | os.PathLike[str],
        options: Sequence[str] = (),
        k: int = 1,
        jobs: int = 1,
        folder: Path | None = None,
        warned: set[str] | None = None,
    ):
        if not Path(ini).is_file():
            raise InputError("no such file", ini)
        if jobs < 1:
            raise InputError(f"jobs must be 1 or more, not {jobs}")
        if k < 1:
            raise InputError(f"k must be 1 or more, not {k}")
        self._program = program
        self._command = [str(program), "-c", str(Path(ini).resolve()), "-k", str(k), *options]
        self._k = k
        self._jobs = jobs
        self._folder = folder
        self._warned = set() if warned is None else warned
        self._lock = threading.Lock()  # guards the warnings, the running processes and the progress bar
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def decode(self, sentences: Sequence[str]) -> list[list[str]]:
        """The lines of the k-best list of each sentence, with its index as id; empty without a parse.

        A sentence that kills cdec gets an empty list and a warning; the others go to a new process. Warnings of lscfg's
        library are passed on, once each.

        Raises:
            LscfgError: cdec does not start.
            KeyboardInterrupt: cdec was interrupted; all processes have ended.
        """
        lists: list[list[str]] = [[] for _ in sentences]
        todo = [n for n, line in enumerate(sentences) if line.strip()]
        shares = [share for k in range(self._jobs) if (share := todo[k :: self._jobs])]
        bar = log.progress(range(len(todo)), "decoding", len(todo))
        blamed = set[int]()

        def finish(share: list[int]) -> None:
            while share:
                status, stderr, done = self._run(share, sentences, lists, bar)
                if not status or self._stopped:
                    return
                share = share[done:]
                if not share:
                    self._warn(f"cdec ended with {exit_reason(status)} after its last sentence ({_last_words(stderr)})")
                    return
                if len(share) > 1 and not done:  # a separate process, so that no other sentence can be the cause
                    status, stderr, _ = self._run(share[:1], sentences, lists, bar)
                    if self._stopped:
                        return
                    if not status:
                        share = share[1:]
                        continue
                elif done:
                    continue
                self._blame(share[0], sentences, status, stderr)
                blamed.add(share[0])
                share = share[1:]

        def finish_or_stop(share: list[int]) -> None:
            try:
                finish(share)
            except BaseException:
                self._stop()
                raise

        # threads even for one process: an interrupt reaches this thread, which then ends all processes
        with Threads(max(len(shares), 1)) as engine:
            try:
                for _ in engine.map(finish_or_stop, shares):
                    pass
            except BaseException:
                self._stop()
                raise
        next(bar, None)
        unparsed = [n for n in todo if not lists[n] and n not in blamed]
        if todo and len(unparsed) == len(todo):
            self._warn(f"{self._program} translates none of the sentences; is it cdec, and can its grammar parse them?")
        elif unparsed:
            self._warn(untranslated("cdec", unparsed, len(todo)))
        return lists

    def _run(
        self, share: list[int], sentences: Sequence[str], lists: list[list[str]], bar: Iterator[int]
    ) -> tuple[int, str, int]:
        """Status, the end of stderr, and the number of sentences with complete lists.

        If cdec died, its last list may be incomplete, unless it has k lines; it is dropped.
        """
        last = -1
        with tempfile.TemporaryFile("w+", encoding="utf-8") as text, tempfile.TemporaryFile() as errors:
            text.writelines(numbered(sentences[n], n) for n in share)
            text.seek(0)
            position = {n: k for k, n in enumerate(share)}
            with self._started(text, errors) as process:
                assert process.stdout is not None
                for raw in process.stdout:
                    number = raw.split(b" ||| ", 1)[0]
                    if not raw.endswith(b"\n") or not number.isdigit() or int(number) not in position:
                        continue
                    n = int(number)
                    if not lists[n]:
                        with self._lock:
                            next(bar, None)
                    lists[n].append(utf8_output(raw, n).rstrip("\n"))
                    last = max(last, position[n])
            status = process.returncode
            if status == -signal.SIGINT:
                raise KeyboardInterrupt
            done = last + 1
            if status and done and len(lists[share[last]]) < self._k:
                lists[share[last]].clear()
                done = last
            errors.seek(0)
            self._pass_on(errors)
            end = errors.seek(0, os.SEEK_END)
            errors.seek(max(0, end - 4000))
            return status, errors.read().decode("utf-8", "replace"), done

    @contextmanager
    def _started(self, text: IO[str], errors: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
        """A process that reads the text; other threads can stop it."""
        with self._lock:
            process = subprocess.Popen(
                self._command,
                stdin=text,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=self._folder,
                env={**_ALLOCATION, **os.environ},
            )
            self._running.add(process)
            if self._stopped:
                process.kill()
        try:
            with process:
                yield process
        finally:
            with self._lock:
                self._running.remove(process)

    def _stop(self) -> None:
        """Ends all processes, for good."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.kill()

    def _pass_on(self, stderr: Iterable[bytes]) -> None:
        """Repeats the warnings of lscfg's library in cdec, and its count of edges if some are unmatched."""
        for message in told_warnings(stderr):
            self._warn(f"in cdec: {message}")

    def _warn(self, message: str) -> None:
        with self._lock:
            log.warn_once(message, self._warned)

    def _blame(self, n: int, sentences: Sequence[str], status: int, stderr: str) -> None:
        """Warns of the sentence, unless cdec fails without one, too."""
        alone, words, _ = self._run([], sentences, [], iter(()))
        if self._stopped:  # killed because another process failed, whose error counts
            return
        if alone:
            raise LscfgError(f"{self._program} ended with {exit_reason(alone)}: {_last_words(words)}")
        self._warn(
            f"cdec ended with {exit_reason(status)} at sentence {n + 1}, which gets no translation: "
            f"{sentences[n][:200]} ({_last_words(stderr)})"
        )


def utf8_output(output: bytes, sentence: int) -> str:
    """The text that cdec wrote for a sentence, numbered from 0.

    Raises:
        InputError: it is not UTF-8.
    """
    try:
        return output.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(
            f"cdec's output for sentence {sentence + 1} is not UTF-8, as when a grammar has another encoding; convert "
            "the grammar"
        ) from None


def _last_words(stderr: str) -> str:
    lines = stderr.strip().splitlines()
    own = [line for line in lines if line.startswith("[lscfg]")]
    return " | ".join(own[-1:] or lines[-3:])
