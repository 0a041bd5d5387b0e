"""A kind of data that is declared only here: what follows from the declaration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path

import apsw
import pytest

from ragforge.domain import schema
from ragforge.domain.instants import now
from ragforge.domain.kinds import Kind
from ragforge.domain.schema import CONVERSATION
from ragforge.domain.text import Json, new_id
from ragforge.errors import DuplicateId, ImportRefused, NotAuthor, NotFound
from ragforge.memory.export_format.reader import import_conversation
from ragforge.memory.export_format.writer import export_conversation, to_bytes
from ragforge.memory.store_copy import copy_store
from ragforge.ports.store import Store
from ragforge.records import dataclass
from tests.fakes.authors import ANN, ANN_KEY, BOB_KEY
from tests.fakes.builders import MODEL, at, conversation, direction
from tests.fakes.engines import Engines
from tests.fakes.secrets import made

SECRET = "ghp_" + made(36)


@dataclass(frozen=True, slots=True)
class Remark:
    """A stretch of a conversation."""

    conversation_id: str
    text: str
    place: int
    tags: tuple[str, ...] = ()
    facts: Json = None
    uuid: str = field(default_factory=new_id)
    created_at: datetime = field(default_factory=now)


@dataclass(frozen=True, slots=True)
class RemarkFilter:
    conversation_id: str | None = None
    tags: Sequence[str] = ()
    since: datetime | None = None


class RemarkNotFound(NotFound):
    kind = "remark"


REMARK = Kind[Remark, RemarkFilter](
    "remark",
    Remark,
    texts=("text", "tags", "facts"),
    owner=("private_to",),
    milliseconds={"created_ms": "created_at"},
    missing=RemarkNotFound,
    where={
        "conversation_id": ("is", "conversation_id"),
        "tags": ("shares", "tags"),
        "since": ("from", "created_ms"),
    },
    order=("place", "uuid"),
    words=lambda remark: remark.text,
)
SQL = """
CREATE TABLE remark (
  id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, text TEXT NOT NULL, place INTEGER NOT NULL,
  conversation_id TEXT NOT NULL REFERENCES conversation (uuid) ON DELETE CASCADE,
  tags TEXT NOT NULL, facts TEXT NOT NULL, created_at TEXT NOT NULL, created_ms INTEGER NOT NULL,
  private_to TEXT
) STRICT;
CREATE VIRTUAL TABLE remark_words
  USING fts5 (words, content='', contentless_delete=1, tokenize='ascii');
CREATE TRIGGER remark_gone AFTER DELETE ON remark BEGIN
  DELETE FROM remark_words WHERE rowid = old.id;
  DELETE FROM vector WHERE kind = 'remark' AND owner = old.id;
