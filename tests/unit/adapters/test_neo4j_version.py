"""A Neo4j server that is too old is refused with a sentence."""

from __future__ import annotations

from typing import cast

import pytest

from ragforge.adapters.stores.neo4j import migrate
from ragforge.adapters.stores.neo4j.driver import Neo4jDatabase
from ragforge.domain.kinds import Row
from ragforge.errors import StoreUnavailable
from ragforge.search.words.tokenise import WORDS


class Server:
    """A server that tells its version, and nothing else."""

    url = "bolt://old.example"

    def __init__(self, version: str) -> None:
        self._version = version

    async def read(self, *_: object) -> Row:
        return {"server": self._version, "version": 0, "tokeniser": None}


@pytest.mark.parametrize("version", ["4.4.12", "5.25.1", "5.3.0"])
async def test_an_old_server_is_refused(version: str) -> None:
    server = cast(Neo4jDatabase, Server(version))

    with pytest.raises(StoreUnavailable, match=rf"is version {version}; RagForge needs 5\.26"):
        await migrate.prepare(server, WORDS)


@pytest.mark.parametrize("version", ["5.26.0", "5.26.30-aura", "2025.01.0"])
async def test_a_new_server_passes(version: str) -> None:
    server = cast(Neo4jDatabase, Server(version))

    with pytest.raises(AttributeError, match="write"):  # it is asked for more than its version
        await migrate.prepare(server, WORDS)
