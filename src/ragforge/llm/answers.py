"""Answers: parse a model's text into the outputs that were asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Generic

from pydantic import ValidationError

from ragforge.domain.chat import JsonSchema
from ragforge.domain.text import Json
from ragforge.errors import BadAnswer
from ragforge.llm.task import Output, Rendered
from ragforge.records import dataclass

_PROBLEM_CHARS = 500


@dataclass(frozen=True, slots=True)
class ReadAnswer(Generic[Output]):
    """The outputs of an answer, and what is wrong with the others, by item."""

    outputs: Mapping[int, Output] = field(default_factory=dict)
    problems: Mapping[int, str] = field(default_factory=dict)


def build_answer_schema(output: type[Output], count: int) -> JsonSchema:
    """Return the schema of an answer about `count` items; one item needs no list."""
    schema = output.model_json_schema()
    if count == 1:
        return schema
    definitions = schema.pop("$defs", {})
    entry = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "output": schema},
        "required": ["id", "output"],
        "additionalProperties": False,
    }
    many: dict[str, Any] = {
        "type": "object",
        "properties": {"entries": {"type": "array", "items": entry}},
        "required": ["entries"],
        "additionalProperties": False,
    }
    return {**many, "$defs": definitions} if definitions else many


def read_answer(text: str, output: type[Output], items: Sequence[Rendered]) -> ReadAnswer[Output]:
    """Read an answer about these items; every one of them is in the outputs or the problems."""
    try:
        value = read_json(text)
    except BadAnswer as error:
        return ReadAnswer(problems=dict.fromkeys((item.index for item in items), str(error)))
    if len(items) == 1:
        [item] = items
        found = _take_single_entry(value, item.index)
        return _validate({item.index: found}, output, items)
    return _validate(_read_entries(value), output, items)


def _take_single_entry(value: Json, index: int) -> Json:
    """Return the output for one item, also if the model answered with a list of one."""
    if isinstance(value, dict) and set(value) == {"entries"}:
        return _read_entries(value).get(index, value)
    return value


def _read_entries(value: Json) -> dict[int, Json]:
    entries = value.get("entries") if isinstance(value, dict) else value
    found: dict[int, Json] = {}
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("id"), int) and "output" in entry:
            found.setdefault(entry["id"], entry["output"])
    return found


def _validate(
    found: Mapping[int, Json], output: type[Output], items: Sequence[Rendered]
) -> ReadAnswer[Output]:
    outputs: dict[int, Output] = {}
    problems: dict[int, str] = {}
    for item in items:
        if item.index not in found:
            problems[item.index] = "there is no entry with this id"
            continue
        try:
            outputs[item.index] = output.model_validate(found[item.index])
        except ValidationError as error:
            problems[item.index] = _describe_error(error)
    return ReadAnswer(outputs, problems)


def _describe_error(error: ValidationError) -> str:
    wrong = [
        f"{'.'.join(map(str, e['loc'])) or 'the output'}: {e['msg']}"
        for e in error.errors(include_url=False, include_input=False)
    ]
    return "; ".join(wrong)[:_PROBLEM_CHARS]


def read_json(text: str) -> Json:
    """Read the JSON in a model's text, also in a code fence or after a sentence.

    Raises BadAnswer.
    """
    try:
        return json.loads(text)
    except ValueError:
        pass
    decoder = json.JSONDecoder()
    starts = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    for start in sorted(starts):
        try:
            return decoder.raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            continue
    raise BadAnswer("the answer is not JSON")
