"""How many queries common work sends to a Neo4j server: each costs a round trip and a plan."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from ragforge.app.application import App
from ragforge.app.features.sessions import Sessions
from ragforge.app.opening import open_app
from ragforge.config.layers import load_settings
from ragforge.domain.code import CodeFilter, Relation, ScopeFilter
from ragforge.domain.conversations import Identity, MemoryFilter
from ragforge.domain.notes import NoteFilter
from ragforge.domain.passages import PassageFilter
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import (
    CONVERSATION,
    NOTE,
    PASSAGE,
    PROJECT,
    SCOPE,
    SCOPE_NAME,
    SUMMARY,
    TURN,
)
from ragforge.domain.summaries import SummaryFilter
from ragforge.domain.work import Holder, NewJob, finish
from ragforge.memory.code.pending_links import link_or_wait
from ragforge.memory.record import Recorder
from ragforge.ports.store import Store
from tests.fakes.builders import (
    assistant,
    conversation,
    direction,
    parsed,
    project,
    scope,
    tool_call,
    user,
)
from tests.fakes.code import (
    as_asked,
    embed_scopes,
    find_by_words,
    find_named,
    find_nearest,
    list_files,
    relations_of,
)
from tests.fakes.engines import Engines
from tests.fakes.queries import record_queries, record_row_counts

pytestmark = pytest.mark.neo4j
HERE, BRAIN = Path("/work/shop"), "p"


@pytest.fixture
async def store(engines: Engines) -> Store:
    return await engines.empty("neo4j")


def sessions(store: Store) -> Sessions:
    return Sessions(store, HERE, ProjectPlace.at(str(HERE)), None, Identity("Ann", "host"))


async def talk(store: Store, uuid: str, turns: int = 2) -> None:
    await store.records.put(CONVERSATION, conversation(uuid=uuid, cwd=str(HERE)))
    said = [message for _ in range(turns) for message in (user("why?"), assistant("because"))]
    await store.timeline.append(uuid, said)


@asynccontextmanager
async def open_tigers(engines: Engines, root: Path, work: bool = True) -> AsyncIterator[App]:
    """Open a separate project, whose searches are not late on a server that has just started."""
    (root / ".git").mkdir()
    environ = {
        "RAGFORGE_STORE": engines.location("neo4j"),
        "RAGFORGE_CONFIG": "",
        "RAGFORGE_AGENT__CONTEXT__SEARCH_SECONDS": "300",
    }
    settings = load_settings(root, environ=environ).settings
    async with open_app(settings, root, work=work) as app:
        yield app


def write_long_ago(path: Path, text: str) -> None:
    """Write a file that is not read twice for having been written a moment ago."""
    path.write_text(text)
    os.utime(path, (1_700_000_000, 1_700_000_000))


def drop_worker(sent: list[str]) -> list[str]:
    """Return the queries without those of the worker that runs at the same time.

    It looks for jobs and transcripts, the more often the slower the machine.
    """
    of_worker = re.compile("RagForgeJob|RagForgeTranscript")
    return [query for query in sent if not of_worker.search(query)]


async def test_a_list_of_sessions_takes_as_many_queries_for_one_as_for_forty(store: Store) -> None:
    for number in range(40):
        await talk(store, f"c{number}", 1)

    with record_queries() as sent:
        found = await sessions(store).find(limit=5_000)
        lines = await sessions(store).add_last_messages(found)

    assert len(lines) == 40
    assert {line.last_message for line in lines} == {"because"}
    assert len(sent) <= 3


async def test_a_session_is_shown_with_three_queries(store: Store) -> None:
    await talk(store, "0123456789", 20)

    with record_queries() as sent:
        detail = await sessions(store).load_detail("0123")

    assert len(detail.turns) == len(detail.states.turns) == 20
    assert len(sent) <= 3


async def test_a_turn_with_tool_calls_is_stored_with_seven_queries(store: Store) -> None:
    await talk(store, "c")
    recorder = Recorder(store, "toy-embedder", 10_000)

    with record_queries() as sent:
        await recorder.store_turn("c", [user("again?"), assistant("Yes.", tool_call())])

    assert len(sent) <= 7


async def test_many_turns_are_stored_with_the_queries_of_one(store: Store) -> None:
    await talk(store, "c")
    recorder = Recorder(store, "toy-embedder", 10_000)

    with record_queries() as sent:
        turns = await recorder.store_turns("c", [[user(), assistant()] for _ in range(50)])

    assert [turn.user.turn_index for turn in turns] == list(range(2, 52))
    assert len(sent) <= 8


async def test_a_turn_that_names_thirty_functions_is_linked_with_eleven_queries(
    store: Store,
) -> None:
    await store.records.put(PROJECT, project(str(HERE), uuid=BRAIN, project_id=BRAIN))
    names = [f"count_{number}_things" for number in range(30)]
    files = [parsed("a.py", *(scope(name, uuid=name) for name in names))]
    await store.code.replace_files(BRAIN, files)
    await store.records.put(CONVERSATION, conversation(str(HERE), uuid="c", project_id=BRAIN))
    asked = user("What calls " + " ".join(f"`{name}`" for name in names))
    answer = assistant("First `count_0_things`, then `count_1_things`.")
    await store.timeline.append("c", [asked, answer])

    with record_queries() as sent:
        await link_or_wait(store, "c", asked.uuid)

    linked = await store.timeline.links([asked.uuid, answer.uuid])
    assert {uuid: len(found.references) for uuid, found in linked.items()} == {
        asked.uuid: 30,
        answer.uuid: 2,
    }
    assert len(sent) <= 11, [" ".join(one.split())[:90] for one in sent]


async def test_a_job_is_taken_and_done_with_three_queries(store: Store) -> None:
    holder, lease = Holder("here", 1, 1.0), timedelta(minutes=1)
    await store.jobs.enqueue([NewJob("a", "kind")])

    with record_queries() as sent:
        job = await store.jobs.claim(holder, lease)
        assert job is not None
        await store.jobs.settle(finish(job), holder)
    assert len(sent) <= 3

    with record_queries() as sent:
        assert await store.jobs.claim(holder, lease) is None
    assert len(sent) == 1


async def test_the_passages_of_many_turns_are_embedded_with_one_query(store: Store) -> None:
    await talk(store, "c", 0)
    long = "\n\n".join(["because " * 100] * 3)
    said = [[user("why?"), assistant(long)] for _ in range(30)]
    await store.timeline.append("c", [one for turn in said for one in turn])
    pending = await store.index.pending(PASSAGE, "toy-embedder")
    assert len(pending) == 120

    with record_queries() as sent:
        await store.index.embed(PASSAGE, {one: direction(n) for n, one in enumerate(pending)})

    assert len(sent) == 1


async def test_each_search_is_one_query(store: Store) -> None:
    await talk(store, "c", 5)
    turns = [m.uuid for m in await store.timeline.messages("c") if m.role == "user"]
    await store.index.embed(TURN, {turn: direction(n) for n, turn in enumerate(turns)})
    await store.records.put(PROJECT, project(str(HERE), uuid=BRAIN))
    await store.code.replace_files(BRAIN, [parsed("a.py", scope("s", uuid="s"))])
    await embed_scopes(store, {"s": direction(0)})
    where, code = MemoryFilter(), CodeFilter(BRAIN)
    searches = {
        "turns by words": lambda: store.index.match_turns("why because", where, 10, 4),
        "turns both ways": lambda: store.index.match_turns(
            "why because", where, 10, 4, direction(1), 10
        ),
        "passages both ways": lambda: store.index.search(
            PASSAGE, "why", direction(1), PassageFilter(kind="said"), 10
        ),
        "passages of both kinds": lambda: store.index.search(
            PASSAGE, "why", None, PassageFilter(), 10
        ),
        "notes both ways": lambda: store.index.search(NOTE, "why", direction(1), NoteFilter(), 10),
        "summaries both ways": lambda: store.index.search(
            SUMMARY, "why", direction(1), SummaryFilter(), 10
        ),
        "scopes both ways": lambda: store.code.search("s", direction(0), code, 10),
        "turns": lambda: store.timeline.turns(turns),
        "turns before": lambda: store.timeline.turns(turns, back=1),
        "turns by words, whole": lambda: store.index.search(TURN, "why", None, where, 9),
        "the end of a conversation": lambda: store.timeline.recent_past("c", 5, 5),
        "turns by meaning": lambda: store.index.search(TURN, "", direction(1), where, 10, read=0),
        "scopes by words": lambda: find_by_words(store, "s", code, 10),
        "scopes by meaning": lambda: find_nearest(store, direction(0), code, 10),
        "scopes by name": lambda: find_named(store, BRAIN, ["s", "t"]),
        "words of the code": lambda: store.code.count_holding(BRAIN, as_asked("s", "t", "u"), 1),
        "locks": lambda: store.locks.held(["a", "b"]),
        "messages": lambda: store.timeline.messages("c", limit=5, newest=True),
        "summaries": lambda: store.records.find(SUMMARY, SummaryFilter("c", outside_level_2=True)),
    }

    counts = {}
    for name, search in searches.items():
        with record_queries() as sent:
            await search()
        counts[name] = len(sent)

    assert counts == dict.fromkeys(searches, 1)


async def test_what_is_read_by_the_hundred_comes_in_one_row(store: Store) -> None:
    """A row is a message of the driver's protocol, which takes longer than what is in it."""
    await talk(store, "c", 5)
    await store.records.put(PROJECT, project(str(HERE), uuid=BRAIN))
    names = [f"s{number}" for number in range(5)]
    files = [parsed(f"{name}.py", scope(name, uuid=name)) for name in names]
    await store.code.replace_files(BRAIN, files)
    paths = [file.file.path for file in files]
    reads = {
        "files": lambda: list_files(store, BRAIN),
        "marks": lambda: store.code.file_marks(BRAIN),
        "names": lambda: store.records.find(SCOPE_NAME, ScopeFilter(BRAIN, paths)),
        "scopes": lambda: store.records.get_many(SCOPE, names),
        "messages": lambda: store.timeline.messages("c"),
        "conversation": lambda: store.archive.conversation("c"),
        "records": lambda: store.archive.read("message", None, 100),
    }

    counts = {}
    for name, read in reads.items():
        with record_row_counts() as brought:
            assert await read()
        counts[name] = brought

    assert counts == {name: [1] for name in reads}


