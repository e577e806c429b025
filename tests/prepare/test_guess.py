"""Guesses on messy files: format, encoding, header, columns, languages, number of pairs."""

import csv
import gzip
import itertools
import json
import random
import re
import sys

import messy
import pytest
from mutations import mutate_text

from lscfg.errors import InputError
from lscfg.prepare import tongues
from lscfg.prepare.content import FileBeginning, find_format
from lscfg.prepare.guess import INIT_OPTIONS, PREPARE_OPTIONS, QUICK_OPTIONS, UNKNOWN, Given, guess, guess_reading
from lscfg.prepare.languages import named_languages

OPTIONS = {"--format", "--encoding", "--header", "--no-header", "--columns", "--languages", ""}
OPTIONS |= {"--set tokeniser=moses"}


@pytest.mark.parametrize("make", messy.KINDS, ids=lambda make: make.__name__)
def test_messy_files(tmp_path, make):
    files, settings, pairs = make(tmp_path)
    found = guess(files, Given())
    assert (found.settings, found.pairs) == (settings, pairs), [str(one) for one in found.findings]
    assert {one.option for one in found.findings} <= OPTIONS and all(one.evidence for one in found.findings)
    assert not found.warnings


@pytest.mark.parametrize("make", messy.KINDS, ids=lambda make: make.__name__)
def test_corpora_are_read_as_quick_reads_them(tmp_path, make):
    """One function guesses; what is stated or follows from names is no setting that was guessed."""
    files, settings, _ = make(tmp_path)
    found = guess_reading(files, {})
    assert found.settings.items() <= settings.items() and not found.warnings
    others = {*settings} - {*found.settings}
    assert others <= {"format", "tokeniser"} | ({"source_language", "target_language"} if len(files) == 2 else set())
    assert {name for name in guess_reading(files, settings).settings if "field" not in name} == set()
    half = {"source_language": settings["source_language"]}
    again = guess_reading(files, half).settings
    assert {k: v for k, v in again.items() if "field" not in k} == {
        k: v for k, v in found.settings.items() if k not in half and "field" not in k
    }


@pytest.mark.parametrize("options", [INIT_OPTIONS, PREPARE_OPTIONS])
@pytest.mark.parametrize("make", messy.KINDS, ids=lambda make: make.__name__)
def test_messages_name_the_options_of_their_command(tmp_path, make, options):
    files = make(tmp_path).files
    assert {one.option for one in guess(files, Given(options=options), count=False).findings} <= {*options, ""}
    own = [option for option in {*QUICK_OPTIONS} - {*options} if " " not in option]
    for file in files:
        for content in (b"a\tb\n" * 9, b"1\t2\n" * 9, b"\xff\xfe\xfa" * 99, b"x\ty\tz\n" * 4, b"", b"\0" * 99):
            file.write_bytes(content)
            try:
                found = guess(files, Given(options=options), count=False)
                messages = [*found.warnings, *map(str, found.findings)]
            except InputError as error:
                messages = [str(error)]
            assert not [text for text in messages if any(option in text.split() for option in own)]


def test_compressed_files(tmp_path):
    files, settings, pairs = messy.spreadsheet(tmp_path)
    (tmp_path / "a.gz").write_bytes(gzip.compress(files[0].read_bytes()))
    found = guess([tmp_path / "a.gz"], Given())
    assert (found.settings, found.pairs) == (settings, pairs)
    assert str(found.findings[0]) == "compressed: gzip (first bytes)"


