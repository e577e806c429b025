"""Messages: one line, whatever the input holds."""

import unicodedata

from lscfg.errors import InputError, cut, exit_reason, quote


def test_no_character_of_the_input_breaks_a_message():
    for code in range(0x110000):
        text = chr(code)
        if text != "\n" and (
            len(f"a{text}b".splitlines()) > 1 or unicodedata.bidirectional(text) in ("LRE", "RLO", "PDF")
        ):
            assert text not in str(InputError(f"found {text}", f"a{text}b", 1)), hex(code)
            assert text not in quote(text)
    assert str(InputError("two\nlines")) == "two\nlines" and str(InputError("m", "a\nb", 2)) == "a\\nb:2: m"


def test_every_way_of_a_process_to_end_has_words():
    """Most real-time signals have no name."""
    assert [exit_reason(status) for status in (3, -11, -40)] == ["status 3", "signal SIGSEGV", "signal 40"]
    assert all(exit_reason(status) for status in range(-128, 256))


def test_long_pieces_are_cut():
    assert cut("x" * 80) == "x" * 80 and len(cut("x" * 81)) == 80 and cut("x" * 81).endswith("x…")


def test_a_line_of_a_message_is_bounded():
    said = str(InputError("what is wrong: " + "x" * 50_000 + "; give another\nsee docs", "file", 3))
    assert said.startswith("file:3: what is wrong: xxx") and said.endswith("xxx; give another\nsee docs")
    assert len(said) < 1300


def test_a_name_of_a_file_is_bounded():
    error = InputError("cannot read", "a" * 100_000, 3)
    assert len(str(error)) < 1300 and str(error).endswith("aaa:3: cannot read")
    assert error.path == "a" * 100_000
