"""Wholes: random conversations with everything that may belong to one."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from ragforge.domain.code import TOUCH_KINDS, CodeReference, FileMention
from ragforge.domain.conversations import BEFORE_FIRST_TURN, Message, ToolCall, ToolResult
from ragforge.domain.notes import Note
from ragforge.domain.summaries import Summary
from ragforge.domain.vectors import Vector
from ragforge.memory.secrets.redact import redact, redact_json
from tests.fakes.builders import conversation
from tests.fakes.hostile import HOSTILE
from tests.fakes.whole import Whole, WholeSummary, order, set_counters

ODD = st.sampled_from([text for text in HOSTILE.values() if len(text) < 1_000])
# What the redaction would change cannot come back unchanged.
TEXTS = st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), ODD).map(redact)
IDS = st.uuids(version=4).map(str)
COUNTS = st.integers(0, 2**53)
HOW = st.sampled_from(TOUCH_KINDS)
ANY_CHARACTER = st.text(st.characters(), max_size=8)  # halves of surrogate pairs too
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_CHARACTER
    | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_CHARACTER, inner, max_size=3),
    max_leaves=8,
).map(redact_json)


@st.composite
def moments(draw: st.DrawFn) -> datetime:
    """Return moments as the stores keep them: milliseconds, offsets of whole minutes."""
    naive = draw(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)))  # noqa: DTZ001
    zone = timezone(timedelta(minutes=draw(st.integers(-14 * 60, 14 * 60))))
    return naive.replace(microsecond=naive.microsecond // 1000 * 1000, tzinfo=zone)


@st.composite
def calls(draw: st.DrawFn) -> ToolCall:
    result = None
    if draw(st.booleans()):
        result = ToolResult(
            success=draw(st.booleans()),
            result=draw(JSON),
            error=draw(st.none() | TEXTS),
            uuid=draw(IDS),
            timestamp=draw(moments()),
            result_size_bytes=draw(st.integers(1, 2**53)),
        )
    return ToolCall(
        tool_name=draw(TEXTS),
        arguments=draw(JSON),
        result=result,
        uuid=draw(IDS),
        timestamp=draw(moments()),
        duration_ms=draw(COUNTS),
        success=draw(st.booleans()),
        iteration=draw(st.none() | COUNTS),
    )


@st.composite
def said(draw: st.DrawFn) -> tuple[Message, ...]:
    """Return messages whose turns and positions have the gaps that deletions leave."""
    found: list[Message] = []
    newest, position = BEFORE_FIRST_TURN, -1
    opened = [BEFORE_FIRST_TURN]
    for role in draw(st.lists(st.sampled_from(["user", "assistant", "system"]), max_size=6)):
        position += draw(st.integers(1, 3))
        if role == "user":
            newest += draw(st.integers(1, 3))
            opened.append(newest)
        found.append(
            Message(
                role=role,
                content=draw(TEXTS),
                reasoning=draw(st.none() | TEXTS),
                tool_calls=tuple(draw(st.lists(calls(), max_size=2))) if role != "user" else (),
                uuid=draw(IDS),
                timestamp=draw(moments()),
                token_count=draw(st.none() | COUNTS),
                usd=draw(st.none() | st.floats(0, 1_000, allow_nan=False)),
                receipt=draw(st.none() | st.just({"chars": 3, "items": [{"why": "é"}]})),
                turn_index=newest if role == "user" else draw(st.sampled_from(opened)),
                position=position,
            )
        )
    return tuple(found)


@st.composite
def references(draw: st.DrawFn) -> tuple[CodeReference, ...]:
    found = [
        CodeReference(f"scope {number}", draw(TEXTS), draw(TEXTS), draw(TEXTS), draw(HOW))
        for number in range(draw(st.integers(0, 2)))
    ]
    return tuple(sorted(found, key=lambda r: (r.file, r.qualified_name, r.scope_id)))


@st.composite
def summaries(draw: st.DrawFn, conversation_id: str, turns: list[int]) -> tuple[WholeSummary, ...]:
    """Return L1 summaries of some of the turns, and perhaps an L2 over some of them."""
    found: list[WholeSummary] = []
    left = list(turns)
    while left and len(found) < 3 and draw(st.booleans()):
        size = draw(st.integers(1, len(left)))
        chunk, left = left[:size], left[size:]
        covers = tuple(turn for turn in chunk if draw(st.booleans()))
        made = draw(_summary(conversation_id, 1, chunk[0], chunk[-1], ()))
        files = tuple(
            FileMention(f"file {n}", f"a{n}.py", draw(TEXTS), draw(HOW)) for n in range(2)
        )
        found.append(WholeSummary(made, covers, files, draw(references())))
    if found and draw(st.booleans()):
        parents = tuple(known.summary.uuid for known in found)
        made = draw(_summary(conversation_id, 2, turns[0], turns[-1], parents))
        found.append(WholeSummary(made))
    return tuple(found)


@st.composite
def _summary(
    draw: st.DrawFn, conversation_id: str, level: Any, first: int, last: int, parents: Any
) -> Summary:
    texts = st.lists(TEXTS, max_size=2).map(tuple)
    return Summary(
        conversation_id=conversation_id,
        level=level,
        conversation_summary=draw(TEXTS),
        start_turn_index=first,
        end_turn_index=last,
        char_range_start=draw(COUNTS),
        char_range_end=draw(COUNTS),
        actions_summary=draw(TEXTS),
        files_mentioned=draw(texts),
        key_findings=draw(texts),
        tools_used=draw(texts),
        topics=draw(texts),
        parent_summaries=parents,
        made_by=draw(TEXTS),
        uuid=draw(IDS),
        created_at=draw(moments()),
        read_at=draw(st.none() | moments()),
    )


VECTORS = st.lists(st.floats(1, 2, width=32), min_size=3, max_size=3).map(
    lambda numbers: Vector.of("random-model", numbers)
)


@st.composite
def wholes(draw: st.DrawFn) -> Whole:
    """Return a random conversation, without branches."""
    messages = draw(said())
    about = conversation(
        draw(st.sampled_from(["/work/shop", "/tmp/été", "C:\\code"])),
        uuid=draw(IDS),
        title=draw(st.none() | TEXTS),
        summary=draw(st.none() | TEXTS),
        tags=tuple(draw(st.lists(TEXTS, max_size=2))),
        status=draw(st.sampled_from(["active", "archived"])),
        created_at=draw(moments()),
        updated_at=draw(moments()),
    )
    turns = [message for message in messages if message.role == "user"]
    made = draw(summaries(about.uuid, [turn.turn_index or 0 for turn in turns]))
    touched = {message.uuid: draw(references()) for message in messages}
    noted = [
        Note(
            text=draw(TEXTS),
            project_path=about.project_path,
            tags=tuple(draw(st.lists(TEXTS, max_size=2))),
            conversation_id=about.uuid,
            supersedes=draw(st.none() | IDS),
            uuid=draw(IDS),
            created_at=draw(moments()),
            is_rule=draw(st.booleans()),
            corrects=tuple(draw(st.lists(IDS, max_size=2))),
            keeps=tuple(draw(st.lists(IDS, max_size=2))),
        )
        for _ in range(draw(st.integers(0, 2)))
    ]
    return Whole(
        conversation=set_counters(about, messages),
        messages=messages,
        references={owner: found for owner, found in touched.items() if found},
        summaries=tuple(sorted(made, key=order)),
        vector=draw(st.none() | VECTORS),
        turn_vectors={turn.uuid: draw(VECTORS) for turn in turns if draw(st.booleans())},
        summary_vectors={s.summary.uuid: draw(VECTORS) for s in made if draw(st.booleans())},
        notes=tuple(sorted(noted, key=lambda note: (note.created_at, note.uuid))),
        note_vectors={one.uuid: draw(VECTORS) for one in noted if draw(st.booleans())},
        link_pending=frozenset(turn.uuid for turn in turns if draw(st.booleans())),
        trimmed=frozenset(
            [turn.uuid for turn in turns if draw(st.booleans())]
            + [s.summary.uuid for s in made if s.summary.level == 1 and draw(st.booleans())]
        ),
    )
