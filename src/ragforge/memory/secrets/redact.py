"""Redact: remove secrets from text and JSON before they are stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import TypeAlias

from ragforge.domain.text import Json
from ragforge.memory.secrets import patterns
from ragforge.memory.secrets.assignments import find_assigned, to_lower
from ragforge.memory.secrets.values import choose_label, classify_name, is_placeholder

__all__ = ["redact", "redact_json"]

Span: TypeAlias = tuple[int, int, str]  # start, end, what

_PASSES = 8  # a marker may expose another secret beside it; two passes are usual
_LONGEST_PEM = 64_000
_WITHOUT_RUNS = tuple(shape for shape in patterns.PATTERNS if not shape.long)

_MARKER = re.compile(r"\[redacted: [^\]]*\]")


def redact(text: str) -> str:
    """Return the text with a marker, such as `[redacted: password]`, in place of every secret.

    Without a secret the same object is returned. Redacting twice changes nothing more.
    """
    for _ in range(_PASSES):
        before = text
        for find in _FINDERS:
            text = _mark(text, find(text))
        if text is before:
            break
    return text


def redact_json(value: Json) -> Json:
    """Return the value with the secrets in its strings redacted, at any depth.

    A string under a name such as `password` or `api_key` is redacted entirely, unless it is a
    placeholder. Names stay. Without a secret the same object is returned.
    """
    done: dict[int, Json] = {}  # containers by identity: each is processed once, cycles end
    stack: list[tuple[Json, bool]] = [(value, False)]
    while stack:
        item, ready = stack.pop()
        if not isinstance(item, (dict, list, tuple)):
            continue
        if ready:
            done[id(item)] = _rebuild(item, done)
        elif id(item) not in done:
            done[id(item)] = item
            stack.append((item, True))
            stack.extend(
                (child, False) for child in (item.values() if isinstance(item, dict) else item)
            )
    return redact(value) if isinstance(value, str) else done.get(id(value), value)


def _rebuild(item: Json, done: dict[int, Json]) -> Json:
    """Return a container with its children redacted, or itself if none has changed."""
    if isinstance(item, dict):
        pairs = {
            key: _redact_child(child, done, _get_name(item, key)) for key, child in item.items()
        }
        return pairs if any(pairs[key] is not item[key] for key in item) else item
    children = [_redact_child(child, done, "") for child in item]
    if all(new is old for new, old in zip(children, item, strict=True)):
        return item
    return children if isinstance(item, list) else tuple(children)


def _redact_child(child: Json, done: dict[int, Json], name: str) -> Json:
    if not isinstance(child, str):
        return done.get(id(child), child)
    kind = classify_name(name) if child and name else None
    if kind in ("password", "secret") and not is_placeholder(child):
        return f"[redacted: {choose_label(name, kind)}]"
    return redact(child)


def _get_name(item: dict[Json, Json], key: Json) -> str:
    """Return the name of a value: its key, or the `name` beside a `value`."""
    name = item.get("name") if key == "value" else key
    if not isinstance(name, str):
        return ""
    return name if key != "value" else _MARKER.sub(" ", name)  # a marker is not a name


def _mark(text: str, found: Iterable[Span]) -> str:
    """Return the text with a marker for each span; overlapping spans get one."""
    pieces: list[str] = []
    at = 0
    for start, end, what in sorted(found, key=lambda span: (span[0], -span[1])):
        if start >= at:
            pieces += (text[at:start], f"[redacted: {what}]")
        at = max(at, end)
    return "".join((*pieces, text[at:])) if pieces else text


def _find_private_keys(text: str) -> Iterator[Span]:
    """Find PEM, PGP and PuTTY private keys, complete or cut off; a mere mention has no body."""
    if "PRIVATE KEY" in text:
        marks = list(patterns.PEM_MARK.finditer(text))
        for mark, after in zip_longest(marks, marks[1:]):
            if mark[1] == "END":
                continue
            if after and after[1] == "END" and _is_key_body(text[mark.end() : after.start()]):
                yield mark.start(), after.end(), "private key"
            elif (body := patterns.PEM_BODY.match(text, mark.end())) and _is_key_body(body[0]):
                yield mark.start(), body.end(), "private key"
    if "Private-Lines" in text:
        yield from ((*hit.span(2), "private key") for hit in patterns.PUTTY.finditer(text))


def _is_key_body(body: str) -> bool:
    """Tell whether text consists mostly of lines of a key, one of them at least half a line."""
    if len(body) > _LONGEST_PEM:
        return False
    runs = [len(run) for run in patterns.KEY_RUN.findall(body)]
    return max(runs, default=0) >= 32 and sum(runs) * 2 >= len(body)


def _find_patterns(text: str) -> Iterator[Span]:
    """Find the secrets of all patterns, trying each only at its hints."""
    low, near_runs = to_lower(text), _cut_near_runs(text)
    for shape in patterns.PATTERNS if near_runs else _WITHOUT_RUNS:
        if shape.long and not any(hint in near_runs for hint in shape.hints):
            continue
        for hint in shape.hints:
            place = low if shape.any_case else text
            at = place.find(hint)
            while at >= 0:
                end = at + len(hint)
                if hit := shape.pattern.match(text, max(0, at - shape.back)):
                    end = max(end, hit.end())  # even if it is no secret: no run is read twice
                    if shape.is_secret(hit[shape.group]):
                        yield (*hit.span(shape.group), shape.what)
                at = place.find(hint, end)
    if "discord" in low:
        yield from ((*hit.span(), "Discord token") for hit in patterns.DISCORD.finditer(text))


def _cut_near_runs(text: str) -> str:
    """Return only the text in or before long runs of letters and digits.

    That is usually little, so that searching it for a hundred hints is cheap. The runs themselves
    are found by a fast search in bytes.
    """
    same = text.encode("latin-1", "replace").translate(_RUN_TABLE)  # one byte for a character
    pieces: list[str] = []
    at, end = same.find(_RUN), 0
    while at >= 0:
        start = max(end, at - patterns.REACH)
        end = same.find(b" ", at)
        end = end if end >= 0 else len(text)
        pieces.append(text[start:end])
        at = same.find(_RUN, end)
    return "\n".join(pieces)


_RUN = b"a" * patterns.RUN
_RUN_TABLE = bytes(
    97 if chr(b).isascii() and (chr(b).isalnum() or b in b"_-") else 32 for b in range(256)
)
_FINDERS: tuple[Callable[[str], Iterator[Span]], ...] = (
    _find_private_keys,
    _find_patterns,
    find_assigned,
)
