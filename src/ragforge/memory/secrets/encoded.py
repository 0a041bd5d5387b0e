"""Encoded secrets: find base64 and hexadecimal whose plain text holds a secret."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import TypeAlias

from ragforge.memory.secrets import patterns
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


_LONGEST_PEM = 64_000
_PEM_HEADER = re.compile(
    r"(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash): ?[^\n]*$|^\W*\d*\W*$"
)


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
    """Tell whether a run is a name, as most are: every fourth character is checked."""
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


def find_private_keys(view: TextView) -> Iterator[Span]:
    """Find PEM, PGP and PuTTY private keys, complete or cut off; a mere mention has no body."""
    text = view.text
    if "PRIVATE KEY" in text:
        marks = list(patterns.PEM_MARK.finditer(text))
        for mark, after in zip_longest(marks, marks[1:]):
            if mark[1] == "END":
                continue
            if after and after[1] == "END" and _is_key_body(text[mark.end() : after.start()]):
                yield mark.start(), after.end(), "private key"
            elif (body := patterns.PEM_BODY.match(text, mark.end())) and _is_key_body(body[0]):
                yield mark.start(), body.end(), "private key"
        for mark in marks:
            yield from _find_key_lines(
                text, mark.end() if mark[1] == "BEGIN" else mark.start(), mark[1]
            )
    if any(hint in view.near.text for hint in patterns.KEY_HINTS):
        for start in patterns.KEY_STARTS.finditer(text):
            yield (*start.span(), "private key")
            yield from _find_key_lines(text, start.end(), "BEGIN")
    if "Private-Lines" in text:
        yield from ((*hit.span(2), "private key") for hit in patterns.PUTTY.finditer(text))


def _find_key_lines(text: str, at: int, mark: str) -> Iterator[Span]:
    """Find the lines of a key after its beginning, or before its end, each by itself.

    They appear like this in the output of grep, in a diff or in a table, with more on each line.
    """
    forward = mark == "BEGIN"
    lines = _split_after(text, at) if forward else _split_before(text, at)
    for number, (start, end) in enumerate(lines):
        found = patterns.KEY_LINE.search(text[start:end])
        is_full = found is not None and len(found[1]) >= patterns.FULL_LINE
        is_last = number > 0 if forward else number == 0
        if found is None or not (is_full or (is_last and is_short_line(found[1]))):
            if _PEM_HEADER.search(text[start:end]):
                continue
            return
        yield start + found.start(1), start + found.end(1), "private key"
        if not is_full and forward:
            return


def _split_after(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Yield where the lines after the one at a place start and end."""
    limit = min(len(text), at + _LONGEST_PEM)
    start = text.find("\n", at, limit) + 1
    while start:
        end = text.find("\n", start, limit)
        yield start, end if end >= 0 else limit
        start = end + 1


def _split_before(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Yield where the lines before the one at a place start and end, the nearest first."""
    limit = max(0, at - _LONGEST_PEM)
    end = text.rfind("\n", limit, at)
    while end >= 0:
        start = text.rfind("\n", limit, end) + 1 or limit
        yield start, end
        end = start - 1 if start > limit else -1


def is_short_line(run: str) -> bool:
    """Tell whether a run may be the last line of a key, and not a word."""
    return run.endswith("=") or (len(run) >= 16 and any(c.isdigit() for c in run))


def _is_key_body(body: str) -> bool:
    """Tell whether text consists mostly of lines of a key, one of them at least half a line."""
    if len(body) > _LONGEST_PEM:
        return False
    runs = [len(run) for run in patterns.KEY_RUN.findall(body)]
    return max(runs, default=0) >= 32 and sum(runs) * 2 >= len(body)


def has_key_mark(text: str) -> bool:
    """Tell whether a text holds the beginning or the end of a private key."""
    return "PRIVATE KEY-----" in text or (
        any(hint in text for hint in patterns.KEY_HINTS)
        and patterns.KEY_STARTS.search(text) is not None
    )
