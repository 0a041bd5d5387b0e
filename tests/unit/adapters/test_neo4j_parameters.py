"""Parameters: all of them are sent in one map, so that a query has one plan for all sizes."""

from __future__ import annotations

from typing import Any, cast

from neo4j import AsyncManagedTransaction

from ragforge.adapters.stores.neo4j.driver import Transaction


class Recorder:
    """A transaction of the driver that notes what it is given and returns nothing."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []

    async def run(self, query: str, parameters: dict[str, Any]) -> Recorder:
        self.sent.append((query, parameters))
        return self

    def keys(self) -> tuple[str, ...]:
        return ()

    def __aiter__(self) -> Recorder:
        return self

    async def __anext__(self) -> Any:
        raise StopAsyncIteration


async def test_every_parameter_of_a_query_is_in_one_map() -> None:
    driver = Recorder()
    transaction = Transaction(cast(AsyncManagedTransaction, driver), "ann")

    await transaction.rows("MATCH (n {uuid: $id}) WHERE n.owner = $viewer SET n += $row", id="a")
    await transaction.each("MATCH (n {uuid: row[0]})", [["b"]])

    assert driver.sent == [
        (
            "MATCH (n {uuid: $given.id}) WHERE n.owner = $given.viewer SET n += $given.row",
            {"given": {"viewer": "ann", "id": "a"}},
        ),
        (
            "UNWIND $given.rows AS row MATCH (n {uuid: row[0]})",
            {"given": {"viewer": "ann", "rows": [["b"]]}},
        ),
    ]
