"""The public surface: what `import ragforge` offers."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

import pytest

import ragforge
from ragforge import events, permissions


def test_every_public_name_can_be_imported() -> None:
    assert sorted(ragforge.__all__) == [
        "Answer",
        "App",
        "ContextOptions",
        "Conversation",
        "ConversationAgent",
        "Message",
        "RagForgeError",
        "Settings",
        "ToolCall",
        "ToolResult",
        "__version__",
        "ask",
        "load_settings",
        "open_app",
    ]
    for name in ragforge.__all__:
        assert getattr(ragforge, name) is not None


def test_a_name_that_is_not_public_is_told_by_name() -> None:
    with pytest.raises(AttributeError, match="'answer_me'"):
        ragforge.answer_me  # noqa: B018


def test_a_program_finds_all_it_needs_to_listen_and_to_approve() -> None:
    assert sorted(events.__all__) == [
        "Asked",
        "ContextBuilt",
        "Done",
        "Event",
        "OnEvent",
        "Reasoning",
        "Text",
        "ToolFinished",
        "ToolStarted",
        "Used",
    ]
    assert {event.__name__ for event in get_args(events.Event)} <= set(events.__all__)
    assert sorted(permissions.__all__) == ["Approve", "Verdict", "Wish", "edits_only", "nobody"]
    for module in (events, permissions):
        assert all(getattr(module, name) is not None for name in module.__all__)


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
