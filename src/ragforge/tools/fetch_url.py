"""fetch_url: read a web page, with the user's permission, and keep it for later."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import field
from functools import partial
from http import HTTPStatus
from ipaddress import ip_address
from typing import TypeAlias
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from pydantic import Field

from ragforge.brain.parse.html_text import convert_html
from ragforge.domain.instants import format_instant, now
from ragforge.domain.text import MAX_ID_CHARS, Json, shorten_end
from ragforge.errors import FetchFailed, InputError, StoreError
from ragforge.llm.calls import Tool
from ragforge.ports.web import PageLanguage, WebPage, WebReader, WebResponse
from ragforge.records import dataclass
from ragforge.tools.permission import PermissionRequest, Permit
from ragforge.tools.tool import Arguments, as_tool

MAX_REDIRECTS = 5
MAX_CHARS = 50_000
"""Of a page, in one result; the rest is read from where it ended."""
RECENT = 8
"""How many pages are kept in memory to read on in them."""

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

MAX_URL_CHARS = 2_000
_UNWANTED = re.compile(r"[\s\\\x00-\x1f\x7f-\x9f]")
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?")
_PORTS = {"http": 80, "https": 443}
_KEPT = "/%:@!$&'()*+,;=~-._?[]"


class FetchArguments(Arguments):
    """What fetch_url is called with."""

    url: str = Field(min_length=1, description="The address, beginning with https:// or http://")
    start: int = Field(
        0, ge=0, description="The character to begin at: the end of the last result, to read on"
    )


@dataclass(frozen=True, slots=True)
class PageExcerpt:
    """A part of a page, as a model gets it."""

    page: WebPage
    start: int
    is_kept: bool

    def to_json(self) -> Json:
        page = self.page
        end = min(len(page.text), self.start + MAX_CHARS)
        return {
            "url": page.url,
            "title": page.title,
            "fetched_at": format_instant(page.fetched_at),
            "start": self.start,
            "end": end,
            "total_chars": len(page.text),
            "truncated": end < len(page.text) or page.is_cut,
            "note": _explain_end(page, end),
            "is_kept": self.is_kept,
            # Under a separate key: what a page says cannot look like a part of ours.
            "content": page.text[self.start : end],
        }


KeepPage: TypeAlias = Callable[[WebPage], Awaitable[bool]]
"""Stores a page, and tells whether it did."""


@dataclass(frozen=True, slots=True)
class PageFetcher:
    """Reads pages of the web for one project."""

    reader: WebReader
    keep: KeepPage
    recent: dict[str, PageExcerpt] = field(default_factory=dict)  # by the address that was named

    async def fetch(self, given: FetchArguments, permit: Permit) -> PageExcerpt:
        """Return a page from a character on; what was fetched before is not fetched to read on.

        Raises FetchFailed, Declined.
        """
        address = parse_address(given.url)
        read = self.recent.get(address.url) if given.start else None
        if read is None:
            page = await fetch_page(self.reader, address, permit)
            read = PageExcerpt(page, 0, await self._keep(page))
            self._remember(address.url, read)
        return PageExcerpt(read.page, min(given.start, len(read.page.text)), read.is_kept)

    def _remember(self, url: str, read: PageExcerpt) -> None:
        self.recent.pop(url, None)
        self.recent[url] = read
        while len(self.recent) > RECENT:
            del self.recent[next(iter(self.recent))]

    async def _keep(self, page: WebPage) -> bool:
        """Store a page; tell whether it was. The model gets it even if it cannot be stored.

        An address with a secret in it is not stored, nor is one that is too long for a name.
        """
        from ragforge.memory.secrets.redact import redact  # its patterns take a while to compile

        if len(page.url) > MAX_ID_CHARS or redact(page.url) != page.url:
            return False
        try:
            return await self.keep(page)
        except (StoreError, InputError):
            return False


def make_fetch_tool(fetcher: PageFetcher, permit: Permit) -> Tool:
    """Return fetch_url for a model; each host needs the user's permission."""
    return as_tool("fetch_url", FetchArguments, partial(fetcher.fetch, permit=permit))


async def fetch_page(reader: WebReader, address: WebAddress, permit: Permit) -> WebPage:
    """Return the page at an address, a few redirects away at most.

    The user is asked before anything leaves the machine, and again for each further host:
    permission for one host does not cover its redirects. Raises FetchFailed, Declined.
    """

    named, permitted = address, set[str]()
    for _ in range(MAX_REDIRECTS + 1):
        if address.host not in permitted:
            await permit(_make_request(address, named))
            permitted.add(address.host)
        response = await reader.get(address.url)
        if response.location is None:
            break
        address = parse_address(response.location, address.url)
    else:
        raise FetchFailed(f"{named.host} redirects more than {MAX_REDIRECTS} times.")
    if response.status != HTTPStatus.OK:
        raise FetchFailed(f"{address.host} answers {_name_status(response.status)}.")
    return await asyncio.to_thread(read_page, address.url, response)


