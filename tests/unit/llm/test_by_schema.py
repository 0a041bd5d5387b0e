"""Tools through a schema: what a model is kept to by a server that follows schemas."""

from __future__ import annotations

from ragforge.domain.chat import ToolSpec
from ragforge.llm.by_schema import build_call_schema, read_calls, render_request, simplify_schema

EDIT = ToolSpec(
    "edit_file",
    "Edit.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "description": "The file"},
            "line": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
            "mode": {"enum": ["all", "one"]},
            "names": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["path"],
    },
)
NESTED = ToolSpec("nested", "Nest.", {"properties": {"inner": {"$ref": "#/$defs/Inner"}}})


def test_each_tool_has_its_own_arguments_in_the_schema() -> None:
    shape = build_call_schema(None, [EDIT, NESTED])
    edit, nested = shape["properties"]["tool_calls"]["items"]["anyOf"]
    assert edit["properties"]["name"]["enum"] == ["edit_file"]
    assert edit["properties"]["arguments"] == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "line": {"type": "integer"},
            "mode": {"type": "string", "enum": ["all", "one"]},
            "names": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["path"],
    }
    assert nested["properties"]["arguments"] == {"type": "object"}


def test_a_simple_schema_keeps_what_its_fields_are_for() -> None:
    found = simplify_schema(EDIT.parameters)
    assert found["properties"]["path"] == {
        "type": "string",
        "minLength": 1,
        "description": "The file",
    }


def test_an_answer_next_to_calls_is_not_believed() -> None:
    text = '{"tool_calls": [{"name": "edit_file", "arguments": {}}], "answer": "It passed."}'
    requests, final = read_calls(text, 1, as_text=True)
    assert [one.name for one in requests] == ["edit_file"]
    assert final == ""
    assert "It passed." not in render_request(requests)
