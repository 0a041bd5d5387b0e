"""Older: documents of earlier versions of the export format, brought to the newest.

They may come from anywhere: what is not what it should be stays, and is refused later.
"""

from __future__ import annotations

from collections.abc import Callable

from ragforge.domain.text import Json


def upgraded(document: dict[str, Json]) -> dict[str, Json]:
    """Return a document with what its version did not have yet; the given one stays as it is."""
    if type(document.get("version")) is not int or document["version"] != 1:
        return document
    return {
        **document,
        "version": 2,
        "messages": _each(document.get("messages"), _message),
        "summaries": _each(document.get("summaries"), _summary),
    }


def _message(message: dict[str, Json]) -> dict[str, Json]:
    """Call code `found`, the weakest, where tools ran: version 1 does not say what they did."""
    how = "found" if message.get("tool_calls") else "named"
    return _with_how(message, how, "references") | {"summary_trimmed": False}


def _summary(summary: dict[str, Json]) -> dict[str, Json]:
    return _with_how(summary, "named", "files", "scopes") | {"summary_trimmed": False}


def _with_how(part: dict[str, Json], how: str, *names: str) -> dict[str, Json]:
    given = {name: part[name] for name in names if name in part}
    return part | {
        name: _each(found, lambda one: {**one, "how": how}) for name, found in given.items()
    }


def _each(parts: Json, change: Callable[[dict[str, Json]], dict[str, Json]]) -> Json:
    if not isinstance(parts, list):
        return parts
    return [change(part) if isinstance(part, dict) else part for part in parts]
