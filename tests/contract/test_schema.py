"""The schema of a SQLite file: created at once, or reached by migrations from every older one."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import apsw
import pytest

from ragforge.adapters.stores.sqlite import migrate
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.code import ProjectFilter
from ragforge.domain.conversations import ConversationFilter, MemoryFilter
from ragforge.domain.schema import CONVERSATION, PROJECT, TURN
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from tests.fakes.code import list_scopes

OLD_STORES = sorted(Path(__file__).parents[1].glob("fixtures/stores/schema-*.db.xz"))
"""Files that RagForge wrote while their schema was the newest: a project read, two questions."""

NEWER_THAN_CODE = 2
"""The first schema whose version of RagForge could read a project."""


def read_number(file: Path) -> int:
    return int(re.findall(r"\d+", file.name)[0])


@pytest.fixture(params=OLD_STORES, ids=lambda file: str(file.name).split(".")[0])
def old_store(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[int, Path]:
    """The number of an old schema, and a copy of a file that has it."""
    path = tmp_path / "store.db"
    path.write_bytes(lzma.decompress(request.param.read_bytes()))
    return read_number(request.param), path


def describe(path: Path) -> dict[str, object]:
    """Return everything about a file's schema that a statement can depend on."""
    connection = apsw.Connection(str(path))
    found: dict[str, object] = {
        "version": connection.pragma("user_version"),
        "application": connection.pragma("application_id"),
        "meta": sorted(str(name) for (name,) in connection.execute("SELECT name FROM meta")),
    }
    objects = list(connection.execute("SELECT type, name, sql FROM sqlite_schema"))
    for kind, name, sql in objects:
        if kind == "table" and not str(sql).startswith("CREATE VIRTUAL"):
            columns = list(connection.execute(f"PRAGMA table_xinfo({name})"))
            keys = sorted(connection.execute(f"PRAGMA foreign_key_list({name})"))
            how = connection.execute(f"PRAGMA table_list({name})").get
            found[name] = columns, keys, how
        elif kind == "index" and sql is None:  # of a primary key or a unique column
            found[name] = list(connection.execute(f"PRAGMA index_xinfo({name})"))
        else:
            found[name] = " ".join(str(sql).split())
    connection.close()
    return found


async def create(path: Path) -> Path:
    await (await open_sqlite(path, WORDS, REDACTOR)).close()
    return path


async def test_every_schema_from_the_first_to_the_newest_is_there() -> None:
    numbers = [read_number(file) for file in OLD_STORES]

    assert len(migrate.read_migrations()) == migrate.SCHEMA
    assert (numbers[0], numbers[-1]) == (1, migrate.SCHEMA), "Add a file that today's code wrote."


async def test_a_file_that_was_migrated_has_the_schema_of_a_new_one(
    old_store: tuple[int, Path], tmp_path: Path
) -> None:
    number, path = old_store
    before = describe(path)
    assert before["version"] == number

    migrated, new = describe(await create(path)), describe(await create(tmp_path / "new.db"))

    assert migrated == new
    assert number == migrate.SCHEMA or before != new


async def test_what_an_old_file_holds_is_there_after_its_migration(
    old_store: tuple[int, Path],
) -> None:
    number, path = old_store
    before = apsw.Connection(str(path))
    texts = [str(text) for (text,) in before.execute("SELECT content FROM message ORDER BY rowid")]
    before.close()

    store = await open_sqlite(path, WORDS, REDACTOR)

    [conversation] = await store.records.find(CONVERSATION, ConversationFilter())
    messages = await store.timeline.messages(conversation.uuid)
    assert [message.content for message in messages] == texts
    assert texts[::2] == [
        "How does the login check a password?",
        "Where do we put an item into the cart?",
    ]
    [found] = (
        await store.index.search(TURN, "passwords checked", None, MemoryFilter(), 1, read=0)
    ).by_words
    assert found.id == messages[0].uuid
    if number >= NEWER_THAN_CODE:
        [project] = await store.records.find(PROJECT, ProjectFilter([conversation.project_id]))
        scopes = await list_scopes(store, project.uuid, "src/login.py")
        assert {"Login", "check", "digest"} <= {scope.name for scope in scopes}
    await store.close()


async def test_a_new_file_needs_no_migration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "read_migrations", lambda: pytest.fail("a step was read"))

    store = await open_sqlite(tmp_path / "new.db", WORDS, REDACTOR)

    assert (await store.health()).schema == migrate.SCHEMA
    assert await store.upkeep.step() is False  # no words wait for being indexed
    await store.close()
