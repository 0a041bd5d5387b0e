"""Page text: what an address sent, as text that can be read and stored."""

from __future__ import annotations

import re

from ragforge.brain.parse.html_text import convert_html
from ragforge.domain.instants import now
from ragforge.domain.text import shorten_end
from ragforge.domain.web import PageLanguage, WebPage
from ragforge.errors import FetchFailed
from ragforge.ports.web import WebResponse

TITLE_CHARS = 200
_HTML = ("text/html", "application/xhtml+xml")
_MARKDOWN = ("text/markdown", "text/x-markdown")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_KNOWN_CHARSETS = re.compile(
    r"utf-?(?:8|16(?:le|be)?)|(?:us-)?ascii|iso-?8859-\d+|latin-?\d+|(?:windows-|cp)\d+|koi8-[ru]"
    r"|gbk|gb2312|gb18030|big5|shift[-_]jis|euc-(?:jp|kr)",
    re.IGNORECASE,
)
# Controls, marks of direction, characters without width, and tags: a reader sees none of them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e007f]"
)
_HEAD_BYTES = 2_048


def read_page(url: str, response: WebResponse) -> WebPage:
    """Return a page as text. Raises FetchFailed if it is not text."""
    kind = response.content_type.partition(";")[0].strip().lower()
    language = _choose_language(kind, url)
    if b"\0" in response.body and not response.body.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FetchFailed("The page is not text, whatever it says of itself.")
    text = _UNSEEN.sub("", _decode(response, kind).replace("\r\n", "\n").replace("\r", "\n"))
    title = ""
    if kind in _HTML:
        found = convert_html(text, url)
        title, text = found.title, found.text
        if title and not text.startswith("# "):
            text = f"# {title}\n\n{text}"
    shown = shorten_end(title, TITLE_CHARS)
    return WebPage(url, shown, text.strip(), language, now(), response.is_cut)


def _choose_language(kind: str, url: str) -> PageLanguage:
    if kind in _HTML or kind in _MARKDOWN:
        return "markdown"
    if kind == "application/json" or kind.endswith("+json"):
        return "json"
    if kind.startswith("text/"):
        path = url.partition("?")[0].lower()
        return "markdown" if path.endswith((".md", ".markdown")) else "text"
    said = f"It is {kind}." if kind else "It does not say what it is."
    raise FetchFailed(f"Only text, HTML, Markdown and JSON can be read. {said}")


def _decode(response: WebResponse, kind: str) -> str:
    """Return the text of a body: by its header, by its first bytes, else as UTF-8."""
    body = response.body
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace")
    said = _CHARSET.search(response.content_type)
    if said is None and kind in _HTML:
        said = _CHARSET.search(body[:_HEAD_BYTES].decode("ascii", "replace"))
    # Python knows codecs that are none of the web's, and take long.
    charset = said[1] if said and _KNOWN_CHARSETS.fullmatch(said[1]) else "utf-8"
    try:
        return body.decode(charset, "replace")
    except LookupError:
        return body.decode("utf-8", "replace")