async def test_relations_that_are_all_right_are_not_checked_beforehand(store: Store) -> None:
    await store.records.put(PROJECT, project(str(HERE), uuid=BRAIN))
    scopes = [scope(name, uuid=name) for name in ("a", "b")]
    await store.code.replace_files(BRAIN, [parsed("a.py", *scopes)])

    with record_queries() as sent:
        edges = [Relation("CONSUMES", "a", "b"), Relation("CONSUMES", "a", "b")]
        await store.code.relate_files(BRAIN, ["a.py"], edges, "related")

    assert len(sent) <= 5
    assert len(await relations_of(store, "a", "out")) == 1


async def test_a_changed_file_is_ingested_with_24_queries_and_no_change_with_six(
    engines: Engines, tmp_path: Path
) -> None:
    await engines.empty("neo4j")
    changed, other = tmp_path / "tigers" / "cool.py", tmp_path / "tigers" / "feed.py"
    changed.parent.mkdir()
    write_long_ago(changed, "def cool():\n    return 'cold water'\n")
    write_long_ago(other, "def feed():\n    return 'meat'\n")
    async with open_tigers(engines, tmp_path, work=False) as app:
        await app.code.ingest()

        with record_queries() as sent:
            await app.code.ingest()
        assert len(sent) <= 6, [" ".join(one.split())[:90] for one in sent]

        write_long_ago(changed, changed.read_text() + "\n\ndef warm():\n    return cool()\n")
        with record_queries() as sent:
            report, embedded = await app.code.ingest()

    assert (report.read, report.related, embedded) == (1, 1, 2)
    assert len(sent) <= 24, [" ".join(one.split())[:90] for one in sent]


