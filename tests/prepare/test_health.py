"""Data health: faults planted at known lines of clean text are found, and nothing else is."""

import json
import random
import re

import pytest
from planted_faults import PLANTS, plant

from lscfg.cli import main
from lscfg.prepare.clean import clean
from lscfg.prepare.corpus import RawFiles, check_health, prepare_corpus
from lscfg.prepare.health import DROPPABLE, FAULTS, HEALTH, Health
from lscfg.prepare.near import near_references, near_texts
from lscfg.prepare.profiles import foreign_sentences
from lscfg.prepare.repair import decode_entities, is_misread, repaired_encoding, without_formatting
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.suspects import numbers_differ

PAIRS, PLANTED = 1200, 20


ONE = ("str", "sch", "k", "w", "b", "z", "pf"), ("ei", "ü", "a", "ö", "ie")
OTHER = ("th", "n", "l", "d", "y", "r", "s"), ("ou", "e", "i", "ee", "o")


def clean_text(seed=1):
    """Different pairs of two made-up languages, whose translations are word by word."""
    draw = random.Random(seed)
    words = [
        ["".join(draw.choice(onsets) + draw.choice(vowels) for _ in range(size)) for onsets, vowels in (ONE, OTHER)]
        for size in draw.choices(range(1, 5), k=600)
    ]
    pairs = []
    for _ in range(PAIRS):
        chosen = draw.choices(words, k=draw.randint(5, 16))
        pairs.append(tuple(" ".join(side) + "." for side in zip(*chosen, strict=True)))
    return pairs


def planted(tmp_path, *kinds):
    """Files with faults, and the lines of each kind."""
    pairs, lines = plant(clean_text(), kinds, PLANTED)
    return write(tmp_path, pairs), lines


def write(folder, pairs):
    files = folder / "a.de", folder / "a.en"
    for file, side in zip(files, zip(*pairs, strict=True), strict=True):
        file.write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
    return files


def settings(**given):
    return PrepareSettings(tokeniser="none", casing="none", **given)


@pytest.fixture
def all_examples(monkeypatch):
    """Findings with every line."""
    monkeypatch.setattr("lscfg.prepare.health.EXAMPLES", 10**6)


@pytest.mark.usefixtures("all_examples")
def test_planted_faults_are_found_and_nothing_else(tmp_path):
    pytest.importorskip("ftfy")
    files, lines = planted(tmp_path, *PLANTS)
    health, read = check_health(RawFiles(files), settings())
    found = {one.fault: {example.line - 1 for example in one.examples} for one in health.findings()}
    assert read == PAIRS and found.keys() - PLANTS.keys() <= {"ratio"}
    faulty = {place for places in lines.values() for place in places}
    for kind, places in lines.items():
        right, wrong = found[kind] & {*places}, found[kind] - faulty
        assert len(right) >= 0.95 * PLANTED and len(wrong) <= 0.02 * len(right), kind


@pytest.mark.usefixtures("all_examples")
def test_repeated_near_and_leaking_sentences(tmp_path):
    pairs = clean_text()
    for number in range(100, 125):
        pairs[number] = "Impressum und Datenschutz .", pairs[number][1]
    for number in range(200, 230):
        pairs[number] = pairs[number - 200][0] + " pfü", pairs[number - 200][1] + " thou"
    held = [pairs[number] for number in range(300, 320)]
    files = write(tmp_path, pairs)
    (tmp_path / "held").mkdir()
    test = write(tmp_path / "held", [(source.replace(".", " !"), "other words") for source, _ in held])
    health, _ = check_health(RawFiles(files, test=test), settings())
    found = {one.fault: [example.line - 1 for example in one.examples] for one in health.findings()}
    assert found["boilerplate"] == [*range(103, 125)]  # the first three do not count
    assert len({*found["near"]} & {*range(200, 230)}) >= 28 and {*found["near"]} <= {*range(200, 230)}
    assert found["leak"] == [*range(300, 320)]


