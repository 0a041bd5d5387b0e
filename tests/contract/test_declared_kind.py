"""A kind of data that is declared here, and nowhere else: what follows from the declaration."""

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
from ragforge.memory.exchange.copy import copy_store
from ragforge.memory.exchange.export import export_conversation, to_bytes
from ragforge.memory.exchange.imports import import_conversation
from ragforge.ports.store import Store
from ragforge.records import dataclass
from tests.fakes.authors import ANN, ANN_KEY, BOB_KEY
from tests.fakes.builders import MODEL, at, conversation, direction
from tests.fakes.engines import Engines
from tests.fakes.secrets import made

SECRET = "ghp_" + made(36)


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a conversation."""

    conversation_id: str
    text: str
    place: int
    tags: tuple[str, ...] = ()
    facts: Json = None
    uuid: str = field(default_factory=new_id)
    created_at: datetime = field(default_factory=now)


@dataclass(frozen=True, slots=True)
class PassageFilter:
    conversation_id: str | None = None
    tags: Sequence[str] = ()
    since: datetime | None = None


class PassageNotFound(NotFound):
    kind = "passage"


PASSAGE = Kind[Passage, PassageFilter](
    "passage",
    Passage,
    texts=("text", "tags", "facts"),
    owner=("private_to",),
    milliseconds={"created_ms": "created_at"},
    missing=PassageNotFound,
    where={
        "conversation_id": ("is", "conversation_id"),
        "tags": ("shares", "tags"),
        "since": ("from", "created_ms"),
    },
    order=("place", "uuid"),
    words=lambda passage: passage.text,
)
SQL = """
CREATE TABLE passage (
  id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, text TEXT NOT NULL, place INTEGER NOT NULL,
  conversation_id TEXT NOT NULL REFERENCES conversation (uuid) ON DELETE CASCADE,
  tags TEXT NOT NULL, facts TEXT NOT NULL, created_at TEXT NOT NULL, created_ms INTEGER NOT NULL,
  private_to TEXT
) STRICT;
CREATE VIRTUAL TABLE passage_words
  USING fts5 (words, content='', contentless_delete=1, tokenize='ascii');
CREATE TRIGGER passage_gone AFTER DELETE ON passage BEGIN
  DELETE FROM passage_words WHERE rowid = old.id;
  DELETE FROM vector WHERE kind = 'passage' AND owner = old.id;
