"""From parallel text to translations in one object, in the style of scikit-learn.

The work is that of ``lscfg run``: the same stages prepare, align, extract, estimate and tune, in this process, and
``lscfg pack`` makes the bundle from which sentences are translated.
"""

from __future__ import annotations

import inspect
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, overload

from lscfg import log
from lscfg.api.arguments import absolute, brief, check_lines, check_number, check_path, check_text
from lscfg.api.records import Records
from lscfg.bundle.manifest import MANIFEST, Manifest
from lscfg.bundle.pack import check_replaced_bundle, pack
from lscfg.bundle.system import INI, WEIGHTS, TranslationSystem, open_bundle
from lscfg.decode.confidence import CONFIDENCE
from lscfg.errors import InputError, did_you_mean, quote
from lscfg.estimate.estimator import DEFAULT_ESTIMATOR, ESTIMATORS
from lscfg.extract.extractor import EXTRACTORS, extractor_names
from lscfg.formats.ini import write_ini
from lscfg.io.folders import make_folder, replaced_folder
from lscfg.io.json_files import read_json
from lscfg.io.read import file_hash
from lscfg.io.write import write_lines
from lscfg.kernel import DEFAULT_FEATURES, FeatureOptions, feature_names
from lscfg.prepare.languages import equal_codes, is_unspaced
from lscfg.prepare.reader import TEXT
from lscfg.prepare.settings import PrepareSettings
from lscfg.serve.translator import BadSentenceError, TranslationOptions, Translator
from lscfg.settings import LARGEST
from lscfg.tuning.evaluate import corpus_score, restored_bleu, restored_tokens
from lscfg.tuning.experiment.cache import StageCache, locked
from lscfg.tuning.experiment.plan import make_plan
from lscfg.tuning.experiment.schema import Chosen, LanguageModelSettings, RawCorpus, Tuning
from lscfg.tuning.experiment.stage import Stage, with_files
from lscfg.tuning.experiment.stages.decoding import DEV, decoder_config
from lscfg.tuning.experiment.steps.latent import Latent
from lscfg.tuning.experiment.system import Experiment, System, SystemRules
from lscfg.tuning.experiment.template import held_out_size

SYSTEM = "SYSTEM"
"""Name of the only system of the experiment."""

BUNDLE = "bundle"
"""Folder of the bundle in a work folder."""

SIDES = "source", "target"

