"""Profiles of languages: detection against a slow reference, other languages, and the file."""

from __future__ import annotations

import math
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from lscfg.errors import InputError
from lscfg.io.tensors import load, save
from lscfg.prepare.profiles import LEAST_PAIRS, LanguageProfiles

SYLLABLES = (
    ["ka", "to", "ri", "mu", "sen", "ya"],
    ["sch", "ent", "ber", "und", "ig", "wal"],
    ["ô", "xia", "zhu", "qe", "ngo", "vl"],
)
SYLLABLES_OF_ANOTHER_SCRIPT = ["ко", "то", "ри", "му"]


def sentences(syllables: list[str], count: int, seed: int) -> list[str]:
    draw = random.Random(seed)

    def word() -> str:
        return "".join(draw.choices(syllables, k=draw.randint(1, 3)))

    return [" ".join(word() for _ in range(draw.randint(3, 12))).capitalize() + " ." for _ in range(count)]


@pytest.fixture(scope="module")
def profiles() -> LanguageProfiles:
    found = LanguageProfiles.learn(*(sentences(SYLLABLES[k], 400, k) for k in (0, 1)))
    assert found is not None
    return found


def test_the_language_is_one_of_the_two_or_none(profiles: LanguageProfiles) -> None:
    for side in (0, 1):
        found = [profiles.detect(text) for text in sentences(SYLLABLES[side], 200, 10 + side)]
        assert sum(one is not None and one[0] == side and one[1] > 0.99 for one in found) >= 198
    for syllables in (SYLLABLES[2], SYLLABLES_OF_ANOTHER_SCRIPT):
        assert not any(map(profiles.detect, sentences(syllables, 200, 20)))
    for text in ("", "  \n", "1, 2 - 3 !", "\N{GRINNING FACE}"):
        assert profiles.detect(text) is None
    assert profiles.detect("KATORI\n\nmusen\tya") == profiles.detect("katori musen ya")


def test_probabilities_by_a_slow_reference(profiles: LanguageProfiles) -> None:
    """Trigrams of letters and blanks as texts; few enough that no two share a hash."""

    def trigrams(line: str) -> list[str]:
        signs = "".join(sign if sign.isalpha() else " " for sign in f" {line.casefold()} ")
        return [part for k in range(len(signs) - 2) if (part := signs[k : k + 3]).strip()]

    counts = [Counter(part for line in sentences(SYLLABLES[k], 400, k) for part in trigrams(line)) for k in (0, 1)]
    for text in sentences(SYLLABLES[0], 20, 30) + sentences(SYLLABLES[1], 20, 31) + ["ka und to", "enta"]:
        logs = [
            sum(math.log((own[part] + 0.5) / (own.total() + 0.5 * 2**18)) for part in trigrams(text)) for own in counts
        ]
        found = profiles.detect(text)
        if found is not None:
            assert found[0] == int(logs[1] > logs[0])
            assert math.isclose(found[1], 1 / (1 + math.exp(-abs(logs[0] - logs[1]) / 3)), rel_tol=1e-9)


def test_small_texts_have_no_profiles() -> None:
    lines = sentences(SYLLABLES[0], LEAST_PAIRS - 1, 1)
    assert LanguageProfiles.learn(lines, lines) is None
    assert LanguageProfiles.learn(["1"] * LEAST_PAIRS, ["."] * LEAST_PAIRS) is not None  # no letters, no fault


def test_the_file_gives_the_profiles_again(profiles: LanguageProfiles, tmp_path: Path) -> None:
    profiles.write(tmp_path / "one")
    again = LanguageProfiles.read(tmp_path / "one")
    again.write(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    for text in sentences(SYLLABLES[0], 50, 40) + sentences(SYLLABLES[2], 50, 41):
        assert again.detect(text) == profiles.detect(text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("source.trigrams", np.array([1 << 18], np.int32)),
        ("source.trigrams", np.array([-1], np.int32)),
        ("target.counts", np.array([0], np.int32)),
        ("target.usual", np.array([np.nan, 1, 1])),
        ("target.usual", np.array([0.0, 0, 0])),
        ("source.usual", np.zeros(2)),
        ("source.counts", None),
    ],
)
def test_damaged_files_are_refused(profiles: LanguageProfiles, tmp_path: Path, name: str, value: object) -> None:
    profiles.write(tmp_path / "good")
    arrays, metadata = load(tmp_path / "good", "language profiles")
    if isinstance(value, np.ndarray):
        arrays[name] = np.resize(value, arrays[name].shape) if value.shape == (1,) else value
    else:
        del arrays[name]
    save(tmp_path / "bad", {key: own for key, own in arrays.items() if key != "checksum"}, {"lscfg": metadata["lscfg"]})
    with pytest.raises(InputError, match="bad: contains no language profiles"):
        LanguageProfiles.read(tmp_path / "bad")
    (tmp_path / "bad").write_bytes(b"x")
    with pytest.raises(InputError, match="bad"):
        LanguageProfiles.read(tmp_path / "bad")
