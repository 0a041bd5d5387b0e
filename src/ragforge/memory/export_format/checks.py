"""Checks: whether the parts of an exported document are consistent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pydantic import BaseModel

from ragforge.domain.conversations import BEFORE_FIRST_TURN
from ragforge.domain.passages import get_turn_id
from ragforge.domain.text import Json
from ragforge.memory.export_format.format import ExportedConversation, MessagePart, SummaryPart

MAX_DEPTH = 500
"""How deep arguments and results may be nested."""

Problem: TypeAlias = tuple[str, str]  # the place, what is wrong with it


def find_problems(document: ExportedConversation) -> Iterator[Problem]:
    """Yield the inconsistencies of a document."""
    yield from _check_parts(document)
    yield from _check_turns(document.messages)
    yield from _check_summaries(document)
    yield from _check_branches(document)
    yield from _check_owners(document)


def _check_parts(document: ExportedConversation) -> Iterator[Problem]:
    """Check that ids are unique, those of code within what refers to it, and values not deep."""
    seen: set[tuple[str, ...]] = set()
    for place, part in _walk("", document):
        owner = place.rpartition("[")[0]
        for name, value in part:
            where = f"{place}.{name}"
            if name in ("uuid", "scope_id", "file_id"):
                key = (type(part).__name__, value, "" if name == "uuid" else owner)
                if key in seen:
                    yield where, "is used more than once"
                seen.add(key)
            elif name in ("receipt", "arguments", "result") and is_too_deep(value):
                yield where, f"is nested deeper than {MAX_DEPTH} levels"


def _walk(place: str, part: BaseModel) -> Iterator[tuple[str, BaseModel]]:
    """Yield a part of a document and all in it, each with its place."""
    yield place, part
    for name, value in part:
        where = f"{place}.{name}" if place else name
        if isinstance(value, BaseModel):
            yield from _walk(where, value)
        elif isinstance(value, list) and value and isinstance(value[0], BaseModel):
            for number, one in enumerate(value):
                yield from _walk(f"{where}[{number}]", one)


def _check_turns(messages: Iterable[MessagePart]) -> Iterator[Problem]:
    last_position = newest = -1
    opened = {BEFORE_FIRST_TURN}
    for number, message in enumerate(messages):
        place = f"messages[{number}]"
        if message.position <= last_position:
            yield f"{place}.position", "should be greater than that of the message before it"
        last_position = message.position
        if message.role != "user":
            if message.turn_index not in opened:
                yield f"{place}.turn_index", "names a turn that no earlier user message opens"
            continue
        if message.turn_index <= newest:
            yield f"{place}.turn_index", "should be greater than that of the turn before it"
        newest = message.turn_index
        opened.add(newest)


def is_too_deep(value: Json) -> bool:
    """Tell whether a value is nested too deeply; works for any depth."""
    level: list[Json] = [value]
    for _ in range(MAX_DEPTH + 1):
        inner: list[Json] = []
        for item in level:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        level = [item for item in inner if isinstance(item, (dict, list))]
        if not level:
            return False
    return True


def _check_summaries(document: ExportedConversation) -> Iterator[Problem]:
    turns = {message.turn_index for message in document.messages if message.role == "user"}
    first_level = {summary.uuid for summary in document.summaries if summary.level == 1}
    covered: set[int] = set()
    for number, summary in enumerate(document.summaries):
        place = f"summaries[{number}]"
        if summary.end_turn_index < summary.start_turn_index:
            yield f"{place}.end_turn_index", "comes before start_turn_index"
        if summary.level == 1:
            yield from _check_covers(place, summary, turns, covered)
            covered.update(summary.covers)
            if summary.parent_summaries:
                yield f"{place}.parent_summaries", "should be empty in a summary of level 1"
        else:
            if summary.covers:
                yield f"{place}.covers", "should be empty in a summary of level 2"
            for parent, uuid in enumerate(summary.parent_summaries):
                if uuid not in first_level:
                    yield (
                        f"{place}.parent_summaries[{parent}]",
                        "names no summary of level 1 in this document",
                    )


def _check_covers(
    place: str, summary: SummaryPart, turns: set[int], covered: set[int]
) -> Iterator[Problem]:
    own: set[int] = set()
    for number, turn in enumerate(summary.covers):
        where = f"{place}.covers[{number}]"
        if turn not in turns:
            yield where, "names a turn that is not in this document"
        elif not summary.start_turn_index <= turn <= summary.end_turn_index:
            yield where, "lies outside the summary's own range"
        elif turn in covered or turn in own:
            yield where, "is covered already"
        own.add(turn)


def _check_branches(document: ExportedConversation) -> Iterator[Problem]:
    own = document.conversation.uuid
    origin = document.branch_of
    if origin is not None and origin.conversation_id == own:
        yield "branch_of.conversation_id", "is the conversation itself"
    seen = {own} if origin is None else {own, origin.conversation_id}
    for number, point in enumerate(document.branches):
        if point.conversation_id in seen:
            yield (
                f"branches[{number}].conversation_id",
                "is this conversation, its origin, or a repeated id",
            )
        seen.add(point.conversation_id)


def _check_owners(document: ExportedConversation) -> Iterator[Problem]:
    known = {
        "conversation": {document.conversation.uuid},
        "turn": {message.uuid for message in document.messages if message.role == "user"},
        "summary": {summary.uuid for summary in document.summaries},
        "note": {note.uuid for note in document.notes},
    }
    seen: set[tuple[str, str]] = set()
    for number, embedding in enumerate(document.embeddings):
        place = f"embeddings[{number}].owner_id"
        owner, owner_id = embedding.owner, embedding.owner_id
        is_known = (
            get_turn_id(owner_id) in known["turn"]
            if owner == "passage"
            else owner_id in known[owner]
        )
        if not is_known:
            yield place, f"names no {owner} in this document"
        elif (owner, owner_id) in seen:
            yield place, "is used more than once"
        seen.add((owner, owner_id))