UNCHANGED = "none"
"""Tokeniser of text whose words are separated by blanks already."""


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
        self.source, self.target, self.languages = source, target, languages
        self.tokeniser, self.grammar, self.states = tokeniser, grammar, states
        self.dev, self.iterations, self.seed = dev, iterations, seed
        self.jobs, self.work, self.verbose = jobs, work, verbose

    # ---- training ----

    def fit(self, source: Iterable[str] | None = None, target: Iterable[str] | None = None) -> Self:
        """Trains and tunes the translator.

        Args:
            source, target: sentence pairs, which replace those of the constructor.

        Raises:
            InputError: an argument is out of its range, the sides differ in length, or the text is too small.
            TypeError: an argument has another type.
        """
        texts = [
            _check_text(given if given is not None else own, name)
            for name, given, own in zip(SIDES, (source, target), (self.source, self.target), strict=True)
        ]
        if len(texts[0]) != len(texts[1]):
            raise InputError(f"target has {len(texts[1])} lines, but source has {len(texts[0])}; give pairs")
        if not texts[0]:
            raise InputError("source must contain one line or more; the list is empty")
        settings = self._settings(len(texts[0]))
        jobs = int(check_number(self.jobs, "jobs", 1))
        work = None if self.work is None else check_path(self.work, "work")
        with self._shown(), _work_folder(work) as folder, _naming_arguments(folder):
            files = [folder / f"{name}.txt" for name in SIDES]
            for path, lines in zip(files, texts, strict=True):
                write_lines(path, lines)
            made = _make(settings.experiment(files[0], files[1]), folder / "cache", jobs)
            kept = None if work is None else Path(work) / BUNDLE
            self._open(_Bundle.packed(made, folder, kept))
            self.dev_bleu_: float | None = made.dev_bleu
        return self

    def _settings(self, pairs: int) -> _Settings:
        """The checked arguments.

        Raises:
            InputError: an argument is out of its range.
            TypeError: an argument has another type.
        """
        if not isinstance(self.verbose, bool):
            raise TypeError(f"verbose must be True or False, not {brief(self.verbose)}")
        for extractor in extractor_names(check_text(self.grammar, "grammar")):
            if EXTRACTORS[extractor].FILTERED:
                kinds = ", ".join(name for name in EXTRACTORS.names() if not EXTRACTORS[name].FILTERED)
                raise InputError(
                    f"grammar must not contain {extractor}, whose rules are kept for known sentences only; use {kinds}"
                )
        dev = held_out_size(pairs) if self.dev is None else int(check_number(self.dev, "dev", 1))
        languages = _check_languages(self.languages)
        seed = int(check_number(self.seed, "seed", 0))
        if self.tokeniser is None:
            tokeniser = "spm" if any(map(is_unspaced, languages)) else "moses"
        else:
            tokeniser = check_text(self.tokeniser, "tokeniser")
        casing = "none" if tokeniser == UNCHANGED else PrepareSettings.casing
        prepare = PrepareSettings(*languages, format=TEXT, tokeniser=tokeniser, casing=casing, dev=dev, seed=seed)
        iterations = int(check_number(self.iterations, "iterations", 1))
        return _Settings(
            prepare,
            SystemRules(self.grammar),
            int(check_number(self.states, "states", 0)),
            Tuning(iterations=iterations, seed=seed),
        )

    def _shown(self) -> Any:
        """Shows messages unless the program shows them already."""
        return log.shown(log.Display()) if self.verbose and log.current_display() is None else nullcontext()

    def _open(self, bundle: _Bundle) -> None:
        system = bundle.system()
        assert system.preparation is not None
        self._bundle = bundle
        self._translator: Translator | None = None
        self.pairs_ = dict(system.preparation.sizes)
        self.dropped_ = dict(system.preparation.counts["dropped"])
        self.weights_ = dict(system.weights)

    # ---- translation ----

    @overload
    def translate(self, lines: Iterable[str]) -> list[str]: ...
    @overload
    def translate(self, lines: Iterable[str], details: Literal[True]) -> Records: ...

    def translate(self, lines: Iterable[str], details: bool = False) -> list[str] | Records:
        """Translates lines of text, or of words with the tokeniser ``"none"``.

        Args:
            details: return records as the HTTP service does, with ``translation``, ``score``, ``unknown`` words and the
                ``confidence`` that at most 30 % of the words must change.

        Raises:
            InputError: ``fit`` was not called, or a line cannot be translated.
            TypeError: lines are not a list of strings.
        """
        translator = self._opened("translate")
        found = []
        for number, line in enumerate(_check_text(lines, "lines")):
            try:
                answer = translator(line, TranslationOptions(raw=True, max_words=LARGEST, details=details)).answer
            except BadSentenceError as error:
                raise InputError(f"lines[{number}] {error}") from error
            for warning in () if details else answer["warnings"]:
                log.warning(f"lines[{number}]: {warning}")
            found.append(_with_confidence(answer) if details else answer)
        return Records(found) if details else [answer["translation"] for answer in found]

    def score(self, source: Iterable[str], target: Iterable[str]) -> float:
        """BLEU (0 to 100) of the translations of ``source`` against ``target``.

        sacrebleu tokenises raw text; tokens are scored as they are.

        Raises:
            InputError: see ``translate``, or the sides differ in length.
            TypeError: an argument has another type.
        """
        lines, references = _check_text(source, "source"), _check_text(target, "target")
        if len(lines) != len(references) or not lines:
            raise InputError(f"target has {len(references)} lines, and source has {len(lines)}; give one pair or more")
        output = self.translate(lines)
        preparation = self._bundle.system().preparation
        assert preparation is not None
        if preparation.settings.tokeniser == UNCHANGED:
            return corpus_score("bleu", output, [references])
        return restored_bleu(output, [references], restored_tokens(preparation.sides[1].language))[0]

    def _opened(self, method: str) -> Translator:
        if not hasattr(self, "_bundle"):
            raise InputError(f"nothing to {method} with; call Pipeline.fit or Pipeline.load first")
        if self._translator is None:
            self._translator = Translator(self._bundle.system())
        return self._translator

    # ---- files ----

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the translator as a bundle, for ``lscfg serve``, ``lscfg decode -c PATH/cdec.ini`` and ``load``.

        Raises:
            InputError: ``fit`` was not called, or the folder exists and is no bundle, or cannot be written.
        """
        path = check_path(path, "path")
        if not hasattr(self, "_bundle"):
            raise InputError("nothing to write; call Pipeline.fit first", path)
        self._bundle.copy(Path(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Opens a bundle of ``save``, or of ``lscfg pack`` with the preparation of raw text.

        Raises:
            InputError: the bundle is missing or damaged, or reads prepared text only.
        """
        bundle = _Bundle(Path(check_path(path, "path")).absolute())
        system = bundle.system()
        if system.preparation is None:
            raise InputError("has no preparation of text; open it by lscfg.Decoder, or pack it with --prepare", path)
        settings = system.preparation.settings
        languages = tuple(side.language for side in system.preparation.sides)
        made = cls(languages=(languages[0], languages[1]), tokeniser=settings.tokeniser)
        made._open(bundle)
        made.dev_bleu_ = None
        return made

    # ---- scikit-learn ----

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor by name."""
        return {name: getattr(self, name) for name in _ARGUMENTS}

    def set_params(self, **arguments: Any) -> Self:
        """Changes some of the arguments; ``fit`` checks them.

        Raises:
            TypeError: there is no argument of a name.
        """
        for name, value in arguments.items():
            if name not in _ARGUMENTS:
                near = did_you_mean(name, _ARGUMENTS)
                raise TypeError(f"Pipeline has no argument {quote(name)}; arguments are {', '.join(_ARGUMENTS)}{near}")
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_bundle")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        text = InputTags(one_d_array=True, two_d_array=False, string=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=True), input_tags=text)

    def __getstate__(self) -> dict[str, Any]:
        return {name: None if name == "_translator" else value for name, value in self.__dict__.items()}

    def __repr__(self) -> str:
        given = {name: value for name, value in self.get_params().items() if value != _ARGUMENTS[name].default}
        shown = [f"{name}={value if name in SIDES else repr(value)}" for name, value in (given | _sizes(given)).items()]
        return f"Pipeline({', '.join(shown)})"


_ARGUMENTS = {name: one for name, one in inspect.signature(Pipeline.__init__).parameters.items() if name != "self"}


def _sizes(given: dict[str, Any]) -> dict[str, str]:
    """Short descriptions of the texts among the arguments."""
    texts = {name: value for name, value in given.items() if name in SIDES}
    return {
        name: f"<{len(value):,} lines>" if hasattr(value, "__len__") else f"<{type(value).__name__}>"
        for name, value in texts.items()
    }


def _with_confidence(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer with the confidence in the translation, None if it is not known, instead of all details."""
    confidence = answer["details"].get("confidence")
    return {name: value for name, value in answer.items() if name != "details"} | {"confidence": confidence}


