"""Languages by any of their codes."""

import pytest

from lscfg.prepare.languages import (
    LONGEST,
    _language_of,
    base_language,
    code_fault,
    equal_codes,
    has_dotted_i,
    is_unspaced,
    language_of,
    rule_languages,
    same_language,
)


@pytest.mark.parametrize(
    ("base", "codes"),
    {
        "fr": "fr fra fre FRA fra_Latn fr-FR fr_CA fre-CH fr-Latn-FR fr_FR.UTF-8@euro",
        "de": "de deu ger de-DE de-1996 deu_Latn de-CH-1996",
        "zh": "zh zho chi cmn zho_Hans cmn-Hant zh-cmn-Hans-CN zh-TW",
        "ja": "ja jpn jpn_Jpan ja-JP",
        "el": "el ell gre el-GR",
        "nl": "nl nld dut nl-BE",
        "fa": "fa fas per pes pes_Arab",
        "et": "et est ekk ekk_Latn",
        "he": "he heb iw",
        "yue": "yue zh-yue yue-Hant-HK",
        "haw": "haw haw-US",
    }.items(),
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_all_codes_of_a_language(base, codes):
    for code in codes.split():
        assert base_language(code) == base and not code_fault(code.partition(".")[0]), code
        assert same_language(code, base)


def test_codes_of_files_and_requests_take_little_memory():
    """Any text may be given as a code, and any number of them."""
    codes = {language_of(f"{'x' * 100_000}{number}") for number in range(10)}
    assert codes == {("x" * LONGEST, "", "")} and _language_of.cache_info().maxsize is not None


def test_the_table_is_that_of_iso_639():
    rows = "sqi:sq alb:sq hye:hy arm:hy eus:eu baq:eu mya:my bur:my ces:cs cze:cs isl:is ice:is kat:ka geo:ka wel:cy"
    for code, base in (row.split(":") for row in rows.split()):
        assert base_language(code) == base


def test_script_and_region():
    assert language_of("sr_Latn-RS") == ("sr", "latn", "rs") and language_of("es-419") == ("es", "", "419")
    assert language_of("en-x-latn") == ("en", "", "") and language_of("") == ("", "", "")
    assert equal_codes("pt-BR", "por_br") and not equal_codes("pt-BR", "pt-PT") and not same_language("", "")
    assert not same_language("nb", "nn") and not same_language("yue", "zh")


def test_relatives_lend_their_rules():
    assert rule_languages("nob") == ("nb", "no") and rule_languages("arz") == ("arz", "ar")
    assert rule_languages("pt-BR") == ("pt",)


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("jp", "is a country code; the language is ja"),
        ("cz-CZ", "is a country code; the language is cs"),
        ("xx", "is not an ISO 639 code; iso639-3.sil.org lists codes by names of languages"),
        ("english", "is not an ISO 639 code; iso639-3.sil.org lists codes by names of languages"),
        ("日本語", "is not an ISO 639 code; iso639-3.sil.org lists codes by names of languages"),
        ("matsigenka", "is not an ISO 639 code; iso639-3.sil.org lists codes by names of languages"),
        ("e", "is not a language code such as en, eng or pt-BR"),
        ("de;", "is not a language code such as en, eng or pt-BR"),
        ("", "is not a language code such as en, eng or pt-BR"),
    ],
)
def test_what_is_no_language(code, fault):
    assert code_fault(code) == fault


def test_scripts_decide_on_blanks_and_dots():
    for code in ("ja", "jpn_Jpan", "zh-TW", "cmn", "yue", "tha", "lao_Laoo", "khm", "bur", "shn_Mymr", "zho_Hans"):
        assert is_unspaced(code), code
    for code in ("zh-Latn", "ko", "vi", "nan_Latn", "en", "pi"):
        assert not is_unspaced(code), code
    assert is_unspaced("pi-Thai")
    assert all(map(has_dotted_i, ("tr", "tur_Latn", "az", "aze-Latn", "azj", "crh", "kk-Latn")))
    assert not any(map(has_dotted_i, ("az-Cyrl", "kk", "en", "azb_Arab", "lt")))
