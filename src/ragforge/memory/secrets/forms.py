"""Forms: find secrets that are recognised by their form, or by the header they stand in."""

from __future__ import annotations

from collections.abc import Iterator

from ragforge.memory.secrets import patterns
from ragforge.memory.secrets.text_view import Span, TextView
from ragforge.memory.secrets.values import is_placeholder, is_random, is_strong

_LONG = tuple(shape for shape in patterns.PATTERNS if shape.long)
_WITHOUT_RUNS = tuple(shape for shape in patterns.PATTERNS if not shape.long)


def find_by_form(view: TextView) -> Iterator[Span]:
    """Find the secrets of all patterns, trying each only at its hints."""
    text, near = view.text, view.near
    for shape in _LONG if near.text else ():
        for hint in shape.hints:
            at = near.text.find(hint)
            while at >= 0:
                end = at + len(hint)
                if hit := shape.pattern.match(text, max(0, near.locate(at) - shape.back)):
                    end = max(end, at - shape.back + len(hit[0]))  # no run is read twice
                    if shape.is_secret(hit[0]):
                        yield (*hit.span(), shape.what)
                at = near.text.find(hint, end)
    for shape in _WITHOUT_RUNS:
        yield from _find_shape(shape, text, view.low if shape.any_case else text)
    for word, what, pattern in patterns.BESIDE_A_WORD if near.text else ():
        if word in view.low:
            yield from ((*hit.span(1), what) for hit in pattern.finditer(text))


def _find_shape(shape: patterns.SecretPattern, text: str, place: str) -> Iterator[Span]:
    """Find the secrets of one pattern; its hints are looked for in `place`."""
    for hint in shape.hints:
        at = place.find(hint)
        while at >= 0:
            end = at + len(hint)
            if hit := shape.pattern.match(text, max(0, at - shape.back)):
                end = max(end, hit.end())
                if shape.is_secret(hit[shape.group]):
                    yield (*hit.span(shape.group), shape.what)
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
