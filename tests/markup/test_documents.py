"""Documents with their translations: all bytes but those of the texts stay."""

import random
import re
from html import unescape
from xml.dom import minidom
from xml.etree import ElementTree

import pytest
from limits import time_limit

from lscfg.markup.document import DocumentError, Tag, UnitPiece, line_breaks, places
from lscfg.markup.formats import FORMATS, format_of
from lscfg.prepare.subtitles import parse_cues
from lscfg.prepare.xliff import parse_xliff

TIMES = "00:00:01,000 --> 00:00:02,000"


def translated(data, ending, change=str.upper):
    document = FORMATS[ending].read(data.encode() if isinstance(data, str) else data)
    pieces = [[UnitPiece(unit.text, "", change(unit.text), "")] for unit in document.units]
    return document.filled(pieces).decode()


@pytest.mark.parametrize(
    ("ending", "data", "wanted"),
    [
        (".txt", "one\r\n\r\n  two  \nthree", "ONE\r\n\r\n  TWO  \nTHREE"),
        (".html", "<p class=x>one &amp; <b>two</b> x<br>y</p>", "<p class=x>ONE &amp; <b>TWO</b> X<br>Y</p>"),
        (".html", "<b>Whole</b>&nbsp;<!-- c -->", "<b>WHOLE</b>&nbsp;<!-- c -->"),
        (".html", "<script>if (a < b) x()</script><p>a</p>", "<script>if (a < b) x()</script><p>A</p>"),
        (".html", "<p translate=no>a <i>b</i></p>c", "<p translate=no>a <i>b</i></p>C"),
        (".html", "a <code>x <b></code> b", "A <code>x <b></code> B"),
        (".html", "a <span class='notranslate x'>Ab</span> b", "A <span class='notranslate x'>Ab</span> B"),
        (".html", "<!DOCTYPE html>\n<title>t</title>1 &lt; 2 <", "<!DOCTYPE html>\n<title>T</title>1 &lt; 2 &lt;"),
        (".html", "<p>unclosed <b>tag", "<p>UNCLOSED <b>TAG"),
        (".html", "x<![if mso]>a<![endif]>b<![ ]>c<![CDATA[d>]]>e", "X<![if mso]>A<![endif]>B<![ ]>C<![CDATA[d>]]>E"),
        (".html", "<p>a<![<b>b</b> c", "<p>A<![<b>B</b> C"),
        (".html", "<a href=/x?q=1&translate=no>a</a>", "<a href=/x?q=1&translate=no>A</a>"),
        (".html", "<p translate='n&#111;'>a</p>b", "<p translate='n&#111;'>a</p>B"),
        (".html", "<i class='x&#32;notranslate'>a</i>b", "<i class='x&#32;notranslate'>a</i>B"),
        (".html", "<p>x</p><!-- a --& > b --><p>c", "<p>X</p><!-- a --& > b --><p>C"),
        (".html", "<script>a='</script&>'; x()</script>b", "<script>a='</script&>'; x()</script>B"),
        (".html", "<code&x>a</code&x>", "<code&x>A</code&x>"),
        (".html", "<p>a &# b &amp c</p><p class=x>d</p>", "<p>A &amp;# B &amp; C</p><p class=x>D</p>"),
        (".html", "<iframe>a & b</iframe><xmp>a & b</xmp>c", "<iframe>a & b</iframe><xmp>a & b</xmp>C"),
        (".html", "<noframes>a <b>b</b></noframes>c", "<noframes>a <b>b</b></noframes>C"),
        (".html", "<div>a<plaintext>b</div>c</plaintext><p>d", "<div>A<plaintext>b</div>c</plaintext><p>d"),
        (".html", "", ""),
        (".srt", f"1\n{TIMES}\nit is <i>so</i>\n\n2\n", f"1\n{TIMES}\nIT IS <i>SO</i>\n\n2\n"),
        (".srt", f"\ufeff1\r\n{TIMES}\r\n- yes\r\n- no\r\n", f"\ufeff1\r\n{TIMES}\r\n- YES\r\n- NO\r\n"),
        (".srt", f"{TIMES}\n<i>- yes</i>\n<i>- no</i>\n", f"{TIMES}\n<i>- YES</i>\n<i>- NO</i>\n"),
        (".srt", f"{TIMES}\n{{\\an8}}<i> – yes\nno</i>\n", f"{TIMES}\n{{\\an8}}<i> – YES\nNO</i>\n"),
        (".srt", f"{TIMES}\nyes<br>sir\n", f"{TIMES}\nYES<br>SIR\n"),
        (".srt", f"1\n{TIMES}\na\n2\n{TIMES}\nb\n{TIMES}\nc\n", f"1\n{TIMES}\nA\n2\n{TIMES}\nB\n{TIMES}\nC\n"),
        (".srt", f"h\n1\n{TIMES}\na\n\nb\n\n2\n{TIMES}\n\nc", f"h\n1\n{TIMES}\nA\n\nB\n\n2\n{TIMES}\n\nC"),
        (".srt", f"1\n{TIMES}\na\n2\n0:02 --> 0:03 x:1\nb\n", f"1\n{TIMES}\nA\n2\n0:02 --> 0:03 x:1\nB\n"),
    ],
)  # fmt: skip
def test_texts_are_translated_and_the_rest_stays(ending, data, wanted):
    assert translated(data, ending) == wanted


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        ("<ul>\n<li translate=no>a\n<li>b\n</ul>\n<p>c</p>", "<ul>\n<li translate=no>a\n<li>B\n</ul>\n<p>C</p>"),
        ("<ul><li>a<ul><li translate=no>b</ul>c<li>d</ul>", "<ul><li>A<ul><li translate=no>b</ul>C<li>D</ul>"),
        ("<ul><li translate=no>a<ul><li>b</ul>c<li>d</ul>e", "<ul><li translate=no>a<ul><li>b</ul>c<li>D</ul>E"),
        ("<p class=notranslate>a <b>b<p>c<hr>d", "<p class=notranslate>a <b>b<p>C<hr>D"),
        ("<p translate=no>a<div>b</div>c", "<p translate=no>a<div>B</div>C"),
        ("<div><p translate=no>a</div>b", "<div><p translate=no>a</div>B"),
        ("<div><span translate=no>a</div>b", "<div><span translate=no>a</div>B"),
        ("<i><span translate=no>a</i>b", "<i><span translate=no>a</i>B"),
        ("<b><p translate=no>a</b>b</p>c", "<b><p translate=no>a</b>b</p>C"),
        ("<p><button translate=no>a<p>b</button>c", "<p><button translate=no>a<p>b</button>C"),
        ("<dl><dt translate=no>a<dd>b<dt>c</dl>d", "<dl><dt translate=no>a<dd>B<dt>C</dl>D"),
        ("<table><tr><td translate=no>a<td>b<tr translate=no><th>c<tfoot><tr><td>d</table>e",
         "<table><tr><td translate=no>a<td>B<tr translate=no><th>c<tfoot><tr><td>D</table>E"),
        ("<select><option translate=no>a<option>b</select>c", "<select><option translate=no>a<option>B</select>C"),
    ],
)  # fmt: skip
def test_a_kept_element_of_html_ends_without_an_end_tag(data, wanted):
    assert translated(data, ".html") == wanted