async def test_many_new_files_are_stored_with_the_queries_of_one(store: Store) -> None:
    await store.records.put(PROJECT, project(str(HERE), uuid=BRAIN))
    counts = []
    for folder, many in (("a", 1), ("b", 20)):
        files = [
            parsed(f"{folder}/{n}.py", *(scope(f"{folder}{n}{m}") for m in range(3)))
            for n in range(many)
        ]
        with record_queries() as sent:
            await store.code.replace_files(BRAIN, files)
        counts.append(len(sent))

    assert len(await list_files(store, BRAIN)) == 21
    assert counts[0] == counts[1] <= 6


async def test_a_context_is_built_with_30_queries_and_at_most_40(
    engines: Engines, tmp_path: Path
) -> None:
    """In a conversation with a past and a standing instruction, of a project with code.

    A question that names code takes four more. One about the time before something searches the
    memory twice.
    """
    questions = {
        "How are the tigers cooled with cold water?": 30,
        "Does cool_tiger1 give the tigers cold water?": 34,
        "What cold water did the tigers like before they were cooled?": 40,
    }
    await engines.empty("neo4j")
    for number in range(3):
        text = f"def cool_tiger{number}():\n    '''Cool the tigers.'''\n    return 'cold water'\n"
        (tmp_path / f"tiger{number}.py").write_text(text)
    (tmp_path / "README.md").write_text("# Tigers\n\nTigers are cooled with cold water.\n")
    async with open_tigers(engines, tmp_path) as app:
        await app.code.ingest(lambda _: None)
        talk = await app.sessions.create("tigers")
        said = [message for _ in range(9) for message in (user("cool tigers?"), assistant("cold"))]
        lasting = user("From now on always answer in one short sentence, please.")
        await app.store.timeline.append(talk.uuid, [lasting, assistant("Yes."), *said])
        await app.notes.remember("Tigers like cold water.")
        await app.maintenance.embed_memory(lambda _: None)
        await app.jobs.wait(60)

        for question, maximum in questions.items():
            with record_queries() as sent:
                context = await app.build_context(question)

            shown = {item.section for item in context.receipt.items}
            assert {"code", "recent_turns", "notes"} <= shown
            asked = [" ".join(one.split())[:90] for one in drop_worker(sent)]
            assert len(asked) <= maximum, (question, asked)
