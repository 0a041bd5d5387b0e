"""Privacy: what is private to an author does not exist for others, whatever they call."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any, TypeAlias

import pytest

from ragforge.domain.chat import UsageFilter, UsageRecord
from ragforge.domain.conversations import ConversationChanges, ConversationFilter, MemoryFilter
from ragforge.domain.hits import Match
from ragforge.domain.notes import NoteFilter
from ragforge.domain.passages import PassageFilter
from ragforge.domain.schema import (
    CONVERSATION,
    JOB,
    MESSAGE,
    MESSAGE_PLACE,
    NOTE,
    PASSAGE,
    SUMMARY,
    TURN,
    USAGE,
)
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.transcripts import (
    CallResult,
    NewConversation,
    NewMessage,
    ReportedUsage,
    RetractedMessage,
    SessionUpdate,
    TokenCount,
    TranscriptCursor,
)
from ragforge.domain.work import Job, JobFilter, NewJob
from ragforge.errors import ConversationNotFound, InputError, NotAuthor, NotFound, RagForgeError
from ragforge.ports.code_graph import CodeGraph
from ragforge.ports.search_index import Found, SearchIndex
from ragforge.ports.store import (
    Archive,
    JobQueue,
    LockStore,
    RecordKind,
    Records,
    Store,
    TranscriptStore,
    list_record_kinds,
)
from ragforge.ports.timeline import Timeline
from tests.fakes.authors import ANN, ANN_KEY, BOB, BOB_KEY, HOUR, MACHINE, talk
from tests.fakes.builders import (
    MODEL,
    SHOP,
    assistant,
    at,
    conversation,
    direction,
    mention,
    note,
    reference,
    summary,
    tool_call,
    tool_result,
    user,
)
from tests.fakes.copying import records
from tests.fakes.engines import Engines
from tests.fakes.whole import read_whole

NAME = "okapi"
PORTS: Mapping[str, type] = {
    "timeline": Timeline,
    "records": Records,
    "index": SearchIndex,
    "code": CodeGraph,
    "jobs": JobQueue,
    "locks": LockStore,
    "archive": Archive,
    "transcripts": TranscriptStore,
}
WITHOUT_CONVERSATIONS = frozenset(("code", "locks"))
"""Ports that hold nothing of what was said."""
Call: TypeAlias = Callable[[Any], Awaitable[Any]]

ABOUT_TALK = [
    k for k in list_record_kinds() if k not in ("checkout", "project", "file", "scope", "relation")
]


def _count(kind: RecordKind, archive: Archive) -> Awaitable[int]:
    return archive.count(kind)


async def _count_own(jobs: JobQueue) -> Any:
    """Count the viewer's jobs; those of others are counted only by their authors' names."""
    return (await jobs.count()).by_status


def _read(kind: RecordKind, archive: Archive) -> Awaitable[Any]:
    return archive.read(kind, None, 99)


_ALL, _SHOP = MemoryFilter(), MemoryFilter(project_ids=[SHOP])
_MANY_WORDS = " ".join(f"word{n}" for n in range(30)) + f" {NAME} sleeps eat feeds"
OF_JOBS: Mapping[str, list[Call]] = {
    "get": [lambda s: s.get(JOB, "okapi-job")],
    "get_many": [lambda s: s.get_many(JOB, ["okapi-job"])],
    "find": [lambda s: s.find(JOB, JobFilter()), lambda s: s.find(JOB, JobFilter("pending"))],
}
"""Jobs are their author's, whatever else is shared."""
READS: Mapping[str, Mapping[str, list[Call]]] = {
    "records": {
        "get": [
            lambda s: s.get(CONVERSATION, "okapi-talk"),
            lambda s: s.get(MESSAGE, "okapi-0"),
            lambda s: s.get(MESSAGE, "okapi-answer"),
            lambda s: s.get(MESSAGE_PLACE, "okapi-answer"),
            lambda s: s.get(SUMMARY, "okapi-l1"),
            lambda s: s.get(NOTE, "okapi-note"),
            *OF_JOBS["get"],
        ],
        "get_many": [
            lambda s: s.get_many(CONVERSATION, ["okapi-talk"]),
            lambda s: s.get_many(MESSAGE_PLACE, ["okapi-0", "okapi-answer"]),
            lambda s: s.get_many(SUMMARY, ["okapi-l1", "okapi-l2"]),
            lambda s: s.get_many(NOTE, ["okapi-note"]),
            *OF_JOBS["get_many"],
        ],
        "find": [
            lambda s: s.find(CONVERSATION, ConversationFilter()),
            lambda s: s.find(CONVERSATION, ConversationFilter(cwd=SHOP, own=True)),
            lambda s: s.find(CONVERSATION, ConversationFilter(prefix="okapi")),
            lambda s: s.find(SUMMARY, SummaryFilter()),
            lambda s: s.find(SUMMARY, SummaryFilter(project_ids=[SHOP])),
            lambda s: s.find(SUMMARY, SummaryFilter(conversation_ids=["okapi-talk"])),
            lambda s: s.find(SUMMARY, SummaryFilter(file="okapi.py")),
            lambda s: s.find(SUMMARY, SummaryFilter("okapi-talk", outside_level_2=True)),
            lambda s: s.find(SUMMARY, SummaryFilter("okapi-talk", waiting=True)),
            lambda s: s.find(NOTE, NoteFilter()),
            lambda s: s.find(USAGE, UsageFilter()),
            lambda s: s.find(USAGE, UsageFilter(["okapi-talk"])),
            lambda s: s.find(NOTE, NoteFilter([SHOP])),
            lambda s: s.find(NOTE, NoteFilter(prefix="okapi")),
            *OF_JOBS["find"],
        ],
    },
    "index": {
        "pending": [
            lambda s: s.pending(TURN, MODEL, 50),
            lambda s: s.pending(SUMMARY, MODEL, 50),
            lambda s: s.pending(NOTE, MODEL, 50),
        ],
        "count_pending": [
            lambda s: s.count_pending(TURN, MODEL),
            lambda s: s.count_pending(SUMMARY, MODEL),
            lambda s: s.count_pending(NOTE, MODEL),
        ],
        "search": [
            lambda s: s.search(TURN, "okapi sleep", None, _ALL, 9, read=0),
            lambda s: s.search(TURN, "okapi sleep", None, _SHOP, 9),
            lambda s: s.search(TURN, "okapi", None, MemoryFilter("okapi-talk"), 9),
            lambda s: s.search(TURN, "", direction(1), _ALL, 2),
            lambda s: s.search(TURN, "", direction(1), _SHOP, 2),
            lambda s: s.search(PASSAGE, "okapi sleep", None, PassageFilter(), 9),
            lambda s: s.search(
                PASSAGE, "okapi", None, PassageFilter(project_ids=[SHOP], kind="done"), 9
            ),
            lambda s: s.search(CONVERSATION, "", direction(1), ConversationFilter(), 1),
            lambda s: s.search(SUMMARY, "okapi sleeps", None, SummaryFilter(), 9),
            lambda s: s.search(SUMMARY, "", direction(1), SummaryFilter(), 1),
            lambda s: s.search(SUMMARY, "okapi sleeps", direction(1), SummaryFilter(), 9),
            lambda s: s.search(NOTE, "okapi tea", None, NoteFilter(), 9),
            lambda s: s.search(NOTE, "", direction(2), NoteFilter(), 1),
            lambda s: s.search(NOTE, "okapi tea", direction(2), NoteFilter(), 9),
        ],
        "match_turns": [
            lambda s: s.match_turns("okapi zebra sleep", _ALL, 9, 4),
            lambda s: s.match_turns("okapi zebra sleep", _SHOP, 9, 4),
            lambda s: s.match_turns(_MANY_WORDS, _ALL, 9, 4),
            lambda s: s.match_turns("okapi zebra sleep", _ALL, 9, 0),
            lambda s: s.match_turns("okapi zebra sleep", _SHOP, 9, 0),
            lambda s: s.match_turns(_MANY_WORDS, _ALL, 9, 0),
            lambda s: s.match_turns("okapi zebra sleep", _ALL, 9, 4, direction(0), 9),
            lambda s: s.match_turns(_MANY_WORDS, _SHOP, 9, 4, direction(0), 9),
        ],
    },
    "timeline": {
        "messages": [
            lambda s: s.messages("okapi-talk"),
            lambda s: s.messages("okapi-talk", limit=5, newest=True),
        ],
        "turns": [
            lambda s: s.turns(["okapi-0"]),
            lambda s: s.turns(["okapi-0", "okapi-1"], back=1),
        ],
        "recent_past": [lambda s: s.recent_past("okapi-talk", 5, 5)],
        "last_texts": [lambda s: s.last_texts(["okapi-talk"])],
        "links": [lambda s: s.links(["okapi-answer"]), lambda s: s.links(["okapi-l1"])],
        "turns_to_link": [
            lambda s: s.turns_to_link([SHOP], 50),
            lambda s: s.turns_to_link([SHOP], 50, waiting=False),
        ],
        "touches": [
            lambda s: s.touches(files=["okapi.py"]),
            lambda s: s.touches(names=["okapi"]),
            lambda s: s.touches(conversation_id="okapi-talk"),
        ],
        "coverage": [
            lambda s: s.coverage("okapi-talk"),
            lambda s: s.coverage("okapi-talk", 0),
        ],
    },
    "jobs": {
        "count": [_count_own],
    },
    "archive": {
        "count": [partial(_count, kind) for kind in ABOUT_TALK],
        "read": [partial(_read, kind) for kind in ABOUT_TALK],
        "conversation": [lambda s: s.conversation("okapi-talk")],
    },
    "transcripts": {
        "stamps": [lambda s: s.stamps("okapi-host")],
        "cursor": [lambda s: s.cursor("okapi", "okapi-host", "okapi.jsonl")],
        "look_up": [
            lambda s: s.look_up(["okapi-0"], []),
            lambda s: s.look_up([], ["okapi-talk"]),
        ],
    },
}
WRITES: Mapping[str, Mapping[str, list[Call]]] = {
    "records": {
        "update": [
            lambda s: s.update(CONVERSATION, "okapi-talk", ConversationChanges(title="Mine")),
            lambda s: s.update(
                CONVERSATION, "okapi-talk", ConversationChanges(visibility="shared")
            ),
            lambda s: s.update(NOTE, "okapi-note", lambda note: replace(note, text="Mine")),
            lambda s: s.update(JOB, "okapi-job", lambda job: replace(job, payload="Mine")),
        ],
        "delete": [
            lambda s: s.delete(CONVERSATION, "okapi-talk"),
            lambda s: s.delete(SUMMARY, "okapi-l1"),
            lambda s: s.delete(NOTE, "okapi-note"),
            lambda s: s.delete(JOB, "okapi-job"),
        ],
    },
    "index": {
        "embed": [
            lambda s: s.embed(TURN, {"okapi-2": direction(5)}),
            lambda s: s.embed(CONVERSATION, {"okapi-talk": direction(5)}),
            lambda s: s.embed(SUMMARY, {"okapi-l2": direction(5)}),
            lambda s: s.embed(NOTE, {"okapi-note-2": direction(5)}),
        ],
    },
    "timeline": {
        "append": [lambda s: s.append("okapi-talk", [user(), assistant()])],
        "finish_calls": [
            lambda s: s.finish_calls(
                "okapi-answer", [tool_call(uuid="okapi-call", result=tool_result())]
            )
        ],
        "link": [
            lambda s: s.link(MESSAGE, "okapi-0", [reference("new")]),
            lambda s: s.link(SUMMARY, "okapi-l1", [], [mention("new.py")]),
        ],
        "set_link_pending": [lambda s: s.set_link_pending(["okapi-2"], True)],
        "save_summary": [
            lambda s: s.save_summary(summary("okapi-talk", 2, 2, uuid="new"), ["okapi-2"])
        ],
        "trim": [lambda s: s.trim(at(9_999)), lambda s: s.trim(at(9), project_ids=[SHOP])],
        "forget_trims": [lambda s: s.forget_trims("okapi-talk")],
    },
    "jobs": {
        "claim": [lambda s: s.claim(MACHINE, HOUR)],
        "heartbeat": [lambda s: s.heartbeat("okapi-job", MACHINE, HOUR)],
        "settle": [
            lambda s: s.settle(Job("okapi-job", "title", "Mine", "done", 1, at(0), at(0)), MACHINE)
        ],
        "enqueue": [lambda s: s.enqueue([NewJob("okapi-job", "title")], again=True)],
    },
    "archive": {"write": [lambda s: s.write({"conversation": [{"uuid": "okapi-talk"}]})]},
    "transcripts": {
        "share_copies": [lambda s: s.share_copies()],
        "take_in": [
            lambda s: s.take_in(
                TranscriptCursor("okapi", "okapi-host", "okapi.jsonl", "1", {}, 1), []
            ),
            lambda s: s.take_in(
                TranscriptCursor("zebra", "", f"{s}.jsonl"),
                [
                    NewConversation(conversation(uuid="okapi-talk", title="Mine")),
                    NewMessage("okapi-talk", user("Mine?", uuid="mine")),
                    NewMessage("okapi-talk", user("Mine?", uuid="okapi-0")),
                    CallResult("okapi-answer", tool_call(uuid="okapi-call")),
                    RetractedMessage("okapi-answer"),
                    TokenCount("okapi-answer", 7),
                    ReportedUsage(UsageRecord("okapi-talk", "mine", 1, 900, uuid="okapi-usage")),
                    SessionUpdate("okapi-talk", "9", "main", "Mine", "okapi title"),
                ],
            ),
        ],
    },
}
"""Calls that change what belongs to another author. None of them may succeed."""
HARMLESS: Mapping[str, frozenset[str]] = {
    "records": frozenset(("put",)),  # they make something new; see below
    "timeline": frozenset(("branch",)),
}