@pytest.mark.parametrize("ending", [".txt", ".html", ".srt", ".xlf"])
def test_a_translation_that_changes_nothing_changes_no_byte(ending):
    draw = random.Random(7)
    for _ in range(300):
        parts = ["<b>", "</b>", "<p>", "<br/>", "a", " ", "é b", "&amp;", "\r\n", "\n", "1", "<i x='>'>", "- ", "c."]
        inner = "".join(draw.choice(parts) for _ in range(draw.randint(0, 12)))
        if ending == ".srt":
            inner = f"1\n00:00:01,000 --> 00:00:02,000\n{inner}"
        elif ending == ".xlf":
            words = "".join(draw.choice(["a", " ", "&amp;", "<x id='1'/>", "<g id='2'>b</g>"]) for _ in range(8))
            unit = f"<trans-unit id='1'><source>{words}</source><target>t</target></trans-unit>"
            inner = f"<xliff version='1.2'>{unit}</xliff>"
        document = FORMATS[ending].read(inner.encode())
        same = document.filled([[UnitPiece(unit.text, "", unit.text, "")] for unit in document.units]).decode()
        if ending == ".srt":  # blanks at the ends of the lines of a subtitle may go
            same, inner = (re.sub(r"\s+", "", text) for text in (same, inner))
        assert same == inner


XLIFF_1 = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="de-DE" target-language="en">
<body><trans-unit id="1">
  <source>Ein <g id="1">Mann</g> <ph id="2">&lt;br/></ph>geht &amp; steht</source>
