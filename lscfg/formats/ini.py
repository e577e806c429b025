"""cdec.ini: the part of cdec's configuration that the embedded decoder supports, read and written.

One ``key=value`` per line; ``#`` starts a comment. Paths count from the working directory, as in cdec, or else from the
file's own folder.
"""

from __future__ import annotations

import filecmp
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from lscfg import log
from lscfg.errors import InputError, cut, did_you_mean, quote
from lscfg.formats.plf import COST
from lscfg.functions.function import FEATURE_FUNCTIONS, FunctionLine
from lscfg.io.arguments import InputFile, InputFolder, NamedFile
from lscfg.io.numbers import MOST_DIGITS
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.kernel import LatentOptions, option_pairs
from lscfg.kernel.compiled import is_compiled


@dataclass(frozen=True)
class LatentFeature:
    """A feature_function line for latent features: ``LSCFG key=value ...`` or ``External LIBRARY key=value ...``.

    Raises:
        InputError: from ``line``, for a path with a blank.
    """

    options: Mapping[str, str] = field(hash=False)
    """The pairs as written, including ``model``."""
    library: str | None = None
    """cdec's shared library, None in the form without one."""
    number: int | None = field(default=None, compare=False)
    """Number of the line in its file, for messages."""

    def __reduce__(self) -> tuple[type[LatentFeature], tuple[dict[str, str], str | None, int | None]]:
        # the view of a dictionary cannot be pickled
        return type(self), (dict(self.options), self.library, self.number)

    @property
    def line(self) -> str:
        """Returns the value of the feature_function line."""
        head = "LSCFG" if self.library is None else f"External {line_word(self.library)}"
        return " ".join([head, *(f"{key}={line_word(value)}" for key, value in self.options.items())])


def line_word(path: str | os.PathLike[str]) -> str:
    """Returns the path as a word of a feature's line, which decoders split at blanks.

    Raises:
        InputError: the path contains a blank.
    """
    text = os.fspath(path)
    if text.split() != [text]:
        raise InputError("decoders split a feature's line at blanks; rename the file or folder", text)
    return text


class NamedModel(NamedTuple):
    """A language model by the name of its feature."""

    name: str
    path: Path
    marked: bool = False
    """Rules write ``<s>`` and ``</s>`` (-x of KLanguageModel)."""
    classes: Path | None = None
    """Word classes, if the model scores classes instead of words (-m of KLanguageModel)."""

    @property
    def features(self) -> tuple[str, ...]:
        """Names of its features: the sum of log10 p, the number of unknown words, and the log10 p within classes."""
        emission = () if self.classes is None else (f"{self.name}_Emit",)
        return self.name, f"{self.name}_OOV", *emission

    @property
    def line(self) -> str:
        """The value of the feature_function line."""
        options = ["-x"] if self.marked else []
        options += [] if self.classes is None else ["-m", line_word(self.classes)]
        options += [] if self.name == DecoderConfig.language_model_name else ["-n", self.name]
        return " ".join(["KLanguageModel", *options, line_word(self.path)])


MOST_MODELS = 4
"""Maximum number of language models."""


