"""Code of templates in HTML: pages as people write them, and signs that only look like code."""

from __future__ import annotations

import random
import re
from html import unescape

import pytest
from limits import time_limit

from lscfg.markup.document import UnitPiece, WordAlignment
from lscfg.markup.formats import FORMATS
from lscfg.markup.templates import template_spans


def texts(page: str) -> list[str]:
    return [unit.text for unit in FORMATS[".html"].read(page.encode()).units]


def upper(page: str, aligned: bool = False) -> str:
    """The page in capitals, with one blank between words, as the decoder writes sentences."""
    document = FORMATS[".html"].read(page.encode())
    pieces = []
    for unit in document.units:
        text = " ".join(unit.text.upper().split())
        source, target = ([word.span() for word in re.finditer(r"\S+", side)] for side in (unit.text, text))
        links = WordAlignment(source, target, [[k] for k in range(len(target))])
        pieces.append([UnitPiece(unit.text, "", text, "", links if aligned else None)])
    return document.filled(pieces).decode()


def unchanged(page: str) -> str:
    document = FORMATS[".html"].read(page.encode())
    return document.filled([[UnitPiece(unit.text, "", unit.text, "")] for unit in document.units]).decode()


PHP = """<?php
/* Template Name: Shop; don't remove the </div> below */
get_header(); // opens <body>
$more = "<p class='more'>" . __("More", 'shop') . '</p>';
?>
<!DOCTYPE html>
<html <?php language_attributes(); ?>>
<head><title><?php wp_title('|'); ?> Unser Laden</title>
<?php if ($count > 1): ?><meta name="robots" content="<?= $robots ?>"><?php endif; ?>
<script>var open = "<?php", tag = "<?=", page = <?php echo json_encode($page); ?>;</script>
</head>
<body <?php body_class(); ?>>
<h1>Willkommen bei <b><?= $name ?></b> in Köln</h1>
<?php while (have_posts()) { the_post(); echo "<div>"; ?>
<p>Von <?php the_author(); ?> am <a href="<?php echo get_link() ?>"><?php the_date('j. F Y'); ?></a> geschrieben.</p>
<p><?php _e('Price', 'shop'); ?> ab <?php esc_html_e( "from 3 €" ); ?> im Monat</p>
<?php echo "</div>"; } ?>
<?php echo <<<HTML
<p class="note">It's here</p></div>
HTML;
?>
<!-- <?php old(); ?> <p>Alt</p> -->
<p>Bis bald!</p>
<?php
function tail() {
    echo '</body></html>';
}
tail();
"""

EJS = """<% const items = list.filter(x => x > 3); // don't show others
%><html><body class="<%= theme %>">
<%- include('header', {title: "<b>Home</b>"}) %>
<h1>Hallo <b><%= user.name %></b> und <%- guest %>!</h1>
<% if (items.length) { %><p>Es gibt <%= items.length %> Dinge.</p><% } else { %><p>Nichts da.</p><% } %>
<p title="5 <% 6">Rabatt <% 50</p><p class="x">Nur 30 %></p>
<script>var begin = "<%";</script><p>Mitte</p><script>var end = "%>"; x = <%- JSON.stringify(items) %></script>
<% items.forEach(function (item) { out += "</li>"; %><li><%= item %> kaufen</li><% }) %>
<%-- <div><!-- alt --><script>old()</script></div> --%>
</body></html>
"""

DJANGO = """{% extends "base.html" %}{% load i18n static %}
{% block content %}<h1>{{ block.super }} Neues von {{ range.name|default:"x > 3" }} heute</h1>
<p>Siehe <a href="{% url 'help' %}">Hilfe {{ topic }}</a> oder {% url 'faq' %} dazu.</p>
<p>Es ist {% now "H:i" %} Uhr, {% trans "guest" %} <img src="{% static 'x.png' %}"> kam.</p>
{% if user.is_staff %}<p>Nur für {{ user }}</p>{% endif %}
{% trans %}Ein Satz{% endtrans %}{# <p>Nicht sichtbar #}
{% endblock %}
"""

