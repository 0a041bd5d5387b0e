"""Text: checks for text that is to be stored, JSON, and shortening."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

from ragforge.errors import InvalidId, InvalidJson, InvalidText
from ragforge.patterns import compile_on_use

Json: TypeAlias = Any
"""None, bool, int, float, str, or lists and dicts of these."""

MAX_ID_CHARS = 512
URLS = "6ba7b811-9dad-11d1-80b4-00c04fd430c8"
"""The namespace of addresses, `uuid.NAMESPACE_URL`."""
_SURROGATE = compile_on_use("[\ud800-\udfff]")
_LINE_ENDS = compile_on_use("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_WORD_SIGNS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_APART = bytes(sign if sign in _WORD_SIGNS else ord(" ") for sign in range(256))


def new_id() -> str:
    """Return a fresh random id."""
    from uuid import uuid4  # it imports several modules, and a hook makes no ids

    return str(uuid4())


def name_id(name: str, namespace: str = URLS) -> str:
    """Return the id that belongs to a name in a namespace, always the same."""
    from uuid import UUID, uuid5

    return str(uuid5(UUID(namespace), name))


def check_text(field: str, value: str | None) -> None:
    """Raise InvalidText if the value cannot be encoded as UTF-8."""
    if value is None or value.isascii():
        return
    if found := _SURROGATE.search(value):
        raise InvalidText(field, found.start())


def check_id(field: str, value: str) -> None:
    """Raise InvalidId or InvalidText unless the value can be used as an id."""
    if not value:
        raise InvalidId(field, "is empty")
    if len(value) > MAX_ID_CHARS:
        raise InvalidId(field, f"has {len(value)} characters, at most {MAX_ID_CHARS} are allowed")
    check_text(field, value)


def to_json(field: str, value: Json) -> str:
    """Serialise a value without loss. Raises InvalidJson for NaN, bytes and the like."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        if not text.isascii() and _SURROGATE.search(text):
            text = json.dumps(value, allow_nan=False)  # escapes what UTF-8 cannot hold
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidJson(field, str(error)) from error
    return text


def fence(text: str) -> str:
    """Return a text in a code fence that the text cannot close."""
    mark = "```"
    while mark in text:
        mark += "`"
    return f"{mark}\n{text}\n{mark}"


def list_fields(value: Any) -> Json:
    """Return data as JSON: a dataclass becomes an object with its fields, a tuple a list."""
    if is_dataclass(value):
        return {one.name: list_fields(getattr(value, one.name)) for one in fields(value)}
    return [list_fields(one) for one in value] if isinstance(value, list | tuple) else value


def to_text(value: Json) -> str:
    """Return a JSON value as readable text; a string stays as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def split_words(text: str) -> frozenset[str]:
    """Return the words of a list that is written as text."""
    return frozenset(text.split())


def indent_lines(text: str) -> str:
    """Return text whose lines after the first are indented.

    So no line of it begins as a line of whatever it is put into does.
    """
    if text.isprintable():  # then it is one line: a context has hundreds of those
        return text
    return _LINE_ENDS.sub("\n  ", text)


def to_one_line(text: str) -> str:
    """Return a name or a title on one line, with replacements for what cannot be printed."""
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(c if c.isprintable() else "�" for c in line)


def quote_all(words: Sequence[str], last: str = "and") -> str:
    """Return words in quotation marks as a list in a sentence; at least one."""
    quoted = [f'"{word}"' for word in words]
    return f"{', '.join(quoted[:-1])} {last} {quoted[-1]}" if quoted[1:] else quoted[0]


def shorten(text: str, limit: int | None) -> str:
    """Return the text, without its middle if it has more than `limit` characters."""
    if limit is None or len(text) <= limit:
        return text
    mark = " … "
    if limit <= len(mark):
        return text[:limit]
    head = (limit - len(mark) + 1) // 2
    tail = limit - len(mark) - head
    return text[:head] + mark + (text[-tail:] if tail else "")


def shorten_words(text: str, limit: int) -> str:
    """Shorten a text between words; only a word that is half of a part is cut itself."""
    cut = shorten(text, limit)
    if cut == text or limit <= 3:
        return cut
    head, tail = cut[: (limit - 2) // 2], cut[(limit - 2) // 2 + 3 :]
    if not text[len(head)].isspace() and (end := head.rfind(" ")) > len(head) // 2:
        head = head[:end]
    if (
        tail
        and not text[-len(tail) - 1].isspace()
        and 0 < (start := tail.find(" ")) < len(tail) // 2
    ):
        tail = tail[start:]
    return f"{head.rstrip()} … {tail.lstrip()}".rstrip()


def shorten_end(text: str, limit: int) -> str:
    """Return the text, without its end if it has more than `limit` characters."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)].rstrip() + "…"


def keep_beginning(text: str, limit: int) -> str:
    """Return the first `limit` characters, and a line that says how many follow, if any do."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n… ({len(text) - limit} more characters)"


def split_ascii_runs(text: str) -> list[bytes]:
    """Return the runs of letters, digits and `_` of an ASCII text, faster than a pattern."""
    return text.encode("ascii").translate(_APART).split()
