"""Tasks: what to do with items, the type of the output, and how a model's text becomes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from ragforge.domain.chat import JsonSchema, Usage
from ragforge.domain.text import Json, shorten, to_text
from ragforge.errors import BadAnswer, InputError, RagForgeError
from ragforge.llm.calls import ExecutedCall
from ragforge.records import dataclass

Output = TypeVar("Output", bound=BaseModel)
Item: TypeAlias = Mapping[str, Any]

CHARS_PER_TOKEN = 4
"""An estimate, used only for packing; providers count for themselves."""
_PROBLEM_CHARS = 500


@dataclass(frozen=True, slots=True)
class InputField:
    """One property of an item, as the model sees it."""

    name: str
    max_length: int | None = None  # in characters; the middle of longer values is left out
    prompt: str = ""  # explains the value to the model
    transform: Callable[[Any], Any] | None = None

    def render(self, item: Item) -> str:
        """Return the field as lines of a prompt. Raises InputError if the item lacks it."""
        if self.name not in item:
            raise InputError(f"The item has no field {self.name!r}; it has {sorted(item)}.")
        value = self.transform(item[self.name]) if self.transform else item[self.name]
        label = f"{self.name} ({self.prompt})" if self.prompt else self.name
        return f"{label}: {shorten(to_text(value), self.max_length)}"


@dataclass(frozen=True, slots=True)
class Task(Generic[Output]):
    """What to do with each item. Without `output` only the tools' results matter."""

    instruction: str
    output: type[Output] | None
    input_fields: Sequence[InputField | str]
    system: str = ""
    max_tokens: int | None = None
    temperature: float | None = None

    def render(self, item: Item) -> str:
        """Return an item as a prompt shows it."""
        fields = [InputField(f) if isinstance(f, str) else f for f in self.input_fields]
        return "\n".join(field.render(item) for field in fields)


@dataclass(frozen=True, slots=True)
class Packing:
    """How items are grouped into requests."""

    batch_size: int = 10
    parallel: int = 4
    token_budget: int = 16_000  # of items in one request

    def __post_init__(self) -> None:
        for name in ("batch_size", "parallel", "token_budget"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}: it must be at least 1.")


@dataclass(frozen=True, slots=True)
class Rendered:
    """An item of a batch, with its place in the caller's list."""

    index: int
    text: str

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.text)


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a text has."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return size // CHARS_PER_TOKEN + 1


def pack(items: Sequence[Rendered], packing: Packing) -> list[list[Rendered]]:
    """Put items into batches, in order; an item over the budget gets a separate batch."""
    batches: list[list[Rendered]] = []
    tokens = 0
    for item in items:
        full = not batches or len(batches[-1]) >= packing.batch_size
        if full or tokens + item.tokens > packing.token_budget:
            batches.append([])
            tokens = 0
        batches[-1].append(item)
        tokens += item.tokens
    return batches


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Output]):
    """The outcome of one item: an output or an error, and the calls made for it."""

    index: int
    output: Output | None = None
    error: RagForgeError | None = None
    calls: tuple[ExecutedCall, ...] = ()  # in the mode `global`, those of its whole batch


@dataclass(frozen=True, slots=True)
class BatchResult(Generic[Output]):
    """One outcome per item, in order, and every call that was executed."""

    outcomes: tuple[Outcome[Output], ...]
    calls: tuple[ExecutedCall, ...]
    usage: Usage

    @property
    def outputs(self) -> list[Output | None]:
        return [outcome.output for outcome in self.outcomes]

    @property
    def failed(self) -> list[Outcome[Output]]:
        return [outcome for outcome in self.outcomes if outcome.error is not None]


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How far a batch is; failed items are among the done."""

    done: int
    failed: int
    total: int


OnProgress: TypeAlias = Callable[[BatchProgress], None]


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