@pytest.mark.parametrize("make", [messy.tatoeba, messy.objects, messy.memory, messy.right_to_left])
def test_languages_that_are_given_choose_the_direction(tmp_path, make):
    files, settings, pairs = make(tmp_path)
    languages = settings["target_language"], settings["source_language"]
    found = guess(files, Given(languages=languages))
    assert (found.settings["source_language"], found.settings["target_language"]) == languages
    assert found.pairs == pairs
    if "source_column" in settings:
        assert found.settings["source_column"] == settings["target_column"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_languages_that_are_given_choose_among_three_columns(tmp_path, ending):
    """The lengths of the first two columns are equal, so that lengths alone would choose them."""
    names, path = ["en", "de", "shp", "pt-BR", "pt-PT"], tmp_path / f"words.{ending}"
    lengths = [[1 + 7 * k % 11, 1 + 7 * k % 11, 1 + 3 * k % 7, 1 + k % 5, 1 + k % 3] for k in range(200)]
    rows = [
        [" ".join([f"{name[:2]}{chr(97 + k % 26)}"] * n) for name, n in zip(names, row, strict=True)]
        for k, row in enumerate(lengths)
    ]
    if ending == "jsonl":
        lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    else:
        lines = [{"csv": ";", "tsv": "\t"}[ending].join(row) for row in [names, *rows]]
    path.write_text("".join(f"{line}\n" for line in lines))
    for languages in itertools.permutations(["de", "shp", "pt-PT"], 2):
        found = guess([path], Given(languages=languages)).settings
        if ending == "jsonl":
            assert (found["source_field"], found["target_field"]) == languages
        else:
            assert [names[found[f"{side}_column"] - 1] for side in ("source", "target")] == [*languages]
    with pytest.raises(
        InputError, match="no column is named after 'fi', but 'en', 'de', 'pt-BR', 'pt-PT' are named after"
    ):
        guess([path], Given(languages=("de", "fi")))


def test_what_is_given_is_not_guessed(tmp_path):
    files = messy.tatoeba(tmp_path).files
    found = guess(files, Given("csv", "cp1252", ("fr", "nl"), ("4", "2"), True))
    wanted = {"format": "csv", "encoding": "cp1252", "source_column": 4, "target_column": 2, "header": True}
    assert wanted.items() <= found.settings.items() and found.settings["source_language"] == "fr"
    for none in ("9", "9" * 5000):
        with pytest.raises(InputError, match=r"no column '9.*; columns are"):
            guess(files, Given(columns=(none, "2")))


def test_a_few_lines_contradict_no_stated_language(tmp_path):
    for count, warned in ((3, 0), (60, 1)):
        for name, line in (("a.de", "Der Hund schläft heute im Garten."), ("a.nl", "The dog sleeps in the garden.")):
            (tmp_path / name).write_text(f"{line}\n" * count, "utf-8")
        assert len(guess([tmp_path / "a.de", tmp_path / "a.nl"], Given(languages=("de", "nl"))).warnings) == warned


def test_an_unknown_language_is_no_dead_end(tmp_path, monkeypatch):
    monkeypatch.setattr(tongues, "_identifier", lambda: None)
    files, _, pairs = messy.tatoeba(tmp_path)
    found = guess(files, Given())
    assert (found.settings["source_language"], found.settings["target_language"]) == UNKNOWN and found.pairs == pairs
    assert len(found.warnings) == 2 and "pip install 'lscfg[quick]'" in found.warnings[0]


@pytest.mark.parametrize("make", [messy.subtitles, messy.legacy, messy.unspaced])
def test_encodings_without_packages(tmp_path, monkeypatch, make):
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    files, settings, pairs = make(tmp_path)
    found = guess(files, Given())
    assert (found.settings["encoding"], found.pairs) == (settings["encoding"], pairs)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1250", "Dwóch młodych mężczyzn stoi w pobliżu krzewów i czyta książkę."),
        ("cp1251", "Двое молодых людей стоят на улице возле кустов."),
        ("koi8-r", "Двое молодых людей стоят на улице возле кустов."),
        ("cp1254", "İki genç adam dışarıda birçok çalının yanında duruyor."),
        ("cp1253", "Δύο νεαροί άνδρες είναι έξω κοντά σε πολλούς θάμνους."),
        ("cp1252", "Une femme âgée prépare le dîner à l’école, « déjà » là-bas."),
        ("cp1252", "Não há ninguém na praça. A criança está com a mãe e o irmão."),
        ("cp1252", "I don’t know what it’s about."),
        ("cp1252", "Windows™ costs £5, Java® doesn't: ½ cup."),
        ("cp1252", "• Open the door.\n3 × 4 is 5 µm"),
        ("cp1252", "L’homme d’affaires, l’ami"),
        ("cp1252", "La città è più bella. Perché non può? Il caffè è già lì."),
        ("cp1252", "Það er gott veður, maður í rauðum bol stendur við húsið."),
        ("cp1257", "Dvi vyras žiūri į knygą, du vaikai bėga per žolę."),
        ("mac-roman", "Une femme âgée prépare le dîner à l’école, « déjà » là-bas."),
        ("mac-roman", "IL EST NÉ EN ÉTÉ. Le garçon a été blessé à l’école."),
        ("mac-roman", "Zwei junge Männer stehen draußen in der Nähe von Büschen."),
        ("cp850", "Zwei junge Männer stehen draußen in der Nähe von Büschen."),
        ("cp850", "El niño está allí, ¿dónde está tu corazón?"),
        ("gb18030", "两个年轻的男子在许多灌木丛附近的户外。"),
        ("big5", "兩個年輕的男子在許多灌木叢附近的戶外。"),
        ("utf-16-le", "Zwei Männer."),
    ],
)
def test_legacy_encodings(encoding, text):
    data = f"{text}\tTwo young men stand outside.\n".encode(encoding) * 50
    codec, _ = tongues.encoding_of_text(data)
    assert data.decode(codec) == data.decode(encoding)