def test_lengths_are_judged_by_the_longer_side():
    """A translation of one word for many is unusual, although short translations vary most."""
    draw = random.Random(5)
    sources = ["".join(draw.choices("abcdefgh ", k=draw.randint(30, 90))) for _ in range(400)]
    targets = [source[: round(len(source) * draw.uniform(0.75, 1))] + "x" * draw.randint(0, 6) for source in sources]
    for number in range(0, 400, 40):
        targets[number] = "word"
    health = Health()
    health.inspect([("a", number) for number in range(400)], (sources, targets))
    found = {one.fault: one.pairs for one in health.findings()}
    assert found["length"] == 10


def test_clean_text_has_no_fault(tmp_path):
    health, _ = check_health(RawFiles(write(tmp_path, clean_text(3))), settings())
    assert health.findings() == [] and health.table(PAIRS) == "1,200 pairs, no fault found"


def test_faults_are_dropped_only_on_demand(tmp_path):
    pytest.importorskip("ftfy")
    files, lines = planted(tmp_path, *PLANTS)
    (tmp_path / "kept").mkdir()
    (tmp_path / "left").mkdir()
    kept = prepare_corpus(RawFiles(files), settings(), tmp_path / "kept")
    left = prepare_corpus(RawFiles(files), settings(drop=DROPPABLE), tmp_path / "left")
    gone = {f"{kind}": len(places) for kind, places in lines.items() if kind in DROPPABLE}
    assert kept.counts["dropped"].keys() <= {"ratio"}
    assert {kind: left.counts["dropped"][kind] for kind in gone} == pytest.approx(gone, abs=1)
    facts = json.loads((tmp_path / "left" / HEALTH).read_text())
    found = {one["fault"]: one for one in facts["findings"]}
    assert facts["pairs"] == PAIRS and found["copy"]["done"] == "dropped" and found["copy"]["setting"] == "drop"
    assert found["entities"]["done"] == "repaired" and len(found["entities"]["examples"]) == 5
    dropped = (tmp_path / "left" / "dropped.tsv").read_text().splitlines()
    assert f"{files[0]}\t{min(lines['script']) + 1}\ttrain\tdropped\tscript" in dropped


def test_nothing_is_repaired_without_a_unicode_form(tmp_path):
    pytest.importorskip("ftfy")
    files, _ = planted(tmp_path, "entities", "markup", "mojibake")
    (tmp_path / "out").mkdir()
    prepare_corpus(RawFiles(files), settings(unicode="none"), tmp_path / "out")
    text = "".join((tmp_path / "out" / f"train.{side}").read_text() for side in ("de", "en"))
    assert "&uuml;" in text and "<b>" in text and "schÃ¶n" in text
    found = json.loads((tmp_path / "out" / HEALTH).read_text())["findings"]
    assert {one["done"] for one in found} == {"kept"}


def test_a_header_is_found(tmp_path):
    files = write(tmp_path, [("Deutsch", "Englisch"), *clean_text()])
    (finding,) = check_health(RawFiles(files), settings())[0].findings()
    assert (finding.fault, finding.pairs, finding.examples[0].line) == ("header", 1, 1)


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("&quot;a&quot; &amp; b", '"a" & b'),
        ("&amp;amp;quot;a", '"a'),
        ("&#8211; &#x2013; &#150;", "– – –"),
        ("AT&T; &nosuch; &#0; &#xD800; R&D", "AT&T; &nosuch; &#0; &#xD800; R&D"),
        ("&lt;b&gt;", "<b>"),
        ("می&zwnj;خواهم Wort&shy;teil", "می\u200cخواهم Wort\xadteil"),
        ("&#8203;&lrm;&#xAD;&amp;rlm;&#xE000;", "\u200b\u200e\xad\u200f&#xE000;"),
    ],
)
def test_entities(text, decoded):
    assert decode_entities(text) == decoded == decode_entities(decoded)


def test_entities_of_invisible_characters_are_counted_and_decoded():
    health = Health()
    assert health.repaired("a", 1, ("Wort&shy;teil", "part")) == ("Wort&shy;teil", "part")  # left to cleaning
    assert [(one.fault, one.done) for one in health.findings()] == [("entities", "repaired")]
    assert clean("Wort&shy;teil &#8203;می&zwnj;خواهم") == "Wortteil می\u200cخواهم"


