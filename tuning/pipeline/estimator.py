"""From parallel text to translations in one object, in the style of scikit-learn.

The work is that of ``lscfg run``: the same stages prepare, align, extract, estimate and tune, in this process, and
``lscfg pack`` makes the bundle from which sentences are translated.
"""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, overload

from lscfg import log
from lscfg.api.arguments import check_number, check_path, check_text
from lscfg.api.records import Records
from lscfg.errors import InputError, did_you_mean, quote
from lscfg.io.sides import SIDES
from lscfg.tuning.pipeline.arguments import check_glossary, check_pairs, check_side, check_training
from lscfg.tuning.pipeline.fitted import FittedTranslator
from lscfg.tuning.pipeline.training import train_bundle


class Pipeline:
    """A translator that learns from parallel text: it prepares and aligns the text, extracts rules, and tunes them.

    ``fit`` checks all arguments; the constructor only stores them, so scikit-learn can clone and search. A fitted
    pipeline can be pickled and copied: the copy holds all files of the translator or, with ``work``, finds them there.

    Args:
        source, target: sentence pairs, one line each; ``fit`` takes them, too.
        languages: codes of both languages, such as ``("de", "en")``.
        tokeniser: ``"moses"``, ``"spm"``, or ``"none"`` for words between blanks, which stay as they are; None:
            ``"spm"`` if a language is written without blanks, else ``"moses"``.
        grammar: ``"minimal"`` or another rule extractor whose rules do not depend on the test set.
        states: number of hidden states; 0 for a grammar without latent features.
        dev: number of pairs set aside for tuning; None: a twentieth of the pairs, as ``lscfg init`` chooses.
        iterations: maximum number of decoding runs over these pairs.
        seed: seed of all random choices; equal arguments give equal translations.
        jobs: processes or threads; the result does not depend on it.
        work: folder for finished stages, which a later ``fit`` uses again, and for the translator; None: a temporary
            folder.
        verbose: show log messages and progress on stderr.

    Attributes:
        pairs_: number of pairs read, and used for training (``train``) and tuning (``dev``).
        dropped_: number of pairs left out, by reason.
        weights_: feature weights.
        dev_bleu_: BLEU (0 to 100) of the tuned weights on ``dev``, in tokens; None after ``load``.
    """

    def __init__(
        self,
        source: Iterable[str] | None = None,
        target: Iterable[str] | None = None,
        languages: tuple[str, str] | None = None,
        *,
        tokeniser: str | None = None,
        grammar: str = "minimal",
        states: int = 16,
        dev: int | None = None,
        iterations: int = 8,
        seed: int = 1,
        jobs: int = 1,
        work: str | os.PathLike[str] | None = None,
        verbose: bool = False,
    ):
        self.source, self.target = source, target
        self.languages = languages
        self.tokeniser, self.grammar, self.states = tokeniser, grammar, states
        self.dev, self.iterations, self.seed = dev, iterations, seed
        self.jobs, self.work, self.verbose = jobs, work, verbose

    def __setattr__(self, name: str, value: Any) -> None:
        if name in SIDES and isinstance(value, Iterator):  # which could be read once only
            value = list(value)
        super().__setattr__(name, value)

    # ---- training ----

    def fit(self, source: Iterable[str] | None = None, target: Iterable[str] | None = None) -> Self:
        """Trains and tunes the translator.

        Args:
            source, target: sentence pairs, which replace those of the constructor.

        Raises:
            InputError: an argument is out of its range, the sides differ in length, or the text is too small.
            TypeError: an argument has another type.
        """
        own = self.source if source is None else source, self.target if target is None else target
        texts = check_pairs(*own)
        settings = check_training(self.get_params(), len(texts["source"]))
        jobs = int(check_number(self.jobs, "jobs", 1))
        work = None if self.work is None else check_path(self.work, "work")
        shown = self.verbose and log.current_display() is None  # a program may show messages already
        with log.shown(log.Display()) if shown else nullcontext():
            bundle, dev_bleu = train_bundle(settings, texts, work, jobs)
            self._take(FittedTranslator(bundle))
        self.dev_bleu_: float | None = dev_bleu
        return self

    def _take(self, fitted: FittedTranslator) -> None:
        preparation = fitted.preparation()
        self._fitted = fitted
        self.pairs_ = dict(preparation.sizes)
        self.dropped_ = dict(preparation.counts["dropped"])
        self.weights_ = dict(fitted.system().weights)

    # ---- translation ----

    @overload
    def translate(self, lines: str, glossary: Any = None) -> str: ...  # type: ignore[overload-overlap]
    @overload
    def translate(self, lines: str, glossary: Any = None, *, details: Literal[True]) -> dict[str, Any]: ...  # type: ignore[overload-overlap]
    @overload
    def translate(self, lines: Iterable[str], glossary: Any = None) -> list[str]: ...
    @overload
    def translate(self, lines: Iterable[str], glossary: Any = None, *, details: Literal[True]) -> Records: ...

    def translate(
        self, lines: str | Iterable[str], glossary: Any = None, *, details: bool = False
    ) -> str | dict[str, Any] | list[str] | Records:
        """Translates a sentence or a list of them: text, or words with the tokeniser ``"none"``.

        Args:
            glossary: terms that the translations obey: a file as for ``lscfg decode --glossary``, targets by source, or
                a list of entries such as ``{"source": "Haus", "target": ["house", "home"], "mode": "soft"}``.
            details: return records as the HTTP service does, with ``translation``, ``score``, ``unknown`` words, used
                ``terms``, the ``confidence`` that at most 30 % of the words must change, and ``details`` of each word.

        Raises:
            InputError: ``fit`` was not called, a line cannot be translated, or a term is faulty.
            TypeError: an argument has another type.
        """
        fitted, one = self._known("translate with"), isinstance(lines, str)
        texts = check_side([lines] if one else lines, "lines")
        answers = fitted.translate(texts, check_glossary(glossary, fitted.sides), details)
        if not details:
            for number, answer in enumerate(answers):
                for warning in answer["warnings"]:
                    log.warning(f"lines[{number}]: {warning}")
        found = Records(answers) if details else [answer["translation"] for answer in answers]
        return found[0] if one else found

    def translate_document(self, path: str | os.PathLike[str], glossary: Any = None) -> bytes:
        """The content of an HTML, XLIFF, SRT or text file in which the texts are translated and all other bytes stay.

        Args:
            path: its ending names the format, as for ``lscfg decode --xml-input document``.
            glossary: see ``translate``.

        Raises:
            InputError: ``fit`` was not called, the file cannot be read or translated, or a term is faulty.
            TypeError: an argument has another type.
        """
        fitted = self._known("translate with")
        return fitted.translate_document(check_path(path, "path"), check_glossary(glossary, fitted.sides))

    def score(self, source: Iterable[str], target: Iterable[str]) -> float:
        """BLEU (0 to 100) of the translations of ``source`` against ``target``.

        sacrebleu tokenises raw text; tokens are scored as they are.

        Raises:
            InputError: see ``translate``, or the sides differ in length.
            TypeError: an argument has another type.
        """
        lines, references = check_pairs(source, target).values()
        return self._known("score").bleu(self.translate(lines), references)

    # ---- corrections ----

    def correct(self, source: str, target: str) -> int:
        """Stores a corrected translation, and returns its number for ``undo``.

        Later calls return the correction for its source, and use the phrases of the pair. Copies, pickles and ``save``
        keep corrections; ``fit`` begins without any.

        Raises:
            InputError: ``fit`` was not called, a side is empty or too long, or the source has several sentences.
            TypeError: an argument is not a string.
        """
        source, target = check_text(source, "source"), check_text(target, "target")
        return self._known("correct").correct(source, target)

    def undo(self, number: int) -> None:
        """Removes a correction.

        Raises:
            InputError: ``fit`` was not called, or no correction has this number.
            TypeError: the argument is not an integer.
        """
        self._known("correct").undo(int(check_number(number, "number", 1)))

    def _known(self, purpose: str) -> FittedTranslator:
        """The fitted translator.

        Raises:
            InputError: there is none.
        """
        if not self.__sklearn_is_fitted__():
            raise InputError(f"nothing to {purpose}; call Pipeline.fit or Pipeline.load first")
        return self._fitted

    # ---- files ----

    def __copy__(self) -> Self:
        return _copied(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the translator as a bundle, for ``lscfg serve``, ``lscfg decode -c PATH/cdec.ini`` and ``load``.

        The folder also holds the corrections, if there are any: ``lscfg serve PATH --corrections PATH`` uses them.

        Raises:
            InputError: ``fit`` was not called, or the folder cannot be written, is not a bundle, or contains other
                corrections.
        """
        path = check_path(path, "path")
        if not self.__sklearn_is_fitted__():
            raise InputError("nothing to write; call Pipeline.fit first", path)
        self._fitted.save(Path(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Opens a bundle of ``save``, or of ``lscfg pack`` with the preparation of raw text.

        Raises:
            InputError: the bundle is missing or damaged, or reads prepared text only.
        """
        fitted = FittedTranslator.read(Path(check_path(path, "path")))
        preparation = fitted.system().preparation
        if preparation is None:
            raise InputError("has no preparation of text; open it by lscfg.Decoder, or pack it with --prepare", path)
        source, target = (side.language for side in preparation.sides)
        made = cls(languages=(source, target), tokeniser=preparation.settings.tokeniser)
        made._take(fitted)
        made.dev_bleu_ = None
        return made

    # ---- scikit-learn ----

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor by name."""
        return {name: getattr(self, name) for name in _ARGUMENTS}

    def set_params(self, **arguments: Any) -> Self:
        """Changes some of the arguments; ``fit`` checks them.

        Raises:
            TypeError: an argument is unknown.
        """
        for name, value in arguments.items():
            if name not in _ARGUMENTS:
                near = did_you_mean(name, _ARGUMENTS)
                raise TypeError(f"Pipeline has no argument {quote(name)}; arguments are {', '.join(_ARGUMENTS)}{near}")
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        text = InputTags(one_d_array=True, two_d_array=False, string=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=True), input_tags=text)

    def __repr__(self) -> str:
        return f"Pipeline({', '.join(_described(self.get_params()))})"


PipelineT = TypeVar("PipelineT", bound=Pipeline)

_ARGUMENTS = {name: one for name, one in inspect.signature(Pipeline.__init__).parameters.items() if name != "self"}


def _copied(one: PipelineT) -> PipelineT:
    """A copy with the same arguments, but separate files and corrections."""
    made = object.__new__(type(one))
    made.__dict__.update(one.__dict__)
    if one.__sklearn_is_fitted__():
        made._fitted = copy.deepcopy(one._fitted)
    return made


def _described(arguments: dict[str, Any]) -> list[str]:
    """The arguments that differ from their defaults."""
    default = {name: one.default for name, one in _ARGUMENTS.items()}
    given = {
        name: value
        for name, value in arguments.items()
        if value is not default[name] and (name in SIDES or value != default[name])
    }
    return [f"{name}={value if name in SIDES else repr(value)}" for name, value in (given | _sizes(given)).items()]


def _sizes(given: dict[str, Any]) -> dict[str, str]:
    """Short descriptions of the texts among the arguments."""
    texts = {name: value for name, value in given.items() if name in SIDES}
    return {
        name: f"<{len(value):,} lines>" if hasattr(value, "__len__") else f"<{type(value).__name__}>"
        for name, value in texts.items()
    }
