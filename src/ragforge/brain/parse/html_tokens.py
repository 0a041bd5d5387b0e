"""HTML tokens: the tags and texts of a page, in one pass.

The standard library's parser takes quadratic time on pages that are made for it. Here every
character is examined a fixed number of times: what is never closed ends the page, as in the HTML
standard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from html import unescape

from ragforge.records import dataclass

_TAG_NAME = re.compile(r"/?[A-Za-z][^\s/>]*")
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s>]+))?""")
# A quote counts only after a `=`, and only if it is closed: not in <p title=it's>.
_END_OF_TAG = re.compile(r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+>""")
RAW = frozenset(("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"))
"""Elements whose content is text up to their own end, whatever it looks like."""
MAX_ATTRIBUTE_CHARS = 5_000


@dataclass(frozen=True, slots=True)
class Tag:
    """The start or the end of an element."""

    name: str
    is_end: bool = False
    attributes: Mapping[str, str] = field(default_factory=dict)


def read_tokens(html: str) -> Iterator[Tag | str]:
    """Yield the tags of a page and the texts between them, references replaced."""
    at = 0
    while (start := html.find("<", at)) >= 0:
        named = _TAG_NAME.match(html, start + 1)
        if named is None and html[start + 1 : start + 2] not in ("!", "?", "/"):
            at_text = html.find("<", start + 1)  # only a sign, as in `a < b`
            end = len(html) if at_text < 0 else at_text
            yield unescape(html[at:end])
            at = end
            continue
        if start > at:
            yield unescape(html[at:start])
        if named is None:
            at = _skip_declaration(html, start)
            continue
        closed = _END_OF_TAG.match(html, named.end())
        if closed is None:
            return
        at = closed.end()
        tag = _read_tag(named[0], html[named.end() : at - 1])
        yield tag
        if tag.name in RAW and not tag.is_end:
            end = _find_end(html, tag.name, at)
            yield unescape(html[at:end])
            at = end
    if at < len(html):
        yield unescape(html[at:])


def _skip_declaration(html: str, start: int) -> int:
    """Return where a comment or declaration ends."""
    is_comment = html.startswith("<!--", start)
    end = html.find("-->", start + 2) if is_comment else html.find(">", start)
    return len(html) if end < 0 else end + (3 if is_comment else 1)


def _read_tag(name: str, inside: str) -> Tag:
    if name.startswith("/"):
        return Tag(name[1:].lower(), is_end=True)
    attributes: dict[str, str] = {}
    for found in _ATTRIBUTE.finditer(inside[:MAX_ATTRIBUTE_CHARS]):
        value = found[2] or ""
        if value[:1] in ("'", '"'):
            value = value[1:-1]
        attributes.setdefault(found[1].lower(), unescape(value))
    return Tag(name.lower(), attributes=attributes)


def _find_end(html: str, name: str, start: int) -> int:
    """Return where the end of a raw element begins, or the end of the page."""
    found = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(html, start)
    return len(html) if found is None else found.start()
