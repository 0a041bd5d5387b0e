"""A whole conversation as one text, within its size, on every engine."""

from __future__ import annotations

from ragforge.domain.conversations import ConversationChanges
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.summaries.material import format_conversation
from ragforge.ports.store import Store
from tests.fakes.builders import conversation, exchange


async def test_a_conversation_as_text_has_its_title_summary_and_turns(store: Store) -> None:
    await store.records.put(
        CONVERSATION, conversation(uuid="c", title="Cart", tags=("shop", "bug"))
    )
    changes = ConversationChanges(summary="Why totals were wrong.")
    facts = await store.records.update(CONVERSATION, "c", changes)
    await store.timeline.append("c", exchange("Why is it wrong?", "Rounding."))

    text = await format_conversation(store, facts, 2_000)

    assert text.startswith("Title: Cart\nTags: shop, bug\nSummary: Why totals were wrong.\n\n")
    assert "User: Why is it wrong?\nAssistant: Rounding." in text


async def test_a_long_conversation_keeps_its_newest_turns_within_the_size(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c", title="Long"))
    for number in range(12):
        said = exchange(f"Question {number}?", "x" * 5_000, number)
        await store.timeline.append("c", said)
    facts = await store.records.get(CONVERSATION, "c")

    text = await format_conversation(store, facts, 3_000)

    assert len(text) <= 3_000
    assert "Question 11?" in text
    assert "Question 0?" not in text
