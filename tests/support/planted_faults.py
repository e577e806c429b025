"""Faults of raw sentence pairs, planted at known places."""

import random
from collections.abc import Callable, Sequence

Pair = tuple[str, str]


def _misread(text: str) -> str:
    """UTF-8 read as Windows-1252, whose unused bytes become control characters."""
    return "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in text.encode())


PLANTS: dict[str, Callable[[str, str], Pair]] = {
    "entities": lambda s, t: (s.replace(" ", " &uuml;ber &amp; ", 1), t),
    "markup": lambda s, t: (s, f"<b>{t}</b>"),
    "mojibake": lambda s, t: (_misread(f"{s} schön für"), t),
    "tags": lambda s, t: (s, f"{t} <Enter>"),
    "damaged": lambda s, t: (s, f"{t[:3]}\ufffd{t[4:]}"),
    "script": lambda s, t: (f"Привет {s}", t),
    "copy": lambda s, t: (s, s.upper()),
    "language": lambda s, t: (t, s),
    "length": lambda s, t: (s, " ".join(t.split()[:1])),
    "numbers": lambda s, t: (f"{s} 1.250", f"{t} 1,260"),
}
"""A pair with each fault, from a clean pair."""


def plant(
    pairs: Sequence[Pair], kinds: Sequence[str], count: int, seed: int = 2
) -> tuple[list[Pair], dict[str, set[int]]]:
    """The pairs with ``count`` faults of each kind, and the numbers of the pairs with each kind; the first is clean."""
    made, places = list(pairs), random.Random(seed).sample(range(1, len(pairs)), count * len(kinds))
    found = {}
    for number, kind in enumerate(kinds):
        found[kind] = {*places[number * count : (number + 1) * count]}
        for place in sorted(found[kind]):
            made[place] = PLANTS[kind](*made[place])
    return made, found
