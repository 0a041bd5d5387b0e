"""Fields: values of a transcript that may be missing or of another type than expected."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b, sha1
from typing import Any

from ragforge.domain.text import Json
from ragforge.patterns import compile_on_use

_DECODER = json.JSONDecoder(parse_constant=lambda name: None)  # NaN and Infinity are not JSON
_SPACES = compile_on_use(r"\s*")
_SURROGATE = compile_on_use("[\ud800-\udfff]")
_NAMES = bytes.fromhex("6f0d6c1e3d0b5d0e9a530c6a1f7d2b44")
_FIRST_YEAR, _LAST_YEAR = 1970, 2200  # other years are mistakes, and some cannot be stored
_LATEST_SECOND = 10_000_000_000  # larger values are milliseconds
_LARGEST_PRICE = 1e9
BAD = object()
"""What `parse_json` returns for something that is not JSON."""


def parse_json(data: bytes) -> Json:
    """Parse a line or a file, replacing invalid Unicode; return BAD if it is not JSON."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode(errors="replace")
    return parse_text(text.removeprefix("\ufeff"))


def parse_text(text: str) -> Json:
    """Parse a text, replacing invalid Unicode; return BAD if it is not JSON."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return BAD
    # What was decoded has no lone surrogates but those that JSON escapes.
    return clean(value) if "\\ud" in text or "\\uD" in text else value


def parse_line(data: bytes) -> list[Json]:
    """Return the objects on a line: one, or several where two processes wrote at a time."""
    value = parse_json(data)
    if isinstance(value, dict):
        return [value]
    if value is not BAD or b"}" not in data:
        return []
    text = data.decode(errors="replace").removeprefix("\ufeff")
    found: list[Json] = []
    start = _skip_spaces(text, 0)
    while text.startswith("{", start):
        try:
            one, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            break
        found.append(clean(one))
        start = _skip_spaces(text, end)
    return found


def _skip_spaces(text: str, start: int) -> int:
    found = _SPACES.match(text, start)
    return start if found is None else found.end()


def load_arguments(value: Json) -> Json:
    """Return the arguments of a call, which some agents write as a text of JSON."""
    if not isinstance(value, str):
        return value
    parsed = parse_text(value)
    return {"input": value} if parsed is BAD else parsed


def clean(value: Json) -> Json:
    """Return a value whose texts hold no lone surrogates, which cannot be stored."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {clean(key): clean(one) for key, one in value.items()}
    return [clean(one) for one in value] if isinstance(value, list) else value


def text(content: Mapping[str, Any], name: str) -> str | None:
    """Return a text that is not empty, or None."""
    value = content.get(name)
    return value if isinstance(value, str) and value else None


def texts(content: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return the texts of a list."""
    value = content.get(name)
    if not isinstance(value, list):
        return ()
    return tuple(one for one in value if isinstance(one, str) and one)


def mapping(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = content.get(name)
    return value if isinstance(value, dict) else {}


def blocks(value: object) -> Sequence[Mapping[str, Any]]:
    """Return the blocks of a content, which may be a list of them, or one text."""
    if isinstance(value, str):
        return ({"type": "text", "text": value},)
    if isinstance(value, dict):
        return (value,)
    return [block for block in value if isinstance(block, dict)] if isinstance(value, list) else ()


def join_texts(value: object) -> str:
    """Return the texts of a content's blocks, one per line."""
    texts = [block.get("text") for block in blocks(value)]
    return "\n".join(text for text in texts if isinstance(text, str))


def time(content: Mapping[str, Any], name: str) -> datetime | None:
    """Return a time that is given as a text, or as milliseconds or seconds since 1970."""
    value = content.get(name)
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if value > _LATEST_SECOND else value
            moment = datetime.fromtimestamp(seconds, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return moment if _FIRST_YEAR <= moment.year <= _LAST_YEAR else None


def number(content: Mapping[str, Any], name: str) -> int | None:
    value = content.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def tokens(content: Mapping[str, Any], *names: str) -> int:
    """Return the first of some counts that is there; 0 if none is, or it is below zero."""
    counts = (number(content, name) for name in names)
    return max(next((count for count in counts if count is not None), 0), 0)


def price(content: Mapping[str, Any], name: str) -> float | None:
    """Return an amount of money; None for zero, which subscriptions are said to cost."""
    value = content.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 < value < _LARGEST_PRICE else None


def hash_texts(texts: Iterable[str]) -> str:
    """Return a hash of texts in order, the same in every process."""
    digest = blake2b(digest_size=16)
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()


def make_uuid(name: str) -> str:
    """Return the UUID (version 5) of a name; `uuid.uuid5` takes five times as long."""
    made = sha1(_NAMES + name.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(made[16], 16) & 3]
    return f"{made[:8]}-{made[8:12]}-5{made[13:16]}-{variant}{made[17:20]}-{made[20:32]}"
