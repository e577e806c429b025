"""A cdec.ini that packs the features of an edge into one entry during the search and unpacks them afterwards.

cdec copies the features of every candidate of cube pruning, in a hash map if there are more than seven. So the feature
functions without a state move to a separate first pass, and the last of them packs the features of an edge into one
entry; the language model searches in the second pass; a third pass unpacks. Derivations and scores do not change.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from lscfg import log
from lscfg.errors import InputError, cut, quote
from lscfg.formats.ini import is_our_library, line_word
from lscfg.io.read import read_lines
from lscfg.kernel import LatentOptions

PACKED = "Packed"
"""The feature with the sum; values are divided by its weight."""

_OF_ONE_PASS = ("cubepruning_pop_limit", "beam_prune", "density_prune")
_PASSES = ("weights", "feature_function", "intersection_strategy", "summary_feature", *_OF_ONE_PASS)


class NothingToPackError(InputError):
    """The configuration has no latent features, and no library is given that could pack others."""


@dataclass(frozen=True)
class PackedConfig:
    """A configuration that packs."""

    lines: list[str]
    """Lines of the cdec.ini, without ``weights``."""
    features: tuple[str, ...]
    """The packed latent features; each must have a weight."""
    weights_file: str | None = None
    """The file of weights that the original names."""

    def weights(self, tuned: Mapping[str, float]) -> dict[str, float]:
        """The weights for cdec; latent features without weights are 0."""
        return {**dict.fromkeys(self.features, 0.0), **tuned, PACKED: 1.0}


def packed_if_possible(
    path: str | os.PathLike[str], unpack: bool = True, library: str | os.PathLike[str] | None = None
) -> PackedConfig | None:
    """The packed configuration as in ``pack_ini``, or None, with a message if packing would have saved time."""
    try:
        return pack_ini(path, unpack, library)
    except NothingToPackError:
        return None
    except InputError as error:
        log.info(f"features are not packed, which takes longer: {error}")
        return None


def pack_ini(
    path: str | os.PathLike[str], unpack: bool = True, library: str | os.PathLike[str] | None = None
) -> PackedConfig:
    """The packed configuration of a cdec.ini with lscfg's library; relative paths keep their meaning.

    Args:
        unpack: unpack the features after the search, so that k-best lists contain them.
        library: for a file without a line of lscfg's library.

    Raises:
        NothingToPackError: the file has no such line, and no library is given.
        InputError: the line does not have ``mode=parse`` or has a bad option, or the file already has several passes.
    """
    kept: list[str] = []
    first: list[str] = []
    second: list[str] = []
    latent = weights_file = None
    for number, text in enumerate(read_lines(path), 1):
        key, _, value = (part.strip() for part in text.split("#", 1)[0].partition("="))
        if not key:
            continue
        if key[:-1] in _PASSES and key[-1] in "23":
            raise InputError(f"{cut(key)}: several passes are set already; only one can be divided", path, number)
        if key == "summary_feature" or (key == "intersection_strategy" and value.lower() != "cube_pruning"):
            raise InputError(f"{cut(f'{key}={value}')} has another meaning in several passes", path, number)
        if key == "weights":
            weights_file = weights_file or value
        if key in ("weights", "intersection_strategy"):  # cube pruning is the default of the second pass
            continue
        name, *arguments = value.split() or [""]
        if key in _OF_ONE_PASS:
            second.append(f"{key}2={value}")
        elif key != "feature_function":
            kept.append(f"{key}={value}")
        elif name == "External" and arguments and is_our_library(arguments[0], path):
            if latent:
                raise InputError("a second line with lscfg's library; keep one of the two", path, number)
            options = dict(argument.split("=", 1) for argument in arguments[1:] if "=" in argument)
            if options.get("mode", "parse") != "parse" or "pack" in options:
                raise InputError(f"the line {quote(value)} needs mode=parse, and no pack=", path, number)
            try:
                latent = value, arguments[0], LatentOptions.of(options.items(), others=True).features.names
            except InputError as error:
                raise InputError(f"feature function {name}: {error}", path, number) from None
        else:
            (first if name == "WordPenalty" else second).append(f"{key}{'' if name == 'WordPenalty' else 2}={value}")
    features: tuple[str, ...] = ()
    if latent:
        line, library, features = latent
        line += " pack=all"
    elif library:
        library = os.path.abspath(library)
        line = f"External {line_word(library)} mode=pack"
    else:
        raise NothingToPackError(
            "no line feature_function=External with lscfg's library; name one with --library or LSCFG_CDEC_PLUGIN", path
        )
    first += [f"feature_function={line}", "intersection_strategy=full"]
    last = 3 if any(setting.startswith("feature_function") for setting in second) else 2  # cdec stops at a gap
    third = [f"feature_function{last}=External {library} mode=unpack"] if unpack else []
    return PackedConfig([*kept, *first, *second, *third], features, weights_file)
