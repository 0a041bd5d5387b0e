"""Web address: what a model names as a page, checked and written in one way."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from ragforge.errors import FetchFailed
from ragforge.records import dataclass

MAX_CHARS = 2_000
_UNWANTED = re.compile(r"[\s\\\x00-\x1f\x7f-\x9f]")
_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?")
_PORTS = {"http": 80, "https": 443}
_KEPT = "/%:@!$&'()*+,;=~-._?[]"


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
    if len(text) > MAX_CHARS or _UNWANTED.search(text):
        raise FetchFailed("This is no address of a page: it is too long, or has blanks in it.")
    try:
        parts = urlsplit(urljoin(base, text))
        port = parts.port
    except ValueError as error:
        raise FetchFailed(f"This is no address of a page: {error}.") from error
    if parts.scheme not in _PORTS:
        raise FetchFailed("Only addresses that begin with https:// or http:// can be read.")
    if parts.username is not None or parts.password is not None:
        raise FetchFailed("The address holds a name or a password: those are not sent.")
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
        raise FetchFailed(f"{name!r} is no name of a host.") from error
    if not _NAME.fullmatch(written):
        raise FetchFailed(f"{name!r} is no name of a host.")
    return written
