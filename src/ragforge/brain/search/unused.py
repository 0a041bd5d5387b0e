"""Unused: the code that nothing of a project names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ragforge.brain.parse.outline import SPACES
from ragforge.brain.search.subjects import is_test, is_whole_file
from ragforge.brain.search.walker import USED, Walker
from ragforge.domain.code import CHUNK, SECTION, ScopeName

_CALLED = frozenset(["main", "init", "initialize", "constructor", "deinit", "new"])
"""Names of what a program or an object begins with: nothing calls it by its name."""
_PLAIN = (*SPACES, "impl", SECTION, CHUNK)


async def find_unused(walker: Walker, scopes: Iterable[ScopeName]) -> list[ScopeName]:
    """Return those of some scopes that nothing of the project uses.

    Tests, entry points, decorated code and what a base type declares are left out: they are
    used in ways that no name shows.
    """
    candidates = {
        one.uuid: one
        for one in scopes
        if one.type not in _PLAIN
        and not is_whole_file(one)
        and not is_test(one.file)
        and one.name not in _CALLED
        and not (one.name.startswith("__") and one.name.endswith("__"))
        and not one.signature.lstrip().startswith(("@", "#["))
    }
    used = {one.target for one in await walker.relate(candidates, USED) if one.source != one.target}
    unused = [one for uuid, one in candidates.items() if uuid not in used]
    inherited = await _find_inherited(walker, unused)
    return [one for one in unused if one.uuid not in inherited]


async def _find_inherited(walker: Walker, scopes: Sequence[ScopeName]) -> set[str]:
    """Return the ids of those members whose names a base of their type has too."""
    ids = {one.uuid for one in scopes}
    parents = await walker.relate(ids, ("HAS_PARENT",))
    holders = {one.source: one.target for one in parents if one.source in ids}
    bases: dict[str, set[str]] = {}
    level = set(holders.values())
    while level:
        for one in await walker.relate(level, ("INHERITS_FROM",)):
            if one.source in level:
                bases.setdefault(one.source, set()).add(one.target)
        level = {base for kind in level for base in bases.get(kind, ())} - bases.keys()
    above = {base for many in bases.values() for base in many}
    inner = [r for r in await walker.relate(above, ("HAS_PARENT",)) if r.target in above]
    names = {one.uuid: one.name for one in await walker.name({r.source for r in inner})}
    declared: dict[str, set[str]] = {}
    for relation in inner:
        declared.setdefault(relation.target, set()).add(names.get(relation.source, ""))
    return {
        one.uuid
        for one in scopes
        if one.uuid in holders
        and any(one.name in declared.get(base, ()) for base in _reach(bases, holders[one.uuid]))
    }


def _reach(bases: Mapping[str, Collection[str]], kind: str) -> set[str]:
    """Return all that a type inherits from; cycles are allowed."""
    found, waiting = set[str](), [kind]
    while waiting:
        new = set(bases.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found
