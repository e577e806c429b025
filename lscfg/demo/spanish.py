"""Spanish word forms: plurals, agreement, conjugation and contractions, as far as the demo corpus needs them."""

from __future__ import annotations

from functools import cache

from lscfg.demo.features import Features, table, words

PERSONS = ("1s", "2s", "3s", "1p", "3p")

# Words that agree with a noun but not by the rules for adjectives: masculine and feminine, singular then plural.
_DETERMINERS = {
    "el": "el la los las",
    "un": "un una unos unas",
    "este": "este esta estos estas",
    "ese": "ese esa esos esas",
    "al": "al a~la a~los a~las",
    "del": "del de~la de~los de~las",
}
_UNCHANGING = frozenset(words("más muy tan demasiado naranja rosa beige gratis"))
_POSSESSIVES = {"1s": "mi", "2s": "tu", "3s": "su", "1p": "nuestro", "3p": "su"}
_REFLEXIVES = {"1s": "me", "2s": "te", "3s": "se", "1p": "nos", "3p": "se"}
_DATIVES = {"1s": "me", "2s": "te", "3s": "le", "1p": "nos", "3p": "les"}

_UNACCENTED = str.maketrans("áéíóú", "aeiou")
_STRESSED_A = frozenset(("agua", "área", "aula"))  # feminine, yet "el agua"

_PLURALS = {
    "lunes": "lunes",
    "martes": "martes",
    "jersey": "jerséis",
    "joven": "jóvenes",
    "bus": "buses",
    "gris": "grises",
}


@cache
def plural(word: str) -> str:
    """The plural of a noun or adjective."""
    if word in _PLURALS:
        return _PLURALS[word]
    if word[-1] in "aeioué":
        return word + "s"
    if word[-1] == "z":
        return word[:-1] + "ces"
    if word[-1] == "s" and word[-2] not in "áéíóú":
        return word  # "el paraguas", "los paraguas"
    if word[-1] in "ns" and word[-2] in "áéíóú":
        return word[:-2] + word[-2:].translate(_UNACCENTED) + "es"
    return word + "es"


def noun(word: str, features: Features) -> str:
    """The noun in the number asked for."""
    return plural(word) if features.number == "p" else word


@cache
def _agreed(word: str, gender: str, number: str) -> str:
    if word in _UNCHANGING:
        return word
    if word in _DETERMINERS:
        return _DETERMINERS[word].split()[("m", "f").index(gender) + 2 * ("s", "p").index(number)]
    if gender == "f":
        if word.endswith("o"):
            word = word[:-1] + "a"
        elif word.endswith(("dor", "tor")):
            word += "a"
        elif word.endswith(("és", "án", "ín")):
            word = word[:-2] + word[-2:].translate(_UNACCENTED) + "a"
        elif word.endswith("ñol"):
            word += "a"
    return plural(word) if number == "p" else word


def adjective(word: str, form: str, features: Features) -> str:
    """The adjective in the gender and number asked for; Spanish compares with ``más``, so forms are not needed."""
    if form:
        raise ValueError(f"Spanish adjectives have no form {form!r}: {word}")
    return _agreed(word, features.gender, features.number)


def agree(word: str, features: Features, owner: Features | None = None) -> str:
    """An article, pronoun, adjective or participle that agrees with a noun or person.

    A possessive (``mi``) agrees with what is owned, and its person comes from ``owner``. ``se`` and ``les`` stand
    for the reflexive and the dative pronoun of any person.
    """
    if owner is not None:
        if word != "mi":
            raise ValueError(f"only possessives have an owner, not {word!r}")
        word = _POSSESSIVES[features_person(owner)]
    elif word == "se":
        return _REFLEXIVES[features_person(features)]
    elif word == "les":
        return _DATIVES[features_person(features)]
    return _agreed(word, features.gender, features.number).replace("~", " ")


def features_person(features: Features) -> str:
    """Person and number as the verb shows them."""
    return f"{features.person}{features.number}"


# Verbs. Stem changes: the last "from" of the stem becomes "to" under stress ...
_STEM_CHANGES = {
    "e>ie": "perder cerrar empezar querer sentir preferir recomendar despertar sentar pensar calentar encender nevar "
    "entender tener venir divertir merendar fregar regar apretar atender",
    "o>ue": "poder contar dormir volver encontrar probar costar doler acostar mostrar recordar llover almorzar "
    "devolver soler torcer",
    "e>i": "pedir servir seguir repetir vestir conseguir decir elegir despedir",
    "u>ue": "jugar",
    "i>í": "enviar",
}
_CHANGE = {verb: tuple(change.split(">")) for change, verbs in _STEM_CHANGES.items() for verb in words(verbs)}