def test_the_encodings_of_all_files_count(tmp_path):
    """Text of another encoding than that of the first pair would become mojibake without a word."""
    french, english = "Une femme âgée prépare le dîner à l’école.\n" * 60, "An old woman prepares the dinner.\n" * 60
    plain = "Une femme dort dans le jardin.\n" * 60
    names = [tmp_path / name for name in ("a.fr", "a.en", "b.fr", "b.en")]
    stated = {"source_language": "fr", "target_language": "en"}

    def found(first, second, encoding):
        texts, codecs = (first, english, second, english), ("utf-8", "utf-8", encoding, "utf-8")
        for path, text, codec in zip(names, texts, codecs, strict=True):
            path.write_bytes(text.encode(codec))
        return guess_reading(names, stated)

    made = found(plain, french, "cp1252")
    assert made.settings == {"encoding": "cp1252"}
    assert [str(one) for one in made.findings if one.what == "encoding"] == [
        "encoding:  cp1252 (further files; change with --set encoding=NAME)"
    ]
    assert found(french, french, "utf-8").settings == found(french, plain, "utf-8").settings == {}
    with pytest.raises(
        InputError, match=rf"^{names[2]}: is in cp1252, but {names[0]} is in utf-8; convert one with ico"
    ):
        found(french, french, "cp1252")
    names[0].write_bytes(english.encode("utf-16-le"))  # letters of ASCII alone, but zeros between them
    with pytest.raises(InputError, match=rf"^{names[2]}: is in cp1252, but {names[0]} is in utf-16-le"):
        guess([names[0], names[2]], Given())
    names[2].write_text(french, "utf-16")
    names[0].write_text(french, "utf-8")
    with pytest.raises(
        InputError, match=rf"^{names[2]}: is in utf-16, but .*or name the encoding of all with --encodin"
    ):
        guess(names, Given())
    stated["encoding"] = "utf-8"
    assert found(french, french, "cp1252").settings == {}


