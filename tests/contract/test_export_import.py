"""Export and import: any conversation comes back as it was, on every engine and between them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragforge.domain.conversations import MemoryFilter
from ragforge.domain.schema import CONVERSATION, NOTE, TURN
from ragforge.errors import DimensionMismatch, DuplicateId, ImportRefused
from ragforge.memory.export_format.reader import import_conversation
from ragforge.memory.export_format.writer import export_conversation, to_bytes
from ragforge.ports.store import Store
from tests.fakes.builders import assistant, conversation, user
from tests.fakes.copying import everything
from tests.fakes.engines import Engines, counts
from tests.fakes.random_wholes import wholes
from tests.fakes.rich import fill_facts
from tests.fakes.whole import Whole, add_whole, read_whole

WITH_A_SERVER = [("neo4j", "neo4j"), ("sqlite", "neo4j"), ("neo4j", "sqlite")]
ANY = settings(
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)
Pair = tuple[Store, Store]


@pytest.fixture
async def pair(request: pytest.FixtureRequest, engines: Engines) -> Pair:
    """A store to export from and one to import into; of one server both are the same."""
    source, target = request.param
    first = await engines.empty(source)
    return first, first if source == target == "neo4j" else await engines.empty(target)


async def exported(store: Store, conversation_id: str) -> bytes:
    document = await export_conversation(store.archive, conversation_id, with_embeddings=True)
    return to_bytes(document)


@pytest.mark.parametrize("pair", [("sqlite", "sqlite")], indirect=True, ids=" to ".join)
@ANY
@given(whole=wholes(), cut=st.integers(0, 5), branch_first=st.booleans())
async def test_any_conversation_and_its_branch_come_back_in_the_embedded_store(
    pair: Pair, whole: Whole, cut: int, branch_first: bool
) -> None:
    await there_and_back(pair, whole, cut, branch_first)


@pytest.mark.neo4j
@pytest.mark.parametrize("pair", WITH_A_SERVER, indirect=True, ids=" to ".join)
@settings(ANY, max_examples=4)
@given(whole=wholes(), cut=st.integers(0, 5), branch_first=st.booleans())
async def test_any_conversation_and_its_branch_come_back_with_a_server(
    pair: Pair, whole: Whole, cut: int, branch_first: bool
) -> None:
    await there_and_back(pair, whole, cut, branch_first)


async def there_and_back(pair: Pair, whole: Whole, cut: int, branch_first: bool) -> None:
    source, target = pair
    await add_whole(source, whole)
    names = [whole.conversation.uuid]
    if whole.messages:
        at = whole.messages[min(cut, len(whole.messages) - 1)]
        branch = await source.timeline.branch(at.uuid, conversation(title="Branch"))
        names.append(branch.uuid)
    expected = await everything(source)
    documents = [await exported(source, name) for name in names]
    await forget(source, names, whole)

    for document in documents[:: -1 if branch_first else 1]:
        imported = await import_conversation(target.archive, document)
        assert imported.redacted == 0

    assert await everything(target) == expected
    assert [await exported(target, name) for name in names] == documents
    await forget(target, names, whole)
    assert set((await counts(target)).values()) == {0}


async def forget(store: Store, names: list[str], whole: Whole) -> None:
    """Delete conversations, and the notes that outlive them."""
    for name in names:
        await store.records.delete(CONVERSATION, name)
    for note in whole.notes:
        await store.records.delete(NOTE, note.uuid)


async def test_gaps_between_turns_come_back(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    for number in range(4):
        await store.timeline.append("c", [user(f"asks {number}"), assistant()])
    document = json.loads(await exported(store, "c"))
    document["messages"] = [one for one in document["messages"] if one["turn_index"] in (1, 3)]
    await store.records.delete(CONVERSATION, "c")

    await import_conversation(store.archive, document)

    assert json.loads(await exported(store, "c")) == document
    [new] = await store.timeline.append("c", [user()])
    assert (new.turn_index, new.position) == (4, 8)


async def test_without_vectors_all_else_comes_back_and_turns_wait_for_theirs(
    store: Store,
) -> None:
    await fill_facts(store)
    expected = await everything(store)
    document = to_bytes(await export_conversation(store.archive, "cart"))
    await store.records.delete(CONVERSATION, "cart")

    await import_conversation(store.archive, document)

    found = await everything(store)
    mine = {"turn-0", "turn-1", "turn-0:1", "cart", "l1-0", "l2"}
    expected["vector"] = [one for one in expected["vector"] if one["owner_id"] not in mine]
    for kind, records in expected.items():
        assert found[kind] == records, kind
    assert "turn-0" in await store.index.pending(TURN, "toy-embedder", 9)


async def test_an_id_that_is_taken_is_refused_and_nothing_changes(store: Store) -> None:
    await fill_facts(store)
    document = await exported(store, "cart")
    before = await everything(store)

    with pytest.raises(DuplicateId, match="cart"):
        await import_conversation(store.archive, document)

    assert await everything(store) == before


async def test_imported_as_new_it_is_next_to_the_original(store: Store) -> None:
    await fill_facts(store)
    document = await exported(store, "branch")

    imported = await import_conversation(store.archive, document, as_new=True)

    copy = await read_whole(store, imported.conversation.uuid)
    original = await read_whole(store, "branch")
    assert copy.conversation.uuid != "branch"
    assert copy.branch_of == original.branch_of
    assert [m.content for m in copy.messages] == [m.content for m in original.messages]
    assert len((await read_whole(store, "cart")).branches) == 2


async def test_a_bad_document_changes_nothing(store: Store) -> None:
    await fill_facts(store)
    document = await exported(store, "cart")
    await store.records.delete(CONVERSATION, "cart")
    before = await everything(store)
    other_model = document.replace(b'"toy-embedder"', b'"code-model"')
    bad = {
        document[:-9]: ImportRefused,
        document.replace(b'"turn_index": 2', b'"turn_index": 0'): ImportRefused,
        document.replace(b'"turn-2"', b'"bill-0"'): DuplicateId,  # a message of another one
        other_model: DimensionMismatch,
    }
    for data, error in bad.items():
        assert data != document
        with pytest.raises(error):
            await import_conversation(store.archive, data)
        assert await everything(store) == before


async def test_secrets_do_not_come_in_with_an_import(store: Store) -> None:
    secret = "ghp_" + "Ab1" * 12
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    await store.timeline.append("c", [user("my token is a word")])
    document = (await exported(store, "c")).replace(b"a word", secret.encode())
    await store.records.delete(CONVERSATION, "c")

    imported = await import_conversation(store.archive, document)

    [message] = await store.timeline.messages("c")
    assert secret not in message.content
    assert imported.redacted == 1
    assert (await store.records.get(CONVERSATION, "c")).total_chars == message.char_count
    assert (await store.index.search(TURN, secret, None, MemoryFilter(), 5, read=0)).by_words == []


async def test_a_document_may_be_given_as_what_json_makes_of_it(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    document = await export_conversation(store.archive, "c")
    moved = {**document, "conversation": {**document["conversation"], "uuid": "d"}}
    await import_conversation(store.archive, moved)
    assert await store.records.get(CONVERSATION, "d") == replace(
        await store.records.get(CONVERSATION, "c"), uuid="d"
    )
