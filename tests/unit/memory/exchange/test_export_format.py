"""The export format: what is written down about it is what it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from ragforge.memory.exchange import export
from ragforge.memory.exchange.format import PARTS, ExportedConversation, build_json_schema

DOCS = Path(__file__).parents[4] / "docs"
TYPES = {"array": "list", "object": "object", "string": "text", "integer": "number"}


def kind(schema: dict[str, Any]) -> str:
    """Return in few words what a field holds."""
    if "anyOf" in schema:
        return " or ".join(kind(one) for one in schema["anyOf"])
    if "$ref" in schema:
        return "object"
    if schema.get("format") == "date-time":
        return "moment"
    if "enum" in schema or "const" in schema:
        values = schema.get("enum") or [schema["const"]]
        return "number" if isinstance(values[0], int) else "text"
    if schema.get("type") == "array" and "$ref" not in schema["items"]:
        return f"list of {kind(schema['items'])}s"
    if schema.get("type") == "array":
        return "list of objects"
    found = schema.get("type", "any JSON")
    return {**TYPES, "boolean": "true or false", "null": "null"}.get(found, found)


def table(part: type[BaseModel]) -> list[str]:
    """Return the lines of a part's table in the documentation."""
    schema = part.model_json_schema()
    lines = ["| field | holds | meaning |", "| --- | --- | --- |"]
    for name, field in schema["properties"].items():
        meaning = part.model_fields[name].description
        assert meaning, name
        lines.append(f"| `{name}` | {kind(field)} | {meaning} |")
    return lines


def test_the_format_and_its_version_are_told_once() -> None:
    fields = ExportedConversation.model_fields
    assert get_args(fields["format"].annotation) == (export.FORMAT,)
    assert get_args(fields["version"].annotation) == (export.VERSION,)


def test_the_schema_in_the_documentation_is_that_of_the_format() -> None:
    written = json.loads((DOCS / "export-format.schema.json").read_text("utf-8"))
    assert written == build_json_schema()


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_every_field_is_documented(part: type[BaseModel]) -> None:
    text = (DOCS / "export-format.md").read_text("utf-8")
    expected = "\n".join(table(part))
    assert expected in text, f"docs/export-format.md should hold:\n{expected}"


def test_no_part_is_forgotten() -> None:
    defined = build_json_schema()["$defs"].keys() | {"ExportedConversation"}
    assert {part.__name__ for part in PARTS} == defined


def test_everything_is_required_but_vectors_notes_parts_and_the_repository() -> None:
    for part in PARTS:
        schema = part.model_json_schema()
        left = schema["properties"].keys() - set(schema["required"])
        optional = {"embeddings", "notes", "parts", "repository"}
        assert left == (optional if part is ExportedConversation else set())
        assert schema["additionalProperties"] is False


def test_the_example_in_the_documentation_can_be_imported() -> None:
    from ragforge.memory.exchange.imports import build_bundle, check_document, parse_document

    text = (DOCS / "export-format.md").read_text("utf-8")
    example = text.partition("```json\n")[2].partition("```")[0]
    whole = build_bundle(check_document(parse_document(example.encode())))
    assert [message.role for message in whole.messages] == ["user", "assistant"]