def test_damaged_lines_are_left_out(tmp_path):
    files, settings, pairs = messy.tatoeba(tmp_path)
    lines = files[0].read_bytes().split(b"\n")
    lines[7] = lines[7].replace(b"\t", b"\xff\t", 2)
    files[0].write_bytes(b"\n".join(lines))
    found = guess(files, Given())
    assert found.settings == settings | {"encoding": "utf-8"} and found.pairs == pairs - 1
    assert found.faults == {"not decoded": 1}


@pytest.mark.parametrize("value", ["1", "1.5", "true", '"text"', '["a", "b"]', "[]", "{}", "null"])
def test_json_values_without_text_are_no_evidence(tmp_path, value):
    line = '{"de": "Ein Mann schläft im Garten.", "en": "A man is sleeping in the garden."}\n'
    (tmp_path / "a.jsonl").write_text(line * 3 + f"{value}\n" + line * 3)
    found = guess_reading([tmp_path / "a.jsonl"], {})
    assert found.settings == {"source_language": "de", "target_language": "en"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b'\xe0\4\0\0\0\0\0\0{"a":{}}\xff', "not text but a safetensors file"),
        (b"only one side\nof text\n", "plain text takes two files: name its translation, too"),
        (b"ja\tyes\rnein\tno\r", "lines end in a carriage return alone"),
        (b"<?xml version='1.0'?><book/>", "XML with the root element 'book'; lscfg reads tmx and xliff"),
        (b"PK\3\4 docx", "a ZIP archive or an office document that is damaged or too large; save it again"),
        (b"1\t2\n3\t4\n", "fewer than two columns are text; name two with --columns"),
        (b"1\n00:00:01,000 --> 00:00:02,000\nJa\n", "subtitles take two files"),
        (b'{"a": "b"}\n', "no two fields of text; fields: a"),
        (b"<tmx version='1.4'><body/></tmx>", "has no two languages; languages: none"),
    ],
)
def test_files_without_pairs(tmp_path, content, message):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(InputError) as caught:
        guess([tmp_path / "a"], Given())
    assert message in str(caught.value) and str(tmp_path / "a") in str(caught.value)


@pytest.mark.parametrize("make", messy.KINDS, ids=lambda make: make.__name__)
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path, make):
    files = make(tmp_path).files
    good = [file.read_bytes() for file in files]
    for seed in range(6):
        rng = random.Random(seed)
        for file, data in zip(files, good, strict=True):
            file.write_bytes(mutate_text(data[: rng.choice((len(data), 4000, 300))], rng))
        try:
            assert guess(files, Given()).pairs > 0
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("heads", "languages"),
    [
        (("es", "shp"), ("es", "shp")),
        (("SHP", "Spanish"), ("shp", "es")),
        (("es", "foo bar"), ("es", "")),
        (("abc", "xyz"), ("", "")),
    ],
)
def test_codes_of_small_languages_count_next_to_a_known_one(heads, languages):
    assert named_languages(heads) == languages


def guess_lines(folder, language, lines):
    """Guesses of Spanish and lines of a language."""
    (folder / f"a.{language}").write_text("".join(f"{line}\n" for line in lines))
    (folder / "a.es").write_text("la casa de la gente\n" * len(lines))
    return guess([folder / "a.es", folder / f"a.{language}"], Given(languages=("es", language)))


NEW_WORDS = [f"jaqi uta panka aka uka x{chr(97 + k % 26)}{chr(97 + k // 26)}" for k in range(600)]
"""Each line has a new word next to five known ones."""


@pytest.mark.parametrize(("language", "tokeniser"), [("aym", "words"), ("de", None), ("ja", "spm")])
def test_words_replace_rules_that_moses_lacks(tmp_path, language, tokeniser):
    assert guess_lines(tmp_path, language, ["a b c"] * 300).settings.get("tokeniser") == tokeniser