@dataclass(frozen=True)
class DecoderConfig:
    """Configuration of a decoder; the defaults are cdec's."""

    grammars: tuple[Path, ...] = ()
    """Grammar files (grammar, may be repeated)."""
    language_model: Path | None = None
    """A model that KenLM reads (feature_function=KLanguageModel)."""
    language_model_name: str = "LanguageModel"
    """Name of its feature (-n of KLanguageModel); ``_OOV`` is appended for the feature of unknown words."""
    further_models: tuple[NamedModel, ...] = ()
    """Language models after the first, and all of classes or marked text, even without a first."""
    word_penalty: bool = False
    """Counts target words (feature_function=WordPenalty)."""
    latent: LatentFeature | None = None
    """Latent features (feature_function=LSCFG or External)."""
    functions: tuple[FunctionLine, ...] = ()
    """Further feature functions (see ``lscfg.functions.function``)."""
    max_span: int = 10
    """Maximum number of words that a rule covers, except glue (scfg_max_span_limit)."""
    pop_limit: int = 200
    """Candidates taken at each node (cubepruning_pop_limit)."""
    pass_through: bool = False
    """Lets every word translate as itself (add_pass_through_rules)."""
    substitutes: bool = False
    """Translates words without a one-word rule by the rules of similar words (unknown_words=similar, not of cdec)."""
    glue: bool = True
    """Hiero's glue rules (on unless scfg_no_hiero_glue_grammar)."""
    goal: str = "S"
    """Category of whole sentences (goal)."""
    weights: Path | None = None
    """Weights file."""
    k_best: int | None = None
    """Length of k-best lists."""
    unique_k_best: bool = False
    """Keeps only different translations in k-best lists."""
    path: Path | None = field(default=None, compare=False)
    """The configuration file, for messages."""

    @property
    def feature_heads(self) -> tuple[str, ...]:
        """Beginnings of the names of features that only some sentences have; without a grammar, any."""
        if not self.grammars:
            return ("",)
        return COST, *(head for function in self.functions for head in function.heads())

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """All language models."""
        first = (NamedModel(self.language_model_name, self.language_model),) if self.language_model else ()
        return *first, *self.further_models

    def with_models(self, path: Callable[[Path], Path | None]) -> DecoderConfig:
        """The configuration with other files of the language models; None: without the model."""
        found = [
            one._replace(path=there, classes=None if one.classes is None else path(one.classes))
            for one in self.models
            if (there := path(one.path)) is not None
        ]
        first = next((one for one in found[:1] if one == NamedModel(one.name, one.path)), None)
        if first is None:
            return replace(self, language_model=None, further_models=tuple(found))
        changed = replace(self, language_model=first.path, language_model_name=first.name)
        return replace(changed, further_models=tuple(found[1:]))

    def check_texts(self, user: str) -> None:
        """Refuses compiled grammars and language models, which only lscfg reads.

        Args:
            user: name of the host that reads texts.

        Raises:
            InputError: the configuration names such a file.
        """
        for path in (*self.grammars, *(model.path for model in self.models)):
            if is_compiled(path):
                raise InputError(f"{user} cannot read {quote(path.name)}; pack the system with --texts", self.path)

    def check_common(self, user: str) -> None:
        """Refuses feature functions and rules that only the decoders themselves compute.

        Args:
            user: name of the host or step that needs another configuration.

        Raises:
            InputError: the configuration has such a function.
        """
        if self.functions:
            raise InputError(f"{user} cannot compute feature_function={self.functions[0]}; remove the line", self.path)
        if len(self.models) > 1:
            raise InputError(f"{user} takes one language model; keep one of {len(self.models)} lines", self.path)
        if self.further_models:
            raise InputError(f"{user} takes a language model of words without -x and -m; remove the options", self.path)
        if self.substitutes:
            raise InputError(f"{user} does not support unknown_words={UNKNOWN_WORDS[1]}; remove the line", self.path)


UNKNOWN_WORDS = ("copy", "similar")
"""Translations of unknown words: the words themselves, or also those of similar words."""

BY_CDEC = "remove the line, or decode with lscfg cdec decode"
"""Cure for settings that only cdec supports."""

_PATHS = {"grammar", "weights"}
"""Keys whose values are paths."""

BUILT_IN = ("KLanguageModel", "WordPenalty", "LSCFG", "External")
"""Feature functions that are not kinds."""


class ChangedIni(os.PathLike[str]):
    """An ini file with changes that ``read_ini`` returns, such as absolute paths, for functions that take a file."""

    def __init__(self, path: str | os.PathLike[str], config: DecoderConfig):
        self._path, self.config = os.fspath(path), config

    def __fspath__(self) -> str:
        return self._path


def read_ini(path: str | os.PathLike[str]) -> DecoderConfig:
    """Reads the configuration in a cdec.ini.

    Raises:
        InputError: a line that is not a setting, a setting or an option of latent features that is unknown, repeated or
            invalid, a formalism other than scfg, or a missing file; by file and line.
    """
    if isinstance(path, ChangedIni):
        return path.config
    reader = _Reader(path)
    for number, line in enumerate(read_lines(path), 1):
        text = line.split("#", 1)[0].strip()
        if text:
            reader.setting(number, text)
    return reader.finish()


def find_file(value: str, ini: str | os.PathLike[str]) -> Path | None:
    """Resolves a path in an ini file: from the working directory or else from the ini file's folder.

    Of two equal files, which two bundles with one language model contain, returns the one next to the ini file: any
    other folder finds this one, too.

    Raises:
        InputError: both have such a file, with different content; decoders that run in another folder would read the
            other.
    """
    found = [path for path in (Path(value), Path(ini).parent / value) if value and os.path.isfile(path)]
    if len(found) == 2 and not os.path.samefile(*found):
        if not _equal(*found):
            raise InputError(f"{value} is a file here and another one next to this file; write one path in full", ini)
        return found[1]
    return found[0] if found else None