TUTORIAL = """<!DOCTYPE html><html><head><title>PHP lernen</title>
<script>editor.open("<?php"); editor.tag = '<?='; asp = "<%";</script></head>
<body><h1>Wie beginnt PHP?</h1>
<!-- <?php -->
<p>Code beginnt mit &lt;?php und endet mit ?&gt; am Ende.</p>
<p>Kurz geht es mit <code>&lt;?= $x ?></code> auch.</p>
<pre><code><?php echo "Hallo"; ?></code></pre>
<p>Ein Code <code><?php</code> steht vorn.</p>
<p>Der nächste Absatz.</p>
<pre><?php
// ohne Ende
</pre>
<p title="<? oder <%">Auch <% und %> sind Zeichen.</p>
<script>highlight("%>", "?>");</script>
<p>Das war alles.</p></body></html>
"""


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        (
            PHP,
            ["Unser Laden", "Willkommen bei in Köln", "Von am geschrieben.", "ab im Monat", "Bis bald!"],
        ),
        (
            EJS,
            ["Hallo und !", "Es gibt Dinge.", "Nichts da.", "Rabatt <% 50", "Nur 30 %>", "Mitte", "kaufen"],
        ),
        (
            DJANGO,
            ["Neues von heute", "Siehe Hilfe oder dazu.", "Es ist Uhr, kam.", "Nur für", "Ein Satz"],
        ),
        (
            TUTORIAL,
            [
                "PHP lernen",
                "Wie beginnt PHP?",
                "Code beginnt mit <?php und endet mit ?> am Ende.",
                "Kurz geht es mit auch.",
                "Ein Code steht vorn.",
                "Der nächste Absatz.",
                "Auch",  # <% und %> looks like code
                "sind Zeichen.",
                "Das war alles.",
            ],
        ),
    ],
    ids=["php", "ejs", "django", "tutorial"],
)
def test_units_of_a_page(page: str, wanted: list[str]) -> None:
    assert texts(page) == wanted
    assert unescape(unchanged(page)) == unescape(page)
    found = upper(page)
    for text in re.findall(r"<script>.*?</script>|<[?%].*?[?%]>|\{[{%#].*?[}%#]\}", page, re.DOTALL):
        if not re.search(r"</p>|<%\s*[\d6u]|-->|und %>", text):
            assert text in found


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        ('<p>Eins</p><script>a="<?php"</script><p>Zwei</p>', ["Eins", "Zwei"]),
        ('<p>Eins</p><script>a="<?php "</script><p>Zwei</p>', ["Eins", "Zwei"]),
        ('<p>Eins</p><script>a="<?="</script><p>Zwei</p><?php x() ?>', ["Eins", "Zwei"]),
        ('<script>a="<? "</script><p>Eins</p><script>b="?>"</script>', ["Eins"]),
        ('<script>"<%"</script><p>Eins</p><script>"%>"</script>', ["Eins"]),
        ("<p>Rabatt <% 50</p><p>Eins</p><p>30 %></p>", ["Rabatt <% 50", "Eins", "30 %>"]),
        ("<p>a <code><?php</code> b</p><p>x</p>", ["a b", "x"]),
        ("<p>Mit <?php fängt es an.</p><p>x</p>", ["Mit", "x"]),
        ("<p>Mit <?= fängt es an<p>x", ["Mit", "x"]),
        ('<p title="a <% b">Hallo</p><p>Zwei %> drei</p>', ["Hallo", "Zwei %> drei"]),
        ('<p title="a <% b">Hallo<br><i class="x">Zwei %> drei', ["Hallo", "Zwei %> drei"]),
        ("<!-- <?php --><p>Noch ein Satz.</p>", ["Noch ein Satz."]),
        ("<!-- <?php --><p>Noch ein Satz.</p><?php x() ?>", ["Noch ein Satz."]),
        ("<code><%--</code><p>Eins</p><code>--%></code>", ["Eins"]),
    ],
)
def test_signs_that_are_not_code_hide_nothing(page: str, wanted: list[str]) -> None:
    assert texts(page) == wanted
    kept = re.findall(r"<script>.*?</script>|<!--.*?-->|<p title.*?\">", page)
    assert all(text in upper(page) for text in kept)


@pytest.mark.parametrize(
    "code",
    [
        "<%= raw '<b>x</b>' %>",
        '<% out.println("</div>"); %>',
        "<% /* <b>x</b> */ %>",
        "<% // <b>x</b>\n%>",
        "<?php echo '<p>it\\'s</p>'; # </p>\n?>",
        '<? echo "<!-- x -->"; ?>',
        "<%-- </div> --%>",
        "<?php echo <<<'A'\n</p>\nA; ?>",
        "<%= raw <<~HTML.strip\n  </p>\n  HTML\n%>",
        "<%- list.map(x => `<li>${x}</li>`) %>",
        "<?php echo\"<b>x</b>\"; return'</b>'; ?>",
        "<%#\n<div>old text</div>\n%>",
        "<?php while ($n-->0) { echo '<![endif]-->'; } ?>",
        "<!-- x --><?php $a = 'a --> b'; ?>",
    ],
)
def test_code_may_write_tags(code: str) -> None:
    page = f"<p>a</p>{code}<p>b</p>"
    assert [page[span.begin : span.end] for span in template_spans(page)] == [code.removeprefix("<!-- x -->")]


