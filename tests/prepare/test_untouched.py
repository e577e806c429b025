"""Parts of a text that a translation repeats."""

import pytest
from limits import time_limit

from lscfg.prepare.untouched import lost_parts, untouched_parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("See https://example.org/a?b=c#d, or www.example.org.", ["https://example.org/a?b=c#d", "www.example.org"]),
        ("(ftp://x.y/z) and a.b+c@example.co.uk.", ["ftp://x.y/z", "a.b+c@example.co.uk"]),
        (r"Open C:\Temp\a.txt and /usr/local/bin, ~/.config/x", [r"C:\Temp\a.txt", "/usr/local/bin", "~/.config/x"]),
        ("Run `rm -rf x` and `ls`", ["`rm -rf x`", "`ls`"]),
        ("Version 1.2.3, v0.4.0-rc.1 and 10.0.1", ["1.2.3", "v0.4.0-rc.1", "10.0.1"]),
        ("%s has %d files, %(name)s %1$s %.2f", ["%s", "%d", "%(name)s", "%1$s", "%.2f"]),
        ("%d%% of %s%s %zu %@ and 100%% %%s %d%, %ss", ["%d%%", "%s%s", "%zu", "%@", "100%%", "%%s", "%d"]),
        ("%d% off, %s%%%s, %%%d, %%name%%, 20%c", ["%d", "%s%%%s", "%%%d", "%%name%%"]),
        ("{0} of {name}, ${x} and {{ count }}", ["{0}", "{name}", "${x}", "{{ count }}"]),
        ("commit 9fceb02d0ae598e95dc970b74767f19372d61af8", ["9fceb02d0ae598e95dc970b74767f19372d61af8"]),
        ("Good \U0001f44d\U0001f3fd! \u2764\ufe0f", ["\U0001f44d\U0001f3fd", "\u2764\ufe0f"]),
        ("\U0001f1e9\U0001f1ea ok", ["\U0001f1e9\U0001f1ea"]),
        ("\U0001f3f4\U000e0067\U000e0062\U000e007f.", ["\U0001f3f4\U000e0067\U000e0062\U000e007f"]),
        (":) a ;-) b :P", [":)", ";-)", ":P"]),
        ("(a:) b:( :)c", []),
        ("100% sure, 50 % done, and/or, 3.14, 1,000, a.b, deadbeef, 5%discount", []),
        ("a {0} and a {0}", ["{0}"]),
        ("{0:N2} {name!r} {a.b:>10} {} { a } {a b}", ["{0:N2}", "{name!r}", "{a.b:>10}", "{}"]),
        ("{n, plural, one {# dog} other {# dogs}} ran", ["{n, plural, one {# dog} other {# dogs}}"]),
        ("{% if x %}a{% endif %} <%= x > 3 %> b <?php $a->b; ?>",
         ["{% if x %}", "{% endif %}", "<%= x > 3 %>", "<?php $a->b; ?>"]),
        ('<a href="x y" id=z>a</a> <br/> <b>b', ['<a href="x y" id=z>', "</a>", "<br/>", "<b>"]),
        ("if a<b and c>d, 3<x>, <3", ["<x>"]),
        (r"Row\nA \tB C:\new \naive", [r"\n", r"\t", r"C:\new"]),
        ("$HOME costs $5, A$AP, Micro$oft, Ca$h, :name @user a:b", ["$HOME"]),
        ("f() of x[0], __init__ and foo_bar() or foo_bar in C++ and C#, MAX_SIZE",
         ["f()", "x[0]", "__init__", "foo_bar()", "foo_bar", "C++", "C#", "MAX_SIZE"]),
        ("Kund_innen, Schüler_innen, schüler_in, Firma_____, Ich_bin_müde, __sehr__, arrivé(), Vertrags[2], a[n]", []),
        ("On 2024-01-05 call +49 (0)30/123-45 or +491701234567, 1+1",
         ["2024-01-05", "+49 (0)30/123-45", "+491701234567"]),
        ("+10 000 000 Menschen, +1234567 votos, +49 30 123456. 2023", ["+49 30 123456"]),
        ("`git commit`命令 `foo bar`を `npm install`을 all `Promise list`s and ``x = 1`` here",
         ["`git commit`", "`foo bar`", "`npm install`", "`Promise list`", "``x = 1``"]),
        ("+1 202 555 0123, +1 202-555-0123, +7 495 123-45-67, +49 711 685 0, +49 (0)30 / 123 45 67, +49 30 / 1234567.",
         ["+1 202 555 0123", "+1 202-555-0123", "+7 495 123-45-67", "+49 711 685 0", "+49 (0)30 / 123 45 67",
          "+49 30 / 1234567"]),
        ("It's a `quoted' word. Another `quoted' one. ``Yes.'' Then ``no.", []),
        ("詳細はhttps://example.com/a/をご覧ください。user_idを$HOMEディレクトリに :Dです。",
         ["https://example.com/a/", "user_id", "$HOME", ":D"]),
        ("user_name을 :smile: https://a.b/c를", ["user_name", ":smile:", "https://a.b/c"]),
        ("", []),
    ],
)  # fmt: skip
def test_parts_of_texts(text: str, parts: list[str]) -> None:
    assert untouched_parts(text) == parts


@pytest.mark.parametrize(
    "part",
    ["0", "%", "%%", "%d", "5%", "%(", "%1$", "<a ", "<a b=c", "<%", "{%", "<?", "{a,plural,", "{a.", "$a", "a_", "+1 ",
     "a[", "@a", "\\n", "`"],
)  # fmt: skip
def test_placeholders_take_linear_time(part: str) -> None:
    text = "%" + part * 400_000
    with time_limit():
        assert all(found in text for found in {*untouched_parts(text)})


@pytest.mark.parametrize(
    ("source", "translation", "lost"),
    [
        ("1.234,5 Euro am 24.12.", "1,234.5 euros on 24.12.", []),
        ("im Jahr 1984 {0}", "in the year", ["{0}", "1984"]),
        ("7 Hunde", "seven dogs", []),
        ("12 und 12 %s", "12 and %s", []),
        ("https://x.y/12", "https://x.y/12", []),
        ("{0} und {0}", "{0} and", ["{0}"]),
        (r"Zeile\nzwei\nDrei", r"line\nTwo", []),
        (r"Zeile\nZwei\nDrei", r"line\nTwo", [r"\n"]),
    ],
)
def test_parts_that_translations_lack(source: str, translation: str, lost: list[str]) -> None:
    assert lost_parts(source, translation) == lost
