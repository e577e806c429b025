"""The frame of short pages that need no other file."""

from __future__ import annotations

from lscfg.study.markup import Markup, element

POLICY = "default-src 'none'; style-src 'unsafe-inline'"

STYLE = (
    ":root { color-scheme: light dark; background: #fff; } body { margin: 0 auto; max-width: 70rem; padding: 1rem; "
    "font-family: system-ui, sans-serif; } h1 { font-size: 1.4rem; line-height: 1.25; overflow-wrap: anywhere; } "
    "@media (prefers-color-scheme: dark) { :root { background: #14181d; color: #e4e8ed; } }"
)


def page(title: str, *main: Markup, style: str = "", policy: str = POLICY) -> str:
    """A page with a heading.

    Args:
        main: content after the heading.
        style: further rules of the style sheet.
        policy: content security policy.
    """
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("title", f"{title} – lscfg"),
        element("style", Markup(STYLE + style)),
    ]
    body = element("body", element("main", element("h1", title), *main))
    return f"<!DOCTYPE html>\n{element('html', element('head', *head), body, lang='en')}\n"
