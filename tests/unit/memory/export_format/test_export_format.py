"""The export format: what is written down about it is what it is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

from ragforge.memory.export_format import writer
from ragforge.memory.export_format.format import ExportedConversation

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


def read_tables() -> list[dict[str, tuple[str, str]]]:
    """Return what the documentation says of the fields of each part: what it holds and means."""
    tables: list[dict[str, tuple[str, str]]] = []
    for line in (DOCS / "export-format.md").read_text("utf-8").splitlines():
        if line == "| field | holds | meaning |":
            tables.append({})
        elif found := re.fullmatch(r"\| `(\w+)` \| (.+?) \| (.+) \|", line):
            tables[-1][found[1]] = (found[2], found[3])
    return tables


def find_table(schema: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Return what the documentation says of a part with these fields."""
    names = list(schema["properties"])
    [found] = [table for table in read_tables() if list(table) == names]
    return found


def build_json_schema() -> dict[str, Any]:
    """Return the format as a JSON Schema, with the meanings of the documentation."""
    schema = ExportedConversation.model_json_schema()
    for part in (schema, *schema["$defs"].values()):
        for name, (_, meaning) in find_table(part).items():
            part["properties"][name]["description"] = meaning
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def test_the_format_and_its_version_are_written_once() -> None:
    fields = ExportedConversation.model_fields
    assert get_args(fields["format"].annotation) == (writer.FORMAT,)
    assert get_args(fields["version"].annotation) == (writer.VERSION,)


def test_the_schema_in_the_documentation_is_that_of_the_format() -> None:
    written = json.loads((DOCS / "export-format.schema.json").read_text("utf-8"))
    assert written == build_json_schema()


def test_every_field_is_documented() -> None:
    schema = ExportedConversation.model_json_schema()
    parts = [schema, *schema["$defs"].values()]
    assert len(read_tables()) == len(parts)
    for part in parts:
        holds = {name: kind(field) for name, field in part["properties"].items()}
        assert {name: found for name, (found, _) in find_table(part).items()} == holds


def test_everything_is_required_but_vectors_notes_parts_and_the_repository() -> None:
    schema = ExportedConversation.model_json_schema()
    for part in (schema, *schema["$defs"].values()):
        left = part["properties"].keys() - set(part["required"])
        optional = {"embeddings", "notes", "parts", "repository"}
        assert left == (optional if part is schema else set())
        assert part["additionalProperties"] is False


def test_the_example_in_the_documentation_can_be_imported() -> None:
    from ragforge.memory.export_format.reader import (
        Counter,
        build_bundle,
        check_document,
        parse_document,
    )

    text = (DOCS / "export-format.md").read_text("utf-8")
    example = text.partition("```json\n")[2].partition("```")[0]
    bundle = build_bundle(check_document(parse_document(example.encode())), Counter())
    assert [row["role"] for row in bundle["message"]] == ["user", "assistant"]