def test_formatting_tags():
    assert without_formatting('a<B class="x">b</B> c<br/>d <Enter> 1 < 2 > 0') == "ab c d <Enter> 1 < 2 > 0"
    kept = ("if i<b and c>d, stop", "x <i and y> z", "p <s p> q", "<b", "a <p 1> b")
    assert [without_formatting(text) for text in kept] == [*kept]
    assert without_formatting("<a href='x' target=_blank>b</a> <HR noshade><td nowrap  colspan=2>d</td >") == "b   d "


@pytest.mark.parametrize(
    "tag",
    [
        *("<table border>", "<ol reversed>", "<hr noshade />", "<br / >", "<td nowrap hidden align=left>", "<p class>"),
        *("<img alt src='a.png'>", '<img src=x alt="">', "<br clear=all/>", '<p ng-cloak class="x">', "<li v-else>"),
    ],
)
def test_tags_between_blocks_of_real_pages_become_blanks(tag):
    assert without_formatting(f"a{tag}b") == "a b"


@pytest.mark.parametrize(
    "tag",
    [
        *('<a href="x"target="y">', "<font size=2, color=red>", "<a href=>", "<a  href  =  x>", "<font color='red>"),
        *(r"<a href=\"x\">", "<a href=“x”>", '<a href=""x"">', '<a @click="x">', "<span data-a:b=c>", "<a class id=x>"),
    ],
)
def test_tags_within_blocks_of_real_pages_are_removed(tag):
    assert without_formatting(f"a{tag}b") == "ab"


@pytest.mark.parametrize(
    "text",
    [
        *("if (i <a j=i) x>y", "a<b x = 3, y > 4", "a<b &&c=1||d>2", "a <i != j> b", "a<b !=c>d", "(a<b )==(c>d)"),
        *("for(i=0;i<a ;i=i+1)p->x", "if (i<a &&j==2 && k>3)", "a<b c==d>e", "if i<b and c=d>e"),
        "for i<b k=2 holds by induction, and since the premise holds we conclude c>d.",
    ],
)
def test_comparisons_are_no_tags(text):
    assert without_formatting(text) == text


@pytest.mark.parametrize(
    ("text", "fixed"),
    [("MÃ¤dchen", "Mädchen"), ("donâ€™t", "don’t"), ("ÐŸÑ€Ð¸Ð²ÐµÑ‚", "Привет")],
)
def test_mojibake_is_repaired(text, fixed):
    pytest.importorskip("ftfy")
    assert is_misread(text) and repaired_encoding(text) == fixed


@pytest.mark.parametrize("text", ["„Ä“ – daß“ Ñandú", "L’été à Évry", "Ærø Åland", "漢字かな", "ascii"])
def test_good_text_is_not_repaired(text):
    pytest.importorskip("ftfy")
    assert not is_misread(text) and repaired_encoding(text) == text


@pytest.mark.parametrize(
    ("source", "target", "differ"),
    [
        ("1.000 Euro", "1,000 euros", False),
        ("2 Männer", "two men", False),
        ("2 Männer", "3 men", True),
        ("um 12:30", "at 12:30", False),
        ("３ 人", "3 people", False),
        ("５ 万 円", "50,000 yen", False),
        ("５万円", "5 yen", True),
        ("1亿", "100,000,000", False),
        ("５ 月 ２２ 日", "May 22", False),
        ("5月22日", "May 21", True),
        ("2 Euro", "2.00 euros", False),
        ("1,5 m", "1.5 m", False),
        ("9" * 5000, "9", True),
        ("５" * 5000 + "万", "5", True),
        ("siehe www.a.de.", "see www.a.de", False),
        ("siehe https://a.de/1", "see https://a.de/2", True),
        ("an a@b.de", "to c@b.de", True),
    ],
)
def test_numbers_and_addresses(source, target, differ):
    assert numbers_differ(source, target) is differ


def shared_words(one, other):
    """Common words of two lines, as a share of the words of both."""
    one, other = one.split(), other.split()
    common = sum(min(one.count(word), other.count(word)) for word in {*one})
    return common / (len(one) + len(other) - common)


def changed_lines(draw, lines, words, count):
    """Lines with one word changed."""
    for _ in range(count):
        line = draw.choice(lines).split()
        line[draw.randrange(len(line))] = draw.choice(words)
        yield " ".join(line)


