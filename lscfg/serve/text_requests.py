"""Requests with texts of many sentences: LibreTranslate's translations, files, and the language of a text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import quote as percent_quoted

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from lscfg.decode.terms import Term
from lscfg.errors import counted, quote
from lscfg.formats.marked import blank_tags
from lscfg.markup.formats import Format
from lscfg.prepare.languages import base_language
from lscfg.prepare.sentences import Undivided
from lscfg.serve.dispatch import Dispatcher, Progress, RequestSentence
from lscfg.serve.documents import FileStore, StoredFile, known_format
from lscfg.serve.filled import (
    AlignedSentence,
    DocumentWork,
    ReadDocument,
    TextsWork,
    fill_document,
    fill_documents,
    read_document,
    split_texts,
    warning_lines,
)
from lscfg.serve.instructions import Forms, Instructions, read_instructions
from lscfg.serve.libre import LibreQuery, check_key, check_languages, file_of, read_content, read_libre
from lscfg.serve.query import read_xml_input, refuse_long_sentence, refuse_no_text
from lscfg.serve.refusal import JsonLine, RefusalError, json_line
from lscfg.serve.settings import ServeSettings
from lscfg.serve.texts import LanguagePair, SplitText, by_text, is_private
from lscfg.serve.translator import Answered, TranslationOptions, open_translator

TAGGED = ".txt"
"""Ending of files whose lines may contain Moses' tags."""

WITH_MARK = "utf-8-sig"
"""Encoding of texts of requests as documents: a byte order mark outranks the encoding that the HTML declares."""

Answers = list[Answered]


class NamedText(NamedTuple):
    """A text and its name for messages."""

    name: str
    text: SplitText
    tagged: bool
    """Tags must follow words of the text."""