END;
"""
CYPHER = (
    "CREATE CONSTRAINT remark IF NOT EXISTS FOR (n:Remark) REQUIRE n.uuid IS UNIQUE",
    """CREATE FULLTEXT INDEX ragforge_remark_words IF NOT EXISTS FOR (n:Remark) ON EACH [n.words]
       OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}""",
    """CREATE VECTOR INDEX ragforge_remark_vectors IF NOT EXISTS FOR (n:Remark) ON (n.embedding)
       OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}}""",
    "CALL db.awaitIndexes(60)",
)
UNDO = (
    "MATCH (n:Remark) DETACH DELETE n",
    "DROP CONSTRAINT remark IF EXISTS",
    "DROP INDEX ragforge_remark_words IF EXISTS",
    "DROP INDEX ragforge_remark_vectors IF EXISTS",
)


async def run_cypher(url: str, *queries: str) -> None:
    import neo4j

    async with neo4j.AsyncGraphDatabase.driver(url) as driver:
        for query in queries:
            await driver.execute_query(query)


async def open_with_remarks(
    engines: Engines, engine: str, location: str, viewer: str | None = None
) -> Store:
    """Open a store after the migration that the kind needs."""
    if engine == "neo4j":
        await run_cypher(location, *CYPHER)
    else:
        connection = apsw.Connection(location)
        if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'remark'").get:
            connection.execute(SQL)
        connection.close()
    return await engines.open_at(location, viewer)


@pytest.fixture
async def store(engine: str, engines: Engines, monkeypatch: pytest.MonkeyPatch) -> Store:
    await engines.empty(engine)
    monkeypatch.setitem(schema.KINDS, "remark", REMARK)
    return await open_with_remarks(engines, engine, engines.location(engine))


@pytest.fixture(autouse=True)
async def clean_up(engine: str, engines: Engines) -> object:
    yield
    if engine == "neo4j":
        await run_cypher(engines.location(engine), *UNDO)


def remark(text: str = "Zebras eat grass.", place: int = 0, **more: object) -> Remark:
    return Remark("c", text, place, **more)  # type: ignore[arg-type]


async def fill(store: Store, *remarks: Remark) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.records.put(REMARK, *remarks)


async def test_it_is_stored_found_changed_and_deleted(store: Store) -> None:
    first = remark(uuid="p0", tags=("food",), facts={"k": [1]}, created_at=at(0))
    second = remark("Lions sleep.", 1, uuid="p1", created_at=at(5))
    await fill(store, second, first)
    find = store.records.find

    assert await store.records.get(REMARK, "p0") == first
    assert await store.records.get_many(REMARK, ["p1", "none"]) == {"p1": second}
    assert await find(REMARK, RemarkFilter("c")) == [first, second]
    assert await find(REMARK, RemarkFilter(tags=["food"])) == [first]
    assert await find(REMARK, RemarkFilter(since=at(3))) == [second]
    with pytest.raises(DuplicateId):
        await store.records.put(REMARK, first)

    changed = await store.records.update(REMARK, "p0", lambda one: replace(one, text="Okapis."))
    assert await find(REMARK, RemarkFilter("c")) == [changed, second]
    await store.records.delete(REMARK, "p0")
    with pytest.raises(RemarkNotFound):
        await store.records.get(REMARK, "p0")
    await store.records.delete(CONVERSATION, "c")
    assert await find(REMARK, RemarkFilter()) == []


async def test_it_is_searched_by_words_and_by_meaning(store: Store) -> None:
    zebra, lion = remark(uuid="p0"), remark("Lions sleep.", 1, uuid="p1")
    await fill(store, zebra, lion)
    assert await store.index.pending(REMARK, MODEL, 9) == ["p0", "p1"]
    await store.index.embed(REMARK, {"p0": direction(0), "p1": direction(1)})

    found = await store.index.search(REMARK, "zebra", direction(1), RemarkFilter("c"), 1)

    assert [match.id for match in found.by_words] == ["p0"]
    assert [match.id for match in found.by_vector] == ["p1"]
    assert found.items == {"p0": zebra, "p1": lion}
    assert await store.index.count_pending(REMARK, MODEL) == (0, 2)
    await store.records.update(REMARK, "p0", lambda one: replace(one, text="Okapis hide."))
    reworded = await store.index.search(REMARK, "zebra okapi", direction(0), RemarkFilter(), 9)
    assert [match.id for match in reworded.by_words] == ["p0"]
    assert [match.id for match in reworded.by_vector] == ["p1"]
    assert (await store.index.search(REMARK, "zebra", None, RemarkFilter(), 9)).by_words == []
    assert await store.index.pending(REMARK, MODEL, 9) == ["p0"]
    nowhere = RemarkFilter("other")
    assert await store.index.search(REMARK, "zebra", direction(1), nowhere, 9) == ([], [], {})


async def test_its_secrets_are_removed(store: Store, engine: str, tmp_path: Path) -> None:
    await fill(store, remark(f"Say {SECRET}.", tags=(SECRET,), facts={"deep": [SECRET]}))

    [found] = await store.records.find(REMARK, RemarkFilter())

    assert SECRET not in repr(found)
    assert found.text == "Say [redacted: GitHub token]."
    assert (await store.index.search(REMARK, SECRET, None, RemarkFilter(), 9)).by_words == []
    if engine == "sqlite":
        files = [path for path in tmp_path.iterdir() if path.name.startswith("store-")]
        assert not [path for path in files if SECRET.encode() in path.read_bytes()]


async def test_it_is_copied_with_its_vectors(
    store: Store, engine: str, engines: Engines, tmp_path: Path
) -> None:
    await fill(store, remark(uuid="p0", tags=("a", "b"), facts={"k": None}))
    await store.index.embed(REMARK, {"p0": direction(0)})
    (tmp_path / "there").mkdir()
    place = str(tmp_path / "there" / "copy.db")
    await engines.open_at(place)
    target = await open_with_remarks(engines, "sqlite", place)

    report = await copy_store(store.archive, target.archive, "copy", lambda _: None)

    assert report.counts["remark"] == 1
    assert await target.records.get(REMARK, "p0") == await store.records.get(REMARK, "p0")
    found = await target.index.search(REMARK, "zebra", direction(0), RemarkFilter(), 9)
    assert [match.id for match in (*found.by_words, *found.by_vector)] == ["p0", "p0"]


async def test_it_is_exported_and_imported_with_its_conversation(store: Store) -> None:
    told = remark(uuid="p0", tags=("a",), facts={"k": [None, 2]}, created_at=at(1))
    await fill(store, told)
    document = to_bytes(await export_conversation(store.archive, "c"))
    await store.records.delete(CONVERSATION, "c")

    await import_conversation(store.archive, document.replace(b"grass", SECRET.encode()))

    [found] = await store.records.find(REMARK, RemarkFilter("c"))
    assert replace(found, text="") == replace(told, text="")
    assert found.text == "Zebras eat [redacted: GitHub token]."
    await store.records.delete(CONVERSATION, "c")
    with pytest.raises(ImportRefused, match=r"parts\.remark"):
        await import_conversation(store.archive, document.replace(b'"place": 0', b'"place": "x"'))


async def test_it_is_private_with_its_conversation(
    store: Store, engine: str, engines: Engines
) -> None:
    place = engines.location(engine)
    ann = await open_with_remarks(engines, engine, place, ANN_KEY)
    bob = await open_with_remarks(engines, engine, place, BOB_KEY)
    hidden = conversation(uuid="c", author=ANN, visibility="private")
    await ann.records.put(CONVERSATION, hidden)
    await ann.records.put(REMARK, remark(uuid="p0"))

    assert len(await ann.records.find(REMARK, RemarkFilter())) == 1
    assert await bob.records.find(REMARK, RemarkFilter()) == []
    assert (await bob.index.search(REMARK, "zebra", None, RemarkFilter(), 9)).by_words == []
    await ann.records.update(CONVERSATION, "c", lambda talk: replace(talk, visibility="shared"))
    assert len(await bob.records.find(REMARK, RemarkFilter())) == 1
    with pytest.raises(NotAuthor):
        await bob.records.delete(REMARK, "p0")
