"""Checks: whether the parts of an exported document are consistent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ragforge.domain.conversations import BEFORE_FIRST_TURN
from ragforge.domain.text import Json
from ragforge.memory.exchange.format import ExportedConversation, MessagePart, SummaryPart

MAX_DEPTH = 500
"""How deep arguments and results may be nested."""

Problem: TypeAlias = tuple[str, str]  # the place, what is wrong with it


def find_problems(document: ExportedConversation) -> Iterator[Problem]:
    """Yield the inconsistencies of a document, in its order."""
    yield from _check_ids(document)
    yield from _check_turns(document.messages)
    yield from _check_values(document.messages)
    yield from _check_summaries(document)
    yield from _check_branches(document)
    yield from _check_owners(document)


def _check_ids(document: ExportedConversation) -> Iterator[Problem]:
    messages = [(f"messages[{n}]", message) for n, message in enumerate(document.messages)]
    calls = [
        (f"{place}.tool_calls[{n}]", call)
        for place, message in messages
        for n, call in enumerate(message.tool_calls)
    ]
    yield from _find_repeated((f"{place}.uuid", message.uuid) for place, message in messages)
    yield from _find_repeated((f"{place}.uuid", call.uuid) for place, call in calls)
    yield from _find_repeated(
        (f"{place}.result.uuid", c.result.uuid) for place, c in calls if c.result
    )
    for place, message in messages:
        found = enumerate(message.references)
        yield from _find_repeated(
            (f"{place}.references[{n}].scope_id", r.scope_id) for n, r in found
        )
    summaries = [(f"summaries[{n}]", summary) for n, summary in enumerate(document.summaries)]
    yield from _find_repeated((f"{place}.uuid", summary.uuid) for place, summary in summaries)
    for place, summary in summaries:
        files, scopes = enumerate(summary.files), enumerate(summary.scopes)
        yield from _find_repeated((f"{place}.files[{n}].file_id", f.file_id) for n, f in files)
        yield from _find_repeated((f"{place}.scopes[{n}].scope_id", s.scope_id) for n, s in scopes)
    yield from _find_repeated(
        (f"notes[{n}].uuid", note.uuid) for n, note in enumerate(document.notes)
    )


def _find_repeated(found: Iterable[tuple[str, str]]) -> Iterator[Problem]:
    seen: set[str] = set()
    for place, uuid in found:
        if uuid in seen:
            yield place, "stands in an earlier place too"
        seen.add(uuid)


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


def _check_values(messages: Iterable[MessagePart]) -> Iterator[Problem]:
    for number, message in enumerate(messages):
        if is_too_deep(message.receipt):
            yield f"messages[{number}].receipt", f"is nested deeper than {MAX_DEPTH} levels"
        for place, call in enumerate(message.tool_calls):
            where = f"messages[{number}].tool_calls[{place}]"
            if is_too_deep(call.arguments):
                yield f"{where}.arguments", f"is nested deeper than {MAX_DEPTH} levels"
            if call.result is not None and is_too_deep(call.result.result):
                yield f"{where}.result.result", f"is nested deeper than {MAX_DEPTH} levels"


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
                "is this conversation, its origin, or stands in an earlier place too",
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
        if embedding.owner_id not in known[embedding.owner]:
            yield place, f"names no {embedding.owner} in this document"
        elif (embedding.owner, embedding.owner_id) in seen:
            yield place, "stands in an earlier place too"
        seen.add((embedding.owner, embedding.owner_id))
