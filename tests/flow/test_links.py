"""Memory and code: what was talked about, and what has become of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from ragforge.app.wiring.brain import open_brain
from ragforge.brain.ingestion.ingest import make_place
from ragforge.config.settings import Settings
from ragforge.domain.code import CodeReference, Project
from ragforge.domain.conversations import ToolResult
from ragforge.domain.instants import now
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import CONVERSATION, JOB, MESSAGE, PROJECT, SUMMARY
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.text import Json
from ragforge.domain.turns import Turn
from ragforge.domain.work import JobFilter
from ragforge.errors import ConversationNotFound
from ragforge.memory.code import pending_links
from ragforge.memory.code.changes import find_stale_of
from ragforge.memory.code.pending_links import LINK_JOB, link_waiting
from ragforge.memory.notes import Notebook
from ragforge.memory.search.turns import MemorySearch
from ragforge.ports.store import Store
from ragforge.ports.web import WebPage
from ragforge.tools.edits.change import FileEdit
from ragforge.tools.memory_tools import make_memory_tool
from tests.fakes.builders import (
    SHOP,
    assistant,
    conversation,
    parsed,
    project,
    scope,
    system,
    tool_call,
    user,
)
from tests.fakes.remembering import Memory, memory_of

HERE = ProjectPlace.at(SHOP)

Awaiting: TypeAlias = Callable[[], Awaitable[None]]


@pytest.fixture
async def memory(store: Store) -> Memory:
    """A memory next to the code of a shop."""
    await store.records.put(PROJECT, project(SHOP, uuid="shop"))
    cart = [
        scope("Cart", lines=(1, 30), uuid="cart"),
        scope("add", lines=(3, 9), qualified_name="Cart.add", uuid="add"),
        scope("total", lines=(10, 20), qualified_name="Cart.total", uuid="total"),
    ]
    other = scope("add", lines=(1, 5), uuid="other-add")
    files = [parsed("src/cart.py", *cart), parsed("src/other.py", other)]
    await store.code.replace_files("shop", files)
    return memory_of(store)


CART = "def one():\n    return 1\n\ndef two():\n    return 2\n\ndef three():\n    return 3\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def edited(file: Path, old: str, new: str) -> dict[str, Json]:
    """Edit a file, and return what edit_file would."""
    before = file.read_bytes()
    file.write_bytes(before.replace(old.encode(), new.encode()))
    return FileEdit(file.name, before, file.read_bytes()).to_json()


async def hows(memory: Memory, message_id: str) -> dict[str, str]:
    found = await memory.store.timeline.links([message_id])
    return {one.qualified_name: one.how for links in found.values() for one in links.references}


async def referred(memory: Memory, turn: Turn) -> list[str]:
    ids = [message.uuid for message in (turn.user, *turn.replies)]
    found = await memory.store.timeline.links(ids)
    return [
        one.qualified_name
        for message_id in ids
        if message_id in found
        for one in found[message_id].references
    ]


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


async def test_what_is_listed_as_found_is_not_touched(memory: Memory) -> None:
    """Without a model an answer lists the passages that a search found."""
    talk = await memory.start()
    passages = "Found in src/cart.py: `Cart.total` and more. " + "word " * 500
    await memory.recorder.store_turn(talk, [user("Why `Cart.add`?"), system(passages)])
    await memory.worker.drain()
    touches = await memory.store.timeline.touches(conversation_id=talk)
    assert {(touch.name, touch.how, touch.by_summary) for touch in touches} >= {
        ("Cart.add", "named", False)
    }
    assert "Cart.total" not in {touch.name for touch in touches}


@pytest.mark.both_engines
async def test_a_turn_says_what_its_tools_did_with_code(memory: Memory) -> None:
    talk = await memory.start(cwd=f"{SHOP}/src")
    read = tool_call("read_file", arguments={"path": "src/cart.py", "start_line": 4, "end_line": 6})
    match = {"file": "src/other.py", "line": 2, "startLine": 1, "endLine": 9}
    grep = tool_call("grep_files", result=ToolResult(True, {"matches": [match]}))
    here = tool_call("edit_file", arguments={"path": "cart.py", "start_line": 12})  # from the cwd
    gone = tool_call("read_file", arguments={"path": "/etc/passwd", "start_line": 1})
    said = assistant("`Cart.add` and `Cart` are done.", read, grep, here, gone)
    turn = await memory.recorder.store_turn(talk, [user("Look at src/other.py."), said])
    await memory.worker.drain()

    assert await hows(memory, turn.user.uuid) == {}  # other.py has no scope that is all of it
    assert await hows(memory, said.uuid) == {
        "Cart": "named",
        "Cart.add": "read",  # and named
        "Cart.total": "edited",
        "add": "found",
    }


async def test_reading_a_file_reads_only_the_scopes_of_its_lines(memory: Memory) -> None:
    talk = await memory.start()
    page = {"file": "src/cart.py", "content": "…", "startLine": 1, "endLine": 9}
    read = tool_call("read_file", arguments={"path": "src/cart.py"}, result=ToolResult(True, page))
    said = assistant("Read.", read)
    await memory.recorder.store_turn(talk, [user("Read."), said])
    await memory.worker.drain()
    assert await hows(memory, said.uuid) == {"Cart": "read", "Cart.add": "read"}


async def test_an_edit_is_linked_to_the_scopes_that_it_changed(store: Store, shop: Path) -> None:
    """Lines that were read move when an edit before them makes the file longer."""
    cart = shop / "cart.py"
    cart.write_text(CART)
    brain = open_brain(Settings(), store, None, shop)
    await brain.ingest()
    memory = memory_of(store)
    talk = await memory.start(str(shop), str(shop))
    read = tool_call("read_file", arguments={"path": "cart.py", "start_line": 7, "end_line": 8})
    first = edited(cart, "    return 1", "    one = 1\n    two = 2\n    return one + two")
    second = edited(cart, "    return 3", "    return 33")
    found = ToolResult(True, {"matches": [{"file": "cart.py", "line": 7}]})
    steps = [
        assistant("", read),
        assistant("", tool_call("edit_file", result=ToolResult(True, first))),
        assistant("", tool_call("edit_file", result=ToolResult(True, second))),
        assistant("Done.", tool_call("grep_files", result=found)),
    ]
    turn = await memory.recorder.store_turn(talk, [user("Do it."), *steps])

    await memory.worker.drain()  # the file was not ingested since: it is known as a whole
    assert await hows(memory, steps[1].uuid) == {"cart": "edited"}

    assert list(await store.timeline.turns_to_link([str(shop)], 9)) == [turn.uuid]
    await brain.ingest()
    await memory.worker.drain()
    assert await hows(memory, steps[0].uuid) == {"three": "read"}
    assert await hows(memory, steps[1].uuid) == {"cart": "edited", "one": "edited"}
    assert await hows(memory, steps[2].uuid) == {"cart": "edited", "three": "edited"}
    assert (await hows(memory, steps[3].uuid))["two"] == "found"
    ids = [step.uuid for step in steps]
    place = ProjectPlace.at(str(shop))
    assert await find_stale_of(store, place, [ids]) == [[]]  # edited as it is now


async def test_a_project_that_is_not_known_has_no_code_to_refer_to(memory: Memory) -> None:
    talk = await memory.start(project_path="/work/elsewhere")
    turn = await memory.say(talk, "What does `Cart.total` do?")
    await memory.worker.drain()
    assert await referred(memory, turn) == []


@pytest.mark.both_engines
async def test_a_turn_is_linked_when_its_project_becomes_known(store: Store, shop: Path) -> None:
    (shop / "cart.py").write_text(CART)
    memory = memory_of(store)
    talk = await memory.start(str(shop), str(shop))
    turn = await memory.say(talk, "What does `three` do?", "It is in cart.py.")
    await memory.worker.drain()
    assert await referred(memory, turn) == []

    brain = open_brain(Settings(), store, None, shop)
    await brain.ingest()
    await memory.worker.drain()
    assert await referred(memory, turn) == ["three", "cart"]
    assert list(await store.timeline.turns_to_link([str(shop)], 9)) == []

    (shop / "more.py").write_text("def four(): pass\n")
    await brain.ingest()
    [job] = [job for job in await store.records.find(JOB, JobFilter()) if job.kind == LINK_JOB]
    assert (job.status, job.attempts) == ("done", 1)  # once is enough


def interrupt(monkeypatch: pytest.MonkeyPatch, store: Store, work: Awaiting) -> None:
    """Let something happen in an ingestion after files were read, before they are related."""
    relate = store.code.relate_files

    async def relate_after(*given: Any) -> None:
        await work()
        await relate(*given)

    monkeypatch.setattr(store.code, "relate_files", relate_after)


@pytest.mark.both_engines
async def test_a_turn_that_is_linked_during_the_first_ingestion_is_linked_when_that_ends(
    store: Store, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "cart.py").write_text(CART)
    memory = memory_of(store)
    talk = await memory.start(str(shop), str(shop))
    read = store.code.replace_files
    words = "The total is wrong in cart.py. " + "word " * 500
    said: list[Turn] = []

    async def talk_before(*given: Any) -> None:
        said.append(await memory.say(talk, "What does `three` do?", words))
        await memory.worker.drain()
        await read(*given)

    monkeypatch.setattr(store.code, "replace_files", talk_before)
    await open_brain(Settings(), store, None, shop).ingest()

    assert await referred(memory, said[0]) == []
    assert list(await store.timeline.turns_to_link([str(shop)], 9)) == [said[0].uuid]
    await memory.worker.drain()
    assert await referred(memory, said[0]) == ["three", "cart"]
    assert list(await store.timeline.turns_to_link([str(shop)], 9)) == []
    [summary] = await store.records.find(SUMMARY, SummaryFilter(talk))
    links = (await store.timeline.links([summary.uuid]))[summary.uuid]
    assert [one.path for one in links.files] == ["cart.py"]


@pytest.mark.both_engines
async def test_a_turn_waits_while_the_first_ingestion_was_killed_and_not_completed(
    store: Store, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "cart.py").write_text(CART)
    memory = memory_of(store)
    brain = open_brain(Settings(), store, None, shop)
    talk = await memory.start(str(shop), str(shop))

    async def die() -> None:
        raise asyncio.CancelledError

    with monkeypatch.context() as dying:
        interrupt(dying, store, die)
        with pytest.raises(asyncio.CancelledError):
            await brain.ingest()
    (shop / "bill.py").write_text("def pay(): pass\n")
    turn = await memory.say(talk, "Does `pay` call `three`?")
    await memory.worker.drain()
    monkeypatch.setattr(pending_links, "WAITS", timedelta())  # however old it becomes
    assert await link_waiting(store, [str(shop)]) == 0
    assert await referred(memory, turn) == []

    await brain.ingest(paths=["cart.py"])  # that only one file is named leaves no other out
    await memory.worker.drain()
    assert await referred(memory, turn) == ["pay", "three"]


async def test_a_turn_waits_for_its_own_checkout_though_another_is_ingested(
    store: Store, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = shop / "here", shop / "there"
    for root in (here, there):
        root.mkdir()
        (root / "cart.py").write_text(CART)
    (there / "bill.py").write_text("def pay(): pass\n")
    memory = memory_of(store)
    new = replace(conversation(str(there), project_path=str(there)), project_id="p")
    await store.records.put(CONVERSATION, new)
    first = ProjectPlace(("p",), str(here), checkout_id="here")
    second = ProjectPlace(("p",), str(there), checkout_id="there")
    await open_brain(Settings(), store, None, here, first).ingest()
    said: list[Turn] = []

    async def ask() -> None:
        said.append(await memory.say(new.uuid, "What does `pay` do?"))
        await memory.worker.drain()
        monkeypatch.setattr(pending_links, "WAITS", timedelta())
        await link_waiting(store, ["p"])

    interrupt(monkeypatch, store, ask)
    await open_brain(Settings(), store, None, there, second).ingest()
    assert await referred(memory, said[0]) == []
    await memory.worker.drain()
    assert await referred(memory, said[0]) == ["pay"]


async def test_a_page_that_is_fetched_before_the_code_is_read_does_not_end_the_waiting(
    store: Store, shop: Path
) -> None:
    (shop / "cart.py").write_text(CART)
    memory = memory_of(store)
    brain = open_brain(Settings(), store, None, shop)
    await brain.save_page(WebPage("https://example.org", "Carts", "About carts.", "text", now()))
    turn = await memory.say(await memory.start(str(shop), str(shop)), "What does `three` do?")
    await memory.worker.drain()

    await brain.ingest()
    await memory.worker.drain()
    assert await referred(memory, turn) == ["three"]


@pytest.mark.both_engines
async def test_turns_that_an_earlier_version_left_without_links_are_linked_by_the_next_ingestion(
    store: Store, shop: Path
) -> None:
    (shop / "cart.py").write_text(CART)
    memory = memory_of(store)
    talk = await memory.start(str(shop), str(shop))
    lost = await memory.say(talk, "What does `three` do?", "It is in cart.py. " + "word " * 500)
    whole = await memory.say(talk, "What does `two` do?")
    await memory.worker.drain()
    place = make_place(shop)
    old = Project(str(shop), "shop", place.checkout_id, state="changed 1")
    await store.records.put(PROJECT, old)  # as that version had begun, and called it known
    await store.timeline.set_link_pending([lost.uuid, whole.uuid], False)
    then = CodeReference("gone", "cart.py", "two", "hash of then")
    await store.timeline.link(MESSAGE, whole.user.uuid, [then])

    brain = open_brain(Settings(), store, None, shop)
    await brain.ingest()
    await memory.worker.drain()

    assert await referred(memory, lost) == ["three", "cart"]
    assert await store.timeline.links([whole.user.uuid]) == {whole.user.uuid: ([then], [])}
    [summary] = await store.records.find(SUMMARY, SummaryFilter(talk))
    links = (await store.timeline.links([summary.uuid]))[summary.uuid]
    assert [one.path for one in links.files] == ["cart.py"]

    await memory.say(talk, "Nice weather.")
    await memory.worker.drain()
    await brain.ingest()
    jobs = [job.kind for job in await store.records.find(JOB, JobFilter("pending"))]
    assert jobs == []  # once is enough


async def test_a_turn_does_not_wait_for_ever_for_its_edits_to_be_ingested(
    store: Store, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cart = shop / "cart.py"
    cart.write_text(CART)
    brain = open_brain(Settings(), store, None, shop)
    await brain.ingest()
    memory = memory_of(store)
    talk = await memory.start(str(shop), str(shop))
    change = tool_call("edit_file", result=ToolResult(True, edited(cart, "return 1", "return 9")))
    said = assistant("Done.", change)
    await memory.recorder.store_turn(talk, [user("Do it.", timestamp=now()), said])
    cart.write_text(CART + "\n# changed by somebody else\n")
    await brain.ingest()
    await memory.worker.drain()
    assert len(await store.timeline.turns_to_link([str(shop)], 9)) == 1  # it may yet come

    monkeypatch.setattr(pending_links, "WAITS", timedelta())
    assert await link_waiting(store, [str(shop)]) == 1
    assert list(await store.timeline.turns_to_link([str(shop)], 9)) == []
    assert await hows(memory, said.uuid) == {"cart": "edited"}


@pytest.mark.both_engines
async def test_a_summary_mentions_files_and_those_of_their_scopes_that_it_names(
    memory: Memory,
) -> None:
    talk = await memory.start()
    answer = "The bug is in ./src/cart.py: total must never use add. " + "word " * 500
    await memory.say(talk, "Why is the total wrong?", answer)
    await memory.worker.drain()

    [summary] = await memory.store.records.find(SUMMARY, SummaryFilter(talk))
    scopes, files = (await memory.store.timeline.links([summary.uuid]))[summary.uuid]
    assert [one.path for one in files] == ["src/cart.py"]
    assert [one.qualified_name for one in scopes] == ["Cart.add", "Cart.total"]
    assert {one.how for one in (*files, *scopes)} == {"named"}


async def test_a_summary_says_what_its_turns_did_with_code(memory: Memory) -> None:
    talk = await memory.start()
    call = tool_call("edit_file", arguments={"path": "src/cart.py", "start_line": 12})
    answer = "I changed total in src/cart.py, which uses add. " + "word " * 500
    await memory.recorder.store_turn(talk, [user("Mend it."), assistant(answer, call)])
    await memory.worker.drain()

    [summary] = await memory.store.records.find(SUMMARY, SummaryFilter(talk))
    scopes, files = (await memory.store.timeline.links([summary.uuid]))[summary.uuid]
    assert [(one.path, one.how) for one in files] == [("src/cart.py", "edited")]
    assert {one.qualified_name: one.how for one in scopes} == {
        "Cart.add": "named",
        "Cart.total": "edited",
    }


async def test_a_model_that_searches_memory_hears_what_has_changed_since(memory: Memory) -> None:
    talk = await memory.start()
    await memory.say(talk, "Why is the sum odd?", "Because `Cart.total` rounds. " + "word " * 500)
    await memory.worker.drain()
    recall = MemorySearch(memory.store, None)
    tool = make_memory_tool(recall, Notebook(memory.store, recall.embedder), HERE)
    before = await tool.run({"query": "odd sum"})
    assert {hit["type"] for hit in before} == {"turn", "summary"}
    assert all("code_since" not in hit for hit in before)

    changed = scope("total", qualified_name="Cart.total", uuid="total", hash="new")
    await memory.store.code.replace_files("shop", [parsed("src/cart.py", changed)])
    after = await tool.run({"query": "odd sum"})
    [turn] = [hit for hit in after if hit["type"] == "turn"]
    assert turn["code_since"] == ["Cart.total (src/cart.py): changed since"]


async def test_the_files_of_a_conversation_say_what_was_done_with_them(memory: Memory) -> None:
    talk = await memory.start()
    edit = tool_call("edit_file", arguments={"path": "src/cart.py", "start_line": 12})
    match = {"file": "src/other.py", "line": 2}
    grep = tool_call("grep_files", result=ToolResult(True, {"matches": [match]}))
    said = [user("What is `Cart`?"), assistant("Mended.", edit, grep)]
    await memory.recorder.store_turn(talk, said)
    await memory.worker.drain()
    [file] = await memory.history.get_files(talk)
    assert (file.path, file.how) == ("src/cart.py", "edited")
    with pytest.raises(ConversationNotFound):
        await memory.history.get_files("none")


async def test_memory_tells_what_has_changed_since_and_what_is_gone(memory: Memory) -> None:
    talk = await memory.start()
    answer = "`Cart.total` in src/cart.py must call `Cart.add`. " + "word " * 500
    turn = await memory.say(talk, "Why?", answer)
    await memory.worker.drain()
    [summary] = await memory.store.records.find(SUMMARY, SummaryFilter(talk))
    ids = [turn.user.uuid, turn.replies[0].uuid]
    both = [ids, [summary.uuid]]
    assert await find_stale_of(memory.store, HERE, both) == [[], []]

    changed = scope("total", qualified_name="Cart.total", uuid="total", hash="new")
    await memory.store.code.replace_files("shop", [parsed("src/cart.py", changed, hash="new")])

    of_turn, of_summary = await find_stale_of(memory.store, HERE, both)
    assert list(map(str, of_turn)) == [
        "Cart.add (src/cart.py): gone",
        "Cart.total (src/cart.py): changed since",
    ]
    told = list(map(str, of_summary))
    assert told[0] == "src/cart.py: changed since"
    assert "Cart.total (src/cart.py): changed since" in told

    await memory.store.code.remove_files("shop", ["src/cart.py"])
    _, [first, *_] = await find_stale_of(memory.store, HERE, both)
    assert str(first) == "src/cart.py: gone"

    await memory.store.records.delete(PROJECT, "shop")
    assert await find_stale_of(memory.store, HERE, both) == [[], []]