class TextRequests:
    """Answers requests with texts.

    Args:
        forms: Unicode forms of both sides of the preparation, with which lines may consist of several sentences;
            None: the system has none.
        keys: keys of which each request must contain one; empty: none is needed.
        glossary: of the service.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        settings: ServeSettings,
        pair: LanguagePair,
        forms: Forms | None,
        keys: Sequence[str],
        glossary: Iterable[Term] = (),
    ):
        self._dispatcher, self._settings, self._pair, self._forms = dispatcher, settings, pair, forms
        self._own_terms = Undivided(term.source for term in glossary)
        self._raw, self._keys, self._files = forms is not None, keys, FileStore()
        self._source = open_translator(*dispatcher.described).source  # which is open already

    def _options(
        self, alternatives: int = 0, details: bool = False, xml_input: str | None = None
    ) -> TranslationOptions:
        kbest = alternatives + 1 if alternatives else None
        found = TranslationOptions(kbest, raw=self._raw, max_words=self._settings.max_words, xml_input=xml_input)
        return replace(found, distinct=kbest is not None, details=details)

    # ---- texts ----

    async def translate(self, request: Request, found: Mapping[str, Any]) -> Response:
        """The answer to LibreTranslate's request.

        Raises:
            RefusalError: as ``read_libre`` and ``Dispatcher.translate``; a text in HTML cannot be read, or the
                sentences or their translations exceed a limit.
        """
        query = read_libre(found, self._settings, self._pair, self._forms)
        whole = self._whole_parts(query.instructions)
        html = [text.encode(WITH_MARK) for text in query.texts if query.html]
        documents = [await self._read(request, data, ".html", whole) for data in html]
        texts = [text for document in documents for text in document.texts]
        names = [f"q[{k}]" if query.many else "q" for k in range(len(query.texts))]
        if not query.html:
            work = TextsWork(query.texts, self._pair, self._raw, self._settings.max_words, whole, self._source)
            if self._source is not None and self._source.has_pieces:  # to measure them takes long
                texts = await self._dispatcher.compute(request.receive, "q", split_texts, work)
            else:
                texts = split_texts(work)
        owners = [k for k, document in enumerate(documents) for _ in document.texts] or [*range(len(texts))]
        options = self._options(query.alternatives, query.details)
        tagged = [tagged for document in documents for tagged in document.tagged] or [False] * len(texts)
        named = [NamedText(names[k], text, tags) for k, text, tags in zip(owners, texts, tagged, strict=True)]
        sentences = self._sentences(named, options, query.instructions)
        if len(sentences) > (most := self._settings.max_sentences):
            raise RefusalError(413, f"{len(sentences)} sentences; at most {most} are allowed in a request")
        listed = len(sentences) * (1 + query.alternatives)
        if query.alternatives and listed > (most := self._settings.max_translations):
            raise RefusalError(413, f"{listed} translations; at most {most} are listed; ask for fewer alternatives")
        answers = by_text(texts, await self._dispatcher.translate(request.receive, sentences))
        request.scope["lscfg.notes"]["done"] = counted(len(sentences), "sentence")
        results = []
        for number in range(len(query.texts)):
            own = [k for k, owner in enumerate(owners) if owner == number]
            parts = [(texts[k], answers[k]) for k in own]
            if query.html:
                filling = [
                    (documents[number], [_aligned(answers[k], n) for k in own]) for n in range(1 + query.alternatives)
                ]
                filled = await self._dispatcher.compute(request.receive, names[number], fill_documents, filling)
                first, *rest = (one.decode(WITH_MARK) for one in filled)
                results.append(_result(parts, query, [first, *(one for one in rest if one != first)]))
            else:
                results.append(_result(parts, query, _joined(*parts[0], query.alternatives)))
        keys = results[0].keys()
        merged = {key: [result[key] for result in results] if query.many else results[0][key] for key in keys}
        if query.auto and self._pair.source:
            language = base_language(self._pair.source)
            shares = [{"language": language, "confidence": result.pop("known")} for result in results]
            merged["detectedLanguage"] = shares if query.many else shares[0]
        merged.pop("known", None)
        return JsonLine(merged)

    def _whole_parts(self, instructions: Instructions) -> Undivided:
        return Undivided((term.source for term in instructions.terms), self._own_terms)

    def _sentences(
        self, texts: Sequence[NamedText], options: TranslationOptions, instructions: Instructions
    ) -> list[RequestSentence]:
        """The sentences of texts, with details where tags must follow words.

        Raises:
            RefusalError: a sentence is above a limit, or a choice is for none of the sentences.
        """
        found: list[RequestSentence] = []
        for name, text, tagged in texts:
            own, listed = replace(options, details=options.details or tagged), text.sentences
            for number, sentence in enumerate(listed, 1):
                where = f"{name}, sentence {number}" if len(listed) > 1 else name
                plain = sentence if options.xml_input is None else blank_tags(sentence)
                refuse_long_sentence(where, plain, self._settings)
                found.append(RequestSentence(where, sentence, instructions.options(own, len(found))))
        instructions.refuse_missing(len(found))
        return found

    # ---- the language ----

    async def detect(self, request: Request) -> Response:
        """The language of a text, as LibreTranslate gives it: one of the system's, or none.

        Raises:
            RefusalError: as ``read_content``, ``check_key`` and ``Dispatcher.detected``; ``q`` is not a text, or the
                system names no languages.
        """
        sent = await read_content(request)
        check_key(sent, request.headers, self._keys)
        text = sent.get("q")
        refuse_no_text("q", text)
        assert isinstance(text, str)
        if not (self._pair.source and self._pair.target):
            raise RefusalError(400, "the system names no languages; start lscfg serve with --languages")
        whole = " ".join(text.split())[: self._settings.max_characters]
        if not whole:
            return JsonLine([])
        found = await self._dispatcher.detected(request.receive, whole, self._options())
        return JsonLine(
            [
                {"language": base_language(self._pair[side]), "confidence": round(100 * share, 1)}
                for side, share in found
            ]
        )

    # ---- files ----

    async def translate_file(self, request: Request) -> Response:
        """The address of the translated file, or the file; lines of progress may precede either.

        Raises:
            RefusalError: the request is malformed, its key is wrong, the format or a language is not supported,
                ``xml_input`` does not apply to the format, or the sentences exceed a limit or cannot be translated.
        """
        found = await read_content(request)
        check_key(found, request.headers, self._keys)
        check_languages(found, self._pair)
        file = file_of(found)
        name = file.name
        ending, form = known_format(name)
        mode = read_xml_input(found)
        if mode is not None and ending != TAGGED:
            raise RefusalError(400, f"xml_input applies to files {TAGGED}, not {ending}; remove the key")
        instructions = read_instructions(found, self._forms)
        read = await self._read(request, file.data, ending, self._whole_parts(instructions), mode is None)
        self._check_languages_of(read)
        texts = zip(read.names, read.texts, read.tagged, strict=True)
        named = [NamedText(f"{name} of the file", text, tagged) for name, text, tagged in texts]
        options = self._options(xml_input=mode)
        sentences = self._sentences(named, options, instructions)
        request.scope["lscfg.notes"]["done"] = counted(len(sentences), "sentence")
        if request.query_params.get("progress") == "1":
            lines = self._progress(request, read, sentences, name, form)
            return StreamingResponse(lines, media_type="application/x-ndjson")
        made = await self._translated(request, read, sentences, name, form)
        if _downloads(request):
            return _download(made)
        return JsonLine(self._address(request, made) | _facts(read, made))

    def _check_languages_of(self, read: ReadDocument) -> None:
        if code := read.other_language(self._pair):
            here = f"this system translates {base_language(self._pair.source)} to {base_language(self._pair.target)}"
            raise RefusalError(400, f"the file names the language {quote(code)}; {here}")

    async def _translated(
        self,
        request: Request,
        read: ReadDocument,
        sentences: Sequence[RequestSentence],
        name: str,
        form: Format,
        progress: Progress | None = None,
    ) -> StoredFile:
        translated = await self._dispatcher.translate(request.receive, sentences, progress)
        answers = by_text(read.texts, translated)
        best = [_aligned(one) for one in answers]
        data = await self._dispatcher.compute(request.receive, name, fill_document, (read, best))
        stem, dot, ending = name.replace("\\", "/").rpartition("/")[2].rpartition(".")
        named = self._pair.target and not is_private(self._pair.target)
        code = base_language(self._pair.target) if named else "translated"
        return StoredFile(f"{stem}.{code}{dot}{ending}", form.media_type, data, _warnings(read, translated))

    async def _progress(
        self, request: Request, read: ReadDocument, sentences: Sequence[RequestSentence], name: str, form: Format
    ) -> AsyncIterator[bytes]:
        """Lines of JSON: numbers of translated sentences, then the address or the error.

        With ``download=1``, the file follows the last line, which has no address.
        """
        queue = asyncio.Queue[int | None]()
        work = asyncio.ensure_future(self._translated(request, read, sentences, name, form, queue.put_nowait))
        work.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            yield json_line({"done": 0, "of": len(sentences)})
            while (done := await queue.get()) is not None:
                yield json_line({"done": done, "of": len(sentences)})
            try:
                made = await work
            except RefusalError as refusal:
                request.scope["lscfg.notes"]["error"] = str(refusal)
                yield json_line({"error": str(refusal), "status": refusal.status})
                return
            if _downloads(request):  # the process that has the file may end before another request
                yield json_line(_facts(read, made)) + made.data
            else:
                yield json_line(self._address(request, made) | _facts(read, made))
        finally:
            work.cancel()

    def _address(self, request: Request, made: StoredFile) -> dict[str, Any]:
        return {"translatedFileUrl": str(request.url_for("download", name=self._files.add(made)))}

    async def download(self, request: Request) -> Response:
        """A translated file.

        Raises:
            RefusalError: the file does not exist, or is no longer kept.
        """
        file = self._files.get(request.path_params["name"])
        if file is None:
            raise RefusalError(404, "no such file; translated files are kept for 10 minutes")
        return _download(file)

    async def _read(
        self, request: Request, data: bytes, ending: str, whole: Undivided, split: bool = True
    ) -> ReadDocument:
        most = self._settings.max_words
        work = DocumentWork(data, ending, self._pair, self._raw and split, most, whole, self._source)
        found: ReadDocument = await self._dispatcher.compute(request.receive, "the file", read_document, work)
        return found


def _result(parts: Sequence[tuple[SplitText, Answers]], query: LibreQuery, translations: list[str]) -> dict[str, Any]:
    """The answer for one text."""
    answers = [one for _, own in parts for one in own]
    unknown = [word for one in answers for word in one.answer["unknown"]]
    words, missing = sum(one.words for one in answers), sum(one.unknown for one in answers)
    found: dict[str, Any] = {"translatedText": translations[0]}
    if query.alternatives:
        found["alternatives"] = [*dict.fromkeys(translations[1:])]
    found["unknown"] = [*dict.fromkeys(unknown)]
    warnings = [*(text.warnings for text, _ in parts), *(one.answer["warnings"] for one in answers)]
    found["warnings"] = [*dict.fromkeys(warning for own in warnings for warning in own)]
    if query.details:
        found["sentences"] = [row for text, own in parts for row in _rows(text, own)]
    return found | {"known": round(100 * (1 - missing / words), 1) if words else 0.0}


def _warnings(read: ReadDocument, answers: Answers) -> tuple[str, ...]:
    """The most frequent warnings of the sentences of a file with their places, and the number of the others."""
    placed = zip(read.places, answers, strict=True)
    found = [(place, warning) for place, one in placed for warning in one.answer["warnings"]]
    return (*warning_lines(read.warnings), *warning_lines(found))


def _best(answers: Answers) -> list[str]:
    return [one.answer["translation"] for one in answers]


def _aligned(answers: Answers, number: int = 0) -> list[AlignedSentence]:
    """The best translations, or further ones where there are some, whose tags keep their relative places."""

    def one_of(answer: dict[str, Any]) -> AlignedSentence:
        listed = answer.get("kbest", ())
        if 0 < number < len(listed):
            return AlignedSentence(listed[number]["translation"])
        return AlignedSentence.of(answer)

    return [one_of(one.answer) for one in answers]


def _rows(text: SplitText, answers: Answers) -> list[dict[str, Any]]:
    """The stretches of a text with their answers."""
    rest, rows = iter(answers), []
    for stretch, piece in zip(text.stretches, text.pieces(_best(answers)), strict=True):
        row = {"source": stretch.sentence, "gap": stretch.after, "after": piece.after}
        rows.append(row | (next(rest).answer if stretch.sentence else {"translation": ""}))
    return rows


def _joined(text: SplitText, answers: Answers, alternatives: int) -> list[str]:
    """The translation of a text, then others: each sentence by its next best translation, or by its best."""

    def of(answer: dict[str, Any], k: int) -> str:
        listed = answer.get("kbest", [])
        return str(listed[k]["translation"] if k < len(listed) else answer["translation"])

    best = text.joined(_best(answers))
    others = (text.joined(of(one.answer, k) for one in answers) for k in range(1, alternatives + 1))
    return [best, *(other for other in others if other != best)]


def _downloads(request: Request) -> bool:
    """True if the answer is the file itself."""
    return request.query_params.get("download") == "1"


def _facts(read: ReadDocument, made: StoredFile) -> dict[str, Any]:
    """Name and warnings of a translated file."""
    tags = read.document.inner_tags
    checks = [f"{tags} tags inside sentences were placed by word alignment; check the tags"] if tags else []
    return {"name": made.name, "warnings": [*checks, *made.warnings]}


def _download(file: StoredFile) -> Response:
    headers = {
        "content-disposition": f"attachment; filename*=UTF-8''{percent_quoted(file.name)}",
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox",
    }
    return Response(file.data, headers=headers, media_type=file.media_type)