def test_many_new_words_recommend_chrf(tmp_path):
    found = guess_lines(tmp_path, "aym", NEW_WORDS)
    shown = {one.what: str(one) for one in found.findings}
    assert found.tables["tuning"] == {"metric": "bleu+chrf"}
    assert found.tables["decoder"] == {"unknown": "similar", "functions": ["Letters", "Copies"]}
    assert shown["metric"].startswith("metric:    bleu+chrf (17% of the words of further target text are new")
    assert shown["tokeniser"].startswith("tokeniser: words (Moses has no rules for aym; the text shows its words")
    few = [line.rpartition(" ")[0] + (" neu" if k % 2 else f" {line[-3:]}") for k, line in enumerate(NEW_WORDS)]
    assert guess_lines(tmp_path, "aym", few).tables == {}
    assert guess_lines(tmp_path, "aym", NEW_WORDS[:200]).tables == {}


@pytest.mark.parametrize("means", ["py3langid", "Greek letters"])
def test_a_detected_language_next_to_a_named_one_is_doubted(tmp_path, monkeypatch, means):
    """A heading that is no known language next to "Spanish": the detector may not know the language at all."""
    heard = {"uno": tongues.HeardLanguage("es", 1.0, means)}
    other = tongues.HeardLanguage("yo", 0.93, means)
    monkeypatch.setattr("lscfg.prepare.guess.language_of_text", lambda lines: heard.get(lines[0].split()[0], other))
    for header, doubted in ((("Spanish", "Ghomala"), means == "py3langid"), (("Spanish", "Yoruba"), False)):
        rows = [header, *((f"uno dos tres {n}", f"ọ̀rọ̀ n'tẹ̀ bá {n}") for n in range(300))]
        (tmp_path / "a.csv").write_text("".join(f"{one};{two}\n" for one, two in rows))
        found = guess([tmp_path / "a.csv"], Given())
        assert (found.settings["source_language"], found.settings["target_language"]) == ("es", "yo")
        wanted = "the header names only one language, .* took the other text for yo; name both with --languages"
        assert [bool(re.fullmatch(wanted, text)) for text in found.warnings] == [True] * doubted


@pytest.mark.parametrize(
    ("languages", "doubt"),
    [
        (("es", "bbj"), None),  # which the detector does not know
        (("es", "fr"), "looks like yo, not fr; check --languages"),
        (("yo", "bbj"), "looks like yo, not bbj; check --languages"),  # the language of the other side
    ],
)
def test_detection_doubts_given_languages_that_it_knows(tmp_path, monkeypatch, languages, doubt):
    pytest.importorskip("py3langid")
    other = tongues.HeardLanguage("yo", 0.97, "py3langid")
    monkeypatch.setattr("lscfg.prepare.guess.language_of_text", lambda lines: other)
    (tmp_path / "a.csv").write_text("".join(f"uno dos tres {n};ọ̀rọ̀ n'tẹ̀ bá {n}\n" for n in range(900)))
    found = guess([tmp_path / "a.csv"], Given(languages=languages)).warnings
    target = [text for text in found if text.startswith("the target text")]
    assert [text.endswith(doubt or "") for text in target] == ([True] if doubt else [])