@dataclass(frozen=True, slots=True)
class Team:
    """One store, opened for two authors and for an administrator."""

    ann: Store
    bob: Store
    all: Store


@pytest.fixture
async def team(engine: str, engines: Engines, store: Store) -> Team:
    return Team(await engines.open(engine, ANN_KEY), await engines.open(engine, BOB_KEY), store)


def _list_methods(port: str) -> set[str]:
    methods = inspect.getmembers(PORTS[port], inspect.isfunction)
    return {name for name, _ in methods if not name.startswith("_")}


async def _call(store: Store, port: str, call: Call) -> object:
    """Return what a call gives, or the kind of error it raises."""
    try:
        found = await call(getattr(store, port))
    except RagForgeError as error:
        return type(error)
    return _drop_scores(found)


def _drop_scores(found: object) -> object:
    """Return what was found without the scores: how rare a word is depends on all texts."""
    if isinstance(found, Match):
        return found.id
    if isinstance(found, list):
        return [_drop_scores(one) for one in found]
    return tuple(map(_drop_scores, found)) if type(found) in (tuple, Found) else found


async def _read_all(store: Store) -> dict[tuple[str, str, int], object]:
    return {
        (port, method, number): await _call(store, port, call)
        for port, methods in READS.items()
        for method, calls in methods.items()
        for number, call in enumerate(calls)
    }