</trans-unit><trans-unit id="2"><source>da</source><target state="final">there</target></trans-unit>
<trans-unit id="3"><source>ja</source><target state="new"/></trans-unit>
<trans-unit id="4" translate="no"><source>nein</source></trans-unit><trans-unit id="5"><source/></trans-unit>
</body></file></xliff>
"""
XLIFF_2 = """<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="ja" trgLang="en">
<file id="f"><unit id="1">
<originalData><data id="d">raw</data></originalData>
<segment><source>a <pc id="1">b</pc></source></segment><ignorable><source> </source></ignorable>
<segment><source>c</source><target></target></segment></unit></file></xliff>"""


def test_xliff_1_gets_its_missing_targets():
    found = translated(XLIFF_1, ".xlf")
    first = '\n  <target state="needs-review-translation">EIN <g id="1">MANN</g> <ph id="2">&lt;br/></ph>GEHT &amp; '
    first += "STEHT</target>"
    assert found == XLIFF_1.replace("steht</source>", "steht</source>" + first).replace(
        '<target state="new"/>', '<target state="needs-review-translation">JA</target>'
    )
    minidom.parseString(found)
    assert FORMATS[".xlf"].read(XLIFF_1.encode()).languages == (("de-DE", "en"),)


def test_xliff_2_gets_its_missing_targets():
    found = translated(XLIFF_2, ".xliff")
    wanted = XLIFF_2.replace("</pc></source>", '</pc></source><target>A <pc id="1">B</pc></target>')
    assert found == wanted.replace("<target></target>", "<target>C</target>")
    assert FORMATS[".xlf"].read(XLIFF_2.encode()).languages == (("ja", "en"),)


@pytest.mark.parametrize(
    ("empty", "filled"),
    [
        ("<target></target>", "<target{}>A</target>"),
        ("<target />", "<target{}>A</target>"),
        (
            "<target xml:lang='en' state = 'final' x=\" state='y'\"></target>",
            "<target xml:lang='en' x=\" state='y'\"{}>A</target>",
        ),
        ("<target state-qualifier='mt-suggestion'> </target>", "<target state-qualifier='mt-suggestion'{}>A</target>"),
    ],
)
def test_empty_targets_of_xliff_1_get_the_state_of_others(empty, filled):
    data = f"<xliff version='1.2'><trans-unit id='1'><source>a</source>{empty}</trans-unit></xliff>"
    wanted = data.replace(empty, filled.format(' state="needs-review-translation"'))
    assert translated(data, ".xlf") == wanted


def _unit(target):
    source = "<source>a <g id='1'>b</g> d. c.</source>"
    marked = "<mrk mtype='seg' mid='1'>a <g id='1'>b</g> d.</mrk> <mrk mtype='seg' mid='2'>c.</mrk>"
    return f"<xliff version='1.2'><trans-unit>{source}<seg-source><x id='0'/>{marked}</seg-source>{target}</trans-unit>"


REVIEW = '<target state="needs-review-translation">'
TARGETS = {
    "missing": (
        "",
        f"{REVIEW}<x id='0'/><mrk mtype='seg' mid='1'>A <g id='1'>B</g> D.</mrk> <mrk mtype='seg' mid='2'>C.",
    ),
    "empty": ("<target state='new'/>", f"{REVIEW}<x id='0'/><mrk mtype='seg' mid='1'>A <g id='1'>B</g> D.</mrk> <mrk"),
    "partly": (
        "<target><g id='7'><mrk mtype='seg' mid='1'>X.</mrk> <mrk mtype='seg' mid='2' /></g></target>",
        f"{REVIEW}<g id='7'><mrk mtype='seg' mid='1'>X.</mrk> <mrk mtype='seg' mid='2'>C.</mrk></g></target></trans-",
    ),
    "lacking": (
        "<target><mrk mtype='seg' mid='1'>X.</mrk></target>",
        f"{REVIEW}<mrk mtype='seg' mid='1'>X.</mrk> <mrk mtype='seg' mid='2'>C.</mrk></target>",
    ),
    "lacking the first": (
        "<target><g id='7'><mrk mtype='seg' mid='2'>X.</mrk></g></target>",
        f"{REVIEW}<g id='7'><mrk mtype='seg' mid='1'>A <g id='1'>B</g> D.</mrk> <mrk mtype='seg' mid='2'>X.</mrk></g>",
    ),
    "empty and lacking": (
        "<target><mrk mtype='seg' mid='1'><x id='9'/></mrk></target>",
        f"{REVIEW}<mrk mtype='seg' mid='1'>A <g id='1'>B</g> D.</mrk> <mrk mtype='seg' mid='2'>C.</mrk></target>",
    ),
    "other": (
        "<target><mrk mtype='seg' mid='7'/></target>",
        f"{REVIEW}<x id='0'/><mrk mtype='seg' mid='1'>A <g id='1'>B</g> D.</mrk> <mrk mtype='seg' mid='2'>C.</mrk></",
    ),
    "markup": (
        "<target><g id='1'></g></target>",
        f"{REVIEW}<x id='0'/><mrk mtype='seg' mid='1'>A <g id='1'>B</g> D.</mrk",
    ),
    "whole": ("<target>X. Y.</target>", "<target>X. Y.</target>"),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_marked_segments_of_xliff_1_are_filled_one_by_one(kind):
    target, wanted = TARGETS[kind]
    assert wanted in translated(f"{_unit(target)}</xliff>", ".xlf")


@pytest.mark.parametrize(
    ("segments", "target", "wanted"),
    [
        ("<mrk mtype='seg' mid='1'>a.</mrk> b.", "", "A. B.</target>"),  # text outside a segment: the whole unit
        (
            "<mrk mtype='seg' mid='1'>a.</mrk> b.",
            "<target><mrk mtype='seg' mid='1'/></target>",
            "<target state=\"needs-review-translation\"><mrk mtype='seg' mid='1'>A.</mrk></target>",
        ),
        ("<mrk mtype='protected'><mrk mtype='seg' mid='1'>a.</mrk></mrk>", "", "A. B.</target>"),
        (
            "<ph id='1'><sub><mrk mtype='seg' mid='1'>a.</mrk></sub></ph><mrk mtype='seg' mid='2'>b.</mrk>",
            "",
            "<ph id='1'><sub><mrk mtype='seg' mid='1'>a.</mrk></sub></ph><mrk mtype='seg' mid='2'>B.</mrk></target>",
        ),
        (
            "<mrk mtype='seg' mid='0'>a.</mrk> <mrk mtype='seg' mid='0'>b.</mrk>",
            "<target><mrk mtype='seg' mid='0'/> <mrk mtype='seg' mid='0'/></target>",
            "<mrk mtype='seg' mid='0'>A.</mrk> <mrk mtype='seg' mid='0'>B.</mrk></target>",
        ),
        (
            "<mrk mtype='seg' mid='1'>a.</mrk><mrk mtype='seg' mid='2'>b.</mrk> <mrk mtype='seg' mid='3'><x/></mrk>",
            "<target><mrk mtype='seg' mid='1'>X.</mrk> <mrk mtype='seg' mid='3'/></target>",
            "<mrk mtype='seg' mid='1'>X.</mrk><mrk mtype='seg' mid='2'>B.</mrk> <mrk mtype='seg' mid='3'/></target>",
        ),
    ],
)
def test_segments_that_are_not_the_whole_text(segments, target, wanted):
    unit = f"<trans-unit><source>a. b.</source><seg-source>{segments}</seg-source>{target}</trans-unit>"
    assert wanted in translated(f"<xliff version='1.2'>{unit}</xliff>", ".xlf")


@pytest.mark.parametrize("target", [1, 2])
@pytest.mark.parametrize("between", ["<ph id='9'>x &lt;</ph>", " <x id='8'/><ph id='9'>x</ph> ", "<ph id='9'/> "])
def test_markup_between_segments_comes_with_the_segment_that_a_target_lacks(between, target):
    segments = [f"<mrk mtype='seg' mid='{number}'>{text}.</mrk>" for number, text in ((1, "a"), (2, "b"))]
    segmented = f"<seg-source>{between.join(segments)}</seg-source>"
    unit = f"<trans-unit><source>a. b.</source>{segmented}<target>{segments[target - 1]}</target></trans-unit>"
    segments[2 - target] = segments[2 - target].replace("a.", "A.").replace("b.", "B.")
    found = translated(f"<xliff version='1.2'>{unit}</xliff>", ".xlf")
    assert f">{between.join(segments)}</target>" in found


@pytest.mark.parametrize("version", ["1.2", "2.0"])
@pytest.mark.parametrize(
    "target",
    ["<target><g id='1'></g></target>", "<target> <x id='1'/></target>", "<target><ph id='1'>&lt;br></ph></target>",
     "<target><mrk mtype='seg' mid='1'/></target>"],
)  # fmt: skip
def test_targets_of_markup_alone_are_missing_targets(version, target):
    name = "trans-unit" if version == "1.2" else "segment"
    unit = f"<{name}><source>a <x id='1'/> b</source>{target}</{name}>"
    state = ' state="needs-review-translation"' if version == "1.2" else ""
    wanted = unit.replace(target, f"<target{state}>A <x id='1'/> B</target>")
    assert wanted in translated(f"<xliff version='{version}'>{unit}</xliff>", ".xlf")
    codes = unit.replace("a <x id='1'/> b", "<x id='1'/>")
    assert codes in translated(f"<xliff version='{version}'>{codes}</xliff>", ".xlf")


@pytest.mark.parametrize(
    ("segments", "target", "skipped"),
    [
        ("", "<mrk mtype='seg' mid='1'>X.</mrk><mrk mtype='seg' mid='2'/>", ("a. b.",)),
        ("<mrk mtype='seg' mid='1'>a.</mrk> <mrk mtype='seg' mid='2'>b <g>c</g></mrk>",
         "<mrk mtype='seg' mid='9'>X.</mrk>", ("a.", "b c")),
        ("<mrk mtype='seg' mid='1'>a.</mrk> <mrk mtype='seg' mid='2'>b.</mrk>", "X. <mrk mtype='seg' mid='2'>Y.</mrk>",
         ("a.",)),
        ("<mrk mtype='seg' mid='1'>a.</mrk><ph id='9'>x</ph><mrk mtype='seg' mid='2'>b.</mrk>",
         "<mrk mtype='seg' mid='1'>X.</mrk><ph id='9'>x</ph>", ("b.",)),
        ("<g id='1'><mrk mtype='seg' mid='1'>a.</mrk></g> <g id='2'><mrk mtype='seg' mid='2'>b.</mrk></g>",
         "<g id='1'><mrk mtype='seg' mid='1'>X.</mrk></g>", ("b.",)),
        ("<mrk mtype='seg' mid='0'>a.</mrk> <mrk mtype='seg' mid='0'>b.</mrk>",
         "<mrk mtype='seg' mid='0'>X.</mrk> <mrk mtype='seg' mid='0'/>", ("a. b.",)),
        ("<mrk mtype='seg' mid='0'>a.</mrk> <mrk mtype='seg' mid='0'>b.</mrk>",
         "<mrk mtype='seg' mid='0'>X.</mrk> <mrk mtype='seg' mid='0'>Y.</mrk>", ()),
    ],
)  # fmt: skip
def test_segments_without_a_place_in_their_target_are_named(segments, target, skipped):
    segmented = f"<seg-source>{segments}</seg-source>" if segments else ""
    unit = f"<trans-unit><source>a. b.</source>{segmented}<target>{target}</target></trans-unit>"
    data = f"<xliff version='1.2'>{unit}</xliff>"
    document = FORMATS[".xlf"].read(data.encode())
    assert document.skipped == skipped and not document.units
    assert document.filled([]).decode() == data


@pytest.mark.parametrize(("one", "other"), [("bpt", "ept"), ("bx", "ex")])
def test_half_an_inline_pair_is_never_copied(one, other):
    """Between segments, only pairs whose halves are both there go with a segment."""
    segments = "<mrk mtype='seg' mid='1'>a.</mrk>{}<mrk mtype='seg' mid='2'>b.</mrk>"
    for codes, whole in (
        (f"<{one} id='1'/>", False),
        (f"<{other} id='1'/>", False),
        (f"<{one} id='1'/><{other} id='1'/>", True),
    ):
        target = "<mrk mtype='seg' mid='1'>A.</mrk>"
        unit = f"<source>a. b.</source><seg-source>{segments.format(codes)}</seg-source><target>{target}</target>"
        document = FORMATS[".xlf"].read(f"<xliff version='1.2'><trans-unit>{unit}</trans-unit></xliff>".encode())
        assert [unit.text for unit in document.units] == ["b."] * whole and document.skipped == ("b.",) * (not whole)


LATIN = '<?xml version="1.0" encoding="ISO-8859-1"?>'


@pytest.mark.parametrize(
    ("ending", "data"),
    [
        (".html", '<meta charset="iso-8859-1"><title>x</title><p>x&nbsp;</p>'),
        (".html", "<META HTTP-EQUIV=Content-Type content='text/html; charset=windows-1252'><p>&nbsp;x <br>&nbsp;x</p>"),
        (".html", "<meta charset=iso-8859-2 /><meta charset=utf-8><p>x"),
        (".html", "<meta charset=x-unknown><p>x"),
        (".html", LATIN + "<meta charset=utf-8><p>x"),
        (".xlf", LATIN + "<xliff version='1.2'><trans-unit><source>x &#160;<x/>x</source></trans-unit></xliff>"),
    ],
)
def test_characters_beyond_ascii_are_references_under_another_encoding(ending, data):
    found = translated(data, ending, lambda text: text.replace("x", "für & 二"))
    assert found.isascii() and "f&#252;r &amp; &#20108;" in found
    assert "für & 二" in unescape(found)
    if ending == ".xlf":
        assert "für & 二" in ElementTree.fromstring(found.encode("latin-1")).findtext(".//target")


@pytest.mark.parametrize(
    ("ending", "data"),
    [
        (".html", "<meta charset=utf8><meta charset=latin-1><p>é"),
        (".html", "<meta charset=utf-16><p>é"),  # read as UTF-8 by browsers
        (".html", "\ufeff<meta charset=latin-1><p>é"),  # the mark precedes
        (".html", "<!-- <meta charset=latin-1> --><textarea><meta charset=latin-1></textarea><p>é"),
        (".html", "<meta charset='<?= $x ?>'><meta content='text/html; charset=latin-1'><p>é"),
        (
            ".xlf",
            "<?xml version='1.0' encoding='utf-8'?><xliff version='1.2'><segment><source>é</source></segment></xliff>",
        ),
    ],
)
def test_characters_stay_characters_under_utf_8(ending, data):
    assert translated(data, ending).endswith("É" if ending == ".html" else "</xliff>")


@pytest.mark.parametrize("text", ["e", "é"])
@pytest.mark.parametrize(
    "label", ["utf-16", "UTF-16LE", "unicode-1-1-utf-8", "x-unicode20utf8", "Unicode20UTF8", "unicode11utf8", "unicode"]
)
def test_documents_in_utf_8_may_declare_utf_16_and_old_names_of_utf_8(label, text):
    """Programs of .NET declare UTF-16 and then write UTF-8."""
    unit = f"<xliff version='1.2'><segment><source>{text}</source></segment></xliff>"
    found = translated(f"<?xml version='1.0' encoding='{label}'?>{unit}", ".xlf", lambda text: text + "ß")
    assert f">{text}ß</target>" in found
    page = f"<meta charset={label}><p>{text}"
    assert translated(page, ".html", lambda text: text + "ß") == page + "ß"


def test_a_byte_order_mark_outranks_the_declaration_of_xliff():
    data = f"\ufeff{LATIN}<xliff version='1.2'><segment><source>é</source></segment></xliff>"
    found = translated(data, ".xlf")
    assert found.startswith("\ufeff") and ">É</target>" in found
    ElementTree.fromstring(found.replace(LATIN, ""))


def test_lines_of_errors_are_those_of_the_declaration():
    with pytest.raises(DocumentError, match=r"^line 3: declares the encoding 'latin-1', but .*; convert the file"):
        FORMATS[".html"].read("<html>\n<head>\n<meta charset=latin-1><p>é".encode())


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        ("<p>a <?php echo $a->b; ?>, b</p>", "<p>A <?php echo $a->b; ?>, B</p>"),
        ("<p>a <%= x > 3 %> b</p><%-- <%= a %> --%>", "<p>A <%= x > 3 %> B</p><%-- <%= a %> --%>"),
        ("{% if x > 3 %}\n<p>a{% else %}b{% endif %}</p>", "{% if x > 3 %}\n<p>A{% else %}B{% endif %}</p>"),
        ("<p>a {{ x|f('b > &lt; <i>') }}!</p>", "<p>A {{ x|f('b > &lt; <i>') }}!</p>"),
        ("a<?php if (1 > 0) { ?>b<?php } ?>c<?php echo '<p>d'", "A<?php if (1 > 0) { ?>B<?php } ?>C<?php echo '<p>d'"),
        ("<a <?= $x > 1 ?> id={{u}} class=notranslate>a</a>b", "<a <?= $x > 1 ?> id={{u}} class=notranslate>a</a>B"),
        ("<div{% if a > b %} class='c'{% endif %}>d</div>", "<div{% if a > b %} class='c'{% endif %}>D</div>"),
        ("<{{tag}} class=x>a</{{tag}}>", "<{{tag}} class=x>A</{{tag}}>"),
        ("<!-- {{ --> a }} b<br>c <% d", "<!-- {{ --> A }} B<br>C &lt;% D"),
        ("<script>x = '{{ a }}</p>'; y = '{%';</script>a %} b", "<script>x = '{{ a }}</p>'; y = '{%';</script>A %} B"),
        ("<?xml:namespace prefix='o' /><p>a</p><?= 1 ?>", "<?xml:namespace prefix='o' /><p>A</p><?= 1 ?>"),
        ("<p>a <?pi b > c ?>d\n{{{\ne\n}}}\n<b>f</b>", "<p>A <?pi b > c ?>D {{{\ne\n}}} <b>F</b>"),
        ("a{{b}}c", "A {{b}}C"),
    ],
)  # fmt: skip
def test_code_of_templates_in_html_stays(data, wanted):
    assert translated(data, ".html") == wanted


def test_no_word_leaves_the_branch_of_a_template():
    data = b"<p>{{#if a}}yes{{else}}no{{/if}} or {% if b %}c{% endif %} {{d}} e</p>"
    assert [unit.text for unit in FORMATS[".html"].read(data).units] == ["yes", "no", "or", "c", "e"]


def test_line_ends_of_a_marked_segment_may_be_preserved():
    inner = "<source>a\nb</source><seg-source xml:space='preserve'><mrk mtype='seg' mid='1'>a\nb</mrk></seg-source>"
    (unit,) = FORMATS[".xlf"].read(f"<xliff version='1.2'><trans-unit>{inner}</trans-unit></xliff>".encode()).units
    assert unit.text == "a\nb"


def test_marked_segments_without_numbers_are_all_filled():
    data = f"{_unit('')}</xliff>".replace(" mid='1'", "").replace(" mid='2'", "")
    assert "<mrk mtype='seg'>A <g id='1'>B</g> D.</mrk> <mrk mtype='seg'>C.</mrk></target>" in translated(data, ".xlf")


@pytest.mark.parametrize(
    ("unit", "source", "flows"),
    [
        ("", "", True),
        ("", " xml:space='default'", True),
        (" xml:space='preserve'", "", False),
        (" xml:space='preserve'", " xml:space='default'", True),
        ("", " xml:space='preserve'", False),
    ],
)
@pytest.mark.parametrize("version", ["1.2", "2.0"])
def test_line_ends_of_xliff_are_blanks_unless_they_are_preserved(unit, source, flows, version):
    name = "trans-unit" if version == "1.2" else "segment"
    inner = f"<source{source}>one\n   two <g id='1'>three\nfour</g>\n</source>"
    data = f"<xliff version='{version}'><file{unit}><{name} id='1'>{inner}</{name}></file></xliff>"
    (found,) = FORMATS[".xlf"].read(data.encode()).units
    assert found.text == ("one two three four" if flows else "one\n   two three\nfour")
    wanted = "ONE TWO <g id='1'>THREE FOUR</g>" if flows else "ONE\n   TWO <g id='1'>THREE\nFOUR</g>"
    assert wanted in translated(data, ".xlf")
    assert "one\n   two <g id='1'>three\nfour</g>" in translated(data, ".xlf", str).partition("target")[2]


def test_names_of_xliff_may_have_a_prefix():
    data = "<x:xliff version='1.2' xmlns:x='u'><x:trans-unit id='1'><x:source>a</x:source></x:trans-unit></x:xliff>"
    assert '<x:target state="needs-review-translation">A</x:target>' in translated(data, ".xlf")


@pytest.mark.parametrize(
    ("ending", "data", "message"),
    [
        (".txt", b"a\xff", "not UTF-8, from byte 2 on; convert the file"),
        (".xlf", b"<xliff>", "line 1: not well-formed XML: no element found"),
        (".xlf", b"<html/>", "the root element is not xliff"),
        (".xlf", b"<!DOCTYPE x [<!ENTITY a 'b'>]><xliff/>", "contains a DOCTYPE"),
        (".xlf", b"<xliff>" + b"<g>" * 200, "nested too deeply; at most 100"),
        (".srt", b"hello", "contains no times"),
        (
            ".html",
            "<meta charset=iso-8859-1><p>é".encode(),
            "line 1: declares the encoding 'iso-8859-1', but documents",
        ),
        (".html", b"<meta charset=iso-2022-jp><p>a", "declares the encoding 'iso-2022-jp'"),
        (".xlf", f"{LATIN}<xliff>é</xliff>".encode(), "line 1: declares the encoding 'ISO-8859-1'.*and declare UTF-8"),
        (".xlf", b"<?xml version='1.0' encoding='UTF-32'?><xliff/>", "declares the encoding 'UTF-32'"),
        (".xlf", b"<?xml version='1.0' encoding='hex'?><xliff/>", "declares the encoding 'hex'"),
    ],
)
def test_what_cannot_be_read_is_one_line_with_a_cure(ending, data, message):
    with pytest.raises(DocumentError, match=message):
        FORMATS[ending].read(data)


@pytest.mark.parametrize(
    "part",
    ["<", "<a ", '<a x="', "</", "<!", "<!--", "<!--<b>", "<![", "<![<b>", "<![CDATA[>", "<?", "&#",
     "<?php ", "<? ", "<%", "<%--", "{{", "{{{", "{{ {% ", "{#", "{{ --> }}", "<{{a}}", "<?x?>"],
)  # fmt: skip
@pytest.mark.parametrize("end", ["", ">", "<p>end"])
def test_markup_without_end_is_read_in_one_pass(part, end):
    """One search through the rest of the text at each part would take hours."""
    data = part * 100_000 + end
    assert unescape(translated(data, ".html", lambda text: text)) == unescape(data)


def test_formats_follow_from_names():
    assert format_of("A.B.HTML") is FORMATS[".html"] and format_of("a.docx") is None and format_of("html") is None
    assert all(format_of(f"a.txt.{ending}") is FORMATS[".xlf"] for ending in ("sdlxliff", "mxliff", "mqxliff"))


def test_tags_stay_well_nested_at_the_borders_of_words():
    """Any tags, and any lengths of translations: the order stays, and no word is cut."""
    draw = random.Random(5)
    for _ in range(2000):
        source = " ".join("x" * draw.randint(1, 4) for _ in range(draw.randint(1, 6)))
        target = " ".join("y" * draw.randint(1, 4) for _ in range(draw.randint(0, 6)))
        offsets = sorted(draw.randint(0, len(source)) for _ in range(draw.randint(0, 6)))
        tags = [Tag(offset, "", draw.choice(["open", "close", "void"])) for offset in offsets]
        pieces = [UnitPiece(source[:3], "", target, " "), UnitPiece(source[3:], "", target, "")]
        found = places(tags, pieces)
        text = f"{target} {target}"
        assert found == sorted(found) and all(0 <= place <= len(text) for place in found)
        assert all(place in (0, len(text)) or " " in (text + " ")[place - 1 : place + 1] for place in found)


def test_a_pair_of_tags_holds_a_word():
    pieces = [UnitPiece("a bb c", "", "one two", "")]
    assert places([Tag(2, "<b>", "open"), Tag(4, "</b>", "close")], pieces) == [4, 7]


def test_lines_of_a_subtitle_are_of_equal_lengths():
    assert line_breaks("one two three four", 2) == {7}
    assert line_breaks("一二三四", 2) == {2}
    assert line_breaks("one", 1) == line_breaks("", 2) == set()
    assert len(line_breaks("a b c d e f", 4)) == 3


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Hello", set()),
        ("\u201cHello\u201d", set()),
        ("안녕하세요", set()),
        ("Đườngếễ", set()),
        ("👩\u200d👩\u200d👧👩\u200d👩", set()),
        ("は\u3099は\u3099", {2}),
        ("ただー。", {1}),
        ("（一）", set()),
        ("สวัสดี", {3}),
        ("นำ", set()),
        ("ខ្មែរ", {4}),
    ],
)
def test_no_line_ends_inside_a_word_or_character(text, places):
    assert line_breaks(text, 2) == places


def test_a_subtitle_of_one_word_has_one_line():
    data = f"1\n{TIMES}\nEin\nMann\n"
    assert translated(data, ".srt", lambda text: "Hello") == f"1\n{TIMES}\nHello\n"


def test_a_tag_is_not_inside_a_word_with_special_signs():
    pieces = [UnitPiece("a b c", "", "\u201cHello\u201d", "")]
    assert places([Tag(2, "<br>", "void")], pieces) == [0]
    assert places([Tag(2, "<br>", "void")], [UnitPiece("a b c", "", "一二三。", "")]) == [2]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"<a><span>Mann</span></a><a><i></i><span>Frau</span></a>", "Mann Frau"),
        (b"<a>Mann</a><a>&Ouml;l</a>", "Mann Öl"),
        (b"<a>Mann</a><b>Frau</b>", "MannFrau"),
        (b"<a>(Mann)</a><a>Frau</a> <a>x</a> <a>y</a>", "(Mann)Frau x y"),
    ],
)
def test_links_that_touch_may_contain_tags(data, text):
    assert [unit.text for unit in FORMATS[".html"].read(data).units] == [text]


def test_links_that_touch_are_apart():
    data = b"<p><a href=x>One</a><a href=y>two</a> <b>th</b><i>ree</i></p>"
    document = FORMATS[".html"].read(data)
    (unit,) = document.units
    assert unit.text == "One two three"
    assert document.filled([[UnitPiece(unit.text, "", unit.text, "")]]) == data
    upper = document.filled([[UnitPiece(unit.text, "", unit.text.upper(), "")]])
    assert b"<a href=x>ONE</a> <a href=y>TWO</a> <b>" in upper


def test_line_ends_in_html_are_blanks():
    """Sentences continue after them; a unit whose translation changes nothing keeps them."""
    data = b"<p>\n One\n  two <b>three\tfour</b>\n<i>five</i>\n</p><pre>a\nb</pre>"
    document = FORMATS[".html"].read(data)
    assert [unit.text for unit in document.units] == ["One two three four five"]
    (unit,) = document.units
    assert document.filled([[UnitPiece(unit.text, "", unit.text, "")]]) == data
    pieces = [UnitPiece(unit.text, "", unit.text.upper(), "")]
    assert document.filled([pieces]) == (b"<p>\n ONE TWO <b>THREE FOUR</b> <i>FIVE</i>\n</p><pre>a\nb</pre>")


@pytest.mark.parametrize(
    ("ending", "data", "wanted"),
    [
        (".txt", "a\n\n b\r\nc\rd", [1, 3, 4, 5]),
        (".srt", f"\ufeff1\r\n{TIMES}\r\na\r\nb\r\n\r\n2\r\n{TIMES}\r\n- c\r\n- <i>d</i>\r\n", [3, 8, 9]),
    ],
)
def test_units_of_lines_know_their_lines(ending, data, wanted):
    document = FORMATS[ending].read(data.encode())
    assert document.lined and document.first_lines == wanted
    assert not FORMATS[".html"].read(b"<p>a").lined


def test_speakers_after_tags_are_not_joined():
    data = f"{TIMES}\n{{\\an8}}<i>- Yes.</i>\n<b>—</b> No.\n\n{TIMES}\none <i>- two\nthree</i>\n"
    assert [unit.text for unit in FORMATS[".srt"].read(data.encode()).units] == ["Yes.", "No.", "one - two three"]


SPACE = [
    "<x id='1' ctype='lb'/>",
    "<x id='1' ctype='x-br'/>",
    "<x id='1' ctype='x-html-br'/>",
    "<x id='LINE_BREAK' equiv-text='&lt;br/&gt;'/>",
    "<ph id='1'>&lt;br/&gt;</ph>",
    "<ph id='1' ctype='x-tab'/>",
    "<it id='1' pos='open'>&lt;p&gt;</it>",
    "<ph id='1'>\\n</ph>",
    "<ph id='1' type='fmt' subType='xlf:lb'/>",
    "<ph id='1' disp='&lt;br&gt;' equiv='LINE_BREAK'/>",
    "<ph id='1' dataRef='d'/>",
]
NO_SPACE = [
    "<x id='1'/>",
    "<x id='1' ctype='bold'/>",
    "<ph id='1'>&lt;b&gt;</ph>",
    "<ph id='1'>&lt;brand/&gt;</ph>",
    "<bpt id='1'>&lt;p&gt;</bpt>",
    "<ph id='1' dataRef='e'/>",
]


def with_code(code, before="eins", after="zwei"):
    unit = f"<segment><source>{before}{code}{after}</source></segment>"
    data = "<originalData><data id='d'>&lt;br/></data><data id='e'>&lt;i></data></originalData>"
    if "dataRef" not in code and "subType" not in code:
        unit, data = unit.replace("segment", "trans-unit"), ""
    version = "2.0" if data else "1.2"
    return f"<xliff version='{version}'><file><unit id='u'>{data}{unit}</unit></file></xliff>"


@pytest.mark.parametrize("code", SPACE + NO_SPACE)
def test_codes_of_white_space_separate_words_in_documents_and_in_training_text(code):
    text = "eins zwei" if code in SPACE else "einszwei"
    data = with_code(code).replace("<file>", "<file source-language='de' target-language='en'>")
    (unit,) = FORMATS[".xlf"].read(data.encode()).units
    (pair,) = parse_xliff([data.encode()], "a.xlf", ("de", "en"))
    assert unit.text == pair.source == text
    assert f"eins{code}zwei<" in translated(data, ".xlf", str).partition("<target")[2]
    if code in SPACE:  # the code replaces the blank
        assert f">EINS{code}ZWEI</target>" in translated(data, ".xlf")
        assert ">一二</target>" in re.sub(
            r"<x[^>]*>|<(ph|it).*?(</\1>|/>)", "", translated(data, ".xlf", lambda _: "一二")
        )


def test_blanks_next_to_codes_of_white_space_stay():
    code = "<x id='1' ctype='lb'/>"
    for before, after in (("eins ", "zwei"), ("eins ", " zwei"), ("eins ", "<x id='2'/>zwei")):
        data = with_code(code, before, after)
        (unit,) = FORMATS[".xlf"].read(data.encode()).units
        assert unit.text == "eins zwei"
        assert f">{before.upper()}{code}{after.replace('zwei', 'ZWEI')}</target>" in translated(data, ".xlf")
    (unit,) = FORMATS[".xlf"].read(with_code(code, "eins", " zwei").encode()).units
    assert unit.text == "eins zwei" and not unit.tags[0].spaced
    data = with_code(code + code, "<g id='2'>eins</g>", "<g id='3'>zwei</g>")
    (unit,) = FORMATS[".xlf"].read(data.encode()).units
    assert unit.text == "eins zwei" and [tag.spaced for tag in unit.tags].count(True) == 1
    assert f">EINS</g>{code}{code}<g id='3'>ZWEI<" in translated(data, ".xlf")


def test_sentences_around_a_line_break_are_two():
    document = FORMATS[".xlf"].read(with_code("<x id='1' ctype='lb'/>", "Eins.", "Zwei.").encode())
    pieces = [[UnitPiece("Eins.", " ", "One.", " "), UnitPiece("Zwei.", "", "Two.", "")]]
    assert b">One.<x id='1' ctype='lb'/>Two.</target>" in document.filled(pieces)


def test_line_breaks_in_subtitles_separate_words():
    data = f"{TIMES}\neins<br/>zwei\n"
    (unit,) = FORMATS[".srt"].read(data.encode()).units
    (cue,) = parse_cues(data.splitlines())
    assert unit.text == cue.text == "eins zwei"


def test_every_file_of_xliff_names_its_languages():
    files = [f"<file source-language='{code}' target-language='en'/>" for code in ("de", "fr", "de")]
    document = FORMATS[".xlf"].read(f"<xliff version='1.2'>{''.join(files)}<file/></xliff>".encode())
    assert document.languages == (("de", "en"), ("fr", "en"), ("", ""))


def slow_line_breaks(text, places, lines):
    found = set()
    for number in range(1, lines):
        free = [place for place in places if place > max(found, default=0)]
        if free:
            found.add(min(free, key=lambda place: (abs(place - number * len(text) / lines), place)))
    return found


def test_line_breaks_are_the_nearest_blanks_and_come_in_linear_time():
    draw = random.Random(3)
    for _ in range(500):
        text = "".join(draw.choice("abc ") for _ in range(draw.randint(0, 30))).strip()
        blanks = [place for place, sign in enumerate(text) if sign == " "]
        if blanks:
            lines = draw.randint(1, 9)
            assert line_breaks(text, lines) == slow_line_breaks(text, blanks, lines)
    with time_limit():
        assert len(line_breaks("a " * 200_000, 100_000)) == 99_999


@pytest.mark.parametrize("data", ["<b>" * 50_000 + "a" + "</i>" * 50_000, "a" + "<b>" * 50_000 + "b" + "</b>" * 50_000])
def test_pairs_of_tags_are_found_in_linear_time(data):
    with time_limit():
        assert translated(data, ".html", str) == data