@pytest.mark.parametrize("side", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("rows", [40, 1_200])
def test_line_ends_in_cells_between_tabs_need_quotes(tmp_path, side, rows):
    """A spreadsheet writes tabs with quotes around the cells that contain line ends, which would cut pairs."""
    table = [[f"nota {k}", f"ramara {k}"] for k in range(rows)]
    for k in range(0, rows, 10):
        for column in side:
            table[k][column] += f'\nTom "{k}" dijo.'
    with open(tmp_path / "t.tsv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t").writerows(table)
    assert find_format([FileBeginning.of(tmp_path / "t.tsv")], None).value == "csv"


def test_quotations_between_tabs_are_text(tmp_path):
    lines = [f'"Hola" dijo {k}.\tramara {k}' for k in range(40)] + ['"sin cerrar\tramara', "una sola columna"]
    (tmp_path / "t.tsv").write_text("\n".join(lines) + "\n")
    assert find_format([FileBeginning.of(tmp_path / "t.tsv")], None).value == "tsv"


def test_tabs_in_quoted_cells_are_no_columns(tmp_path):
    lines = [f"uno {k}\tdos {k}" for k in range(40)] + ['"con\tun tab"\tramara', '"otro\ttab"\tramara']
    (tmp_path / "t.tsv").write_text("\n".join(lines) + "\n")
    assert find_format([FileBeginning.of(tmp_path / "t.tsv")], None).value == "csv"


@pytest.mark.parametrize(
    ("names", "languages"),
    [
        (("train.es", "train.shp"), ("es", "shp")),
        (("aym.es", "aym.aym"), ("es", "aym")),
        (("mi aym.es", "mi aym.aym"), ("es", "aym")),
        (("w.es.gz", "w.nah.gz"), ("es", "nah")),
        (("a.src", "a.tgt"), None),
        (("es.src", "shp.tgt"), None),
        *((("w.es", f"w.{ending}"), None) for ending in ("txt", "raw", "tok", "tgt", "ref")),
    ],
)
def test_endings_of_one_name_are_languages(tmp_path, names, languages):
    """A code that only ISO 639-3 lists counts next to a known code, and nowhere else."""
    texts = [[f"el perro número {k} come" for k in range(60)], [f"nokon ochiti {k} piai" for k in range(60)]]
    for name, lines in zip(names, texts, strict=True):
        data = "".join(f"{line}\n" for line in lines).encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    found = guess([tmp_path / name for name in names], Given(), count=False).settings
    made = found["source_language"], found["target_language"]
    assert made == languages if languages else not {*made} & {"src", "tgt", "txt", "raw", "tok", "ref"}


@pytest.mark.parametrize(
    ("head", "columns", "languages"),
    [
        (["español", "shipibo", "shipibo (corregido)"], (1, 2), ("es", "shp")),
        (["shipibo", "español", "shipibo (corregido)"], (1, 2), ("shp", "es")),
        (["Castellano", "Shipibo-Konibo", "Comentario"], (1, 2), ("es", "shp")),
        (["texto", "shipibo", "shipibo (corregido)"], (1, 2), None),
        (["shipibo", "shipibo (1)", "shipibo (corregido)"], (1, 2), None),
    ],
)
def test_columns_of_one_language_are_no_pair(tmp_path, head, columns, languages):
    """A column and its correction resemble each other more than a translation does."""
    draw, rows = random.Random(1), [head]
    for k in range(80):
        text = " ".join(draw.choice(["nokon", "jawen", "ochiti", "rao", "piai"]) for _ in range(draw.randint(3, 9)))
        spanish = " ".join(draw.choice(["el", "perro", "come", "mucho", "pan"]) for _ in range(draw.randint(3, 9)))
        others = [
            text if "shipibo" in name.lower() else spanish if name != "Comentario" else f"nota {k}" for name in head
        ]
        rows.append([cell + ("" if number < 2 else " ra") for number, cell in enumerate(others)])
    with open(tmp_path / "t.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    found = guess([tmp_path / "t.csv"], Given(), count=False)
    assert (found.settings["source_column"], found.settings["target_column"]) == columns
    assert found.settings["header"]
    if languages:
        assert (found.settings["source_language"], found.settings["target_language"]) == languages
        assert not any("both sides" in warning for warning in found.warnings)


def test_a_quotation_over_two_lines_joins_none(tmp_path):
    """One line with a third column is no reason to read quotes, which would join two pairs and mend nothing."""
    lines = [f"uno {k}\tdos {k}" for k in range(400)]
    lines[100], lines[101], lines[200] = '"Dijo:\tiquish', 'ven"\tjowe', "uno\tdos\tnota"
    (tmp_path / "t.tsv").write_text("\n".join(lines) + "\n")
    assert find_format([FileBeginning.of(tmp_path / "t.tsv")], None).value == "tsv"
