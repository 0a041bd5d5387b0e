"""A process that takes a turn with tools, and is killed at one step of it.

    python -m tests.faults.turn_taker STORE PROJECT SESSION STEP [retry]

Steps are counted from 0: one before and one after everything that is written to the store, to the
journal or to a file, and everything that is asked of the model, and one at each kind of event.
Without a step that comes, it takes the whole turn and prints how many steps it took.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

from ragforge import load_settings, open_app
from ragforge.agent.events import Event, Text
from ragforge.agent.permissions import allow_edits
from ragforge.brain.files.beneath import Parent
from ragforge.domain.chat import AssistantMessage, ChatRequest, ToolMessage
from ragforge.llm.ask import ChatClient
from ragforge.tools.edits import change
from tests.fakes.scripted_model import ScriptedModel, calls
from tests.faults.summariser import Steps

QUESTION = "Please write the word before the end of the file."
BEFORE = "end\n"
AFTER = "word end\n"
ANSWER = "It is written."
EDIT = {"path": "word.txt", "old_text": BEFORE, "new_text": AFTER}


def script(request: ChatRequest) -> AssistantMessage:
    """Edit a file, read it, and answer; whatever was done before is not done again."""
    results = [one for one in request.messages if isinstance(one, ToolMessage) and one.success]
    if not request.tools:  # a title
        return AssistantMessage('{"title": "A word"}')
    if not results:
        return calls(("edit_file", EDIT), text="I write.")
    if len(results) == 1:
        return calls(("read_file", {"path": "word.txt"}), text="I read.")
    return AssistantMessage(ANSWER)


def watch_function(place: Any, name: str, steps: Steps) -> None:
    """Take a step before and after each call of a module's function or a class's method."""
    operation = getattr(place, name)

    @wraps(operation)
    def stepping(*given: Any, **named: Any) -> Any:
        steps.take()
        result = operation(*given, **named)
        steps.take()
        return result

    setattr(place, name, stepping)


def watched(operation: Callable[..., Awaitable[Any]], steps: Steps) -> Any:
    """Return the operation with a step before and after it."""

    @wraps(operation)
    async def stepping(*given: Any, **named: Any) -> Any:
        steps.take()
        result = await operation(*given, **named)
        steps.take()
        return result

    return stepping


async def main(store: str, project: str, session: str, step: int, retry: bool) -> None:
    steps = Steps(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
    environ = {
        "RAGFORGE_STORE": store,
        "RAGFORGE_AGENT__STATE_DIR": f"{store}.state",
        "RAGFORGE_JOBS__DETACH": "false",
        "RAGFORGE_JOBS__CLOSING_SECONDS": "0",
        "RAGFORGE_EMBEDDINGS__MODEL": "none",
        "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "rules",
        "RAGFORGE_BRAIN__INGEST_AUTOMATICALLY": "false",
    }
    place = Path(project)
    model = ScriptedModel(script)
    model.reply = watched(model.reply, steps)  # type: ignore[method-assign]

    def hear(event: Event) -> None:
        if not isinstance(event, Text):
            steps.take()

    async with open_app(load_settings(place, environ=environ).settings, place) as opened:
        app = replace(opened, chat=ChatClient(model))
        conversations = app.store.timeline
        conversations.append = watched(conversations.append, steps)  # type: ignore[method-assign]
        finish = watched(conversations.finish_calls, steps)
        conversations.finish_calls = finish  # type: ignore[method-assign]
        watch_function(change, "apply_change", steps)
        watch_function(Parent, "replace", steps)
        if retry:
            await app.retry(session, on_event=hear, approve=allow_edits)
        else:
            await app.ask(QUESTION, session, on_event=hear, approve=allow_edits)
    print(steps.taken)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4], int(sys.argv[4]), sys.argv[5:] == ["retry"]))