# ... the first person of the present, from which the subjunctive comes; preterite, future and participle of their own.
_FIRST = table(
    "tener:tengo salir:salgo poner:pongo hacer:hago traer:traigo venir:vengo decir:digo caer:caigo "
    "conocer:conozco conducir:conduzco saber:sé ver:veo dar:doy estar:estoy ser:soy ir:voy haber:he seguir:sigo "
    "conseguir:consigo parecer:parezco valer:valgo"
)
_PRETERITE = table(
    "tener:tuv estar:estuv poder:pud poner:pus saber:sup hacer:hic querer:quis venir:vin decir:dij "
    "traer:traj conducir:conduj haber:hub"
)
_FUTURE = table(
    "tener:tendr poder:podr poner:pondr salir:saldr venir:vendr hacer:har decir:dir querer:querr "
    "saber:sabr haber:habr valer:valdr"
)
_PARTICIPLE = table(
    "abrir:abierto escribir:escrito hacer:hecho poner:puesto ver:visto volver:vuelto devolver:devuelto "
    "romper:roto decir:dicho morir:muerto"
)
_IRREGULAR = {
    "ser pres": "soy eres es somos son",
    "ser pret": "fui fuiste fue fuimos fueron",
    "ser impf": "era eras era éramos eran",
    "ser subj": "sea seas sea seamos sean",
    "estar pres": "estoy estás está estamos están",
    "estar subj": "esté estés esté estemos estén",
    "ir pres": "voy vas va vamos van",
    "ir pret": "fui fuiste fue fuimos fueron",
    "ir impf": "iba ibas iba íbamos iban",
    "ir subj": "vaya vayas vaya vayamos vayan",
    "haber pres": "he has ha hemos han",
    "haber subj": "haya hayas haya hayamos hayan",
    "dar pret": "di diste dio dimos dieron",
    "dar subj": "dé des dé demos den",
    "ver pret": "vi viste vio vimos vieron",
    "ver impf": "veía veías veía veíamos veían",
    "saber subj": "sepa sepas sepa sepamos sepan",
    "hacer pret": "hice hiciste hizo hicimos hicieron",
}
_ENDINGS = {
    "a pres": "o as a amos an",
    "e pres": "o es e emos en",
    "i pres": "o es e imos en",
    "a pret": "é aste ó amos aron",
    "e pret": "í iste ió imos ieron",
    "strong pret": "e iste o imos ieron",
    "a impf": "aba abas aba ábamos aban",
    "e impf": "ía ías ía íamos ían",
    "fut": "é ás á emos án",
    "cond": "ía ías ía íamos ían",
    "a subj": "e es e emos en",
    "e subj": "a as a amos an",
}


def _changed(lemma: str, stem: str, weak: bool = False) -> str:
    """The stem under stress or, in the weak change of verbs in -ir, before a diphthong (pedir: pid-, dormir: durm-)."""
    if lemma not in _CHANGE:
        return stem
    old, new = _CHANGE[lemma]
    if weak:
        if lemma[-2] != "i":
            return stem
        new = {"e": "i", "o": "u"}.get(old, old)
    at = stem.rindex(old)
    return stem[:at] + new + stem[at + 1 :]


def _joined(lemma: str, stem: str, ending: str) -> str:
    """Stem and ending, spelt so that the sound of the stem stays (sacar: saqué, coger: cojo, leer: leyó)."""
    front = ending[0] in "eéií"
    if lemma.endswith("ar"):
        if front:
            for sound, spelling in (("c", "qu"), ("g", "gu"), ("z", "c")):
                if stem.endswith(sound):
                    return stem[: -len(sound)] + spelling + ending
    elif not front and lemma.endswith(("ger", "gir", "rcer")):
        return stem[:-1] + {"g": "j", "c": "z"}[stem[-1]] + ending
    elif stem.endswith(("a", "e", "o")) and ending[0] == "i":
        return stem + ("y" + ending[1:] if len(ending) > 1 and ending[1] in "eó" else "í" + ending[1:])
    return stem + ending