async def _dump(store: Store) -> dict[str, object]:
    return {kind: await records(store, kind) for kind in list_record_kinds()}


def test_every_method_of_every_port_has_a_case() -> None:
    assert set(PORTS) == {name for name in Store.__slots__ if name in PORTS}
    for port in PORTS.keys() - WITHOUT_CONVERSATIONS:
        cases = READS[port].keys() | WRITES[port].keys() | HARMLESS.get(port, frozenset())
        assert cases == _list_methods(port), port


async def test_no_read_of_any_port_gives_what_is_private_to_another(team: Team) -> None:
    await talk(team.bob, "zebra", BOB, "shared", degrees=80)
    before = await _read_all(team.bob)
    await talk(team.ann, NAME)
    await talk(team.ann, "quokka", degrees=160)
    assert await _read_all(team.bob) == before
    hers = await _read_all(team.ann)
    same = {case for case, found in hers.items() if found == before[case]}
    assert same == set(), "these cases prove nothing"


async def test_what_is_shared_is_read_by_everybody(team: Team) -> None:
    await talk(team.ann, NAME, visibility="shared")
    hers, his = await _read_all(team.ann), await _read_all(team.bob)
    jobs = [call for calls in OF_JOBS.values() for call in calls]
    differ = {
        (port, method)
        for (port, method, number), found in hers.items()
        if his[port, method, number] != found and READS[port][method][number] not in jobs
    }
    work = {"pending", "count_pending", "turns_to_link"}
    assert {name for port, name in differ if port not in ("jobs", "transcripts")} <= {
        *work,
        "find",
        "count",
        "read",
    }
    assert his["records", "get", 0] == hers["records", "get", 0]
    assert his["index", "search", 0] == hers["index", "search", 0]


