"""Errors of a Neo4j server in RagForge's words."""

from __future__ import annotations

import pytest
from neo4j.exceptions import Neo4jError

from ragforge.adapters.stores.neo4j.failures import translate_errors
from ragforge.errors import DuplicateId


@pytest.mark.parametrize(
    ("properties", "named"),
    [
        ("property `uuid` = 'it''s, `odd`'", "it''s, `odd`"),
        ("properties `project_id` = 'p', `path` = '/a', `host` = 'vm'", "p, /a, vm"),
    ],
)
def test_a_taken_key_is_named_without_cypher(properties: str, named: str) -> None:
    message = f"Node(7) already exists with label `Project` and {properties}"
    error = Neo4jError._hydrate_neo4j(
        code="Neo.ClientError.Schema.ConstraintValidationFailed", message=message
    )
    with pytest.raises(DuplicateId) as raised, translate_errors("bolt://host"):
        raise error
    assert (raised.value.kind, raised.value.wanted) == ("project", named)
