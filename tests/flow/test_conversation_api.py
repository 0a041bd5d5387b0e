"""Conversations through the library: what a program does with its memory, on every engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ragforge import ConversationAgent, load_settings
from ragforge.app.upkeep import work_until_done
from ragforge.domain.conversations import Message, ToolCall, ToolResult
from ragforge.errors import ConversationNotFound, DuplicateId, InputError, MessageNotFound

KEY = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


@pytest.fixture
async def agent(environ: dict[str, str], project: Path) -> AsyncIterator[ConversationAgent]:
    small = environ | {"RAGFORGE_AGENT__MEMORY__MAX_CONTEXT_CHARS": "4000"}
    settings = load_settings(project, environ=small).settings
    async with await ConversationAgent.open(settings, project) as agent:
        yield agent


async def test_a_conversation_is_made_listed_and_loaded(agent: ConversationAgent) -> None:
    first = await agent.create_conversation(title="Refactor auth", tags=["auth"])
    second = await agent.create_conversation(title="Fix the cart", tags=["shop"])

    listed = await agent.list_conversations(status="active", tags=["auth"])
    assert [one.id for one in listed] == [first.id]
    assert {one.id for one in await agent.list_conversations()} == {first.id, second.id}
    loaded = await agent.load_conversation(first.id[:13])
    assert (loaded.id, loaded.facts.title, loaded.facts.tags) == (
        first.id,
        "Refactor auth",
        ("auth",),
    )
    with pytest.raises(ConversationNotFound):
        await agent.load_conversation("none")


async def test_turns_are_stored_read_and_found_without_their_secrets(
    agent: ConversationAgent,
) -> None:
    talk = await agent.create_conversation()
    calls = [
        ToolCall("grep_files", {"regex": "password"}, ToolResult(True, {"matches": []})),
        ToolCall(
            "read_file", {"path": "x"}, ToolResult(False, error="no such file"), success=False
        ),
    ]
    await talk.store_turn("Where are passwords validated?", "In auth.py.", tool_calls=calls)
    await talk.store_turn("Thanks", "Welcome.", reasoning=f"The token is {KEY}")
    await talk.store_messages(
        [Message("user", "And?"), Message("assistant", "Hm."), Message("assistant", "That is all.")]
    )

    history = await talk.get_history(limit=5)
    assert [message.content for message in history] == [
        "Thanks",
        "Welcome.",
        "And?",
        "Hm.",
        "That is all.",
    ]
    assert history[1].reasoning is not None
    assert KEY not in history[1].reasoning
    bare = await talk.get_history(include_tool_calls=False, include_reasoning=False)
    assert not any(message.tool_calls or message.reasoning for message in bare)
    [hit, *_] = await talk.search_history("password validation", limit=5)
    assert hit.turn.answer == "In auth.py."
    [call] = await talk.get_tool_calls(tool_name="grep_files", success=True, limit=5)
    assert call.arguments == {"regex": "password"}
    assert (await talk.refresh()).turn_count == 3


async def test_another_conversations_turns_are_not_found(agent: ConversationAgent) -> None:
    one, other = await agent.create_conversation(), await agent.create_conversation()
    await one.store_turn("The zebra is striped.", "Noted.")
    assert await other.search_history("zebra") == []


async def test_a_context_is_recent_relevant_or_both(agent: ConversationAgent) -> None:
    talk = await agent.create_conversation()
    await talk.store_turn("The zebra crossing is 4711.", "Noted.")
    for number in range(10):
        await talk.store_turn(f"Number {number}?", f"It is {number}.")
    await talk.store_turn("Which zebra crossing?", "Let me think.")

    recent = await talk.build_context(strategy="recent", recent_messages=3)
    assert [m.content for m in recent.recent] == [
        "It is 9.",
        "Which zebra crossing?",
        "Let me think.",
    ]
    assert recent.relevant == ()
    relevant = await talk.build_context(strategy="relevant", relevant_messages=2)
    assert relevant.recent == ()
    assert "4711" in {hit.turn.user.content.split()[-1].rstrip(".") for hit in relevant.relevant}
    both = await talk.build_context(recent_messages=2, relevant_messages=10, query="zebra")
    assert [m.content for m in both.recent] == ["Which zebra crossing?", "Let me think."]
    assert both.relevant[0].turn.user.content == "The zebra crossing is 4711."
    with pytest.raises(InputError, match="no strategy 'best'"):
        await talk.build_context(strategy="best")  # type: ignore[arg-type]


async def test_a_conversation_is_summarised_up_to_its_last_turn(agent: ConversationAgent) -> None:
    talk = await agent.create_conversation()
    assert await talk.summarize() == ""
    for number in range(8):
        await talk.store_turn(f"Is invoice {number} paid? {'x' * 60}", f"Invoice {number} is paid.")
    await work_until_done(agent.app, 60)
    await talk.store_turn("And the zebra?", "The zebra is striped.")

    text = await talk.summarize()
    assert "nvoice" in text
    assert "zebra" in text
    assert (await talk.build_context()).summary == text


async def test_a_conversation_goes_out_and_comes_back(agent: ConversationAgent) -> None:
    talk = await agent.create_conversation(title="Refactor auth")
    await talk.store_turn("Where is the login?", "In auth.py.")
    document = await talk.export()

    with pytest.raises(DuplicateId):
        await agent.import_conversation(document)
    copy = await agent.import_conversation(document, as_new=True)
    assert copy.id != talk.id
    assert [m.content for m in await copy.get_history()] == ["Where is the login?", "In auth.py."]


async def test_a_branch_shares_the_past_and_no_later_history(agent: ConversationAgent) -> None:
    talk = await agent.create_conversation(title="Refactor auth")
    first = await talk.store_turn("Plan A?", "Yes.")
    await talk.store_turn("Plan B?", "No.")

    branch = await talk.branch(first.replies[-1].uuid, title="Alternative approach")
    await branch.store_turn("Plan C?", "Maybe.")

    assert branch.facts.title == "Alternative approach"
    assert [m.content for m in await branch.get_history()] == [
        "Plan A?",
        "Yes.",
        "Plan C?",
        "Maybe.",
    ]
    assert len(await talk.get_history()) == 4
    with pytest.raises(MessageNotFound):
        await branch.branch(first.user.uuid)


async def test_similar_conversations_are_found(agent: ConversationAgent) -> None:
    auth = await agent.create_conversation(title="Auth")
    cart = await agent.create_conversation(title="Cart")
    await auth.store_turn("How do we refactor authentication?", "Move the token to a cookie.")
    await cart.store_turn("Why is the total wrong?", "Rounding.")

    [best, *_] = await agent.find_similar_conversations("refactoring authentication", limit=3)
    assert best.conversation.uuid == auth.id