@pytest.mark.parametrize("visibility", ["private", "shared"])
async def test_no_write_of_any_port_changes_what_belongs_to_another_author(
    team: Team, visibility: Any
) -> None:
    await talk(team.ann, NAME, visibility=visibility)
    before = await _dump(team.all)
    for port, methods in WRITES.items():
        for method, calls in methods.items():
            for call in calls:
                got = await _call(team.bob, port, call)
                assert await _dump(team.all) == before, (port, method, got)
                if port != "jobs" and visibility == "private" and isinstance(got, type):
                    assert issubclass(got, NotFound) or method == "write", (port, method, got)


async def test_sharing_and_unsharing_reach_everything_that_belongs_to_a_session(
    team: Team,
) -> None:
    await talk(team.ann, NAME)
    hidden = await _read_all(team.bob)
    for change in ("shared", "private"):
        for uuid in ("okapi-talk", "okapi-branch"):
            await team.ann.records.update(
                CONVERSATION, uuid, ConversationChanges(visibility=change)
            )
        seen = await _read_all(team.bob)
        assert (seen == hidden) is (change == "private")
    await team.ann.records.update(
        CONVERSATION, "okapi-talk", ConversationChanges(visibility="shared")
    )
    await team.ann.records.update(
        CONVERSATION, "okapi-branch", ConversationChanges(visibility="shared")
    )
    for port, methods in READS.items():
        for method, calls in methods.items():
            if (port, method) in (("jobs", "get"), ("jobs", "find"), ("archive", "read")):
                continue
            for call in calls:
                assert await _call(team.bob, port, call) is not ConversationNotFound, method