END;
"""
CYPHER = (
    "CREATE CONSTRAINT passage IF NOT EXISTS FOR (n:Passage) REQUIRE n.uuid IS UNIQUE",
    """CREATE FULLTEXT INDEX ragforge_passage_words IF NOT EXISTS FOR (n:Passage) ON EACH [n.words]
       OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}""",
    """CREATE VECTOR INDEX ragforge_passage_vectors IF NOT EXISTS FOR (n:Passage) ON (n.embedding)
       OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}}""",
    "CALL db.awaitIndexes(60)",
)
UNDO = (
    "MATCH (n:Passage) DETACH DELETE n",
    "DROP CONSTRAINT passage IF EXISTS",
    "DROP INDEX ragforge_passage_words IF EXISTS",
    "DROP INDEX ragforge_passage_vectors IF EXISTS",
)


async def run_cypher(url: str, *queries: str) -> None:
    import neo4j

    async with neo4j.AsyncGraphDatabase.driver(url) as driver:
        for query in queries:
            await driver.execute_query(query)


async def open_with_passages(
    engines: Engines, engine: str, location: str, viewer: str | None = None
) -> Store:
    """Open a store after the migration that the kind needs."""
    if engine == "neo4j":
        await run_cypher(location, *CYPHER)
    else:
        connection = apsw.Connection(location)
        if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'passage'").get:
            connection.execute(SQL)
        connection.close()
    return await engines.open_at(location, viewer)


@pytest.fixture
async def store(engine: str, engines: Engines, monkeypatch: pytest.MonkeyPatch) -> Store:
    await engines.empty(engine)
    monkeypatch.setitem(schema.KINDS, "passage", PASSAGE)
    return await open_with_passages(engines, engine, engines.location(engine))


@pytest.fixture(autouse=True)
async def clean_up(engine: str, engines: Engines) -> object:
    yield
    if engine == "neo4j":
        await run_cypher(engines.location(engine), *UNDO)


def passage(text: str = "Zebras eat grass.", place: int = 0, **more: object) -> Passage:
    return Passage("c", text, place, **more)  # type: ignore[arg-type]


async def fill(store: Store, *passages: Passage) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.records.put(PASSAGE, *passages)


async def test_it_is_stored_found_changed_and_deleted(store: Store) -> None:
    first = passage(uuid="p0", tags=("food",), facts={"k": [1]}, created_at=at(0))
    second = passage("Lions sleep.", 1, uuid="p1", created_at=at(5))
    await fill(store, second, first)
    find = store.records.find

    assert await store.records.get(PASSAGE, "p0") == first
    assert await store.records.get_many(PASSAGE, ["p1", "none"]) == {"p1": second}
    assert await find(PASSAGE, PassageFilter("c")) == [first, second]
    assert await find(PASSAGE, PassageFilter(tags=["food"])) == [first]
    assert await find(PASSAGE, PassageFilter(since=at(3))) == [second]
    with pytest.raises(DuplicateId):
        await store.records.put(PASSAGE, first)

    changed = await store.records.update(PASSAGE, "p0", lambda one: replace(one, text="Okapis."))
    assert await find(PASSAGE, PassageFilter("c")) == [changed, second]
    await store.records.delete(PASSAGE, "p0")
    with pytest.raises(PassageNotFound):
        await store.records.get(PASSAGE, "p0")
    await store.records.delete(CONVERSATION, "c")
    assert await find(PASSAGE, PassageFilter()) == []


async def test_it_is_searched_by_words_and_by_meaning(store: Store) -> None:
    zebra, lion = passage(uuid="p0"), passage("Lions sleep.", 1, uuid="p1")
    await fill(store, zebra, lion)
    assert await store.index.pending(PASSAGE, MODEL, 9) == ["p0", "p1"]
    await store.index.embed(PASSAGE, {"p0": direction(0), "p1": direction(1)})

    found = await store.index.search(PASSAGE, "zebra", direction(1), PassageFilter("c"), 1)

    assert [match.id for match in found.by_words] == ["p0"]
    assert [match.id for match in found.by_vector] == ["p1"]
    assert found.items == {"p0": zebra, "p1": lion}
    assert await store.index.count_pending(PASSAGE, MODEL) == (0, 2)
    await store.records.update(PASSAGE, "p0", lambda one: replace(one, text="Okapis hide."))
    reworded = await store.index.search(PASSAGE, "zebra okapi", direction(0), PassageFilter(), 9)
    assert [match.id for match in reworded.by_words] == ["p0"]
    assert [match.id for match in reworded.by_vector] == ["p1"]
    assert (await store.index.search(PASSAGE, "zebra", None, PassageFilter(), 9)).by_words == []
    assert await store.index.pending(PASSAGE, MODEL, 9) == ["p0"]
    nowhere = PassageFilter("other")
    assert await store.index.search(PASSAGE, "zebra", direction(1), nowhere, 9) == ([], [], {})


async def test_its_secrets_are_removed(store: Store, engine: str, tmp_path: Path) -> None:
    await fill(store, passage(f"Say {SECRET}.", tags=(SECRET,), facts={"deep": [SECRET]}))

    [found] = await store.records.find(PASSAGE, PassageFilter())

    assert SECRET not in repr(found)
    assert found.text == "Say [redacted: GitHub token]."
    assert (await store.index.search(PASSAGE, SECRET, None, PassageFilter(), 9)).by_words == []
    if engine == "sqlite":
        files = [path for path in tmp_path.iterdir() if path.name.startswith("store-")]
        assert not [path for path in files if SECRET.encode() in path.read_bytes()]


async def test_it_is_copied_with_its_vectors(
    store: Store, engine: str, engines: Engines, tmp_path: Path
) -> None:
    await fill(store, passage(uuid="p0", tags=("a", "b"), facts={"k": None}))
    await store.index.embed(PASSAGE, {"p0": direction(0)})
    (tmp_path / "there").mkdir()
    place = str(tmp_path / "there" / "copy.db")
    await engines.open_at(place)
    target = await open_with_passages(engines, "sqlite", place)

    report = await copy_store(store.archive, target.archive, "copy", lambda _: None)

    assert report.counts["passage"] == 1
    assert await target.records.get(PASSAGE, "p0") == await store.records.get(PASSAGE, "p0")
    found = await target.index.search(PASSAGE, "zebra", direction(0), PassageFilter(), 9)
    assert [match.id for match in (*found.by_words, *found.by_vector)] == ["p0", "p0"]


async def test_it_is_exported_and_imported_with_its_conversation(store: Store) -> None:
    told = passage(uuid="p0", tags=("a",), facts={"k": [None, 2]}, created_at=at(1))
    await fill(store, told)
    document = to_bytes(await export_conversation(store.archive, "c"))
    await store.records.delete(CONVERSATION, "c")

    await import_conversation(store.archive, document.replace(b"grass", SECRET.encode()))

    [found] = await store.records.find(PASSAGE, PassageFilter("c"))
    assert replace(found, text="") == replace(told, text="")
    assert found.text == "Zebras eat [redacted: GitHub token]."
    await store.records.delete(CONVERSATION, "c")
    with pytest.raises(ImportRefused, match=r"parts\.passage"):
        await import_conversation(store.archive, document.replace(b'"place": 0', b'"place": "x"'))


async def test_it_is_private_with_its_conversation(
    store: Store, engine: str, engines: Engines
) -> None:
    place = engines.location(engine)
    ann = await open_with_passages(engines, engine, place, ANN_KEY)
    bob = await open_with_passages(engines, engine, place, BOB_KEY)
    hidden = conversation(uuid="c", author=ANN, visibility="private")
    await ann.records.put(CONVERSATION, hidden)
    await ann.records.put(PASSAGE, passage(uuid="p0"))

    assert len(await ann.records.find(PASSAGE, PassageFilter())) == 1
    assert await bob.records.find(PASSAGE, PassageFilter()) == []
    assert (await bob.index.search(PASSAGE, "zebra", None, PassageFilter(), 9)).by_words == []
    await ann.records.update(CONVERSATION, "c", lambda talk: replace(talk, visibility="shared"))
    assert len(await bob.records.find(PASSAGE, PassageFilter())) == 1
    with pytest.raises(NotAuthor):
        await bob.records.delete(PASSAGE, "p0")
