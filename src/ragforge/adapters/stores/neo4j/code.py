"""The brain in Neo4j."""

from __future__ import annotations

from ragforge.adapters.stores.neo4j.driver import Database
from ragforge.adapters.stores.neo4j.project_files import ProjectFiles
from ragforge.adapters.stores.neo4j.relations import Relations
from ragforge.adapters.stores.neo4j.scopes import Scopes
from ragforge.ports.words import Tokeniser


class Neo4jCode(ProjectFiles, Scopes, Relations):
    """Keeps the promises of `CodeStore`."""

    def __init__(self, database: Database, tokeniser: Tokeniser) -> None:
        self._database = database
        self._tokeniser = tokeniser
