"""How a turn ends for an editor."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

pytest.importorskip("acp", reason="agent-client-protocol is not installed")

from acp import RequestError, text_block
from acp.schema import FileSystemCapabilities, PromptResponse

from ragforge.acp.session import EditorSession
from ragforge.app import App
from ragforge.domain.chat import Usage
from ragforge.domain.conversations import Conversation
from ragforge.errors import InputError


class FakeEditor:
    """Keeps the updates that it receives."""

    def __init__(self) -> None:
        self.updates: list[Any] = []

    async def session_update(self, session_id: str, update: Any) -> None:
        self.updates.append(update)


async def take_turn(
    editor: FakeEditor, title: str | None = None, question: str = "How?", **facts: Any
) -> PromptResponse:
    """Take the first turn of a session whose answer has these facts."""
    answer = {"model": "m", "content": "", "problem": None, "stopped": None, "usage": Usage(3, 2)}
    stored: list[Conversation] = []

    async def store_new(session: Conversation) -> Conversation:
        stored.append(session)
        return session

    async def load(uuid: str) -> Any:
        return SimpleNamespace(title=title)

    async def ask(question: str, uuid: str, **options: Any) -> Any:
        assert [one.uuid for one in stored] == [uuid]
        return SimpleNamespace(**{**answer, **facts})

    async def retry(uuid: str, **options: Any) -> Any:
        assert (options["mode"], stored) == ("ask", [])
        return SimpleNamespace(**{**answer, "model": None, "content": "It was resumed."})

    async def yes() -> bool:
        return True

    app = SimpleNamespace(
        project_path=Path("/work/shop"),
        prompts=SimpleNamespace(find=lambda kind: []),
        code=SimpleNamespace(is_ingested=yes, automatic_reading=SimpleNamespace(queue=yes)),
        sessions=SimpleNamespace(store_new=store_new, load=load),
        ask=ask,
        retry=retry,
    )
    new = Conversation("/work/shop", "/work/shop")
    session = EditorSession(cast(App, app), new, is_stored=False)
    client = cast(Any, editor)
    return await session.answer([text_block(question)], client, FileSystemCapabilities())


async def test_a_session_that_got_a_title_shows_it() -> None:
    editor = FakeEditor()
    ended = await take_turn(editor, title="Leases")
    assert ended.stop_reason == "end_turn"
    assert ended.usage is not None
    assert ended.usage.total_tokens == 5
    assert [(one.session_update, one.title) for one in editor.updates] == [
        ("session_info_update", "Leases")
    ]


async def test_without_a_model_what_was_found_is_the_answer() -> None:
    editor = FakeEditor()
    await take_turn(editor, model=None, content="leases.py:1 fits best.")
    assert [one.content.text for one in editor.updates] == ["leases.py:1 fits best."]


async def test_retry_resumes_the_last_turn() -> None:
    editor = FakeEditor()
    await take_turn(editor, question="/retry")
    assert editor.updates[0].content.text == "It was resumed."


async def test_an_empty_question_stores_no_session() -> None:
    with pytest.raises(InputError, match="empty"):
        await take_turn(FakeEditor(), question="  ")


async def test_a_limit_is_a_reason_to_stop_and_a_failure_is_an_error() -> None:
    editor = FakeEditor()
    ended = await take_turn(editor, problem="The time is over.", stopped="time")
    assert ended.stop_reason == "max_turn_requests"
    assert editor.updates[-1].content.text.strip() == "The time is over."
    with pytest.raises(RequestError, match="The provider is away"):
        await take_turn(FakeEditor(), problem="The provider is away.", stopped="failed")
