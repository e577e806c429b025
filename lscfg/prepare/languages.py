"""Languages by any of their codes: ISO 639-1, 639-2 (both forms), 639-3, and BCP-47 with script, region and variants.

Every rule of a language asks this module, so that ``fr``, ``fra``, ``fre``, ``fr-CA`` and ``fra_Latn`` mean French
everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

# An own table: langcodes and pycountry carry megabytes about 7,900 languages, and no rule of lscfg knows more languages
# than this table. Codes of three letters that the table lacks are taken as ISO 639-3.

_ISO = """
aa:aar ab:abk ae:ave af:afr ak:aka am:amh an:arg ar:ara as:asm av:ava ay:aym az:aze ba:bak be:bel bg:bul bh:bih
bi:bis bm:bam bn:ben bo:bod,tib br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre cs:ces,cze cu:chu cv:chv
cy:cym,wel da:dan de:deu,ger dv:div dz:dzo ee:ewe el:ell,gre en:eng eo:epo es:spa et:est eu:eus,baq fa:fas,per
ff:ful fi:fin fj:fij fo:fao fr:fra,fre fy:fry ga:gle gd:gla gl:glg gn:grn gu:guj gv:glv ha:hau he:heb hi:hin
ho:hmo hr:hrv ht:hat hu:hun hy:hye,arm hz:her ia:ina id:ind ie:ile ig:ibo ii:iii ik:ipk io:ido is:isl,ice it:ita
iu:iku ja:jpn jv:jav ka:kat,geo kg:kon ki:kik kj:kua kk:kaz kl:kal km:khm kn:kan ko:kor kr:kau ks:kas ku:kur
kv:kom kw:cor ky:kir la:lat lb:ltz lg:lug li:lim ln:lin lo:lao lt:lit lu:lub lv:lav mg:mlg mh:mah mi:mri,mao
mk:mkd,mac ml:mal mn:mon mr:mar ms:msa,may mt:mlt my:mya,bur na:nau nb:nob nd:nde ne:nep ng:ndo nl:nld,dut
nn:nno no:nor nr:nbl nv:nav ny:nya oc:oci oj:oji om:orm or:ori os:oss pa:pan pi:pli pl:pol ps:pus pt:por qu:que
rm:roh rn:run ro:ron,rum ru:rus rw:kin sa:san sc:srd sd:snd se:sme sg:sag si:sin sk:slk,slo sl:slv sm:smo sn:sna
so:som sq:sqi,alb sr:srp ss:ssw st:sot su:sun sv:swe sw:swa ta:tam te:tel tg:tgk th:tha ti:tir tk:tuk tl:tgl
tn:tsn to:ton tr:tur ts:tso tt:tat tw:twi ty:tah ug:uig uk:ukr ur:urd uz:uzb ve:ven vi:vie vo:vol wa:wln wo:wol
xh:xho yi:yid yo:yor za:zha zh:zho,chi zu:zul
"""
"""ISO 639-1 with the codes of ISO 639-2, terminology first."""

_MEMBERS = """
cmn:zh arb:ar pes:fa ekk:et lvs:lv swh:sw zsm:ms zlm:ms npi:ne ory:or azj:az uzn:uz khk:mn als:sq plt:mg pbt:ps pbu:ps
kmr:ku ydd:yi gug:gn ayr:ay quz:qu ike:iu fuf:ff knc:kr fil:tl hbs:sr sh:sr scc:sr scr:hr iw:he in:id ji:yi
jw:jv mo:ro mol:ro
"""
"""Members that mean their macrolanguage, as its standard form or most of its texts, and codes that ISO withdrew."""

_RELATED = {
    **dict.fromkeys(("nb", "nn"), "no"),
    **dict.fromkeys(("yue", "wuu", "gan", "hsn", "hak", "nan", "cjy", "cdo", "lzh"), "zh"),
    **dict.fromkeys(("arz", "ary", "acm", "apc", "ajp", "aeb", "ars", "acq", "afb", "ayl"), "ar"),
    **dict.fromkeys(("azb",), "az"),
    **dict.fromkeys(("uzs",), "uz"),
    "prs": "fa",
    "tet": "tdt",
    "ckb": "ku",
    "bar": "de",
    "gsw": "de",
}
"""Languages that are not their relative, but follow its rules where they have none."""

_NAMES = """
ay:aymara,aimara
ar:arabic,arabisch,arabe,العربية bg:bulgarian,български ca:catalan,català zh:chinese,chinesisch,chinois,中文,汉语,漢語
cs:czech,tschechisch,čeština da:danish,dänisch,dansk nl:dutch,niederländisch,nederlands
en:english,englisch,anglais,inglés,inglese,inglês,engels,英語,英语 et:estonian,eesti eu:basque,euskara
fi:finnish,finnisch,suomi fr:french,französisch,français,francés,francese,francês,frans
de:german,deutsch,allemand,alemán,tedesco,alemão,duits el:greek,griechisch,ελληνικά gl:galician,galego
gn:guarani,guaraní,avañe'ẽ he:hebrew,hebräisch,עברית hi:hindi,हिन्दी hr:croatian,hrvatski hu:hungarian,ungarisch,magyar
id:indonesian is:icelandic,íslenska it:italian,italienisch,italien,italiano ja:japanese,japanisch,japonais,日本語
ko:korean,koreanisch,한국어 lv:latvian,latviešu lt:lithuanian,lietuvių nah:nahuatl,náhuatl no:norwegian,norwegisch,norsk
fa:persian,farsi,فارسی pl:polish,polnisch,polski pt:portuguese,portugiesisch,português,portugués
qu:quechua,kichwa,quichua,runasimi
ro:romanian,rumänisch,română ru:russian,russisch,russe,ruso,русский sr:serbian,srpski,српски
sk:slovak,slovenčina sl:slovenian,slovenščina es:spanish,spanisch,espagnol,español,spagnolo,castellano
shp:shipibo,shipibo-konibo,shipibo-conibo sw:swahili,kiswahili
sv:swedish,schwedisch,svenska ta:tamil th:thai,ไทย tr:turkish,türkisch,türkçe uk:ukrainian,українська ur:urdu,اردو
vi:vietnamese,vietnamesisch yo:yoruba,yorùbá
"""
"""Names of languages in their own and in other languages, as columns and files carry them."""

_COUNTRIES = {
    "cn": "zh", "cz": "cs", "dk": "da", "gb": "en", "gr": "el", "ir": "fa", "jp": "ja", "kz": "kk", "kp": "ko",
    "np": "ne", "pk": "ur", "rs": "sr", "ua": "uk", "us": "en", "vn": "vi", "at": "de", "mx": "es",
    "il": "he", "bd": "bn", "by": "be", "iq": "ar", "eg": "ar", "me": "sr", "xk": "sq", "ph": "tl", "tw": "zh",
}  # fmt: skip
"""Languages of countries whose codes are often taken for those of the language."""

# fmt: off
_UNSPACED = frozenset((
    "ja", "ryu", "zh", "yue", "wuu", "gan", "hsn", "hak", "nan", "cjy", "cdo", "lzh", "th", "nod", "tts", "sou", "lo",
    "km", "kxm", "my", "mnw", "shn", "kht", "khb", "tdd", "bo", "dz", "ii",
))
# fmt: on
_UNSPACED_SCRIPTS = frozenset(
    ("hans", "hant", "hani", "jpan", "hira", "kana", "hrkt", "thai", "laoo", "khmr", "mymr", "tibt", "lana", "talu")
)
ELISIONS = frozenset(
    (
        "fr",
        "it",
        "ga",
        "ca",
        "oc",
        "co",
        "sc",
        "scn",
        "fur",
        "lij",
        "pms",
        "vec",
        "lmo",
        "nap",
        "wa",
        "frp",
        "ht",
        "lb",
        "eo",
    )
)
"""Languages whose words lose a vowel before an apostrophe and stay words: French ``l'eau`` is ``l'`` and ``eau``."""

_DOTTED = frozenset(("tr", "az", "crh", "gag"))
_DOTTED_LATIN = frozenset(("kk", "tt", "ba"))

_CODE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")
_BASES = {code: row.partition(":")[0] for row in _ISO.split() for code in re.split("[:,]", row)}
_BASES |= dict(row.split(":") for row in _MEMBERS.split())
_NAMED = {name: row.partition(":")[0] for row in _NAMES.split() for name in row.partition(":")[2].split(",")}

LONGEST = 100
"""Characters of a code that count."""


class Language(NamedTuple):
    """A language as its code gives it, in small letters.

    Attributes:
        base: ISO 639-1 code, of a language without one the ISO 639-3 code.
        script: ISO 15924 code, as ``latn``; empty if the code names none.
        region: ISO 3166 code or UN M.49 number; empty if the code names none.
    """

    base: str
    script: str = ""
    region: str = ""


def language_of(code: str) -> Language:
    """The language of any code; a code without meaning is its own base.

    Encoding and modifier of POSIX locales (``de_DE.UTF-8@euro``) count for nothing, as does what follows the first
    ``LONGEST`` characters: files and requests contain any text.
    """
    return _language_of(code[:LONGEST])


@lru_cache(1 << 12)
def _language_of(code: str) -> Language:
    first, *rest = re.split("[-_]", re.split("[.@]", code.strip(), maxsplit=1)[0].lower())
    if rest and len(rest[0]) == 3 and rest[0].isalpha() and len(first) == 2:
        first, *rest = rest  # an extended language subtag, as zh-yue
    script = region = ""
    for part in rest:
        if len(part) == 1:  # an extension or private use
            break
        if len(part) == 4 and part.isalpha() and not script:
            script = part
        elif re.fullmatch("[a-z]{2}|[0-9]{3}", part) and not region:
            region = part
    return Language(_BASES.get(first, first), script, region)


def base_language(code: str) -> str:
    """The ISO 639-1 code of a language's code, else the ISO 639-3 code: ``fr`` for ``fre``, ``FRA``, ``fr_CA``."""
    return language_of(code).base


