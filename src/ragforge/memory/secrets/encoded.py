"""Encoded secrets: find base64 and hexadecimal whose plain text holds a secret."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from ragforge.memory.secrets.text_view import RUN, Span, TextView

Redact: TypeAlias = Callable[[str], str]

_PROBE = 40
_HEADS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"
"""The first of each four characters in the base64 of ASCII; in hexadecimal, the first of two."""
_HEX_HEADS = "234567"
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]++={0,2}")
_HEX = re.compile(r"[0-9a-fA-F]++")
_BEFORE = re.compile(r"[A-Za-z0-9+/]{1,200}\Z")
_NEXT_LINE = re.compile(r"={0,2}\\?\r?\n[ \t]*+(?=[A-Za-z0-9+/_-])")
_URL_SAFE = str.maketrans("-_", "+/")
_BLANKS = str.maketrans("", "", "\n\r\t")
_MARKER = re.compile(r"\[redacted: ([^\]]*)\]")


def find_encoded(view: TextView, redact: Redact) -> Iterator[Span]:
    """Find runs that are the encoding of a text with a secret; each is marked entirely."""
    text, done = view.text, 0
    for start, end in view.near.runs:
        if start < done or _is_name(text, start, end):
            continue
        for line in _list_lines(text, start, end):
            if line < done or (found := _decode_at(text, line)) is None:
                continue
            first, done, plain = found
            if (redacted := redact(plain)) is not plain:
                marker = _MARKER.search(redacted)
                yield first, done, marker[1] if marker else "secret"


def _is_name(text: str, start: int, end: int) -> bool:
    """Tell whether a run is no encoding, as most are: a look at every fourth character shows it."""
    probe = text[start : min(end, start + _PROBE)]
    return bool(
        probe[::4].strip(_HEADS)
        and probe[::2].strip(_HEX_HEADS)
        and text[start - 1 : start] != "\\"
        and "\n" not in text[start:end]
    )


def _list_lines(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where the lines of a run begin that are long enough for an encoding."""
    while start < end:
        line = text.find("\n", start, end)
        line = line if line >= 0 else end
        if line - start >= RUN:
            if text[start] in "nrt" and text.startswith("\\", start - 1):
                yield start + 1  # after an escaped line end
            yield start
        start = line + 1


def _decode_at(text: str, start: int) -> tuple[int, int, str] | None:
    """Return where an encoding begins and ends, and its plain text; None if it is none."""
    if (found := _decode_base64(text, start)) is not None:
        return found
    run = _HEX.match(text, start)
    plain = _to_text(run[0], bytes.fromhex) if run and len(run[0]) >= RUN else None
    return None if run is None or plain is None else (start, run.end(), plain)


def _decode_base64(text: str, start: int) -> tuple[int, int, str] | None:
    """Return the plain text of base64 from a place on, over as many lines as it has.

    A `+` or `/` is always the last of four, so that what follows it can be read by itself.
    """
    if text[start : start + RUN : 4].strip(_HEADS) or _to_text(text[start : start + RUN]) is None:
        return None
    pieces: list[str] = []
    at = end = start
    while (run := _BASE64.match(text, at)) and (plain := _to_text(run[0])) is not None:
        pieces.append(plain)
        end = run.end()
        if (wrap := _NEXT_LINE.match(text, end)) is None:
            break
        at = wrap.end()
    if not pieces:
        return None
    before = _BEFORE.search(text, max(0, start - 200), start)
    if before and (plain := _to_text(before[0])) is not None:
        pieces.insert(0, plain)
        start = before.start()
    return start, end, "".join(pieces)


def _decode(run: str) -> bytes:
    run = run.rstrip("=").translate(_URL_SAFE)
    return base64.b64decode(run + "=" * (-len(run) % 4))


def _to_text(run: str, decode: Callable[[str], bytes] = _decode) -> str | None:
    try:
        plain = decode(run).decode()
    except (binascii.Error, ValueError):
        return None
    return plain if plain.translate(_BLANKS).isprintable() else None
