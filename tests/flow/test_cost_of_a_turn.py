"""The cost of a turn: it does not grow with its session, counted by what the store does for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ragforge import load_settings, open_app
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.adapters.stores.sqlite.words import FEW_ROWS
from ragforge.domain.conversations import MemoryFilter, Message
from ragforge.domain.hits import SummaryHit
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import CONVERSATION, SUMMARY, TURN
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.text import Json
from ragforge.jobs import worker
from ragforge.llm.ask import ChatClient
from ragforge.memory.code.changes import find_all_stale
from ragforge.memory.search.combined import MAX_SUMMARIES, search_summaries
from ragforge.memory.search.turns import MemorySearch
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.memory.summaries.due import Thresholds
from ragforge.ports.store import Store
from ragforge.search.words.tokenise import WORDS
from tests.fakes.builders import assistant, level_2, mention, summary, user
from tests.fakes.remembering import memory_of
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.store_work import STEPS, StoreWork, count_store_work

EARLY, LATE = 200, 600
"""Both are late enough for a question to find as many memories as are shown at most."""
MORE = 1.5
"""For three times the turns: the lists of who holds a word grow until it is common."""
FEW = 5
"""How many more queries may follow from what is found."""
STRETCH = 25
RECEIPT: Json = {"items": [{"source": f"turn {n}", "why": "found by words"} for n in range(100)]}


@pytest.fixture
def work() -> Iterator[StoreWork]:
    with count_store_work() as counted:
        yield counted


def say(first: int, last: int) -> list[Message]:
    """Return turns as they are stored, each with the receipt of a full context."""
    return [
        message
        for n in range(first, last)
        for message in (
            user(f"How does the cart {n % 40} add item {n % 60}?"),
            assistant(
                f"Cart {n % 40} adds item {n} by its name. {'So it is. ' * 8}", receipt=RECEIPT
            ),
        )
    ]


async def remember(store: Store, talk: str, until: int) -> None:
    """Make a session this many turns long, and summarise all of it but the end."""
    first = (await store.records.get(CONVERSATION, talk)).turn_count
    await store.timeline.append(talk, say(first, until))
    begin = max(0, first // STRETCH - 1) * STRETCH  # where the end began
    messages = await store.timeline.messages(talk, begin, with_receipts=False)
    turns = {message.turn_index: message.uuid for message in messages if message.role == "user"}
    starts = range(begin, until - STRETCH, STRETCH)
    parts = [summary(talk, start, start + STRETCH - 1) for start in starts]
    for part in parts:
        covered = range(part.start_turn_index, part.end_turn_index + 1)
        await store.timeline.save_summary(part, [turns[turn] for turn in covered])
    await store.timeline.save_summary(level_2(parts))


async def test_a_question_late_in_a_session_takes_the_work_of_one_early_in_it(
    work: StoreWork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "POLL_SECONDS", 3_600.0)  # what follows a turn is counted below
    (tmp_path / "project" / ".git").mkdir(parents=True)
    environ = {
        "RAGFORGE_STORE": str(tmp_path / "store.db"),
        "RAGFORGE_AGENT__STATE_DIR": str(tmp_path / "state"),
        "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "rules",
        "RAGFORGE_JOBS__CLOSING_SECONDS": "0",
        "RAGFORGE_JOBS__DETACH": "false",
    }
    settings = load_settings(tmp_path / "project", environ=environ).settings
    counted: dict[int, StoreWork] = {}
    async with open_app(settings, tmp_path / "project") as opened:
        app = replace(opened, chat=ChatClient(ScriptedModel(lambda _: "By its name.")))
        talk = (await app.sessions.create()).uuid
        for turns in (EARLY, LATE):
            await remember(app.store, talk, turns)
            await app.ask("How does cart 7 add item 9?", talk)  # what is kept in memory is read
            work.reset()
            answer = await app.ask("How does cart 8 add item 12?", talk)
            counted[turns] = replace(work)

    assert len([item for item in answer.receipt.items if item.section == "past_turns"]) > 50
    early, late = counted[EARLY], counted[LATE]
    assert late.steps < MORE * early.steps
    assert late.queries <= early.queries + FEW
    assert late.chars < MORE * early.chars
    assert late.chars < 3 * answer.receipt.max_chars  # not the receipts of what was found


async def test_what_follows_a_turn_late_in_a_session_takes_the_work_of_one_early_in_it(
    work: StoreWork, tmp_path: Path
) -> None:
    counted: dict[int, StoreWork] = {}
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    try:
        memory = memory_of(store, thresholds=Thresholds(level_1=10**6, level_2=10**6))
        talk = await memory.start()
        for turns in (EARLY, LATE):
            await remember(store, talk, turns)
            await memory.say(talk, "And now?")
            await memory.worker.drain()  # its title
            await memory.say(talk, "And now?")
            work.reset()
            await memory.worker.drain()
            counted[turns] = replace(work)
    finally:
        await store.close()

    early, late = counted[EARLY], counted[LATE]
    assert late.steps < MORE * early.steps
    assert late.chars < MORE * early.chars


async def test_only_the_best_of_the_many_summaries_of_a_long_session_are_compared(
    tmp_path: Path,
) -> None:
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    try:
        talk = await memory_of(store).start()
        many = MAX_SUMMARIES + 30
        await store.timeline.append(talk, [user("And now?") for _ in range(many)])
        for turn in range(many):
            text = "The zebra sleeps." if turn == 3 else "The cart."
            await store.timeline.save_summary(summary(talk, turn, turn, conversation_summary=text))
        memory = MemorySearch(store, None)
        found = await search_summaries(memory, "zebra or cart?", MemoryFilter(), [1], 200)
    finally:
        await store.close()

    assert len(found.read) == MAX_SUMMARIES
    assert "The zebra sleeps." in {one.conversation_summary for one in found.read.values()}


async def test_what_many_found_summaries_mention_is_read_with_the_queries_of_one(
    work: StoreWork, tmp_path: Path
) -> None:
    counted: dict[int, int] = {}
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    try:
        talk = await memory_of(store).start()
        await store.timeline.append(talk, [user("And now?") for _ in range(40)])
        parts = [summary(talk, turn, turn) for turn in range(40)]
        for part in parts:
            await store.timeline.save_summary(part)
            await store.timeline.link(SUMMARY, part.uuid, [], [mention("cart.py")])
        for many in (1, 40):
            hits = [SummaryHit(part, 0.5, 0.7, ("words",)) for part in parts[:many]]
            work.reset()
            found = await find_all_stale(store, ProjectPlace.at("/work/shop"), hits)
            counted[many] = work.queries
    finally:
        await store.close()

    assert len(found) == 40
    assert counted[40] == counted[1]


async def test_the_coverage_of_the_newest_turns_is_read_without_counting_all_before_them(
    work: StoreWork, tmp_path: Path
) -> None:
    counted: dict[int, int] = {}
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    try:
        talk = await memory_of(store).start()
        for turns in (EARLY, LATE):
            done = (await store.records.get(CONVERSATION, talk)).turn_count
            await store.timeline.append(talk, say(done, turns))
            await store.timeline.coverage(talk, turns - STRETCH)
            work.reset()
            await store.timeline.coverage(talk, turns - STRETCH)
            counted[turns] = work.steps
    finally:
        await store.close()

    assert counted[LATE] <= counted[EARLY] + STEPS


async def test_only_those_summaries_of_a_long_session_that_may_be_shown_are_read(
    work: StoreWork, tmp_path: Path
) -> None:
    counted: dict[int, StoreWork] = {}
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    try:
        talk = await memory_of(store).start()
        await store.timeline.append(talk, [user("And now?") for _ in range(240)])
        for many in (60, 240):
            for turn in range(many - 60, many):
                text = f"Turn {turn}. {'So it is. ' * 100}"
                await store.timeline.save_summary(
                    summary(talk, turn, turn, conversation_summary=text)
                )
            await store.timeline.recent_past(talk, 0, 10)
            work.reset()
            found = (await store.timeline.recent_past(talk, 0, 10)).summaries
            counted[many] = replace(work)
    finally:
        await store.close()

    assert [one.start_turn_index for one in found] == list(range(230, 240))
    assert counted[240].chars < 1.1 * counted[60].chars
    assert counted[240].steps < MORE * counted[60].steps, counted


async def test_which_turns_a_question_may_find_is_not_read_again_after_each_turn(
    work: StoreWork, tmp_path: Path
) -> None:
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    try:
        talk = await memory_of(store).start()
        project = (await store.records.get(CONVERSATION, talk)).project_id
        where = MemoryFilter(project_ids=[project])
        await store.timeline.append(talk, say(0, LATE))
        await store.index.search(TURN, "zebra", None, where, 9, read=0)
        await store.timeline.append(talk, [user("The zebra sleeps.")])
        work.reset()
        found = (await store.index.search(TURN, "zebra", None, where, 9, read=0)).by_words
    finally:
        await store.close()

    assert len(found) == 1
    assert work.steps < LATE


async def test_words_that_most_summaries_hold_are_not_looked_up_in_each_of_them(
    work: StoreWork, tmp_path: Path
) -> None:
    counted: dict[str, int] = {}
    many = 4 * FEW_ROWS
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    try:
        talk = await memory_of(store).start()
        await store.timeline.append(talk, [user("And now?") for _ in range(many)])
        for turn in range(many):
            text = "The zebra and the cart." if turn < 9 else "The cart."
            await store.timeline.save_summary(summary(talk, turn, turn, conversation_summary=text))
        for query in ("zebra", "zebra cart"):
            await store.index.search(SUMMARY, query, None, SummaryFilter(), 5)
            work.reset()
            found = (await store.index.search(SUMMARY, query, None, SummaryFilter(), 5)).by_words
            counted[query] = work.steps
        few = (await store.index.search(SUMMARY, "zebra cart", None, SummaryFilter(), 20)).by_words
    finally:
        await store.close()

    assert len(found) == 5
    assert counted["zebra cart"] < counted["zebra"] + many
    assert len(few) == 20  # where there are few others, a common word counts


async def test_what_waits_is_found_without_reading_what_is_done(
    work: StoreWork, tmp_path: Path
) -> None:
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    try:
        talk = await memory_of(store).start()
        project = (await store.records.get(CONVERSATION, talk)).project_id
        await store.timeline.append(talk, say(0, LATE))
        parts = [summary(talk, turn, turn) for turn in range(EARLY)]
        for part in parts:
            await store.timeline.save_summary(part)
        await store.timeline.save_summary(level_2(parts[:-1]))
        work.reset()
        waiting = await store.records.find(SUMMARY, SummaryFilter(talk, waiting=True))
        to_link = await store.timeline.turns_to_link([project], 9)
        steps = work.steps
        work.reset()
        found = await store.timeline.turns([f"no turn {n}" for n in range(9)])
    finally:
        await store.close()

    assert (waiting, to_link, found) == (parts[-1:], {}, {})
    assert steps < EARLY
    assert work.queries == len(("BEGIN", "turns and whose they are", "their calls", "COMMIT"))
