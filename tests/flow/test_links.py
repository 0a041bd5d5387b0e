"""Memory and code: what was talked about, and what has become of it."""

from __future__ import annotations

import pytest

from ragforge.domain.conversations import ToolResult
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.turns import Turn
from ragforge.memory.code.age import age_of_summary, age_of_turn
from ragforge.ports.store import Store
from tests.fakes.builders import SHOP, assistant, parsed, project, scope, tool_call, user
from tests.fakes.remembering import Memory, memory_of


@pytest.fixture
async def memory(store: Store) -> Memory:
    """A memory beside the code of a shop."""
    await store.code.save_project(project(SHOP, uuid="shop"))
    cart = [
        scope("Cart", lines=(1, 30), uuid="cart"),
        scope("add", lines=(3, 9), qualified_name="Cart.add", uuid="add"),
        scope("total", lines=(10, 20), qualified_name="Cart.total", uuid="total"),
    ]
    other = scope("add", lines=(1, 5), uuid="other-add")
    files = [parsed("src/cart.py", *cart), parsed("src/other.py", other)]
    await store.code.replace_files("shop", files)
    return memory_of(store)


async def referred(memory: Memory, turn: Turn) -> list[str]:
    ids = [message.uuid for message in (turn.user, *turn.replies)]
    found = await memory.store.conversations.references_of(ids)
    return [one.qualified_name for message_id in ids for one in found.get(message_id, [])]


async def test_a_turn_refers_to_code_it_names_without_doubt(memory: Memory) -> None:
    talk = await memory.start()
    turn = await memory.say(talk, "What does `Cart.total` do?", "It adds `add` up, total as ever.")
    await memory.worker.drain()
    assert await referred(memory, turn) == ["Cart.total"]  # there are two that are called add


@pytest.mark.parametrize(
    "question", ["What does the method total do?", "que fait la méthode total ?"]
)
async def test_a_turn_refers_to_code_that_it_names_by_its_kind(
    memory: Memory, question: str
) -> None:
    turn = await memory.say(await memory.start(), question)
    await memory.worker.drain()
    assert await referred(memory, turn) == ["Cart.total"]


async def test_a_turn_refers_to_the_code_its_tools_read_or_edited(memory: Memory) -> None:
    talk = await memory.start(cwd=f"{SHOP}/src")
    read = tool_call("read_file", arguments={"path": "src/cart.py", "start_line": 4, "end_line": 6})
    match = {"file": "src/other.py", "line": 2, "startLine": 1, "endLine": 9}
    grep = tool_call("grep_files", result=ToolResult(True, {"matches": [match]}))
    here = tool_call("edit_file", arguments={"file": "cart.py", "line": 12})  # from the cwd
    gone = tool_call("read_file", arguments={"path": "/etc/passwd", "line": 1})
    said = assistant("Done.", read, grep, here, gone)
    turn = await memory.recorder.store_turn(talk, [user("Look."), said])
    await memory.worker.drain()
    assert await referred(memory, turn) == ["Cart.add", "Cart.total", "add"]


async def test_a_project_that_is_not_known_has_no_code_to_refer_to(memory: Memory) -> None:
    talk = await memory.start(project_path="/work/elsewhere")
    turn = await memory.say(talk, "What does `Cart.total` do?")
    await memory.worker.drain()
    assert await referred(memory, turn) == []


async def test_a_summary_mentions_files_and_those_of_their_scopes_that_it_names(
    memory: Memory,
) -> None:
    talk = await memory.start()
    answer = "The bug is in ./src/cart.py: total must never use add. " + "word " * 500
    await memory.say(talk, "Why is the total wrong?", answer)
    await memory.worker.drain()

    [summary] = await memory.store.summaries.find(SummaryFilter(talk))
    files, scopes = await memory.store.summaries.mentions(summary.uuid)
    assert [one.path for one in files] == ["src/cart.py"]
    assert [one.qualified_name for one in scopes] == ["Cart.add", "Cart.total"]


async def test_memory_tells_what_has_changed_since_and_what_is_gone(memory: Memory) -> None:
    talk = await memory.start()
    answer = "`Cart.total` in src/cart.py must call `Cart.add`. " + "word " * 500
    turn = await memory.say(talk, "Why?", answer)
    await memory.worker.drain()
    [summary] = await memory.store.summaries.find(SummaryFilter(talk))
    ids = [turn.user.uuid, turn.replies[0].uuid]
    assert await age_of_turn(memory.store, SHOP, ids) == []
    assert await age_of_summary(memory.store, SHOP, summary.uuid) == []

    changed = scope("total", qualified_name="Cart.total", uuid="total", hash="new")
    await memory.store.code.replace_files("shop", [parsed("src/cart.py", changed, hash="new")])

    told = [str(one) for one in await age_of_turn(memory.store, SHOP, ids)]
    assert told == ["Cart.add (src/cart.py): gone", "Cart.total (src/cart.py): changed since"]
    told = [str(one) for one in await age_of_summary(memory.store, SHOP, summary.uuid)]
    assert told[0] == "src/cart.py: changed since"
    assert "Cart.total (src/cart.py): changed since" in told

    await memory.store.code.remove_files("shop", ["src/cart.py"])
    [first, *_] = await age_of_summary(memory.store, SHOP, summary.uuid)
    assert str(first) == "src/cart.py: gone"

    await memory.store.code.delete_project("shop")
    assert await age_of_turn(memory.store, SHOP, ids) == []
