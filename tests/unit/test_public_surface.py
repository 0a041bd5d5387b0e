"""The public surface: what `import ragforge` offers."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from typing import get_args

import pytest

import ragforge
from ragforge import Conversation, ConversationAgent, events, permissions


def test_every_public_name_can_be_imported() -> None:
    assert sorted(ragforge.__all__) == [
        "Answer",
        "App",
        "ContextOptions",
        "Conversation",
        "ConversationAgent",
        "InputField",
        "Message",
        "Note",
        "Packing",
        "RagForgeError",
        "Settings",
        "StructuredLLMExecutor",
        "Summary",
        "Task",
        "ToolCall",
        "ToolResult",
        "ToolUse",
        "Turn",
        "UserQuery",
        "__version__",
        "ask",
        "load_settings",
        "open_app",
        "own_tool",
    ]
    for name in ragforge.__all__:
        assert getattr(ragforge, name) is not None


def test_an_error_names_the_attribute_that_is_not_public() -> None:
    with pytest.raises(AttributeError, match="'answer_me'"):
        ragforge.answer_me  # noqa: B018


def test_a_program_finds_all_it_needs_to_listen_and_to_approve() -> None:
    assert sorted(events.__all__) == [
        "CommandPrinted",
        "ContextBuilt",
        "Done",
        "Event",
        "Noticed",
        "OnEvent",
        "QuestionStored",
        "Reasoning",
        "Text",
        "ToolFinished",
        "ToolStarted",
        "Used",
        "Waiting",
    ]
    assert {event.__name__ for event in get_args(events.Event)} <= set(events.__all__)
    assert sorted(permissions.__all__) == [
        "Approve",
        "Mode",
        "PermissionRequest",
        "Verdict",
        "allow_edits",
        "deny_all",
    ]
    for module in (events, permissions):
        assert all(getattr(module, name) is not None for name in module.__all__)


@pytest.mark.parametrize(
    ("method", "names"),
    [
        (ConversationAgent.open, "config cwd tools"),
        (ConversationAgent.create_conversation, "title tags"),
        (ConversationAgent.load_conversation, "conversation_id"),
        (ConversationAgent.list_conversations, "limit status tags"),
        (ConversationAgent.create_session, "cwd project_path"),
        (ConversationAgent.get_sessions_by_cwd, "cwd"),
        (ConversationAgent.load_session, "session_id"),
        (ConversationAgent.should_create_l1_summary, "session"),
        (ConversationAgent.find_similar_conversations, "query limit"),
        (ConversationAgent.import_conversation, "data"),
        (ConversationAgent.batch_analyze, "items task output_schema"),
        (
            ConversationAgent.search_conversation_history,
            "query semantic max_results include_turns levels min_score since until",
        ),
        (
            ConversationAgent.search_code_semantic,
            "query cwd initial_limit max_chars min_score",
        ),
        (ConversationAgent.search_code, "query limit"),
        (ConversationAgent.ingest, "on_step"),
        (ConversationAgent.get_summaries_by_date_range, "since until level"),
        (ConversationAgent.get_recent_summaries, "days level"),
        (ConversationAgent.trim_summaries_by_date, "before level conversation everywhere"),
        (ConversationAgent.remember, "text tags supersedes conversation rule"),
        (ConversationAgent.notes, "query tags"),
        (ConversationAgent.forget_note, "note_id"),
        (Conversation.send_message, "text"),
        (Conversation.get_history, "limit include_tool_calls include_reasoning"),
        (Conversation.search_history, "query limit"),
        (Conversation.get_tool_calls, "tool_name success limit"),
        (Conversation.get_recent_turns, "max_chars limit"),
        (Conversation.get_last_user_queries, "max_chars limit"),
        (
            Conversation.build_context,
            "strategy recent_messages relevant_messages include_summary",
        ),
        (Conversation.branch, "from_message_id title"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_methods_take_their_arguments_by_the_names_of_the_plans(
    method: Callable[..., object], names: str
) -> None:
    assert set(names.split()) <= set(inspect.signature(method).parameters)


def test_importing_ragforge_loads_nothing_heavy() -> None:
    heavy = ("numpy", "pydantic", "apsw", "neo4j", "rich", "typer", "asyncio")
    code = f"import ragforge, sys; print([m for m in {heavy!r} if m in sys.modules])"

    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == "[]"


def test_using_the_embedded_store_does_not_load_the_neo4j_driver() -> None:
    modules = "ragforge.app, ragforge.adapters.stores.sqlite.store, sys"
    code = f"import {modules}; print('neo4j' in sys.modules)"

    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == "False"


def test_a_turn_without_a_chat_model_loads_no_providers_library() -> None:
    code = """
import asyncio, sys, tempfile, pathlib
from ragforge import load_settings, open_app

async def main(folder):
    environ = {"RAGFORGE_STORE": str(folder / "store.db")}
    async with open_app(load_settings(folder, environ=environ).settings, folder) as app:
        await app.ask("How are sessions found?")

with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(pathlib.Path(folder)))
heavy = ("pydantic_ai", "openai", "anthropic", "google.genai", "httpx2", "onnxruntime", "neo4j")
print([name for name in heavy if name in sys.modules])
"""
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == "[]"
