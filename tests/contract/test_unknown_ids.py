"""Unknown ids: each operation says which thing is missing, and changes nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from ragforge.domain.conversations import ConversationChanges
from ragforge.domain.schema import (
    CONVERSATION,
    JOB,
    MESSAGE,
    MESSAGE_PLACE,
    PROJECT,
    SCOPE,
    SUMMARY,
    TURN,
)
from ragforge.domain.work import revive
from ragforge.errors import (
    ConversationNotFound,
    FileNotKnown,
    JobNotFound,
    MessageNotFound,
    NotFound,
    ProjectNotFound,
    ScopeNotFound,
    SummaryNotFound,
    TurnNotFound,
)
from ragforge.ports.store import Store
from tests.fakes.builders import conversation, direction, parsed, reference, summary, user
from tests.fakes.code import embed_scopes, read_file
from tests.fakes.engines import counts
from tests.fakes.rich import fill

Ask = Callable[[Store, str], Awaitable[Any]]
CONVERSATIONS: dict[str, Ask] = {
    "get": lambda s, x: s.records.get(CONVERSATION, x),
    "update": lambda s, x: s.records.update(CONVERSATION, x, ConversationChanges(title="t")),
    "delete": lambda s, x: s.records.delete(CONVERSATION, x),
    "append": lambda s, x: s.timeline.append(x, [user()]),
    "messages": lambda s, x: s.timeline.messages(x),
    "newest messages": lambda s, x: s.timeline.messages(x, limit=5, newest=True),
    "recent_past": lambda s, x: s.timeline.recent_past(x, 5, 5),
    "archive.conversation": lambda s, x: s.archive.conversation(x),
    "embed_conversation": lambda s, x: s.index.embed(CONVERSATION, {x: direction(0)}),
    "save_summary": lambda s, x: s.timeline.save_summary(summary(x)),
    "coverage": lambda s, x: s.timeline.coverage(x),
    "coverage from a turn on": lambda s, x: s.timeline.coverage(x, 0),
    "forget_trims": lambda s, x: s.timeline.forget_trims(x),
}
MESSAGES: dict[str, Ask] = {
    "message": lambda s, x: s.records.get(MESSAGE, x),
    "place of a message": lambda s, x: s.records.get(MESSAGE_PLACE, x),
    "branch": lambda s, x: s.timeline.branch(x, conversation()),
    "embed_turns": lambda s, x: s.index.embed(TURN, {x: direction(0)}),
    "link": lambda s, x: s.timeline.link(MESSAGE, x, [reference("f")]),
    "link to nothing": lambda s, x: s.timeline.link(MESSAGE, x, []),
}
SUMMARIES: dict[str, Ask] = {
    "get": lambda s, x: s.records.get(SUMMARY, x),
    "delete": lambda s, x: s.records.delete(SUMMARY, x),
    "link": lambda s, x: s.timeline.link(SUMMARY, x, [], []),
    "embed": lambda s, x: s.index.embed(SUMMARY, {x: direction(0)}),
}
PROJECTS: dict[str, Ask] = {
    "project": lambda s, x: s.records.get(PROJECT, x),
    "delete_project": lambda s, x: s.records.delete(PROJECT, x),
    "replace_files": lambda s, x: s.code.replace_files(x, [parsed()]),
    "replace no files": lambda s, x: s.code.replace_files(x, []),
    "remove_files": lambda s, x: s.code.remove_files(x, ["src/cart.py"]),
}
OTHERS: dict[str, tuple[Ask, type[NotFound]]] = {
    "file": (lambda s, x: read_file(s, "shop", x), FileNotKnown),
    "file of no project": (lambda s, x: read_file(s, x, "src/cart.py"), FileNotKnown),
    "scope": (lambda s, x: s.records.get(SCOPE, x), ScopeNotFound),
    "embed": (lambda s, x: embed_scopes(s, {x: direction(0)}), ScopeNotFound),
    "job": (lambda s, x: s.records.get(JOB, x), JobNotFound),
    "revive": (lambda s, x: s.records.update(JOB, x, revive), JobNotFound),
}
CASES = [
    *((f"conversation: {name}", ask, ConversationNotFound) for name, ask in CONVERSATIONS.items()),
    *((f"message: {name}", ask, MessageNotFound) for name, ask in MESSAGES.items()),
    *((f"summary: {name}", ask, SummaryNotFound) for name, ask in SUMMARIES.items()),
    *((f"project: {name}", ask, ProjectNotFound) for name, ask in PROJECTS.items()),
    *((f"other: {name}", ask, error) for name, (ask, error) in OTHERS.items()),
]


async def test_every_operation_says_what_is_missing(store: Store) -> None:
    await fill(store)
    before = await counts(store)

    for name, ask, error in CASES:
        for unknown in ("none", "CART", "cart ", "", "%", "x" * 600):
            with pytest.raises(error) as missing:
                await ask(store, unknown)
            assert type(missing.value) is error, (name, unknown)
            if error is not TurnNotFound:
                assert missing.value.wanted in (unknown, "src/cart.py"), name

    assert await counts(store) == before


async def test_a_branch_with_a_bad_id_is_refused_like_a_new_conversation(store: Store) -> None:
    await fill(store)
    before = await counts(store)

    with pytest.raises(MessageNotFound):
        await store.timeline.branch("none", conversation(uuid="cart"))

    assert await counts(store) == before