def _make_request(address: WebAddress, named: WebAddress) -> PermissionRequest:
    came = "" if address is named else f"\nwhere {named.url} leads"
    return PermissionRequest(
        "fetch_url", address.host, f"GET {address.url}{came}", always=(address.host,)
    )


def _explain_end(page: WebPage, end: int) -> str:
    if end < len(page.text):
        return f"More text follows: call again with start {end}."
    return "The page is longer than what was downloaded." if page.is_cut else ""


def _name_status(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def read_page(url: str, response: WebResponse) -> WebPage:
    """Return a page as text. Raises FetchFailed if it is not text."""
    kind = response.content_type.partition(";")[0].strip().lower()
    language = _choose_language(kind, url)
    if b"\0" in response.body and not response.body.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FetchFailed("The page is binary, whatever its content type says.")
    text = drop_unseen(_decode(response, kind).replace("\r\n", "\n").replace("\r", "\n"))
    title = ""
    if kind in _HTML:
        found = convert_html(text, url)
        title, text = found.title, found.text
        if title and not text.startswith("# "):
            text = f"# {title}\n\n{text}"
    shown = shorten_end(title, TITLE_CHARS)
    return WebPage(url, shown, text.strip(), language, now(), response.is_cut)


def drop_unseen(text: str) -> str:
    """Return a text without characters that a reader does not see."""
    return _UNSEEN.sub("", text)


def _choose_language(kind: str, url: str) -> PageLanguage:
    if kind in _HTML or kind in _MARKDOWN:
        return "markdown"
    if kind == "application/json" or kind.endswith("+json"):
        return "json"
    if kind.startswith("text/"):
        path = url.partition("?")[0].lower()
        return "markdown" if path.endswith((".md", ".markdown")) else "text"
    said = f"The content type is {kind}." if kind else "The page has no content type."
    raise FetchFailed(f"Only text, HTML, Markdown and JSON can be read. {said}")


def _decode(response: WebResponse, kind: str) -> str:
    """Return the text of a body: by its header, by its first bytes, else as UTF-8."""
    body = response.body
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace")
    said = _CHARSET.search(response.content_type)
    if said is None and kind in _HTML:
        said = _CHARSET.search(body[:_HEAD_BYTES].decode("ascii", "replace"))
    # Python also has codecs that are not for the web, and slow.
    charset = said[1] if said and _KNOWN_CHARSETS.fullmatch(said[1]) else "utf-8"
    try:
        return body.decode(charset, "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class WebAddress:
    """The address of a page, and whom it is asked of."""

    url: str
    host: str  # with the port, if that is not the usual one


def parse_address(text: str, base: str = "") -> WebAddress:
    """Return an address, which may be relative to another one. Raises FetchFailed.

    Names in other scripts are written as the network knows them, so that what the user is shown
    is what is asked.
    """
    text = text.strip()
    if len(text) > MAX_URL_CHARS or _UNWANTED.search(text):
        raise FetchFailed(
            f"The address is longer than {MAX_URL_CHARS:,} characters, or has blanks in it."
        )
    try:
        parts = urlsplit(urljoin(base, text))
        port = parts.port
    except ValueError as error:
        raise FetchFailed(f"The address is invalid: {error}.") from error
    if parts.scheme not in _PORTS:
        raise FetchFailed("Only addresses that begin with https:// or http:// can be read.")
    if parts.username is not None or parts.password is not None:
        raise FetchFailed("The address contains a user name or password; they are never sent.")
    name = _write_name(parts.hostname or "")
    place = name if port in (None, _PORTS[parts.scheme]) else f"{name}:{port}"
    path = quote(parts.path, safe=_KEPT) or "/"
    query = quote(parts.query, safe=_KEPT)
    return WebAddress(urlunsplit((parts.scheme, place, path, query, "")), place)


def _write_name(name: str) -> str:
    """Return a host's name in ASCII, or an address in brackets. Raises FetchFailed."""
    try:
        if ":" in name:
            return f"[{ip_address(name).compressed}]"
        written = name.rstrip(".").encode("idna").decode("ascii").lower()
    except ValueError as error:
        raise FetchFailed(f"{name!r} is not a valid host name.") from error
    if not _HOST.fullmatch(written):
        raise FetchFailed(f"{name!r} is not a valid host name.")
    return written
