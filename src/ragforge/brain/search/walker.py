"""Walker: follows the relations of a project's code, and finds the code that nothing names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ragforge.brain.parse.outline import SPACES
from ragforge.brain.search.subjects import is_test, is_whole_file
from ragforge.domain.code import CHUNK, SECTION, Relation, RelationFilter, RelationKind, ScopeName
from ragforge.domain.schema import SCOPE_NAME
from ragforge.ports.store import Store

ANY_DEPTH = 10
"""Implementors are found at any depth unless one is asked for."""
MAX_FOUND = 5_000
USED: Sequence[RelationKind] = ("CONSUMES", "INHERITS_FROM")
_CALLED = frozenset(["main", "init", "initialize", "constructor", "deinit", "new"])
"""Names of what a program or an object begins with: nothing calls it by its name."""
_PLAIN = (*SPACES, "impl", SECTION, CHUNK)


class Walker:
    """Follows relations, a step or several at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def walk(
        self,
        start: Collection[str],
        kinds: Sequence[RelationKind],
        depth: int,
        *,
        out: bool = False,
        hidden: Collection[str] | None = None,
    ) -> list[set[str]]:
        """Return what is reached from some nodes in each step; what was reached before is not."""
        seen, levels = set(start if hidden is None else hidden), list[set[str]]()
        level: Collection[str] = start
        for _ in range(min(depth, ANY_DEPTH)):
            level = await self.step(level, kinds, out=out) - seen
            if not level or len(seen) > MAX_FOUND:
                break
            levels.append(set(level))
            seen |= level
        return levels

    async def step(
        self, ids: Collection[str], kinds: Sequence[RelationKind], *, out: bool = False
    ) -> set[str]:
        """Return what relations lead to some nodes; with `out`, what they lead to from them."""
        wanted = set(ids)
        relations = await self.relate(wanted, kinds)
        if out:
            return {one.target for one in relations if one.source in wanted}
        return {one.source for one in relations if one.target in wanted}

    async def relate(self, ids: Collection[str], kinds: Sequence[RelationKind]) -> list[Relation]:
        """Return the relations of these kinds that leave or reach any of some nodes."""
        where = RelationFilter(sorted(ids), kinds=kinds)
        return await self._store.code.relations(where) if ids else []

    async def name(self, ids: Collection[str]) -> list[ScopeName]:
        """Return the scopes with these ids; sections and chunks are left out."""
        found = await self._store.records.get_many(SCOPE_NAME, list(ids))
        return [one for one in found.values() if one.type not in (SECTION, CHUNK)]


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