async def test_a_shared_session_is_branched_and_the_branch_is_the_branchers(team: Team) -> None:
    await talk(team.ann, NAME, visibility="shared")
    into = conversation(uuid="mine", author=BOB, visibility="private")
    made = await team.bob.timeline.branch("okapi-answer", into)
    assert made.author == BOB
    assert [m.author for m in await team.bob.timeline.messages("mine")] == [ANN, None]
    await team.bob.timeline.append("mine", [user("And zebras?", author=BOB)])
    with pytest.raises(ConversationNotFound):
        await team.ann.records.get(CONVERSATION, "mine")
    assert (await read_whole(team.ann, "okapi-talk")).branches != ()
    assert "mine" not in str(await read_whole(team.ann, "okapi-talk"))


async def test_a_private_session_is_not_branched_by_others(team: Team) -> None:
    await talk(team.ann, NAME)
    with pytest.raises(NotFound):
        await team.bob.timeline.branch("okapi-answer", conversation(author=BOB))
    with pytest.raises(NotFound):
        await team.bob.records.put(NOTE, note("Mine", supersedes="okapi-note", author=BOB))


async def test_a_private_note_replaces_a_shared_one_only_for_its_author(team: Team) -> None:
    await team.ann.records.put(NOTE, note("Deploy on Friday.", uuid="old", author=ANN))
    newer = note("Never.", uuid="new", supersedes="old", author=BOB, visibility="private")
    await team.bob.records.put(NOTE, newer)
    assert [one.uuid for one in await team.ann.records.find(NOTE, NoteFilter())] == ["old"]
    assert [one.uuid for one in await team.bob.records.find(NOTE, NoteFilter())] == ["new"]


