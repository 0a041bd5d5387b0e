"""Private keys: find them whole, cut off, or line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from ragforge.memory.secrets import patterns
from ragforge.memory.secrets.text_view import Span, TextView

_LONGEST_PEM = 64_000
_PEM_HEADER = re.compile(
    r"(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash): ?[^\n]*$|^\W*\d*\W*$"
)


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

    So they stand in the output of grep, in a diff or in a table, with more on each line.
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
