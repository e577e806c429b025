"""Numbers and rows of text that the kernel writes, against Python's own."""

import numpy as np
import pytest
from lscfg._kernel import ffi, lib

from lscfg.kernel.text import Strings, number_strings, print_rows

SPECIAL = [0.0, -0.0, 1.0, 10.0, 0.1, 0.5, 1.5, 2.5, 1e-5, 1e-4, 99999.99995, 999999999.5, 1e9, 1e22, 1e23, 5e-324]
SPECIAL += [1.7e308, 2.0**-1074, 2.0**1023, 0.00012345, 123456789.0, 12345678950000001.0, np.inf, -np.inf]


def printed(value: float, digits: int, room: int = 64) -> str:
    text = ffi.new("char[]", room)
    assert lib.lscfg_print_double(value, digits, text, room) == len(ffi.string(text)) or room < 64
    return ffi.string(text).decode()


@pytest.mark.parametrize("digits", [1, 2, 6, 9, 12, 15, 17])
def test_numbers_are_those_of_python(digits):
    rng = np.random.default_rng(digits)
    values = [*SPECIAL, *rng.integers(0, 10**7, 3000) / 1000, *10 ** rng.uniform(-30, 10, 3000)]
    values += [float(f"{m}e{e}") for m in (1, 9, 99999, 9999999995, 5) for e in range(-300, 290, 7)]
    bits = np.frombuffer(rng.bytes(80_000), np.float64)
    for value in (*values, *bits[np.isfinite(bits)]):
        assert printed(value, digits) == f"{value:.{digits}g}"


def test_a_number_that_has_no_room_is_cut():
    assert printed(0.1234567891, 9, 5) == "0.12"


def test_rows_are_strings_and_values():
    values = np.array([[0.5, -1e-7], [3.0, 0.0], [1 / 3, 1e300]])
    first, second = Strings.of([b"", "é ".encode()]), Strings.of([b"x", b"yy"])
    found = print_rows(
        first, second, (np.array([1, 0, 1]), np.array([0, 1, 1])), Strings.of([b" a=", b",", b";"]), values, 4
    )
    assert found.decode() == "é x a=0.5,-1e-07;yy a=3,0;é yy a=0.3333,1e+300;"
    assert (
        print_rows(first, second, (np.zeros(0), np.zeros(0)), Strings.of([b"", b"", b""]), np.zeros((0, 2)), 4) == b""
    )


def test_rows_that_do_not_fit_are_refused():
    strings, values = Strings.of([b"x"]), np.zeros((2, 1))
    good = np.zeros(2, np.int32)
    for which, labels, digits in (
        ((good, good + 1), [b"", b""], 9),
        ((good, good[:1]), [b"", b""], 9),
        ((good, good), [b""], 9),
        ((good, good), [b"", b""], 18),
    ):
        with pytest.raises(ValueError, match=r"rows|labels"):
            print_rows(strings, strings, which, Strings.of(labels), values, digits)


def test_strings_are_numbered_by_key():
    strings, numbers = number_strings(np.array([5, 2, 5, 0]), 6, lambda key: b"%d" % key)
    assert strings == [b"0", b"2", b"5"] and numbers.tolist() == [2, 1, 2, 0]
