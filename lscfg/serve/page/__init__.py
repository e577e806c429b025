"""The page of the service: a form to type into, without a build step and without other hosts."""

from __future__ import annotations

from importlib.resources import files

from starlette.responses import Response

FILES = {
    "/": ("index.html", "text/html"),
    "/style.css": ("style.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/base.js": ("base.js", "text/javascript"),
    "/corrections.js": ("corrections.js", "text/javascript"),
    "/glossary.js": ("glossary.js", "text/javascript"),
    "/why.js": ("why.js", "text/javascript"),
    "/words.js": ("words.js", "text/javascript"),
}
"""File and media type of each path."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts allow-popups; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Of a report, whose script and style are inside the page. The sandbox keeps the report from the data of the page."""

HEADERS = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}


def page_response(path: str) -> Response:
    """The answer to a request for a file of the page."""
    name, media_type = FILES[path]
    content = (files(__package__) / name).read_bytes()
    return Response(content, headers={**HEADERS, "content-security-policy": POLICY}, media_type=media_type)


def report_response(content: bytes) -> Response:
    """The answer with the report of an experiment."""
    headers = {**HEADERS, "content-security-policy": REPORT_POLICY}
    return Response(content, headers=headers, media_type="text/html")