class _Settings(NamedTuple):
    """The checked settings of a pipeline."""

    prepare: PrepareSettings
    rules: SystemRules
    states: int
    tuning: Tuning

    def experiment(self, source: Path, target: Path) -> Experiment:
        """The experiment of the only system, without a test set."""
        steps = {}
        if self.states:
            settings: Any = ESTIMATORS[DEFAULT_ESTIMATOR].Settings
            chosen = Chosen.of(ESTIMATORS[DEFAULT_ESTIMATOR], DEFAULT_ESTIMATOR, settings(m=self.states))
            steps[Latent.NAME] = Latent(chosen)
        return Experiment(
            RawCorpus([source], [target]),
            {SYSTEM: System(self.rules, steps)},
            {name: cls() for name, cls in EXTRACTORS.settings().items()},
            prepare=self.prepare,
            language_model=LanguageModelSettings(discount_fallback=True),  # a small text must do
            features=FeatureOptions(names=feature_names(DEFAULT_FEATURES.split(","))),
            tuning=self.tuning,
        )


class _Made(NamedTuple):
    """A trained system in a cache of stages.

    Attributes:
        folder: a folder with ``cdec.ini`` and ``weights``.
        preparation: the folder of the preparation.
    """

    folder: Path
    preparation: Path
    dev_bleu: float


def _make(experiment: Experiment, cache_folder: Path, jobs: int) -> _Made:
    """Makes the stages that the tuned system needs, and a folder with the system."""
    plan = make_plan(experiment)
    system, prepared = plan.systems[SYSTEM], plan.texts.prepared
    assert system.decoder and system.files and prepared
    cache = StageCache(cache_folder, apart=False)
    sure = plan.confidence.get(SYSTEM)
    for stage in _needed(sure or system.tuned[0]):
        log.info(f"stage {stage.name}")
        cache.make(stage, jobs)
    folder = make_folder(cache_folder.parent / "system")
    files = with_files(system.files, cache.resolved)
    write_ini(folder / INI, decoder_config(system.decoder, folder, files))
    shutil.copyfile(cache.path(system.tuned[0] / WEIGHTS), folder / WEIGHTS)
    (folder / CONFIDENCE).unlink(missing_ok=True)
    if sure and cache.path(sure / CONFIDENCE).is_file():
        shutil.copyfile(cache.path(sure / CONFIDENCE), folder / CONFIDENCE)
    summary = read_json(cache.path(system.tuned[0] / DEV))
    return _Made(folder, cache.path(prepared), float(summary["bleu"]))


def _needed(stage: Stage) -> Iterator[Stage]:
    """A stage after those whose files it reads, each once."""
    done: set[str] = set()

    def before(one: Stage) -> Iterator[Stage]:
        for source in one.sources:
            if source.key not in done:
                yield from before(source)
        if one.key not in done:
            done.add(one.key)
            yield one

    yield from before(stage)


