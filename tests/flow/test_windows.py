"""Windows: short turns are embedded with the turns before them, and stored ones again."""

from __future__ import annotations

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.schema import CONVERSATION, JOB, TURN
from ragforge.domain.work import JobFilter
from ragforge.memory.embed import embed_missing, embed_turns, enqueue_missing
from ragforge.memory.search.combined import search_conversation_history
from ragforge.memory.search.turns import MemorySearch
from ragforge.ports.store import Store
from tests.fakes.builders import assistant, conversation, user
from tests.fakes.projects import ToyEmbedder


async def tell(store: Store, *texts: str) -> None:
    """Store a conversation of such questions, each answered with "ok"."""
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    said = [m for n, text in enumerate(texts) for m in (user(text, uuid=f"t{n}"), assistant("ok"))]
    await store.timeline.append("c", said)


async def test_a_turn_that_is_embedded_by_itself_is_read_with_the_two_before_it(
    store: Store,
) -> None:
    await tell(store, "The stove is new.", "Gas or electric?", "Gas.", "When?")
    toy = ToyEmbedder()

    await embed_turns(store, toy, ["t2"])

    questions = ("The stove is new.", "Gas or electric?", "Gas.")
    assert toy.texts == ["\n".join(f"User: {one}\nAssistant: ok" for one in questions)]


async def test_turns_that_were_embedded_by_themselves_are_embedded_again_in_the_background(
    store: Store,
) -> None:
    await tell(store, "The stove is new.", "Gas.")
    toy = ToyEmbedder()
    alone = await toy.embed(["User: The stove is new.", "User: Gas."])
    vectors = {f"t{n}": one for n, one in enumerate(alone) if one is not None}
    await store.index.embed(TURN, vectors)
    memory = MemorySearch(store, toy)
    toy.texts.clear()

    assert await search_conversation_history(memory, "zebra", MemoryFilter()) == []
    await enqueue_missing(store, toy)
    [job] = await store.records.find(JOB, JobFilter())
    await embed_missing(store, toy)

    assert job.kind == "embed_missing"
    assert toy.texts[1] == "User: The stove is new.\nAssistant: ok\nUser: Gas.\nAssistant: ok"
    hits = await search_conversation_history(memory, "zebra", MemoryFilter())
    assert {hit.turn.uuid for hit in hits if hit.type == "turn"} == {"t0", "t1"}
