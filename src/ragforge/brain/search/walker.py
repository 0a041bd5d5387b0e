"""Walker: follows the relations of a project's code from scope to scope."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ragforge.domain.code import (
    CHUNK,
    SECTION,
    Relation,
    RelationFilter,
    RelationKind,
    ScopeName,
)
from ragforge.domain.schema import SCOPE_NAME
from ragforge.ports.store import Store

ANY_DEPTH = 10
"""Implementors are found at any depth unless one is asked for."""
MAX_FOUND = 5_000
USED: Sequence[RelationKind] = ("CONSUMES", "INHERITS_FROM")


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