def _equal(one: Path, other: Path) -> bool:
    """True for files of equal content that can be read; sizes are compared first."""
    try:
        return filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False


class IniFile(InputFile):
    """An ini file for cdec or Moses on the command line; the files that it names are read too."""

    def files(self) -> Iterator[str]:
        yield self.path
        if os.path.isfile(self.path):
            yield from (str(path) for word in named_words(self.path) if (path := find_file(word, self.path)))


class NamedGrammar(NamedFile):
    """``NAME=GRAMMAR``: a grammar, an ini file with all that it names, or a folder of grammars."""

    def files(self) -> Iterator[str]:
        kind = InputFolder if os.path.isdir(self.path) else IniFile if self.path.endswith(".ini") else InputFile
        yield from kind(self.path).files()


def named_words(ini: str | os.PathLike[str], leave: str = "") -> list[str]:
    """Returns the texts of an ini file that may be paths.

    Keys and feature functions of other decoders may name files anywhere: in a value, in its words, and after ``=``.

    Args:
        leave: skips lines whose key begins with this text.
    """
    words: dict[str, None] = {}
    of_moses = False
    for line in read_lines(ini):
        text = line.split("#", 1)[0].strip()
        key, _, value = (part.strip() for part in text.partition("="))
        of_moses = of_moses or text.startswith("[")
        if of_moses:
            words |= dict.fromkeys(_moses_words(text))
        elif key == "feature_function":
            words |= dict.fromkeys(_function_words(value))
        elif not (leave and key.startswith(leave)) and key not in _SETTINGS.keys() - _PATHS:
            words[value] = None  # a path may contain blanks
            for word in () if key in _PATHS else value.split():
                words |= dict.fromkeys((word, word.partition("=")[2]))
    return [word for word in words if word]


def _moses_words(line: str) -> Iterator[str]:
    """Yields the words of a line of Moses that may be paths: values, of latent features the model, or a whole line."""
    latent = line.startswith("LatentSCFG ")
    for word in () if line.startswith("[") else line.split():
        key, equals, path = word.partition("=") if "=" in line else ("", "=", word)
        is_number = re.fullmatch(r"[-+.\deE]+", path) is not None
        if equals and (key in ("path", "model") or not (latent or key == "name" or is_number)):
            yield path


def _function_words(value: str) -> Iterator[str]:
    """Yields the words of a feature function that may be paths; of latent features, the library and the model."""
    name, *words = value.split() or [""]
    latent = name == "LSCFG" or (name == "External" and "lscfg" in Path(*words[:1]).name)
    for before, word in pairwise([name, *words]):
        key, equals, path = word.partition("=")
        if "-n" not in (before, word) and (key == "model" or not (latent and equals)):
            yield from (word, path)


def is_our_library(value: str, ini: str | os.PathLike[str]) -> bool:
    """Recognises lscfg's library in an ini file, by its name or by its content."""
    if "lscfg" in Path(value).name:
        return True
    found = find_file(value, ini)
    return found is not None and b"[lscfg] " in found.read_bytes()


def write_ini(path: str | os.PathLike[str], config: DecoderConfig) -> None:
    """Writes the configuration for cdec (with the library of an External line) and for ``read_ini``."""
    write_lines(path, format_ini(config))


def format_ini(config: DecoderConfig) -> list[str]:
    """Returns the lines of the configuration; settings with default values are omitted.

    Raises:
        InputError: a line contains #, which begins a comment.
    """
    lines = ["formalism=scfg", *(f"grammar={grammar}" for grammar in config.grammars)]
    if config.word_penalty:
        lines.append("feature_function=WordPenalty")
    for model in config.models:
        lines.append(f"feature_function={model.line}")
    if config.latent is not None:
        lines.append(f"feature_function={config.latent.line}")
    lines += [f"feature_function={function}" for function in config.functions]
    if config.max_span != DecoderConfig.max_span:
        lines.append(f"scfg_max_span_limit={config.max_span}")
    if config.pop_limit != DecoderConfig.pop_limit:
        lines.append(f"cubepruning_pop_limit={config.pop_limit}")
    if config.pass_through:
        lines.append("add_pass_through_rules=true")
    if config.substitutes:
        lines.append("unknown_words=similar")
    if not config.glue:
        lines.append("scfg_no_hiero_glue_grammar=true")
    if config.goal != DecoderConfig.goal:
        lines.append(f"goal={config.goal}")
    if config.weights is not None:
        lines.append(f"weights={config.weights}")
    if config.k_best is not None:
        lines.append(f"k_best={config.k_best}")
    if config.unique_k_best:
        lines.append("unique_k_best=true")
    if commented := next((line for line in lines if "#" in line), None):
        raise InputError(f"# begins a comment in {quote(commented)}; rename the file or folder", config.path)
    return lines


