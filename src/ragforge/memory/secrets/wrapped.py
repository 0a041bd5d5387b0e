"""Wrapped secrets: a secret that a narrow terminal or a mail broke into several lines."""

from __future__ import annotations

import re
from collections.abc import Collection

from ragforge.memory.secrets.values import is_random

_MAX_LINES = 20
_MAX_FOLLOWED = 8
_MIN_WIDTH = 16  # of a line that was broken; what is shorter is the last
_PART = re.compile(r"[\w+/=.~:$%-]{0,400}+", re.ASCII)
_WRAP = re.compile(r"(?:\\?\r?\n[ \t]*+(?:[>|][ \t]*+)?|\\n)(?=[\w+/.$-])", re.ASCII)
_WORD = re.compile(r"[A-Za-z][a-z]{2,19}[.:]?")
_ASSIGNED = re.compile(r"[A-Za-z_]\w{0,30}=")
_NO_REST = re.compile(r"[A-Za-z_]\w{0,30}=|.*:|\d{4}-\d\d-\d\d|[A-Za-z][a-z]*\Z")
_MIXED = re.compile(r".*\d[A-Za-z]+\d")


def join_lines(text: str, start: int, hint: int) -> tuple[str, list[tuple[int, int]]] | None:
    """Return a run of key characters, whose hint ends there, joined with those on the next lines.

    With it comes where each line begins in the joined text and in the text. None if the run does
    not end with its line, or if an ordinary word follows.
    """
    end = _find_end(text, hint)
    pieces, places, size = [text[start:end]], [(0, start)], end - start
    while len(pieces) < _MAX_LINES and (wrap := _WRAP.match(text, end)):
        start, end = wrap.end(), _find_end(text, wrap.end())
        piece = text[start:end]
        if _WORD.fullmatch(piece) or _ASSIGNED.match(piece):
            break
        pieces.append(piece)
        places.append((size, start))
        size += len(piece)
        if len(piece) < _MIN_WIDTH:
            break
    return ("".join(pieces), places) if len(pieces) > 1 else None


def match_wrapped(
    pattern: re.Pattern[str], text: str, start: int, hint: int
) -> tuple[str, int, int] | None:
    """Return the secret of a pattern that goes over a line end, and its span in the text."""
    if (found := join_lines(text, start, hint)) is None:
        return None
    joined, places = found
    before = text[max(0, start - 1) : start]
    hit = pattern.match(before + joined, len(before))
    if hit is None:
        return None
    end = hit.end() - len(before)
    inside, outside = next(place for place in reversed(places) if place[0] < end)
    return hit[0], start, outside + end - inside


def follow_lines(text: str, end: int, others: Collection[int]) -> int:
    """Return where a secret ends whose rest is on the next lines: what looks random goes too.

    It ends before others, which are given by their beginnings. Many such lines are a file.
    """
    first = end
    for _ in range(_MAX_FOLLOWED):
        wrap = _WRAP.match(text, end)
        if wrap is None or wrap.end() in others:
            return end
        after = _find_end(text, wrap.end())
        rest = text[wrap.end() : after]
        is_last = end > first and len(rest) >= 4
        if _NO_REST.match(rest) or not (is_last or _is_random_rest(rest)):
            return end
        end = after
    return first


def _is_random_rest(rest: str) -> bool:
    kinds = [any(map(of, rest)) for of in (str.isdigit, str.islower, str.isupper)]
    is_mixed = len(rest) >= 8 and (all(kinds) or _MIXED.match(rest) is not None)
    return is_mixed or is_random(rest)


def _find_end(text: str, start: int) -> int:
    """Return where a run of key characters ends."""
    part = _PART.match(text, start)
    return start if part is None else part.end()
