"""Authors: one author's conversation with everything that can belong to it."""

from __future__ import annotations

from datetime import timedelta

from ragforge.domain.chat import UsageRecord
from ragforge.domain.conversations import Visibility
from ragforge.domain.schema import CONVERSATION, MESSAGE, NOTE, SUMMARY, TURN, USAGE
from ragforge.domain.transcripts import TranscriptCursor
from ragforge.domain.work import Holder, NewJob
from ragforge.ports.store import Store
from tests.fakes.builders import (
    assistant,
    at,
    conversation,
    direction,
    level_2,
    mention,
    note,
    reference,
    summary,
    tool_call,
    user,
)

ANN = "Ann <Ann@Example.org>"
BOB = "Bob <bob@example.org>"
ANN_KEY, BOB_KEY = "ann@example.org", "bob@example.org"
MACHINE = Holder("a-machine", 4711, 1.0, "token of a process")
HOUR = timedelta(hours=1)


async def talk(
    store: Store,
    name: str,
    author: str | None = ANN,
    visibility: Visibility = "private",
    degrees: float = 0,
) -> str:
    """Store a conversation; its name is in all its ids and texts. Return its id.

    Its vectors lie around an angle.
    """
    said, facts = store.timeline, f"{name}-talk"
    await store.records.put(
        CONVERSATION,
        conversation(
            uuid=facts,
            title=f"{name} title",
            tags=(name,),
            summary=f"All about {name}.",
            author=author,
            visibility=visibility,
        ),
    )
    call = tool_call(f"{name}_tool", uuid=f"{name}-call")
    await said.append(
        facts,
        [
            user(f"Where do {name}s sleep?", uuid=f"{name}-0", timestamp=at(0), author=author),
            assistant(
                f"The {name} sleeps here.",
                call,
                uuid=f"{name}-answer",
                receipt={"chars": len(name)},
            ),
            user(f"What does a {name} eat?", uuid=f"{name}-1", timestamp=at(1), author=author),
            user(f"Who feeds the {name}?", uuid=f"{name}-2", timestamp=at(2), author=author),
        ],
    )
    await store.index.embed(
        TURN, {f"{name}-0": direction(degrees), f"{name}-1": direction(degrees + 9)}
    )
    await store.index.embed(CONVERSATION, {facts: direction(degrees + 3)})
    await said.link(
        MESSAGE, f"{name}-answer", [reference(f"{name}-scope", f"{name}.py", f"{name}.eat")]
    )
    await said.set_link_pending([f"{name}-1"], True)
    first = summary(facts, 0, 0, uuid=f"{name}-l1", conversation_summary=f"A {name} sleeps.")
    second = summary(facts, 1, 1, uuid=f"{name}-l1b", conversation_summary=f"A {name} eats.")
    above = level_2([first], uuid=f"{name}-l2", conversation_summary=f"The {name} and all.")
    for one in (first, second, above):
        await store.timeline.save_summary(one)
    await store.timeline.link(
        SUMMARY,
        first.uuid,
        [reference(f"{name}-scope", f"{name}.py", name)],
        [mention(f"{name}.py")],
    )
    await store.index.embed(SUMMARY, {first.uuid: direction(degrees + 1)})
    await store.records.put(USAGE, UsageRecord(facts, f"{name}-model", 90, 4, uuid=f"{name}-usage"))
    given = {"author": author, "visibility": visibility, "conversation_id": facts}
    await store.records.put(
        NOTE, note(f"A {name} likes tea.", uuid=f"{name}-note", tags=(name,), **given)
    )
    await store.records.put(NOTE, note(f"No {name} on Sunday.", uuid=f"{name}-note-2", **given))
    await store.index.embed(NOTE, {f"{name}-note": direction(degrees + 2)})
    into = conversation(uuid=f"{name}-branch", author=author, visibility=visibility)
    await said.branch(f"{name}-answer", into)
    await store.records.put(
        CONVERSATION, conversation(uuid=f"{name}-deleted", agent="codex", author=author)
    )
    await store.records.delete(CONVERSATION, f"{name}-deleted")
    cursor = TranscriptCursor(name, f"{name}-host", f"{name}.jsonl", "1", {"offset": 1})
    await store.transcripts.take_in(cursor, ())
    await store.jobs.enqueue([NewJob(f"{name}-job", "title", name, at(0))])
    return facts
