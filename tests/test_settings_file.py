"""The lines that messages name in settings files."""

from pathlib import Path

import pytest
from limits import time_limit

from lscfg.errors import InputError
from lscfg.settings_file import Reader, parse_toml

TEXT = '''# a = 1
top = """
[fake]
key = 1
"""
"quoted key" = 2
list = [
  "x = 1",  # [no]
  "y",
]

[table.'inner part']
key = 1
other.deep = 2
inline = { a = 1, b = { c = 2 } }

  [ table ]
key = """
  key = 3""" # end
[[rows]]
key = 1
'''


def line_of(*keys, text=TEXT):
    parse_toml(text, "e.toml")  # the text is TOML
    return Reader(Path("e.toml"), text, None).error(keys, "wrong").line


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (["top"], 2),
        (["quoted key"], 6),
        (["list"], 7),
        (["fake"], None),
        (["x"], None),
        (["table", "inner part"], 12),
        (["table", "inner part", "key"], 13),
        (["table", "inner part", "other"], 14),
        (["table", "inner part", "other", "deep"], 14),
        (["table", "inner part", "inline", "b", "c"], 15),
        (["table", "inner part", "inline", "b", "missing"], 15),
        (["table", "inner part", "missing"], 12),
        (["table"], 17),
        (["table", "key"], 18),
        (["table", "missing"], 17),
        (["rows"], 20),
        (["missing"], None),
    ],
)
def test_a_message_names_the_line_of_a_key(keys, line, end):
    assert line_of(*keys, text=TEXT.replace("\n", end)) == line


def test_the_line_of_a_table_that_only_its_keys_open():
    assert line_of("a", text="b = 1\na.x = 1\na.y = 2\n") == 2
    assert line_of("a", text="[a.b]\nx = 1\n[a.c]\n") == 1


def test_a_long_list_does_not_hold_up_the_message():
    text = "a = 1\nlist = [\n" + "1,\n" * 200_000 + "]\nb = 2\n"
    with time_limit():
        assert line_of("a", text=text) == 1 and line_of("b", text=text) is None


def test_what_is_no_toml_is_named_by_its_line():
    with pytest.raises(InputError, match=r"^e\.toml:2: not TOML"):
        parse_toml("a = 1\nb = = 2\n", "e.toml")


def test_paths_are_short_unless_a_link_gives_dots_another_meaning(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "there" / "deep").mkdir(parents=True)
    (tmp_path / "here" / "link").symlink_to(tmp_path / "there" / "deep")
    for folder in (tmp_path, tmp_path / "here", tmp_path / "there"):
        (folder / "text").write_text(folder.name)
    reader = Reader(tmp_path / "here" / "e.toml", "", None)
    assert reader.value(Path, "../here/../text", ("table", "key")) == tmp_path / "text"
    assert reader.value(Path, "link/../text", ("table", "key")).read_text() == "there"