def same_language(one: str, other: str) -> bool:
    """True if two codes have one base; their scripts and regions may differ."""
    return base_language(one) == base_language(other) != ""


def equal_codes(one: str, other: str) -> bool:
    """True if two codes name the same language, script and region: ``pt-BR`` and ``por_br``."""
    return language_of(one) == language_of(other)


def rule_languages(code: str) -> tuple[str, ...]:
    """Languages whose rules hold, best first: the language, then a relative whose rules do for it."""
    base = base_language(code)
    return (base, _RELATED[base]) if base in _RELATED else (base,)


def code_fault(code: str) -> str:
    """The reason why a text is not a code of a language; empty if it is one.

    A code of three letters is taken as ISO 639-3, whose list is not known here.
    """
    if _CODE.fullmatch(code):
        first = re.split("[-_]", code.lower())[0]
        if len(first) == 3 or first in _BASES:
            return ""
        if first in _COUNTRIES:
            return f"is a country code; the language is {_COUNTRIES[first]}"
    elif len(code) < 2 or not code.isalpha():
        return "is not a language code such as en, eng or pt-BR"
    return "is not an ISO 639 code; iso639-3.sil.org lists codes by names of languages"


def is_unspaced(code: str) -> bool:
    """True if the language writes no blanks between words, in the script that the code names or in the usual one."""
    language = language_of(code)
    if language.script:
        return language.script in _UNSPACED_SCRIPTS
    return language.base in _UNSPACED


