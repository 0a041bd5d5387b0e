"""Redact: remove secrets from text and JSON before they are stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial

from ragforge.domain.text import Json
from ragforge.memory.secrets import patterns
from ragforge.memory.secrets.assignments import find_assigned
from ragforge.memory.secrets.encoded import (
    find_encoded,
    find_private_keys,
    has_key_mark,
    is_short_line,
)
from ragforge.memory.secrets.forms import find_by_form, find_cookies, follow_lines
from ragforge.memory.secrets.text_view import Span, TextView
from ragforge.memory.secrets.values import (
    choose_label,
    classify_name,
    is_placeholder,
)

_PASSES = 8  # a marker may expose another secret next to it; two passes are usual

_LINE_ENDS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_MARKER = re.compile(r"\[redacted: [^\]]*\]")


def redact(text: str) -> str:
    """Return the text with a marker, such as `[redacted: password]`, in place of every secret.

    Without a secret the same object is returned. Redacting twice changes nothing more.
    """
    for _ in range(_PASSES):
        before = text
        view = TextView(text)
        for find in _FINDERS:
            text = _mark(text, find(view))
            if text is not view.text:
                view = TextView(text)
        if text is before:
            break
    return text


def redact_json(value: Json) -> Json:
    """Return the value with the secrets in its strings redacted, at any depth.

    A string under a name such as `password` or `api_key` is redacted entirely, unless it is a
    placeholder. Names stay. Without a secret the same object is returned.
    """
    done: dict[int, Json] = {}  # containers by identity: each is processed once, cycles end
    inner_first: list[Json] = []
    near_key = False  # a private key, perhaps line by line, is somewhere in the value
    stack: list[tuple[Json, bool]] = [(value, False)]
    while stack:
        item, ready = stack.pop()
        if isinstance(item, str):
            near_key = near_key or has_key_mark(item)
        elif not isinstance(item, (dict, list, tuple)):
            continue
        elif ready:
            inner_first.append(item)
        elif id(item) not in done:
            done[id(item)] = item
            stack.append((item, True))
            stack.extend(
                (child, False) for child in (item.values() if isinstance(item, dict) else item)
            )
    for item in inner_first:
        done[id(item)] = _rebuild(item, done, near_key)
    return redact(value) if isinstance(value, str) else done.get(id(value), value)


def is_plainly_clean(values: Iterable[Json]) -> bool:
    """Tell whether values have no secret, by one look at all their strings together.

    That is much cheaper than a look at each. If it is not plain, each has to be looked at.
    """
    texts: list[str] = []
    waiting = list(values)
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, dict):
            if not all(isinstance(name, str) and _is_plain_name(name) for name in item):
                return False
            waiting.extend(item.values())
        elif isinstance(item, list | tuple):
            waiting.extend(item)
    joined = "\n\n".join(dict.fromkeys(texts))  # ids and paths are repeated from line to line
    return not has_key_mark(joined) and redact(joined) is joined


@lru_cache(4096)
def _is_plain_name(name: str) -> bool:
    """Tell whether the value of a name is judged by itself."""
    return name != "value" and classify_name(name) is None


def _rebuild(item: Json, done: dict[int, Json], near_key: bool) -> Json:
    """Return a container with its children redacted, or itself if none has changed."""
    if isinstance(item, dict):
        pairs = {
            key: _redact_child(child, done, _get_name(item, key), near_key)
            for key, child in item.items()
        }
        return pairs if any(pairs[key] is not item[key] for key in item) else item
    children = [_redact_child(child, done, "", near_key) for child in item]
    if all(new is old for new, old in zip(children, item, strict=True)):
        return item
    return children if isinstance(item, list) else tuple(children)


def _redact_child(child: Json, done: dict[int, Json], name: str, near_key: bool) -> Json:
    if not isinstance(child, str):
        return done.get(id(child), child)
    kind = classify_name(name) if child and name else None
    if kind in ("password", "secret") and not is_placeholder(child):
        return f"[redacted: {choose_label(name, kind)}]"
    if near_key and (line := patterns.KEY_LINE.search(child)) and "\n" not in child.strip():
        run = line[1]
        if len(run) >= patterns.FULL_LINE or (run == child.strip() and is_short_line(run)):
            child = _mark(child, [(*line.span(1), "private key")])
    return redact(child)


def _get_name(item: dict[Json, Json], key: Json) -> str:
    """Return the name of a value: its key, or the `name` next to a `value`."""
    name = item.get("name") if key == "value" else key
    if not isinstance(name, str):
        return ""
    return name if key != "value" else _MARKER.sub(" ", name)  # a marker is not a name


def _mark(text: str, found: Iterable[Span]) -> str:
    """Return the text with a marker for each span; overlapping spans get one.

    Line ends stay, so that every line keeps its number.
    """
    pieces: list[str] = []
    at = 0
    spans = sorted(found, key=lambda span: (span[0], -span[1]))
    starts = {span[0] for span in spans}
    for start, found_end, what in spans:
        may_go_on = found_end > at and what != "private key"
        end = follow_lines(text, found_end, starts) if may_go_on else found_end
        if start >= at:
            pieces += (text[at:start], f"[redacted: {what}]", *_LINE_ENDS.findall(text, start, end))
        at = max(at, end)
    return "".join((*pieces, text[at:])) if pieces else text


_FINDERS: tuple[Callable[[TextView], Iterator[Span]], ...] = (
    find_private_keys,
    find_by_form,
    find_cookies,
    find_assigned,
    partial(find_encoded, redact=redact),
)
