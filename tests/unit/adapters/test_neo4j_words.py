"""Filters in Neo4j's indexes of words: what an index checks is not read from every hit."""

from __future__ import annotations

import pytest

from ragforge.adapters.stores.neo4j.cypher import CypherFilter, is_seen
from ragforge.adapters.stores.neo4j.messages import INDEXES
from ragforge.adapters.stores.neo4j.words import filter_seen, filter_terms, make_parameters

INDEX = "ragforge_turn_text"


def in_project(project: str) -> CypherFilter:
    seen = CypherFilter().add(is_seen("n"), filter_seen("ann@example.org"))
    terms = filter_terms("project_id", [project])
    return seen.add("n.project_id IN $projects", terms, projects=[project])


def test_a_search_that_the_index_filters_reads_few_hits() -> None:
    given = make_parameters((INDEX,), ["tiger"], in_project("a-b"), 10)

    assert given["options"] == {"limit": 40}
    assert given["projects"] == ["a-b"]
    expression = (
        '+(words:("tiger")^1.0) -(private_to:[* TO *] -private_to:("ann@example.org"))'
        ' +project_id:("a-b")^0'
    )
    assert given["searches"] == [{"index": INDEX, "expression": expression}]


def test_a_search_with_another_condition_reads_all_hits_of_the_project() -> None:
    where = in_project("a-b").add("n.timestamp_ms >= $since", since=1)

    given = make_parameters((INDEX,), ["tiger"], where, 10)

    assert given["options"] == {}
    [search] = given["searches"]
    assert '+project_id:("a-b")^0' in search["expression"]


def test_what_was_done_is_searched_by_separate_words() -> None:
    said, done = make_parameters(tuple(INDEXES.values()), ["tiger"], CypherFilter(), 10)["searches"]

    assert said["expression"] == '+(words:("tiger")^1.0)'
    assert done["expression"] == '+(deeds:("tiger")^1.0)'


def test_the_kind_of_passages_is_known_to_their_index() -> None:
    where = in_project("a-b").add("n.kind = $kind", "", kind="said")

    assert where.is_indexed
    assert make_parameters((INDEX,), ["tiger"], where, 10)["options"] == {"limit": 40}


@pytest.mark.parametrize("value", ["/work/my shop", "x" * 201, ""])
def test_a_value_that_is_not_a_single_word_is_not_given_to_the_index(value: str) -> None:
    assert filter_terms("project_id", [value]) is None
    assert filter_seen(value) is None
    assert not in_project(value).is_indexed


def test_a_name_does_not_match_a_longer_name_that_begins_with_it() -> None:
    assert filter_seen("ann") is None


def test_an_administrator_needs_no_filter_of_what_is_seen() -> None:
    where = CypherFilter().add(is_seen("n"), filter_seen(None))

    assert where.is_indexed
    assert where.narrow("a") == "+(a)"