async def test_force_changes_what_is_shared_and_never_what_is_private(team: Team) -> None:
    await talk(team.ann, NAME, visibility="shared")
    await talk(team.ann, "quokka")
    title = ConversationChanges(title="Mine")
    with pytest.raises(NotAuthor, match="belongs to Ann <Ann@Example"):
        await team.bob.records.delete(CONVERSATION, "okapi-talk")
    assert (
        await team.bob.records.update(CONVERSATION, "okapi-talk", title, force=True)
    ).title == "Mine"
    await team.bob.records.delete(CONVERSATION, "okapi-talk", force=True)
    await team.bob.records.delete(NOTE, "okapi-note", force=True)
    for kind, hidden in ((CONVERSATION, "quokka-talk"), (NOTE, "quokka-note")):
        with pytest.raises(NotFound):
            await team.bob.records.delete(kind, hidden, force=True)


async def test_what_has_no_author_is_everybodys(team: Team) -> None:
    await talk(team.all, NAME, None, "shared")
    await team.bob.timeline.append("okapi-talk", [user(author=BOB)])
    await team.ann.records.delete(CONVERSATION, "okapi-talk")
    with pytest.raises(InputError, match="has an author"):
        await team.all.records.put(CONVERSATION, conversation(visibility="private"))


async def test_an_author_is_known_by_the_mail_address_whatever_its_case(team: Team) -> None:
    await talk(team.ann, NAME, "A. Miller <ANN@example.ORG>")
    assert (
        await team.ann.records.get(CONVERSATION, "okapi-talk")
    ).author == "A. Miller <ANN@example.ORG>"


async def test_an_administrator_reads_and_copies_everything(team: Team) -> None:
    await talk(team.ann, NAME)
    whole = await read_whole(team.all, "okapi-talk")
    assert len(whole.messages) == 4
    assert await team.all.archive.count("note") == 2
    assert await team.bob.archive.count("note") == 0


async def test_a_job_is_taken_by_its_owner_on_its_machine(team: Team) -> None:
    hour = timedelta(hours=1)
    await team.ann.jobs.enqueue([NewJob("hers", "title"), NewJob("ingest", "ingest", machine="x")])
    await team.all.jobs.enqueue([NewJob("of nobody", "title")])
    assert (await team.bob.jobs.count()).of_others == {ANN_KEY: 2}
    assert (await team.ann.jobs.count()).of_others == {}
    taken = await team.bob.jobs.claim(MACHINE, hour)
    assert taken is not None
    assert (taken.key, taken.owner) == ("of nobody", None)
    assert await team.bob.jobs.claim(MACHINE, hour) is None
    taken = await team.ann.jobs.claim(MACHINE, hour)
    assert taken is not None
    assert (taken.key, taken.owner) == ("hers", ANN_KEY)
    assert await team.ann.jobs.claim(MACHINE, hour) is None, "an ingest of another machine"
