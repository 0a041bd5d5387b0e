"""Imports: bad documents are refused with the place that is wrong; secrets stay outside."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ragforge.errors import ImportRefused
from ragforge.memory.export_format import reader
from ragforge.memory.export_format.checks import MAX_DEPTH
from ragforge.memory.export_format.reader import (
    Counter,
    build_bundle,
    check_document,
    parse_document,
)
from ragforge.memory.export_format.writer import build_document, to_bytes
from tests.fakes.builders import (
    assistant,
    conversation,
    direction,
    level_2,
    mention,
    placed,
    reference,
    summary,
    tool_call,
    tool_result,
    user,
)
from tests.fakes.whole import Whole, WholeSummary, make_whole

SECRET = "sk-proj-" + "abcdEFGH1234" * 4


def whole(said: str = "Where is it?", answered: str = "Here.") -> Whole:
    """Return a conversation of two turns with one of everything."""
    call = tool_call(uuid="call", result=tool_result(uuid="result"))
    first = placed([user(said, uuid="t0"), assistant(answered, call, uuid="a0")])
    second = placed([user("And then?", uuid="t1")], turn=1, first=2)
    l1 = summary("c", 0, 1, uuid="l1")
    return Whole(
        conversation(uuid="c"),
        (*first, *second),
        {"a0": (reference("s"),)},
        (
            WholeSummary(l1, (0, 1), (mention("a.py"),), (reference("s"),)),
            WholeSummary(level_2([l1], uuid="l2")),
        ),
        vector=direction(1),
        turn_vectors={"t0": direction(2), "t1": direction(3)},
        summary_vectors={"l1": direction(4)},
    )


def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(to_bytes(build_document(whole().to_records())))
    return found


def read(given: Any) -> Whole:
    return make_whole(build_bundle(check_document(given), Counter()))


def imported(given: Whole) -> tuple[Whole, int]:
    """Return what comes in of an exported conversation, and how many texts had secrets."""
    counter = Counter()
    document = check_document(build_document(given.to_records()))
    return make_whole(build_bundle(document, counter)), counter.changes


def refused(given: object) -> str:
    with pytest.raises(ImportRefused) as caught:
        read(given)
    assert str(caught.value).startswith("This cannot be imported: ")
    assert str(caught.value).endswith(". Nothing was changed.")
    return caught.value.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "it is not JSON: Expecting value at line 1, column 1"),
        (b'{\n "a": }', "it is not JSON: Expecting value at line 2, column 7"),
        (b"\xff\xfe{}", "it is not UTF-8: see byte 0"),
        (b'{"a": NaN}', "NaN is not a number in JSON"),
        (b'{"a": -Infinity}', "-Infinity is not a number in JSON"),
        (b'{"a": 1e999}', "the number 1e999 is too large"),
        (b'{"a": 1, "b": 2, "a": 3}', "the field 'a' is given twice in one object"),
        (b"[" * 200_000, "a value in it is nested too deeply"),
        (b'{"a":' * 200_000, "a value in it is nested too deeply"),
        (b"1" * 10_000, "Exceeds the limit"),
    ],
)
def test_a_text_that_is_not_json_is_refused(text: bytes, reason: str) -> None:
    with pytest.raises(ImportRefused) as caught:
        parse_document(text)
    assert caught.value.reason.startswith(reason)


def test_a_byte_order_mark_is_accepted() -> None:
    assert parse_document(b"\xef\xbb\xbf[1]") == [1]


def test_a_text_beyond_measure_is_not_even_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_EXPORT_BYTES", 3)
    with pytest.raises(ImportRefused, match="larger than 3 bytes"):
        parse_document(b"{}  ")


@pytest.mark.parametrize("given", [None, [], "x", 7, {}, {"format": "other", "version": 1}])
def test_something_else_is_refused(given: object) -> None:
    assert refused(given) == 'it has no "format": "ragforge.conversation"'


@pytest.mark.parametrize(
    ("repository", "reason"),
    [
        ({"remote": "https://example.org/a", "roots": []}, "repository.remote should be the addr"),
        ({"remote": "me:secret@example.org/a", "roots": []}, "repository.remote should be the"),
        ({"remote": "example.org/a.git", "roots": []}, "repository.remote should be the address"),
        ({"remote": "", "roots": []}, "repository.remote should have at least 1 character"),
        ({"remote": None, "roots": ["no commit"]}, "repository.roots[0] should match pattern"),
        ({"remote": None, "roots": "x"}, "repository.roots should be a valid list"),
        ({"remote": None}, "repository.roots is missing"),
        ("github.com/a/b", "repository should be"),
    ],
)
def test_an_identity_that_no_repository_has_is_refused(repository: object, reason: str) -> None:
    assert refused(document() | {"repository": repository}).startswith(reason)


def test_a_newer_version_asks_for_an_upgrade() -> None:
    newer = refused({"format": "ragforge.conversation", "version": 7})
    assert (
        newer == "it has version 7 of the format, but this RagForge reads up to 6. Upgrade RagForge"
    )


def test_a_document_of_version_1_is_read_though_it_does_not_say_how() -> None:
    old = document() | {"version": 1}
    messages, summaries = old["messages"], old["summaries"]
    parts = [*messages[1]["references"], *summaries[0]["files"], *summaries[0]["scopes"]]
    for part in parts:
        del part["how"]
    for part in (*messages, *summaries):
        del part["summary_trimmed"]
        part.pop("link_pending", None)
        part.pop("read_at", None)

    found = read(old)

    assert [one.how for one in found.references["a0"]] == ["found"]  # perhaps by its tool call
    assert found.link_pending == {"t1"}  # its turn is linked to nothing yet
    assert [one.how for one in found.summaries[0].files] == ["named"]
    assert [one.how for one in found.summaries[0].scopes] == ["named"]
    assert "how" not in parts[0]
    assert refused(old | {"messages": 7}).startswith("messages should be a valid list")
    assert refused(old | {"messages": [7]}).startswith("messages[0] should be")
    odd = old | {"messages": [{**messages[0], "turn_index": []}]}
    assert refused(odd).startswith("messages[0].turn_index should be")


def test_a_document_of_version_3_is_read_though_it_knows_no_other_agents() -> None:
    old = document() | {"version": 3}
    for name in ("agent_version", "agent_session", "git_branch", "parent_id"):
        del old["conversation"][name]
    about = read(old).conversation
    assert (about.agent_version, about.agent_session, about.parent_id) == (None, None, None)
    assert refused(old | {"conversation": 7}).startswith("conversation should be")


def test_a_document_of_version_4_is_read_though_it_knows_no_prices() -> None:
    old = document() | {"version": 4}
    for message in old["messages"]:
        del message["usd"]
    assert [one.usd for one in read(old).messages] == [None] * len(old["messages"])


def test_a_document_of_version_5_is_read_though_it_has_no_vectors_of_passages() -> None:
    assert read(document() | {"version": 5}) == read(document())


def test_vectors_of_passages_come_with_their_turns_unless_these_had_secrets() -> None:
    vectors = {"t0:1": direction(5), "t1:done": direction(6)}
    found = replace(whole(answered=f"It is {SECRET}."), passage_vectors=vectors).to_records()
    given: dict[str, Any] = json.loads(to_bytes(build_document(found)))

    bundle = build_bundle(check_document(given), Counter())

    owners = [one["owner_id"] for one in bundle["vector"] if one["owner_kind"] == "passage"]
    assert owners == ["t1:done"]
    given["embeddings"][-1] |= {"owner": "passage", "owner_id": "gone:1"}
    assert refused(given).endswith("owner_id names no passage in this document")


@pytest.mark.parametrize("version", [0, "6", True, None, 6.0])
def test_a_version_that_never_was_is_refused(version: object) -> None:
    assert refused({**document(), "version": version}).startswith("version should be 6")


Change = Callable[[dict[str, Any]], object]
CHANGES: dict[str, tuple[Change, str]] = {
    "missing": (lambda d: d["messages"][1].pop("role"), "messages[1].role is missing"),
    "extra": (
        lambda d: d["messages"][0].update(mood="fine"),
        "messages[0].mood is not a field of this format",
    ),
    "extra at the top": (lambda d: d.update(x=1), "x is not a field of this format"),
    "no messages": (lambda d: d.pop("messages"), "messages is missing"),
    "wrong type": (
        lambda d: d["messages"][0].update(content=5),
        "messages[0].content should be a valid string",
    ),
    "true is not a number": (
        lambda d: d["messages"][0].update(position=True),
        "messages[0].position should be a valid integer",
    ),
    "unknown role": (
        lambda d: d["messages"][2].update(role="robot"),
        "messages[2].role should be 'user', 'assistant' or 'system'",
    ),
    "half a pair": (
        lambda d: d["messages"][0].update(content="ab\ud83d"),
        "messages[0].content should be valid Unicode; half of a surrogate pair at character 2",
    ),
    "half a pair in an id": (
        lambda d: d["messages"][0].update(uuid="\ud83d"),
        "messages[0].uuid should be",
    ),
    "half a pair in a tag": (
        lambda d: d["conversation"].update(tags=["", "\ud83d"]),
        "conversation.tags[1] should be valid Unicode",
    ),
    "true is not a level": (
        lambda d: d["summaries"][0].update(level=True),
        "summaries[0].level should be 1 or 2",
    ),
    "no offset": (
        lambda d: d["messages"][0].update(timestamp="2025-12-09T14:30:00"),
        "messages[0].timestamp should be a time with an offset",
    ),
    "a number as time": (
        lambda d: d["conversation"].update(created_at=7),
        "conversation.created_at should be a time with an offset",
    ),
    "before all time": (
        lambda d: d["conversation"].update(created_at="0001-01-01T00:00:00+14:00"),
        "conversation.created_at should be a time with an offset",
    ),
    "an empty id": (
        lambda d: d["conversation"].update(uuid=""),
        "conversation.uuid should have at least 1 character",
    ),
    "a long id": (
        lambda d: d["conversation"].update(uuid="x" * 513),
        "conversation.uuid should have at most 512 characters",
    ),
    "an absurd number": (
        lambda d: d["messages"][0].update(token_count=2**63),
        "messages[0].token_count should be less than or equal to",
    ),
    "a deep value": (
        lambda d: d["messages"][1]["tool_calls"][0].update(
            arguments=json.loads("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2))
        ),
        f"messages[1].tool_calls[0].arguments is nested deeper than {MAX_DEPTH} levels",
    ),
    "a message twice": (
        lambda d: d["messages"][1].update(uuid="t0"),
        "messages[1].uuid is used more than once",
    ),
    "a result twice": (
        lambda d: d["messages"][0].update(
            tool_calls=[{**d["messages"][1]["tool_calls"][0], "uuid": "other"}]
        ),
        "messages[1].tool_calls[0].result.uuid is used more than once",
    ),
    "a reference twice": (
        lambda d: d["messages"][1].update(references=d["messages"][1]["references"] * 2),
        "messages[1].references[1].scope_id is used more than once",
    ),
    "a position that goes back": (
        lambda d: d["messages"][2].update(position=1),
        "messages[2].position should be greater than that of the message before it",
    ),
    "a turn that goes back": (
        lambda d: d["messages"][2].update(turn_index=0),
        "messages[2].turn_index should be greater than that of the turn before it",
    ),
    "an answer to nothing": (
        lambda d: d["messages"][1].update(turn_index=7),
        "messages[1].turn_index names a turn that no earlier user message opens",
    ),
    "a turn that is not there": (
        lambda d: d["summaries"][0].update(covers=[0, 5]),
        "summaries[0].covers[1] names a turn that is not in this document",
    ),
    "a turn out of range": (
        lambda d: d["summaries"][0].update(end_turn_index=0),
        "summaries[0].covers[1] lies outside the summary's own range",
    ),
    "a turn covered twice": (
        lambda d: d["summaries"][0].update(covers=[0, 0]),
        "summaries[0].covers[1] is covered already",
    ),
    "an unknown parent": (
        lambda d: d["summaries"][1].update(parent_summaries=["l1", "nobody"]),
        "summaries[1].parent_summaries[1] names no summary of level 1 in this document",
    ),
    "level 3": (
        lambda d: d["summaries"][0].update(level=3),
        "summaries[0].level should be 1 or 2",
    ),
    "its own branch": (
        lambda d: d.update(branch_of={"conversation_id": "c", "message_id": "m"}),
        "branch_of.conversation_id is the conversation itself",
    ),
    "a vector without an owner": (
        lambda d: d["embeddings"][1].update(owner_id="a0"),
        "embeddings[1].owner_id names no turn in this document",
    ),
    "a vector twice": (
        lambda d: d["embeddings"][2].update(owner_id="t0"),
        "embeddings[2].owner_id is used more than once",
    ),
    "no base64": (
        lambda d: d["embeddings"][0].update(data="a?b"),
        "embeddings[0].data is not base64",
    ),
    "no base64 at all": (
        lambda d: d["embeddings"][0].update(data="été"),
        "embeddings[0].data is not base64",
    ),
    "half a number": (
        lambda d: d["embeddings"][0].update(data=base64.b64encode(b"abc").decode()),
        "embeddings[0].data is not a vector",
    ),
    "a vector without direction": (
        lambda d: d["embeddings"][0].update(data=base64.b64encode(bytes(8)).decode()),
        "embeddings[0].data is not a vector",
    ),
}


@pytest.mark.parametrize("case", CHANGES, ids=str)
def test_the_place_that_is_wrong_is_named(case: str) -> None:
    change, reason = CHANGES[case]
    given = document()
    change(given)
    assert refused(given).startswith(reason)


def test_many_problems_are_listed_in_part() -> None:
    given = document()
    for message in given["messages"]:
        del message["role"]
        del message["content"]
    assert refused(given) == (
        "messages[0].role is missing; messages[0].content is missing; "
        "messages[1].role is missing, and more"
    )


def test_what_was_exported_passes_all_checks() -> None:
    assert read(document()) == whole()


def test_secrets_are_taken_out_of_every_text() -> None:
    call = tool_call(
        arguments={"header": f"Authorization: Bearer {SECRET}"},
        result=tool_result({"password": "hunter2hunter2"}, error=f"bad key {SECRET}"),
    )
    said = placed([user(SECRET), assistant(SECRET, call, reasoning=SECRET)])
    l1 = replace(
        summary("c", conversation_summary=SECRET, actions_summary=SECRET),
        key_findings=("fine", SECRET),
        topics=(SECRET,),
    )
    dirty = Whole(
        conversation(uuid="c", title=SECRET, summary=SECRET, tags=(SECRET, "fine")),
        tuple(said),
        {},
        (WholeSummary(l1, (0,)),),
    )

    clean, count = imported(dirty)

    text = to_bytes(build_document(clean.to_records())).decode()
    assert SECRET not in text
    assert "hunter2" not in text
    assert text.count("[redacted") == count == 13
    assert clean.conversation.tags[1] == "fine"
    assert imported(clean) == (clean, 0)


def test_a_vector_of_a_redacted_text_is_removed_and_others_stay() -> None:
    clean, count = imported(whole(answered=f"The key is {SECRET}"))
    assert count == 1
    assert clean.turn_vectors == {"t1": direction(3)}
    assert clean.summary_vectors == {"l1": direction(4)}
    assert clean.vector == direction(1)


def test_without_secrets_nothing_changes() -> None:
    assert imported(whole()) == (whole(), 0)