def has_dotted_i(code: str) -> bool:
    """True if i and ı are two letters, with the capitals İ and I, as in Turkish."""
    language = language_of(code)
    if language.base in _DOTTED:
        return language.script in ("", "latn")
    return language.base in _DOTTED_LATIN and language.script == "latn"


_MOST_PARTS = 3
"""Words of a heading, at most; more are a sentence."""


def named_language(text: str) -> str:
    """The code of the language that a heading names, such as ``English`` or ``text_en``; empty if it names none.

    A code is taken only if ISO 639-1 or 639-2 lists it.
    """
    word = "_".join(text.casefold().split())
    parts = word.split("_")
    for part in (word, *reversed(parts)) if len(parts) <= _MOST_PARTS else ():
        if part in _NAMED:
            return _NAMED[part]
        if len(part) < 12 and _CODE.fullmatch(part) and re.split("[-_]", part)[0] in _BASES:
            return part
    return ""


def named_languages(heads: Sequence[str]) -> tuple[str, ...]:
    """The languages of two headings: next to the name of a language, three letters are a code of ISO 639-3."""
    named = tuple(map(named_language, heads))
    codes = (head.strip().casefold() for head in heads)
    return tuple(
        code if not name and any(named) and re.fullmatch("[a-z]{3}", code) and not code_fault(code) else name
        for name, code in zip(named, codes, strict=True)
    )
