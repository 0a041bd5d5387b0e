"""Exports: a document that says everything, the same for the same conversation."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from ragforge.domain.conversation_bundle import copy_with_new_ids
from ragforge.errors import InvalidJson
from ragforge.memory.export_format.reader import (
    Counter,
    build_bundle,
    check_document,
    parse_document,
)
from ragforge.memory.export_format.writer import build_document, to_bytes
from tests.fakes.builders import assistant, conversation, placed, tool_call, tool_result, user
from tests.fakes.hostile import HOSTILE
from tests.fakes.random_wholes import wholes
from tests.fakes.whole import BranchPoint, Whole, make_whole, set_counters

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def read(data: bytes) -> Whole:
    """Return what a document says, with the counters that a store would make."""
    whole = make_whole(build_bundle(check_document(parse_document(data)), Counter()))
    return replace(whole, conversation=set_counters(whole.conversation, whole.messages))


@given(wholes())
@settings(suppress_health_check=SLOW)
def test_a_document_says_everything_about_any_conversation(whole: Whole) -> None:
    linked = replace(
        whole,
        branch_of=BranchPoint("origin", "message"),
        branches=(BranchPoint("one", "m"), BranchPoint("two", "é\x00")),
    )
    data = to_bytes(build_document(linked.to_records()))
    assert read(data) == linked
    assert to_bytes(build_document(read(data).to_records())) == data


@given(wholes())
@settings(suppress_health_check=SLOW)
def test_a_copy_with_new_ids_differs_in_nothing_else(whole: Whole) -> None:
    copy = make_whole(copy_with_new_ids(whole.to_records()))

    def without_ids(one: Whole) -> str:
        text = to_bytes(build_document(one.to_records())).decode()
        ids = [one.conversation.uuid, *(m.uuid for m in one.messages)]
        ids += [known.summary.uuid for known in one.summaries]
        calls = [call for message in one.messages for call in message.tool_calls]
        ids += [c.uuid for c in calls] + [c.result.uuid for c in calls if c.result]
        for number, uuid in enumerate(ids):
            text = text.replace(uuid, f"id {number}")
        return text

    before, after = without_ids(whole), without_ids(copy)
    # Summaries that begin at one turn are ordered by their ids, which are new.
    assert sorted(before) == sorted(after)


def test_vectors_are_left_out_unless_they_are_asked_for() -> None:
    whole = Whole(conversation(uuid="c"))
    assert "embeddings" not in build_document(whole.to_records(), with_embeddings=False)
    assert build_document(whole.to_records(), with_embeddings=True)["embeddings"] == []
    assert read(to_bytes(build_document(whole.to_records(), with_embeddings=False))) == whole


def test_a_document_is_utf_8_and_has_a_message_a_line() -> None:
    said = placed([user(HOSTILE["east asian"]), assistant(HOSTILE["newlines"])])
    whole = Whole(conversation(uuid="c", title="Été"), tuple(said))

    lines = to_bytes(build_document(whole.to_records())).decode().splitlines()

    assert any(HOSTILE["east asian"] in line for line in lines)
    assert sum('"role"' in line for line in lines) == 2
    assert json.loads("\n".join(lines))["conversation"]["title"] == "Été"


def test_half_a_surrogate_pair_inside_json_is_escaped_and_comes_back() -> None:
    call = tool_call(arguments={"\ud800": "zebra\udc00 👍"}, result=tool_result("\ud83d"))
    whole = Whole(conversation(uuid="c"), tuple(placed([assistant("", call)], -1)))

    data = to_bytes(build_document(whole.to_records()))

    assert b"\\ud800" in data
    assert "👍".encode() in data
    assert read(data).messages == whole.messages


def test_a_value_that_is_nested_beyond_measure_is_refused() -> None:
    deep: list[object] = []
    for _ in range(200_000):
        deep = [deep]
    with pytest.raises(InvalidJson, match="nested too deeply"):
        to_bytes({"messages": deep})
