"""Requests of LibreTranslate's interface, which CAT tools and browsers send."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from lscfg.errors import cut, did_you_mean, quote
from lscfg.prepare.languages import base_language, same_language
from lscfg.serve.instructions import INSTRUCTIONS, Forms, Instructions, read_instructions
from lscfg.serve.query import content_type, json_object, refuse_no_text, switch
from lscfg.serve.refusal import RefusalError
from lscfg.serve.settings import ServeSettings
from lscfg.serve.texts import LanguagePair

KEYS = ("q", "source", "target", "format", "alternatives", "details", *INSTRUCTIONS, "api_key", "secret")
"""Keys of a request for translation; LibreTranslate's own page sends the last one, which means nothing here."""

FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")

MOST_ALTERNATIVES, MOST_FIELDS = 10, 100

NOT_UTF_8 = "the form is not UTF-8; send its text in UTF-8"


class SentFile(NamedTuple):
    """A file of a form."""

    name: str
    data: bytes


@dataclass(frozen=True)
class LibreQuery:
    """A request for the translation of texts, which may consist of several sentences."""

    texts: list[str]
    many: bool
    """The request contains a list, and so does the answer."""
    html: bool
    alternatives: int
    auto: bool
    """The answer names the language of the texts."""
    details: bool
    """The answer describes each sentence and its words."""
    instructions: Instructions


async def read_content(request: Request) -> dict[str, Any]:
    """The keys and values of a request in JSON, or in a form.

    Raises:
        RefusalError: the content has another type, or is malformed.
    """
    kind = content_type(request.headers)
    body = await request.body()
    if kind not in FORMS:
        return json_object(body)
    pairs = _encoded_pairs(body) if kind == FORMS[0] else await _parts(request, body)
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key not in found or isinstance(value, SentFile):
            found[key] = value
        else:
            before = found[key]
            found[key] = [*before, value] if isinstance(before, list) else [before, value]
    number, flag = found.get("alternatives"), found.get("details")
    if isinstance(number, str) and re.fullmatch(r"\d{1,9}", number.strip(), re.ASCII):
        found["alternatives"] = int(number)
    if isinstance(flag, str) and flag.lower() in ("true", "false"):
        found["details"] = flag.lower() == "true"
    return found


def _encoded_pairs(body: bytes) -> list[tuple[str, Any]]:
    """The keys and values of a form without files, in UTF-8, with or without percent-encoding.

    Raises:
        RefusalError: the form is not UTF-8, or has too many fields.
    """
    try:
        text = body.decode()
        return [*parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)]
    except UnicodeDecodeError:
        raise RefusalError(400, NOT_UTF_8) from None
    except ValueError:
        raise RefusalError(400, f"the form is malformed: more than {MOST_FIELDS} fields") from None


async def _parts(request: Request, body: bytes) -> list[tuple[str, Any]]:
    """The keys, values and files of a form in parts.

    Raises:
        RefusalError: the form is malformed, or a value is not UTF-8.
    """
    try:
        form = await request.form(max_files=1, max_fields=MOST_FIELDS, max_part_size=len(body))
    except HTTPException as error:
        raise RefusalError(400, f"the form is malformed: {cut(error.detail)}") from None
    found: list[tuple[str, Any]] = []
    for key, value in form.multi_items():
        if isinstance(value, UploadFile):
            found.append((key, SentFile(value.filename or "", await value.read())))
            continue
        if value.encode() not in body:  # the library reads as Latin-1 what is not UTF-8
            raise RefusalError(400, NOT_UTF_8)
        found.append((key, value))
    await form.close()
    return found


def check_key(found: Mapping[str, Any] | None, headers: Mapping[str, str], keys: Sequence[str]) -> None:
    """Refuses a request without one of the keys, if the service demands one.

    Args:
        found: keys and values of the request; None: its content is not read.

    Raises:
        RefusalError: the key is missing or wrong.
    """
    if not keys:
        return
    header = re.sub(r"(?i)^bearer +", "", headers.get("authorization", ""))
    given = (found or {}).get("api_key", "") or header
    if not given:
        way = "the header Authorization: Bearer KEY" if found is None else "api_key"
        raise RefusalError(403, f"this service needs an API key; send it as {way}")
    known = [hmac.compare_digest(str(given).encode("utf-8", "replace"), key.encode()) for key in keys]
    if not any(known):
        raise RefusalError(403, "the API key is not valid")


def read_libre(
    found: Mapping[str, Any], settings: ServeSettings, pair: LanguagePair, forms: Forms | None
) -> LibreQuery:
    """The query of a request with the key ``q``.

    Args:
        forms: Unicode forms of both sides of the system's preparation; None: the system has none.

    Raises:
        RefusalError: the request is malformed, names another language, or exceeds a limit.
    """
    for key in found:
        if key not in KEYS:
            raise RefusalError(400, f"no key {quote(key)}{did_you_mean(key, KEYS)}; keys are {', '.join(KEYS)}")
    q = found["q"]
    texts = q if isinstance(q, list) else [q]
    if not texts:
        raise RefusalError(400, "q is an empty list; give at least one text")
    if len(texts) > (most := settings.max_sentences):
        raise RefusalError(413, f"{len(texts)} texts; at most {most} are allowed in a request")
    for number, text in enumerate(texts):
        refuse_no_text(f"q[{number}]" if isinstance(q, list) else "q", text)
    form = found.get("format", "text")
    if form not in ("text", "html"):
        raise RefusalError(400, f"format must be text or html, not {quote(form)}")
    source = check_languages(found, pair)
    alternatives = found.get("alternatives", 0)
    if type(alternatives) is not int or not 0 <= alternatives <= MOST_ALTERNATIVES:
        raise RefusalError(400, f"alternatives must be a whole number from 0 to {MOST_ALTERNATIVES}")
    details, instructions = switch(found, "details", False), read_instructions(found, forms)
    return LibreQuery(texts, isinstance(q, list), form == "html", alternatives, source == "auto", details, instructions)


def check_languages(found: Mapping[str, Any], pair: LanguagePair) -> str:
    """The source language of a request, which may be ``auto``.

    Raises:
        RefusalError: the request names other languages than those of the system.
    """
    source, target = found.get("source", "auto"), found.get("target", pair.target)
    for key, code, own in (("source", source, pair.source), ("target", target, pair.target)):
        if not isinstance(code, str):
            raise RefusalError(400, f"{key} must be the code of a language")
        if own and not same_language(code, own) and (key, code) != ("source", "auto"):
            here = f"this system translates {base_language(pair.source)} to {base_language(pair.target)}"
            raise RefusalError(400, f"{key}: {quote(code)} is not supported; {here}")
    return str(source)


def file_of(found: Mapping[str, Any]) -> SentFile:
    """The file of a form.

    Raises:
        RefusalError: the form contains none.
    """
    file = found.get("file")
    if not isinstance(file, SentFile):
        raise RefusalError(400, 'no file; send a form (multipart/form-data) with the file as "file"')
    return file
