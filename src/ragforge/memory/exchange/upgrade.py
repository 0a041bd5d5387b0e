"""Upgrade: convert documents of earlier versions of the export format to the newest.

They may come from anywhere: invalid parts stay as they are, and are refused later.
"""

from __future__ import annotations

from collections.abc import Callable

from ragforge.domain.authors import AGENT
from ragforge.domain.text import Json


def upgrade_document(document: dict[str, Json]) -> dict[str, Json]:
    """Return a copy of a document with the fields that its version did not have yet."""
    if type(document.get("version")) is not int:
        return document
    if document["version"] == 1:
        document = _upgrade_first(document)
    if document["version"] == 2:
        document = _add_authors(document)
    if document["version"] == 3:
        document = _add_agents(document)
    return _add_costs(document) if document["version"] == 4 else document


def _add_costs(document: dict[str, Json]) -> dict[str, Json]:
    """Return a document of version 4 as one of version 5: nobody knows what an answer cost."""
    unpriced: dict[str, Json] = {"usd": None}
    messages = _change_each(document.get("messages"), lambda one: one | unpriced)
    return document | {"version": 5, "messages": messages}


def _add_agents(document: dict[str, Json]) -> dict[str, Json]:
    """Return a document of version 3 as one of version 4: other agents had said nothing yet."""
    about = document.get("conversation")
    if isinstance(about, dict):
        names = ("agent_version", "agent_session", "git_branch", "parent_id")
        about = about | dict.fromkeys(names)
    unnamed: dict[str, Json] = {"model": None}
    messages = _change_each(document.get("messages"), lambda one: one | unnamed)
    return document | {"version": 4, "conversation": about, "messages": messages}


def _add_authors(document: dict[str, Json]) -> dict[str, Json]:
    """Return a document of version 2 as one of version 3: nobody knows who said what."""
    about = document.get("conversation")
    if isinstance(about, dict):
        about = about | {"author": None, "host": None, "agent": AGENT}
    unsigned: dict[str, Json] = {"author": None}
    new = {
        "version": 3,
        "conversation": about,
        "messages": _change_each(document.get("messages"), lambda one: one | unsigned),
    }
    if "notes" in document:
        new["notes"] = _change_each(document["notes"], lambda one: one | unsigned)
    return document | new


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
        "version": 2,
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


def _change_each(parts: Json, change: Callable[[dict[str, Json]], dict[str, Json]]) -> Json:
    if not isinstance(parts, list):
        return parts
    return [change(part) if isinstance(part, dict) else part for part in parts]
