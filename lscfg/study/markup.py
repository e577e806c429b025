"""Elements of HTML and SVG from Python, for pictures and for pages so short that a template would be longer."""

from __future__ import annotations


class Markup(str):
    """Finished markup; ``element`` and Jinja templates insert it unescaped, all other text is escaped."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def element(name: str, /, *content: str, **attributes: object) -> Markup:
    """An element with attributes and content; without content it is closed at once, as in ``<rect/>``.

    Args:
        content: text, which is escaped, and ``Markup``.
        attributes: an underscore means a hyphen, except at the end (``class_``); attributes that are None are left out;
            numbers have one decimal place.
    """
    marks = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if not content:
        return Markup(f"<{name}{marks}/>")
    return Markup(f"<{name}{marks}>{joined(*content)}</{name}>")


def joined(*parts: str) -> Markup:
    """Parts one after the other; text is escaped."""
    return Markup("".join(part if isinstance(part, Markup) else _escaped(part) for part in parts))


def _value(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else _escaped(str(value))


def _escaped(text: str) -> str:
    """Text that is safe in elements and in the double quotes of attributes."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