@pytest.mark.parametrize(
    ("code", "inline"),
    [
        ("<%- x %>", True),
        ("<%: x %>", True),
        ("<%- if x -%>", False),
        ("<%- end -%>", False),
        ("<%= form_for x do |f| %>", False),
        ("<%- ends -%>", True),
        ("{{ range.name }}", True),
        ("{{ block.super }}", True),
        ("{{ end-date }}", True),
        ("{{ range .Items }}", False),
        ("{{- end -}}", False),
        ("{% url 'x' %}", True),
        ("{%- static 'x' -%}", True),
        ('{% now "Y" %}', True),
        ("{% csrf_token %}", True),
        ('{% trans "x" %}', True),
        ("{% translate 'x' %}", True),
        ("{% trans %}", False),
        ("{% trans user %}", False),
        ("{% urlize %}", False),
        ("<?php _e('x', 'y'); ?>", True),
        ("<?php esc_html_e( 'x' ) ?>", True),
        ("<?php esc_attr_e('x'); ?>", True),
        ("<?php echo $x; more(); ?>", False),
        ("<?php echoes($x); ?>", False),
    ],
)
def test_values_stay_in_their_sentence(code: str, inline: bool) -> None:
    assert [span.inline for span in template_spans(f"a {code} b")] == [inline]
    assert texts(f"<p>la {code} casa</p>") == (["la casa"] if inline else ["la", "casa"])


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        ("<p>la <b>{{ x }}</b> casa roja</p>", "<p>LA <b>{{ x }}</b> CASA ROJA</p>"),
        ("Der <a>Link {{ x }}</a> hier.", "DER <a>LINK {{ x }}</a> HIER."),
        ("Er <b><?= $x ?></b> kam", "ER <b><?= $x ?></b> KAM"),
        ("<b><?= $x ?></b> kam", "<b><?= $x ?></b> KAM"),
        ("Er <b><img></b> kam", "ER <b><img></b> KAM"),
        ("Er <a><i>{{x}}</i></a>\n  kam", "ER <a><i>{{x}}</i></a> KAM"),
        ("Er {{x}}<a> Link</a> da", "ER {{x}} <a>LINK</a> DA"),
        ("Er <a> {{x}}</a> kam", "ER <a>{{x}}</a> KAM"),
        ("Er {{x}}{{y}} kam", "ER {{x}}{{y}} KAM"),
        ("das <b>{{x}}</b>.", "DAS <b>{{x}}</b>."),
    ],
)
@pytest.mark.parametrize("aligned", [False, True])
def test_a_value_in_an_element_keeps_the_blanks_around_it(page: str, wanted: str, aligned: bool) -> None:
    assert upper(page, aligned) == wanted
    assert unchanged(page) == page


def test_a_value_of_xliff_in_an_element_keeps_the_blanks_around_it() -> None:
    unit = "<trans-unit><source>la <g id='1'><x id='2'/></g> casa</source></trans-unit>"
    document = FORMATS[".xlf"].read(f"<xliff version='1.2'>{unit}</xliff>".encode())
    (text,) = document.units
    found = document.filled([[UnitPiece(text.text, "", "the house", "")]]).decode()
    assert text.text == "la casa" and ">the <g id='1'><x id='2'/></g> house</target>" in found


def test_a_value_at_the_end_has_its_blank_outside_its_element() -> None:
    document = FORMATS[".html"].read(b"<p>la <b>{{ x }}</b> casa</p>")
    links = WordAlignment([(0, 2), (3, 7)], [(0, 5), (6, 9)], [[0], [0]])
    found = document.filled([[UnitPiece("la casa", "", "the red", "", links)]])
    assert found.replace(b" </p>", b"</p>") == b"<p>the red <b>{{ x }}</b></p>"


def test_blanks_between_words_and_values_stay() -> None:
    """Words and single tags, with a blank between any two, inside or outside the pairs around them."""
    draw = random.Random(4)
    for _ in range(3000):
        page, opened = "", list[str]()
        for number in range(draw.randint(1, 7)):
            word = draw.choice(("ab", "cd", "ef", "{{x}}", "<%= y %>", "<img>", "<code>c</code>"))
            blank, begin = " " * (number > 0), ""
            if draw.random() < 0.4:
                opened.append(draw.choice("bi"))
                begin = f"<{opened[-1]}>"
            page += draw.choice((blank + begin, begin + blank)) + word
            while opened and draw.random() < 0.5:
                page += f"</{opened.pop()}>"
        page += "".join(f"</{name}>" for name in reversed(opened))
        assert unchanged(page) == page
        for aligned in (False, True):
            shown = [re.sub("</?[bi]>", "", text).lower().split() for text in (page, upper(page, aligned))]
            assert shown[0] == shown[1], (page, upper(page, aligned))


@pytest.mark.parametrize(
    "page",
    [
        "<? echo" + " " * 10**6 + ";x ?>",
        "<? echo" + " " * 10**6 + "x",
        '<? "' + "/*" * 500_000 + "</x ?>",
        "<%" + '\\"' * 500_000 + "</x>%>",
        "<?php <<<a\n" + "<<<a\n" * 200_000 + "</x ?>",
        "<?php " * 200_000 + "?>",
        "<% `" + "<<~a\n" * 200_000 + "</b> %>",
        "<% <?php " * 100_000 + "?>%>",
        '<% "</b> ' * 100_000 + "%>",
        "<%-- </code>" * 100_000 + "--%>",
        "<% " + "do |" * 200_000 + "%>",
        "<% <a" + " " * 10**6 + "%>",
        "<% " + "</script" * 100_000 + "%>",
        "<%-" + " " * 10**6 + "%>",
    ],
    ids=lambda page: page[:12].strip(),
)
def test_code_is_read_in_one_pass(page: str) -> None:
    with time_limit():
        template_spans(page)
