"""The summary of a conversation that has many summaries."""

from __future__ import annotations

import re

from ragforge.domain.schema import CONVERSATION
from ragforge.memory.summaries.condense import Condenser, ExtractiveSummariser
from ragforge.memory.summaries.due import Thresholds
from tests.fakes.builders import conversation, exchange, summary
from tests.fakes.engines import Engines

COUNT = 15


async def test_it_holds_the_newest_summaries_and_no_half_word(engines: Engines) -> None:
    store = await engines.empty("sqlite")
    await store.records.put(CONVERSATION, conversation(uuid="long"))
    said = [f"{one:>02} " + "wonderfully " * 60 for one in range(COUNT)]
    for index, text in enumerate(said):
        [asked, _] = await store.timeline.append("long", exchange("q", "a"))
        made = summary("long", index, uuid=f"s{index}", conversation_summary=text)
        await store.timeline.save_summary(made, [asked.uuid])
    condenser = Condenser(store, ExtractiveSummariser(), Thresholds(10**6, 10**6, None), None)

    await condenser.work({"conversation": "long", "level": 1, "summary": "s14"})

    text = (await store.records.get(CONVERSATION, "long")).summary or ""
    assert 1_500 < len(text) <= 2_000
    assert re.findall(r"\d\d", text) == [f"{one:>02}" for one in range(COUNT - 10, COUNT)]
    assert set(re.findall(r"[a-z]+", text)) == {"wonderfully"}