def _finite(lemma: str, tense: str, who: str) -> str:
    at = PERSONS.index(who)
    if own := _IRREGULAR.get(f"{lemma} {tense}"):
        return own.split()[at]
    stem, theme = lemma[:-2], lemma[-2]
    conjugation = "a" if theme == "a" else "e"
    stressed = who != "1p"
    if tense == "pres":
        if who == "1s" and lemma in _FIRST:
            return _FIRST[lemma]
        ending = _ENDINGS[f"{theme} pres"].split()[at]
        return _joined(lemma, _changed(lemma, stem) if stressed else stem, ending)
    if tense == "pret":
        if lemma in _PRETERITE:
            own = _PRETERITE[lemma]
            ending = _ENDINGS["strong pret"].split()[at]
            return own + (ending[1:] if own.endswith("j") and ending == "ieron" else ending)
        stem = _changed(lemma, stem, weak=True) if who in ("3s", "3p") else stem
        return _joined(lemma, stem, _ENDINGS[f"{conjugation} pret"].split()[at])
    if tense == "impf":
        return stem + _ENDINGS[f"{conjugation} impf"].split()[at]
    if tense in ("fut", "cond"):
        return _FUTURE.get(lemma, lemma) + _ENDINGS[tense].split()[at]
    if tense == "subj":
        ending = _ENDINGS[f"{conjugation} subj"].split()[at]
        if lemma in _FIRST and _FIRST[lemma].endswith("o"):
            return _FIRST[lemma][:-1] + ending
        return _joined(lemma, _changed(lemma, stem, weak=not stressed), ending)
    raise ValueError(f"no Spanish tense {tense!r}")


@cache
def conjugate(lemma: str, form: str, who: str) -> str:
    """A form of a verb for a person (``1s`` ... ``3p``); a lemma in -se brings its pronoun along.

    Forms: ``inf``, ``ger``, ``part``, ``pres``, ``pret``, ``impf``, ``fut``, ``cond``, ``subj`` and ``perf`` (he sido).
    """
    if lemma.endswith("se"):
        pronoun, lemma = _REFLEXIVES[who], lemma[:-2]
        if form in ("", "inf"):
            return lemma + pronoun
        if form == "part":
            raise ValueError("a pronominal verb has no bare participle; use perf")
        return f"{pronoun} {conjugate(lemma, form, who)}"
    if form in ("", "inf"):
        return lemma
    if form == "perf":
        return f"{_finite('haber', 'pres', who)} {conjugate(lemma, 'part', who)}"
    if form == "ger":
        if lemma == "ir":
            return "yendo"
        return lemma[:-2] + "ando" if lemma[-2] == "a" else _joined(lemma, _changed(lemma, lemma[:-2], True), "iendo")
    if form == "part":
        return _PARTICIPLE.get(lemma) or (lemma[:-2] + "ado" if lemma[-2] == "a" else _joined(lemma, lemma[:-2], "ido"))
    return _finite(lemma, form, who)


def verb(word: str, form: str, features: Features) -> str:
    """The verb form for a subject."""
    return conjugate(word, form, features_person(features))


def _begins(word: str, sounds: tuple[str, ...]) -> bool:
    return word.startswith(sounds) and not word.startswith(("hie", "hue"))


def polish(sentence: list[str]) -> list[str]:
    """Applies what depends on the next word: al, del, el agua, "e" before i-, "u" before o-."""
    out: list[str] = []
    for word in sentence:
        before = out[-1] if out else ""
        if word in _STRESSED_A and before in ("la", "una"):
            out[-1] = "el" if before == "la" else "un"
            if before == "la" and len(out) > 1 and out[-2] in ("a", "de"):
                out[-2:] = ["al" if out[-2] == "a" else "del"]
        elif word == "el" and before in ("a", "de"):
            out[-1] = "al" if before == "a" else "del"
            continue
        elif before == "y" and _begins(word, ("i", "í", "hi")):
            out[-1] = "e"
        elif before == "o" and _begins(word, ("o", "ó", "ho")):
            out[-1] = "u"
        out.append(word)
    return out


_UNITS = words(
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
    "dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete "
    "veintiocho veintinueve"
)
_TENS = words("treinta cuarenta cincuenta sesenta setenta ochenta noventa")
_HUNDREDS = words(
    "ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos"
)


def number(n: int) -> str:
    """A number up to 999 in words, as it is counted (veintiuno, not veintiún)."""
    if n < 30:
        return _UNITS[n]
    if n < 100:
        tens, units = divmod(n, 10)
        return _TENS[tens - 3] + (f" y {_UNITS[units]}" if units else "")
    if n == 100:
        return "cien"
    hundreds, rest = divmod(n, 100)
    return _HUNDREDS[hundreds - 1] + (f" {number(rest)}" if rest else "")
