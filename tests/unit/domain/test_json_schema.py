"""JSON Schema: values are judged as by the reference implementation, and wrong schemas refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.domain.json_schema import check_schema, find_problems
from ragforge.errors import InputError

jsonschema = pytest.importorskip("jsonschema", reason="the reference implementation is missing")

SCHEMAS: list[dict[str, Any]] = [
    {},
    {"type": "integer", "minimum": 0, "exclusiveMaximum": 3, "multipleOf": 2},
    {"type": ["string", "null"], "minLength": 1, "maxLength": 2, "pattern": "^a"},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 2},
    {"prefixItems": [{"type": "string"}], "items": False, "uniqueItems": True},
    {"contains": {"const": 1}},
    {"enum": [1, "a", None, [True], {"a": 0}]},
    {"properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["a"], "$defs": {"n": {"const": 0}}},
    {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "number"}},
    {"minProperties": 1, "maxProperties": 1, "additionalProperties": True},
    {"anyOf": [{"type": "string"}, {"minimum": 2}], "not": {"const": "b"}},
    {"oneOf": [{"type": "number"}, {"type": "integer"}]},
    {"allOf": [{"minimum": 0}, {"maximum": 1}]},
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 4)
    | st.sampled_from([0.0, 0.5, 1.0, 2.0])
    | st.sampled_from(["", "a", "b", "ab", "abc"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(value=VALUES)
def test_a_value_fits_where_the_reference_implementation_says_so(value: Any) -> None:
    for schema in SCHEMAS:
        expected = jsonschema.Draft202012Validator(schema).is_valid(value)
        assert (find_problems(value, check_schema(schema)) == []) == expected, schema


def test_problems_name_the_place_and_the_value() -> None:
    schema = {
        "type": "object",
        "properties": {
            "files": {"type": "array", "items": {"type": "string"}},
            "kind": {"enum": ["bug", "idea"]},
        },
        "required": ["kind", "title"],
        "additionalProperties": False,
    }
    value = {"files": ["a.py", 3], "kind": "x", "more": 1}
    assert find_problems(value, schema) == [
        "the answer lacks the property 'title'",
        "files[1] must be string, not 3",
        'kind must be one of ["bug", "idea"], not \'x\'',
        "more must not be there",
    ]


@pytest.mark.parametrize(
    "schema",
    [
        7,
        {"properties": {"a": {"if": {}}}},
        {"items": {"type": "text"}},
        {"items": [{"type": "string"}]},
        {"enum": "a"},
        {"properties": []},
        {"minLength": "1"},
        {"multipleOf": 0},
        {"pattern": "("},
        {"$ref": "#/$defs/none"},
        {"$ref": "https://example.org/schema"},
    ],
)
def test_a_schema_that_cannot_be_checked_is_refused(schema: Any) -> None:
    with pytest.raises(InputError):
        check_schema(schema)


def test_a_schema_that_refers_to_itself_without_end_fits_nothing() -> None:
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert find_problems(1, check_schema(schema))
