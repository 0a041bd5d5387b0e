"""Upkeep of a Neo4j server, which looks after its files itself."""

from __future__ import annotations

from ragforge.ports.upkeep import ReindexProgress


class Neo4jUpkeep:
    """Keeps the promises of `Upkeep`. Words are indexed anew when the store is opened."""

    async def step(self) -> bool:
        return False

    async def reindexing(self) -> ReindexProgress | None:
        return None