class _Bundle:
    """The bundle of a pipeline. A copy or a pickle of a temporary bundle holds its files; that of another, its path.

    Args:
        folder: the folder of the bundle.
        temporary: remove the folder with this object.
    """

    def __init__(self, folder: Path, temporary: bool = False):
        self.folder, self.temporary = folder, temporary
        if temporary:
            weakref.finalize(self, _remove, folder.parent, os.getpid())

    @classmethod
    def packed(cls, made: _Made, work: Path, kept: Path | None) -> Self:
        """Packs a system, into a temporary folder unless ``kept`` names another."""
        folder = _temporary() if kept is None else kept.absolute()
        bundle = cls(folder, temporary=kept is None)
        pack(made.folder, folder, prepare=made.preparation)
        return bundle

    def system(self) -> TranslationSystem:
        """The open system; see ``open_bundle``."""
        return open_bundle(self.folder)

    def copy(self, path: Path) -> None:
        """Writes the bundle under another name; see ``lscfg.bundle.pack.pack``."""
        check_replaced_bundle(path)
        manifest = Manifest.read(self.folder)
        with replaced_folder(path, MANIFEST) as folder:
            for name in manifest.files:
                make_folder((folder / name).parent)
                shutil.copyfile(self.folder / name, folder / name)
            Manifest(path.absolute().name, manifest.files).write(folder)
            open_bundle(folder)

    def __reduce__(self) -> tuple[Any, ...]:
        if not self.temporary:
            return _found_bundle, (absolute(str(self.folder)), file_hash(self.folder / MANIFEST))
        names = [MANIFEST, *Manifest.read(self.folder).files]
        return _unpickled_bundle, ({name: (self.folder / name).read_bytes() for name in names},)


def _found_bundle(folder: str, sha256: str) -> _Bundle:
    """The bundle that was pickled by its path.

    Raises:
        InputError: the bundle is missing or has changed.
    """
    if file_hash(Path(folder) / MANIFEST) != sha256:
        raise InputError("has changed since the pipeline was pickled; fit and pickle again", folder)
    return _Bundle(Path(folder))


def _unpickled_bundle(files: dict[str, bytes]) -> _Bundle:
    bundle = _Bundle(_temporary(), temporary=True)
    for name, content in files.items():
        make_folder((bundle.folder / name).parent)
        (bundle.folder / name).write_bytes(content)
    return bundle


def _temporary() -> Path:
    return Path(tempfile.mkdtemp(prefix="lscfg-")) / BUNDLE


def _remove(folder: Path, process: int) -> None:
    """Removes a temporary folder, unless this process is a fork of its owner."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


# ---- arguments ----


def _check_text(value: Any, name: str) -> list[str]:
    """Lines without further ends of lines.

    Raises:
        InputError: there is no text, or a line contains the end of another.
        TypeError: the value is not a list of strings.
    """
    if value is None:
        raise InputError(f"{name} is missing; give lines to Pipeline(source, target, ...) or to fit(source, target)")
    lines = check_lines(value, name)
    for number, line in enumerate(lines):
        if "\n" in line:
            raise InputError(f"{name}[{number}] contains several lines ({quote(line)}); give one sentence a line")
    return lines


def _check_languages(value: Any) -> tuple[str, str]:
    """Two codes of languages.

    Raises:
        InputError: there are none, they are equal, or a code is none.
        TypeError: the value is not two strings.
    """
    if value is None:
        raise InputError("languages is missing; give the codes of both languages, as in languages=('de', 'en')")
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise TypeError(f"languages must be two codes, such as ('de', 'en'), not {brief(value)}")
    source, target = check_text(value[0], "languages[0]"), check_text(value[1], "languages[1]")
    PrepareSettings(source, target)
    if not source or not target or equal_codes(source, target):
        raise InputError(f"languages must be two different codes, not {quote(source)} and {quote(target)}")
    return source, target


@contextmanager
def _work_folder(path: str | None) -> Iterator[Path]:
    """The folder of the stages: the given one, for one process at a time, or a temporary one."""
    if path is None:
        with tempfile.TemporaryDirectory(prefix="lscfg-") as name:
            yield Path(name)
    else:
        with locked(Path(path)):
            yield Path(path)


@contextmanager
def _naming_arguments(folder: Path) -> Iterator[None]:
    """Errors in the texts name the arguments instead of temporary files."""
    try:
        yield
    except InputError as error:
        message = str(error)
        for name in SIDES:
            message = message.replace(str(folder / f"{name}.txt"), name)
        if message == str(error):
            raise
        raise InputError(message) from error
