"""Upgrade: convert documents of earlier versions of the export format to the newest.

They may come from anywhere: invalid parts stay as they are, and are refused later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragforge.domain.authors import AGENT
from ragforge.domain.text import Json

_ADDED: Mapping[int, Mapping[str, Mapping[str, Json]]] = {
    2: {
        "conversation": {"author": None, "host": None, "agent": AGENT},
        "messages": {"author": None},
        "notes": {"author": None},
    },
    3: {
        "conversation": dict.fromkeys(
            ("agent_version", "agent_session", "git_branch", "parent_id")
        ),
        "messages": {"model": None},
    },
    4: {"messages": {"usd": None}},
    5: {"notes": {"is_rule": False, "corrects": [], "keeps": []}},
}
"""The fields that parts of a document got after a version, with what they say of an older one."""


def upgrade_document(document: dict[str, Json]) -> dict[str, Json]:
    """Return a copy of a document with the fields that its version did not have yet."""
    version = document.get("version")
    if type(version) is not int:
        return document
    if version == 1:
        document, version = _upgrade_first(document), 2
    while version in _ADDED:
        for name, fields in _ADDED[version].items():
            if name in document:
                document = document | {name: _add(document[name], fields)}
        version += 1
        document = document | {"version": version}
    return document


def _upgrade_first(document: dict[str, Json]) -> dict[str, Json]:
    messages = document.get("messages")
    linked = _find_linked_turns(messages)

    def change(message: dict[str, Json]) -> dict[str, Json]:
        # Version 1 does not say what tools did with code; `found`, the weakest, is never wrong.
        is_said = not message.get("tool_calls") and message.get("role") != "system"
        how = "named" if is_said else "found"
        waits = message.get("role") == "user" and repr(message.get("turn_index")) not in linked
        flags = {"summary_trimmed": False, "link_pending": waits}
        return _add_how(message, how, "references") | flags

    return {
        **document,
        "messages": _change_each(messages, change),
        "summaries": _change_each(document.get("summaries"), _upgrade_summary),
    }


def _find_linked_turns(messages: Json) -> set[str]:
    """Return the turns with references, as text: in an invalid document one may be a list."""
    found = messages if isinstance(messages, list) else []
    linked = (m for m in found if isinstance(m, dict) and m.get("references"))
    return {repr(message.get("turn_index")) for message in linked}


def _upgrade_summary(summary: dict[str, Json]) -> dict[str, Json]:
    new = {"summary_trimmed": False, "read_at": None}
    return _add_how(summary, "named", "files", "scopes") | new


def _add_how(part: dict[str, Json], how: str, *names: str) -> dict[str, Json]:
    given = {name: part[name] for name in names if name in part}
    return part | {
        name: _change_each(found, lambda one: {**one, "how": how}) for name, found in given.items()
    }


def _add(parts: Json, fields: Mapping[str, Json]) -> Json:
    return _change_each(parts, lambda one: {**one, **fields})


def _change_each(parts: Json, change: Callable[[dict[str, Json]], dict[str, Json]]) -> Json:
    """Return the parts of a list, or one part, changed."""
    if isinstance(parts, list):
        return [change(part) if isinstance(part, dict) else part for part in parts]
    return change(parts) if isinstance(parts, dict) else parts