@dataclass
class _Reader:
    path: str | os.PathLike[str]
    config: DecoderConfig = field(default_factory=DecoderConfig)
    seen: dict[str, int] = field(default_factory=dict)
    number: int = 0

    def error(self, message: str) -> InputError:
        return InputError(message, self.path, self.number)

    def setting(self, number: int, text: str) -> None:
        self.number = number
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise self.error(f"expected key=value, found {quote(text)}")
        if key not in _SETTINGS:
            near = did_you_mean(key, _SETTINGS)
            known = ", ".join(_SETTINGS)
            raise self.error(f"{cut(key)} is not supported here; supported are {known}{near}; {BY_CDEC}")
        if key not in ("grammar", "feature_function"):
            if key in self.seen:
                raise self.error(f"{key} is set in line {self.seen[key]} already; keep one of the two")
            self.seen[key] = number
        _SETTINGS[key](self, key, value)

    def finish(self) -> DecoderConfig:
        if "formalism" not in self.seen:
            raise InputError("no formalism; add the line formalism=scfg", self.path)
        if self.config.goal != "S" and self.config.glue:
            raise InputError(
                f"glue rules end in [S], but the goal is {cut(self.config.goal)}; set scfg_no_hiero_glue_grammar=true",
                self.path,
            )
        return replace(self.config, path=Path(self.path))

    def file(self, key: str, value: str) -> Path:
        found = find_file(value, self.path)
        if found is None:
            folders = " or ".join(dict.fromkeys((str(Path.cwd()), str(Path(self.path).resolve().parent))))
            raise self.error(f"{key}: no file {quote(value)} in {folders}")
        return found

    def one_of(self, key: str, value: str) -> None:
        allowed = {"formalism": "scfg", "scfg_default_nt": "X", "intersection_strategy": "cube_pruning"}[key]
        if key == "intersection_strategy" and value.lower() in ("fast_cube_pruning", "fast_cube_pruning_2"):
            log.warning(
                f"{self.path}:{self.number}: {key}={value} is read as {allowed}, which finds the same or better"
            )
        elif value != allowed and (key == "scfg_default_nt" or value.lower() != allowed):
            raise self.error(f"{cut(f'{key}={value}')} is not supported; only {allowed} is; {BY_CDEC}")

    def number_of(self, key: str, value: str) -> None:
        name = {"scfg_max_span_limit": "max_span", "cubepruning_pop_limit": "pop_limit", "k_best": "k_best"}[key]
        if not (value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS and 0 < int(value) < 2**31):
            raise self.error(f"{key} must be a whole number from 1 to 2147483647, found {quote(value)}")
        self.config = replace(self.config, **{name: int(value)})  # type: ignore[arg-type]

    def switch(self, key: str, value: str) -> None:
        if value.lower() not in ("", "true", "1", "yes", "on"):
            raise self.error(f"{cut(f'{key}={value}')}: cdec takes any value as true; remove the line to switch it off")
        if key != "quiet":
            name, on = {
                "add_pass_through_rules": ("pass_through", True),
                "scfg_no_hiero_glue_grammar": ("glue", False),
                "unique_k_best": ("unique_k_best", True),
            }[key]
            self.config = replace(self.config, **{name: on})  # type: ignore[arg-type]

    def unknown_words(self, key: str, value: str) -> None:
        if value not in UNKNOWN_WORDS:
            raise self.error(f"{key} must be {' or '.join(UNKNOWN_WORDS)}, found {quote(value)}")
        self.config = replace(self.config, substitutes=value == UNKNOWN_WORDS[1])

    def goal(self, key: str, value: str) -> None:
        if not value or set(value) & set(" []|"):
            raise self.error(f"goal must be the name of a category without brackets, found {quote(value)}")
        self.config = replace(self.config, goal=value)

    def weights(self, key: str, value: str) -> None:
        self.config = replace(self.config, weights=self.file(key, value))

    def grammar(self, key: str, value: str) -> None:
        self.config = replace(self.config, grammars=(*self.config.grammars, self.file(key, value)))

    def feature_function(self, key: str, value: str) -> None:
        name, *arguments = value.split() or [""]
        if name == "WordPenalty" and not arguments:
            self.once(self.config.word_penalty, name)
            self.config = replace(self.config, word_penalty=True)
        elif name == "KLanguageModel":
            self.language_model(arguments)
        elif name in ("LSCFG", "External"):
            self.once(self.config.latent is not None, "LSCFG or External")
            self.latent(name, arguments)
        elif name in FEATURE_FUNCTIONS:
            self.once(any(line.name == name for line in self.config.functions), name)
            self.function(FunctionLine(name, tuple(arguments)))
        else:
            known = (*BUILT_IN, *FEATURE_FUNCTIONS)
            raise self.error(
                f"feature function {quote(value)} is not supported; supported are {', '.join(known)}"
                f"{did_you_mean(name, known)}; {BY_CDEC}"
            )

    def function(self, line: FunctionLine) -> None:
        try:
            line.names()
            line.of_words()
        except InputError as error:
            raise self.error(f"feature function {error}") from None
        self.config = replace(self.config, functions=(*self.config.functions, line))

    def once(self, there: bool, name: str) -> None:
        if there:
            raise self.error(f"a second feature_function={name}; keep one of the two")

    def language_model(self, arguments: list[str]) -> None:
        given: dict[str, str] = {}
        rest = iter(arguments)
        for word in rest:
            option = word if word in ("-x", "-m", "-n") else ""
            value = next(rest, "") if option in ("-m", "-n") else word
            if option in given or not value or value.startswith("-") != (option == "-x"):
                raise self.error("expected feature_function=KLanguageModel [-x] [-m CLASSES] [-n NAME] FILE")
            given[option] = value
        if "" not in given:
            raise self.error("expected feature_function=KLanguageModel [-x] [-m CLASSES] [-n NAME] FILE")
        classes = self.file("KLanguageModel -m", given["-m"]) if "-m" in given else None
        name = given.get("-n", DecoderConfig.language_model_name)
        model = NamedModel(name, self.file("KLanguageModel", given[""]), "-x" in given, classes)
        others = self.config.models
        if taken := {*model.features} & {feature for one in others for feature in one.features}:
            raise self.error(
                f"a second feature_function=KLanguageModel with the feature {cut(min(taken))}; "
                "give the model another name with -n NAME"
            )
        if others and others[0].marked != model.marked:
            raise self.error("KLanguageModel with and without -x; rules write sentence marks for all models or none")
        if len(others) == MOST_MODELS:
            raise self.error(f"more than {MOST_MODELS} language models")
        if others or model.marked or model.classes:
            self.config = replace(self.config, further_models=(*self.config.further_models, model))
        else:
            self.config = replace(self.config, language_model=model.path, language_model_name=name)

    def latent(self, name: str, arguments: list[str]) -> None:
        library = None
        if name == "External":
            if not arguments or not is_our_library(arguments[0], self.path):
                raise self.error(
                    "the only External feature function that is supported is lscfg's own library, by a path without "
                    f"blanks; found {quote(' '.join(arguments))}"
                )
            library, *arguments = arguments
        options: dict[str, str] = {}
        for key, value in option_pairs(" ".join(arguments)):
            if not key:
                raise self.error(f"expected key=value after {name}, found {quote(value)}")
            if key in options:
                raise self.error(f"option {cut(key)} of {name} is given twice")
            options[key] = value
        if "model" not in options:
            raise self.error(f"{name} needs model=FILE")
        try:
            LatentOptions.of(options.items(), others=True)
        except InputError as error:
            raise self.error(f"feature function {name}: {error}") from None
        self.config = replace(self.config, latent=LatentFeature(MappingProxyType(options), library, self.number))


_SETTINGS: Mapping[str, Callable[[_Reader, str, str], None]] = {
    "formalism": _Reader.one_of,
    "grammar": _Reader.grammar,
    "feature_function": _Reader.feature_function,
    "scfg_max_span_limit": _Reader.number_of,
    "cubepruning_pop_limit": _Reader.number_of,
    "add_pass_through_rules": _Reader.switch,
    "unknown_words": _Reader.unknown_words,
    "scfg_no_hiero_glue_grammar": _Reader.switch,
    "goal": _Reader.goal,
    "scfg_default_nt": _Reader.one_of,
    "intersection_strategy": _Reader.one_of,
    "weights": _Reader.weights,
    "k_best": _Reader.number_of,
    "unique_k_best": _Reader.switch,
    "quiet": _Reader.switch,
}
