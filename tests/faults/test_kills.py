"""kill -9 at any moment: what was acknowledged is stored, and no turn is half stored."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import apsw
import pytest

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.schema import CONVERSATION
from ragforge.domain.turns import group_into_turns
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from tests.conftest import Effort
from tests.fakes.builders import conversation
from tests.faults.test_many_processes import start

KILLS = (9, 60)
"""How many without --thorough, and with it."""
AT_ONCE = 3


@pytest.mark.timeout(600)
async def test_killed_writers_lose_nothing_they_acknowledged(
    tmp_path: Path, effort: Effort
) -> None:
    kills = effort(*KILLS)
    path = tmp_path / "store.db"
    store = await open_sqlite(path, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    chance = random.Random(20260101)
    acknowledged: list[str] = []
    for round_number in range(kills // AT_ONCE):
        writers = [start("turns", path, "c", f"{round_number}-{n}") for n in range(AT_ONCE)]
        for writer in writers:
            assert writer.stdout is not None
            acknowledged.append(writer.stdout.readline().strip())
        for writer in writers:
            await asyncio.sleep(chance.uniform(0, 0.08))
            writer.kill()
        for writer in writers:
            rest, errors = writer.communicate()
            # The last line may be cut by the kill; a whole id was acknowledged.
            acknowledged += [line for line in rest.splitlines() if len(line) == 36]
            assert errors == ""

        assert apsw.Connection(str(path)).pragma("quick_check") == "ok"

    stored = await store.timeline.messages("c")
    turns = group_into_turns(stored)
    assert len(acknowledged) >= kills
    assert set(acknowledged) <= {turn.uuid for turn in turns}
    assert [message.position for message in stored] == list(range(len(stored)))
    for turn in turns:
        assert len(turn.replies) == 2
        assert turn.answer == turn.user.content.replace("asks", "answers")
        [call] = turn.tool_calls
        assert call.result is not None
    about = await store.records.get(CONVERSATION, "c")
    assert (about.message_count, about.turn_count) == (len(stored), len(turns))
    await store.close()
    assert apsw.Connection(str(path)).pragma("integrity_check") == "ok"
