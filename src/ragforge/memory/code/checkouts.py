"""Checkouts: where the code that a conversation speaks of is known.

A session may have happened in another clone. Its scopes have other ids there, so that code is found
again by its file and name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ragforge.domain.code import Project, ProjectFilter, Scope, ScopeFilter
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import PROJECT, SCOPE, SCOPE_NAME
from ragforge.ports.records import Records


async def find_checkout(records: Records, place: ProjectPlace) -> Project | None:
    """Return the ingested checkout at a place, or else another one of its project, or None."""

    def rate(one: Project) -> tuple[bool, bool, bool]:
        is_there = one.path == place.path
        return (
            one.uuid != place.checkout_id,
            not (is_there and one.host == place.host),
            not is_there,
        )

    found = await records.find(PROJECT, ProjectFilter(place.ids))
    return min(found, key=rate, default=None)


async def find_scopes(
    records: Records, checkout_id: str, wanted: Iterable[tuple[str, str, str]]
) -> Mapping[str, Scope]:
    """Return scopes as a checkout has them now, by the ids that they were known by.

    Each is given by that id, its file and its qualified name. Those that are gone are left out.
    """
    wanted = list(wanted)
    files = list(dict.fromkeys(file for _, file, _ in wanted))
    names = await records.find(SCOPE_NAME, ScopeFilter(checkout_id, files)) if files else []
    here = {name.uuid for name in names}
    by_name = {(name.file, name.qualified_name): name.uuid for name in reversed(names)}
    now = {
        known: known if known in here else by_name[file, name]
        for known, file, name in wanted
        if known in here or (file, name) in by_name
    }
    scopes = await records.get_many(SCOPE, list(dict.fromkeys(now.values())))
    return {known: scopes[uuid] for known, uuid in now.items() if uuid in scopes}
