"""Forms: find secrets that are recognised by their form, or by the header they stand in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from ragforge.memory.secrets import patterns
from ragforge.memory.secrets.text_view import Span, TextView
from ragforge.memory.secrets.values import is_placeholder, is_random, is_strong
from ragforge.memory.secrets.wrapped import match_wrapped

_Hint: TypeAlias = tuple[str, patterns.SecretPattern]
_HintGroup: TypeAlias = tuple[str, tuple[_Hint, ...]]
_COMMON = ("hook", "sntry", "mongo", ":543")


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
        for word, what, pattern in patterns.BESIDE_A_WORD:
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
    """Find the values of cookies that let somebody in."""
    if "cookie" not in view.low:
        return
    for header in patterns.COOKIES.finditer(view.text):
        for cookie in patterns.COOKIE.finditer(header[1]):
            value, at = cookie[2], header.start(1)
            if is_placeholder(value):
                continue
            if is_random(value) or (patterns.SESSION.search(cookie[1]) and is_strong(value, 8)):
                yield at + cookie.start(2), at + cookie.end(2), "cookie"
