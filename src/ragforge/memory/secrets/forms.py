"""Forms: find secrets that are recognised by their form, or by the header that they are in."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

from ragforge.memory.secrets import patterns
from ragforge.memory.secrets.text_view import Span, TextView
from ragforge.memory.secrets.values import is_placeholder, is_random, is_strong

_Hint: TypeAlias = tuple[str, patterns.SecretPattern]
_HintGroup: TypeAlias = tuple[str, tuple[_Hint, ...]]
_COMMON = ("hook", "sntry", "mongo", ":543")


_MAX_LINES = 20
_MAX_FOLLOWED = 8
_MIN_WIDTH = 16  # of a line that was broken; what is shorter is the last
_PART = re.compile(r"[\w+/=.~:$%-]{0,400}+", re.ASCII)
_WRAP = re.compile(r"(?:\\?\r?\n[ \t]*+(?:[>|][ \t]*+)?|\\n)(?=[\w+/.$-])", re.ASCII)
_WORD = re.compile(r"[A-Za-z][a-z]{2,19}[.:]?")
_ASSIGNED = re.compile(r"[A-Za-z_]\w{0,30}=")
_NO_REST = re.compile(r"[A-Za-z_]\w{0,30}=|.*:|\d{4}-\d\d-\d\d|[A-Za-z][a-z]*\Z")
_MIXED = re.compile(r".*\d[A-Za-z]+\d")


def _list_hints(*, long: bool, any_case: bool = False) -> tuple[_Hint, ...]:
    return tuple(
        (hint, shape)
        for shape in patterns.PATTERNS
        if shape.long == long and shape.any_case == any_case
        for hint in shape.hints
    )


def _group_hints(hints: tuple[_Hint, ...]) -> tuple[_HintGroup, ...]:
    """Return the hints by what they have in common: a text without that has none of them."""
    groups: dict[str, list[_Hint]] = {}
    for hint, shape in hints:
        common = next((part for part in _COMMON if part in hint), hint)
        groups.setdefault(common, []).append((hint, shape))
    return tuple((common, tuple(group)) for common, group in groups.items())


_LONG = _list_hints(long=True)
_SHORT = _group_hints(_list_hints(long=False))
_ANY_CASE = _list_hints(long=False, any_case=True)


def find_by_form(view: TextView) -> Iterator[Span]:
    """Find the secrets of all patterns, trying each only at its hints."""
    text, low, near = view.text, view.low, view.near
    if runs := near.text:
        for hint, shape in _LONG:
            if hint in runs:
                yield from _find_at(hint, shape, text, runs, near.locate)
        for word, what, pattern in patterns.NEXT_TO_WORD:
            if word in low:
                yield from ((*hit.span(1), what) for hit in pattern.finditer(text))
    for common, group in _SHORT:
        if common in text:
            for hint, shape in group:
                if hint in text:
                    yield from _find_at(hint, shape, text, text, int)
    for hint, shape in _ANY_CASE:
        if hint in low:
            yield from _find_at(hint, shape, text, low, int)


def _find_at(
    hint: str,
    shape: patterns.SecretPattern,
    text: str,
    place: str,
    locate: Callable[[int], int],
) -> Iterator[Span]:
    """Find the secrets of one pattern; `locate` returns where a hint of `place` is in the text."""
    at = place.find(hint)
    while at >= 0:
        end = at + len(hint)
        there = locate(at)
        start = max(0, there - shape.back)
        if hit := shape.pattern.match(text, start):
            end = max(end, at - shape.back + len(hit[0]))  # no run is read twice
        if hit and shape.is_secret(hit[shape.group]):
            yield (*hit.span(shape.group), shape.what)
        elif not shape.group and (
            wrapped := match_wrapped(shape.pattern, text, start, there + len(hint))
        ):
            secret, first, last = wrapped
            if shape.is_secret(secret):
                yield first, last, shape.what
        at = place.find(hint, end)


def find_cookies(view: TextView) -> Iterator[Span]:
    """Find the values of cookies that authenticate a user."""
    if "cookie" not in view.low:
        return
    for header in patterns.COOKIES.finditer(view.text):
        for cookie in patterns.COOKIE.finditer(header[1]):
            value, at = cookie[2], header.start(1)
            if is_placeholder(value):
                continue
            if is_random(value) or (patterns.SESSION.search(cookie[1]) and is_strong(value, 8)):
                yield at + cookie.start(2), at + cookie.end(2), "cookie"


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
