"""Options of a decoder's line, and counts of improper sums (plugin/inference)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from typing import Any, Self

from lscfg._kernel import ffi, lib
from lscfg.errors import InputError, cut
from lscfg.kernel.base import check
from lscfg.kernel.inference import IMPROPER, LATENT_FEATURES, NEGATIVE, BindingOptions, FeatureOptions, Inference


def option_pairs(line: str) -> Iterator[tuple[str, str]]:
    """Yields keys and values of the options ``key=value`` of a line, separated by blanks.

    The key is empty for a part that is not such a pair; the value is then the whole part.
    """
    data = line.encode("utf-8", "surrogateescape")
    text = ffi.from_buffer("char[]", data)
    rest, option = ffi.new("const char **", text), ffi.new("lscfg_option *")
    while lib.lscfg_option_next(rest, text + len(data), option):
        part, length = ffi.buffer(option.text, option.length)[:], option.key_length
        yield _decoded(part[:length]), _decoded(part[length + 1 :] if length else part)


@dataclass(frozen=True)
class LatentOptions:
    """Options for latent features on a decoder's line."""

    model: str
    """Path of the model file, empty if the line names none."""
    features: FeatureOptions
    """Features and their computation."""
    unknown: BindingOptions
    """Treatment of rules that the model does not contain."""
    prune: float = 0.0
    """Least marginal of an application that a search considers, in [0, 1)."""

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]], others: bool = False) -> Self:
        """Returns the options of these keys and values, with defaults for all others.

        Args:
            others: ignores other keys, options of a decoder.

        Raises:
            InputError: an unknown key, or a bad value.
        """
        options, error = ffi.new("lscfg_options *"), ffi.new("lscfg_error *")
        lib.lscfg_options_init(options)
        for key, value in pairs:
            name, data = (text.encode("utf-8", "surrogateescape") for text in (key, value))
            code = lib.lscfg_options_set(options, name, len(name), data, len(data), error)
            check(code, error)
            if code == lib.LSCFG_OTHER_OPTION and not others:
                usage = ffi.string(lib.lscfg_options_usage()).decode("ascii")
                raise InputError(f"unknown option {cut(f'{key}={value}')}; options are {usage}")
        how, unknown = options.features, options.unknown
        names = tuple(LATENT_FEATURES[column] for column in how.columns[0 : how.n_columns])
        features = FeatureOptions(bool(how.log), how.floor, NEGATIVE[how.negative], names, IMPROPER[bool(how.keep)])
        policy = BindingOptions(bool(unknown.compose), bool(unknown.oov), bool(unknown.oov_parts))
        return cls(_decoded(ffi.string(options.model)), features, policy, float(options.prune))


@dataclass(frozen=True)
class ImproperCounts:
    """Counts of sentences whose sums are not probabilities."""

    sentences: int = 0
    """All sentences."""
    below: int = 0
    """Sentences with g < 0."""
    zero: int = 0
    """Sentences with g = 0."""
    negative: int = 0
    """Sentences with g > 0 and negative marginals."""
    negative_mass: float = 0.0
    """Sum of the ``negative_mass`` of the latter."""

    def __add__(self, other: ImproperCounts) -> ImproperCounts:
        return ImproperCounts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def count(self, inference: Inference) -> ImproperCounts:
        """Returns the counts with one more sentence."""
        counts = self._pointer()
        marginals = (inference.sign, inference.negative, inference.log_g, inference.negative_mass)
        lib.lscfg_improper_add(counts, ffi.new("lscfg_inference *", marginals))
        return ImproperCounts(counts.sentences, counts.below, counts.zero, counts.negative, float(counts.negative_mass))

    def text(self, options: FeatureOptions) -> str:
        """Returns one sentence for the user; empty if all sums are probabilities."""
        text = ffi.new("char[]", 400)
        lib.lscfg_improper_text(self._pointer(), options._pointer(), text, len(text))
        return str(ffi.string(text).decode("ascii"))

    def _pointer(self) -> Any:
        """Returns the kernel's lscfg_improper."""
        return ffi.new("lscfg_improper *", astuple(self))


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
