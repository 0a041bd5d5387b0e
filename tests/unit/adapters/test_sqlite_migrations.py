"""Migrations: the newest code opens the oldest file, and keeps what is in it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from ragforge.adapters.stores.sqlite import migrate
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import ConversationFilter, MemoryFilter
from ragforge.domain.kinds import STORED
from ragforge.domain.projects import CheckoutFilter, RepositoryIdentity, view_project
from ragforge.domain.schema import CHECKOUT, CONVERSATION, SUMMARY, TURN
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS, Words
from tests.fakes.builders import (
    MODEL,
    assistant,
    conversation,
    direction,
    exchange,
    summary,
    tool_call,
    tool_result,
    user,
)
from tests.fakes.code import list_scopes
from tests.fakes.old_store import write_old_store
from tests.fakes.projects import SHOP, ToyEmbedder, brain_of, write


async def test_a_file_of_the_first_schema_is_opened_by_this_code(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    first = apsw.Connection(str(path))
    first.execute(migrate.read_migrations()[0])
    first.pragma("user_version", 1)
    first.pragma("application_id", migrate.APPLICATION_ID)
    first.close()

    store = await open_sqlite(path, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, conversation(uuid="c"))

    assert (await store.health()).schema == migrate.SCHEMA
    await store.close()


async def test_a_later_step_keeps_what_an_older_file_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    old = await open_sqlite(path, WORDS, REDACTOR)
    await old.records.put(CONVERSATION, conversation(uuid="c"))
    await old.close()
    steps = [*migrate.read_migrations(), "ALTER TABLE conversation ADD COLUMN colour TEXT"]
    monkeypatch.setattr(migrate, "read_migrations", lambda: steps)
    monkeypatch.setattr(migrate, "SCHEMA", len(steps))

    new = await open_sqlite(path, WORDS, REDACTOR)

    assert (await new.health()).schema == len(steps)
    assert (await new.records.get(CONVERSATION, "c")).uuid == "c"
    await new.close()


def test_a_step_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    known = migrate.prepare(path)
    broken = "CREATE TABLE half_done (x); SELECT no_such_function();"
    monkeypatch.setattr(migrate, "read_migrations", lambda: [*[""] * known, broken])
    monkeypatch.setattr(migrate, "SCHEMA", known + 1)

    with pytest.raises(Exception, match="no_such_function"):
        migrate.prepare(path)

    after = apsw.Connection(str(path))
    assert after.pragma("user_version") == known
    tables = [name for (name,) in after.execute("SELECT name FROM sqlite_schema")]
    assert "half_done" not in tables
    after.close()


def test_processes_that_open_a_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        schemas = list(pool.map(migrate.prepare, [tmp_path / "store.db"] * 8))

    assert set(schemas) == {migrate.SCHEMA}


async def test_a_new_tokeniser_reindexes_old_texts(tmp_path: Path) -> None:
    class Backwards(Words):
        version = "backwards"

        def prose(self, text: str) -> str:
            return super().prose(text)[::-1]

    path = tmp_path / "store.db"
    old = await open_sqlite(path, Backwards(), REDACTOR)
    await old.records.put(CONVERSATION, conversation(uuid="c"))
    await old.timeline.append("c", exchange("parsing headers", "done"))
    assert (await old.index.search(TURN, "parsing", None, MemoryFilter(), 5, read=0)).by_words == []
    await old.close()

    new = await open_sqlite(path, WORDS, REDACTOR)
    while await new.upkeep.step():
        pass

    assert (
        len((await new.index.search(TURN, "parsing", None, MemoryFilter(), 5, read=0)).by_words)
        == 1
    )
    await new.close()


async def test_turns_of_an_older_file_are_reindexed(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    write_old_store(path, ["parsing headers"])

    store = await open_sqlite(path, WORDS, REDACTOR)
    found = (await store.index.match_turns("parse", MemoryFilter(), 5, reach=4))[0]

    assert [(match.id, match.length) for match in found.matches] == [("message-0", 2)]
    await store.close()


async def test_summaries_of_an_older_file_are_embedded_again(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    old = await open_sqlite(path, WORDS, REDACTOR)
    await old.records.put(CONVERSATION, conversation(uuid="c"))
    await old.timeline.save_summary(summary("c", uuid="s"))
    await old.index.embed(SUMMARY, {"s": direction(10)})
    assert await old.index.pending(SUMMARY, MODEL, 5) == []
    await old.close()
    take_step(path, "embedded by another text")

    new = await open_sqlite(path, WORDS, REDACTOR)

    assert await new.index.pending(SUMMARY, MODEL, 5) == ["s"]
    await new.close()


async def test_older_references_are_kept_and_say_what_can_be_known(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    old = apsw.Connection(str(path))
    for step in migrate.read_migrations()[:5]:
        old.execute(step)
    old.pragma("user_version", 5)
    old.pragma("application_id", migrate.APPLICATION_ID)
    then = "2025-12-09T14:30:00.000+00:00"
    old.execute(
        """INSERT INTO conversation (uuid, tags, status, cwd, project_path, message_count,
             turn_count, total_chars, created_at, updated_at, updated_ms)
           VALUES ('c', '[]', 'active', '/p', '/p', 1, 1, 15, ?, ?, 0)""",
        (then, then),
    )
    calls = {
        "said": None,
        "listed": None,
        "edited": ("edit_file", '{"path": "./a.py", "old_text": "x"}'),
        "read": ("read_file", '{"path": "a.py"}'),
        "found": ("grep_files", '{"regex": "x"}'),
        "other": ("read_file", '{"path": "b.py"}'),
    }
    for position, (uuid, call) in enumerate(calls.items()):
        old.execute(
            """INSERT INTO message (uuid, conversation_id, role, content, timestamp, timestamp_ms,
                 char_count, turn_index, position)
               VALUES (?, 'c', ?, 'parsing', ?, 0, 15, -1, ?)""",
            (uuid, "system" if uuid == "listed" else "assistant", then, position),
        )
        old.execute("INSERT INTO reference VALUES (?, 's', 'a.py', 'f', 'h')", (uuid,))
        if call is not None:
            old.execute(
                "INSERT INTO tool_call VALUES (?, ?, 0, ?, ?, ?, 1, 1, 1)",
                (f"call {uuid}", uuid, *call, then),
            )
    old.close()

    store = await open_sqlite(path, WORDS, REDACTOR)
    found = await store.timeline.links(list(calls))

    assert {uuid: links.references[0].how for uuid, links in found.items()} == {
        "said": "named",
        "listed": "found",  # what no model wrote lists what a search found
        "edited": "edited",
        "read": "read",
        "found": "found",
        "other": "found",
    }
    await store.close()


async def test_the_paths_of_an_older_file_become_projects_whose_words_are_still_found(
    tmp_path: Path,
) -> None:
    write_old_store(tmp_path / "store.db", ["parsing headers"])

    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)

    [checkout] = await store.records.find(
        CHECKOUT, CheckoutFilter(related_to=("/p", RepositoryIdentity()))
    )
    assert (checkout.host, checkout.identity) == ("", RepositoryIdentity())
    place = view_project(checkout, [])
    [found] = await store.records.find(CONVERSATION, ConversationFilter(project_ids=place.ids))
    assert found.project_id == checkout.project_id != "/p"
    turns = (
        await store.index.search(TURN, "headers", None, MemoryFilter(None, place.ids), 9, read=0)
    ).by_words
    assert [match.id for match in turns] == ["message-0"]
    await store.close()


def take_step(path: Path, words: str) -> None:
    """Take the step with these words on a file of today."""
    step = next(step for step in migrate.read_migrations() if words in step)
    connection = apsw.Connection(str(path))
    connection.execute(step)
    connection.close()


async def test_documents_of_an_older_file_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    write(tmp_path / "project", SHOP)
    old = await open_sqlite(path, WORDS, REDACTOR)
    await brain_of(old, tmp_path / "project").ingest()
    await old.close()
    take_step(path, "Documents are cut at their headings")

    new = await open_sqlite(path, WORDS, REDACTOR)
    report, _ = await brain_of(new, tmp_path / "project").ingest()

    assert report.changed == ("docs/guide.md",)
    await new.close()


async def test_every_file_of_an_older_store_is_read_again_and_loses_its_secrets(
    tmp_path: Path,
) -> None:
    secret = "ghp_" + "a1B2c3" * 6
    write(tmp_path / "project", {"app.py": f'TOKEN = "{secret}"\n'})
    old = await open_sqlite(tmp_path / "store.db", WORDS, STORED)
    report, _ = await brain_of(old, tmp_path / "project").ingest()
    assert secret in (await list_scopes(old, report.project_id, "app.py"))[0].source
    await old.close()
    take_step(tmp_path / "store.db", "Secrets in sources")

    new = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    report, _ = await brain_of(new, tmp_path / "project").ingest()

    assert report.changed == ("app.py",)
    scopes = await list_scopes(new, report.project_id, "app.py")
    assert {scope.source.strip() for scope in scopes} == {'TOKEN = "[redacted: GitHub token]"'}
    await new.close()


async def test_classes_of_an_older_file_get_their_real_lines_and_keep_their_vectors(
    tmp_path: Path,
) -> None:
    path, root = tmp_path / "store.db", tmp_path / "project"
    write(root, SHOP)
    old = await open_sqlite(path, WORDS, REDACTOR)
    report, _ = await brain_of(old, root, ToyEmbedder()).ingest()
    await old.close()
    store_as_before_schema_24(path)

    new = await open_sqlite(path, WORDS, REDACTOR)
    older = await list_scopes(new, report.project_id, "shop/cart.py")
    spy = ToyEmbedder()
    _, embedded = await brain_of(new, root, spy).ingest()
    scopes = await list_scopes(new, report.project_id, "shop/cart.py")

    assert "self.items = []" not in next(s.source for s in older if s.name == "Cart")
    lines = SHOP["shop/cart.py"].split("\n")
    for scope in scopes:
        assert scope.source == "\n".join(lines[scope.start_line - 1 : scope.end_line])
    assert [(s.uuid, s.hash) for s in scopes] == [(s.uuid, s.hash) for s in older]
    assert (embedded, spy.texts) == (0, [])
    await new.close()


def store_as_before_schema_24(path: Path) -> None:
    """Let the sources of classes be their search texts, as the step to schema 24 left them."""
    step = next(step for step in migrate.read_migrations() if "its real lines" in step)
    read_again = step[step.index("UPDATE file") :]
    connection = apsw.Connection(str(path))
    connection.execute(
        "UPDATE scope SET source_from = search_from, source_to = search_to, search_from = NULL, "
        f"search_to = NULL WHERE search_from IS NOT NULL; {read_again}"
    )
    connection.close()


async def test_calls_that_failed_in_an_older_file_are_not_successes(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    old = await open_sqlite(path, WORDS, REDACTOR)
    await old.records.put(CONVERSATION, conversation(uuid="c"))
    calls = [
        tool_call(uuid="bad", result=tool_result(None, success=False, error="no")),
        tool_call(uuid="good", result=tool_result("yes")),
        tool_call(uuid="open", result=None),
    ]
    await old.timeline.append("c", [user("do it"), assistant("done", *calls)])
    await old.close()
    [number] = [n for n, step in enumerate(migrate.read_migrations()) if "no success" in step]
    file = apsw.Connection(str(path))
    file.execute("UPDATE tool_call SET success = 1")  # as earlier versions wrote it
    file.execute(migrate.read_migrations()[number])

    found = dict(file.execute("SELECT uuid, success FROM tool_call"))

    assert found == {"bad": 0, "good": 1, "open": 1}
    file.close()


async def test_what_is_older_than_authors_is_everybodys(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    write_old_store(path, ["parsing headers", "parsing bodies"])

    ann = await open_sqlite(path, WORDS, REDACTOR, "ann@example.org")
    bob = await open_sqlite(path, WORDS, REDACTOR, "bob@example.org")

    for store in (ann, bob):
        old = await store.records.get(CONVERSATION, "c")
        assert (old.author, old.agent, old.visibility) == (None, "ragforge", "shared")
        found = (await store.index.search(TURN, "parse", None, MemoryFilter(), 5, read=0)).by_words
        assert {match.id for match in found} == {"message-0", "message-1"}
        await store.timeline.append("c", [user()])
        await store.close()