def test_near_texts_agree_with_all_comparisons():
    """Nearly all lines of which an earlier one shares 80 % of the words are found, and no other."""
    draw = random.Random(4)
    words = [f"w{number}" for number in range(60)]
    lines = [" ".join(draw.choices(words, k=12)) for _ in range(150)]
    lines += changed_lines(draw, lines[:150], words, 100)
    expected = {
        number for number, line in enumerate(lines) if any(shared_words(line, other) >= 0.8 for other in lines[:number])
    }
    found = near_texts(lines)
    assert all(other < number and shared_words(lines[number], lines[other]) >= 0.8 for number, other in found.items())
    assert len(found) >= 0.9 * len(expected) > 80
    assert near_texts([]) == near_texts(["", "", "."]) == {}


def test_lines_near_references_agree_with_all_comparisons():
    """Nearly all lines near a reference are found, whatever the other lines are."""
    draw = random.Random(4)
    words = [f"w{number}" for number in range(60)]
    references = [" ".join(draw.choices(words, k=12)) for _ in range(150)]
    lines = [*changed_lines(draw, references, words, 100), *(" ".join(draw.choices(words, k=12)) for _ in range(50))]
    lines += [*changed_lines(draw, lines, words, 100), *lines[:20]]
    expected = {
        number for number, line in enumerate(lines) if any(shared_words(line, other) >= 0.8 for other in references)
    }
    found = near_references(references, lines, 0.8)
    assert all(shared_words(lines[number], references[other]) >= 0.8 for number, other in found.items())
    assert len(found) >= 0.9 * len(expected) > 100
    assert near_references([], lines, 0.8) == near_references(lines, [], 0.8) == {}
    assert near_references(["", "."], [".", "", "..."], 0.8) == {}


def test_leaks_are_found_where_training_sentences_are_near_each_other():
    draw = random.Random(1)
    words = [f"w{number}" for number in range(5000)]
    held = [" ".join(draw.sample(words, 40)) for _ in range(200)]
    sources = []
    for line in held:
        near = line.split()
        near[20] = "changed"
        sources += [" ".join(near)] * 2
    places = [("a", number) for number in range(400)]
    texts = sources, [f"t {number}" for number in range(400)]
    assert [*Health(drop=("leak",)).leaks(places, texts, held)] == [*range(400)]


def test_a_line_is_compared_with_the_most_similar_of_many_references():
    """References of one template meet in large groups."""
    same = " ".join(f"a{number}" for number in range(58))
    references = [f"{same} {' '.join(f'b{number}x{k}' for k in range(4))}" for number in range(300)]
    lines = references[::-1]
    assert near_references(references, lines, 0.9) == {number: 299 - number for number in range(300)}


def test_few_pairs_have_no_profile():
    one, other = foreign_sentences(["a b c"] * 10, ["d e f"] * 10)
    assert not one.any() and not other.any()


def test_examples_are_few_and_short():
    health = Health()
    for line in range(1, 9):
        health.note("copy", "kept", "a", line, ("x" * 500, "y"))
    (finding,) = health.findings()
    assert finding.pairs == 8 and [example.line for example in finding.examples] == [1, 2, 3, 4, 5]
    assert len(finding.examples[0].source) == 160 and {*DROPPABLE} <= FAULTS.keys()


def test_check_prints_the_table_and_writes_json(tmp_path, capsys):
    pytest.importorskip("ftfy")
    files, lines = planted(tmp_path, "entities", "copy")
    assert main(["prepare", "corpus", *map(str, files), "--check", "-o", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "health.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>") and "default-src 'none'" in page
    assert re.search(r"<h1>Data health of [^<]+</h1>", page) and "<details><summary>Examples</summary>" in page
    printed = capsys.readouterr().out
    assert printed.startswith("1,200 pairs\n") and 'drop = ["copy"] drops them' in printed
    assert f"  a.de:{min(lines['copy']) + 1}  " in printed
    assert json.loads((tmp_path / "out" / HEALTH).read_text())["pairs"] == PAIRS
    assert {path.name for path in (tmp_path / "out").iterdir()} == {HEALTH, "health.html"}


def test_a_corpus_needs_a_folder(tmp_path, capsys):
    files = write(tmp_path, [("a b", "c d")])
    assert main(["prepare", "corpus", *map(str, files)]) == 1
    assert "-o: give the folder to write, or --check to examine the text only" in capsys.readouterr().err
