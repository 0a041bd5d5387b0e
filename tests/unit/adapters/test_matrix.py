"""The matrix: two-stage search finds nearly all that an exact scan finds."""

from __future__ import annotations

from pathlib import Path

import apsw
import numpy as np
import pytest

from ragforge.adapters.stores.sqlite import matrix
from ragforge.adapters.stores.sqlite.database import connect
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.conversations import MemoryFilter, Message
from ragforge.domain.schema import CONVERSATION, TURN
from ragforge.domain.vectors import Vector
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from tests.fakes.builders import conversation

ROWS, DIMENSION = 3_000, 600


@pytest.fixture
def vectors() -> np.ndarray:  # type: ignore[type-arg]
    """Clusters with noise, as embeddings have them."""
    chance = np.random.default_rng(3)
    topics = chance.standard_normal((40, DIMENSION))
    noise = chance.standard_normal((ROWS, DIMENSION))
    return (topics[chance.integers(0, 40, ROWS)] + 0.8 * noise).astype(np.float32)


async def test_long_vectors_are_found_by_their_bits_and_scored_exactly(
    tmp_path: Path,
    vectors: np.ndarray,
    monkeypatch: pytest.MonkeyPatch,  # type: ignore[type-arg]
) -> None:
    monkeypatch.setattr(matrix, "WHOLE_ROWS", 1_000)
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    for place in ("even", "odd"):
        await store.records.put(CONVERSATION, conversation(uuid=place))
    for start, place in ((0, "even"), (1, "odd")):
        rows = range(start, ROWS, 2)
        turns = [Message("user", "", uuid=str(row)) for row in rows]
        await store.timeline.append(place, turns)
        await store.index.embed(
            TURN, {str(row): Vector("m", vectors[row].tobytes()) for row in rows}
        )
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    agreed = 0
    for query in range(20):
        scores = (1 + unit @ unit[query]) / 2
        for where, step in ((MemoryFilter(), 1), (MemoryFilter(conversation_id="even"), 2)):
            found = (
                await store.index.search(
                    TURN, "", Vector("m", vectors[query].tobytes()), where, 10, read=0
                )
            ).by_vector
            allowed = np.arange(0, ROWS, step)
            best = allowed[np.argsort(-scores[allowed])[:10]]
            agreed += len({match.id for match in found} & {str(row) for row in best})
            for match in found:
                assert match.score == pytest.approx(float(scores[int(match.id)]), abs=1e-5)

    assert agreed / (20 * 2 * 10) > 0.97
    await store.close()


async def test_a_matrix_follows_what_other_processes_add_replace_and_delete(
    tmp_path: Path,
) -> None:
    here = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    there = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    for one in ("c", "d"):
        await here.records.put(CONVERSATION, conversation(uuid=one))
    turns = [Message("user", "", uuid=name) for name in ("north", "east", "late")]
    await here.timeline.append("c", turns[:2])
    await here.timeline.append("d", turns[2:])
    north, east = Vector.of("m", [0.0, 1.0]), Vector.of("m", [1.0, 0.0])

    async def nearest() -> list[str]:
        found = (await here.index.search(TURN, "", north, MemoryFilter(), 3, read=0)).by_vector
        return [match.id for match in found]

    await here.index.embed(TURN, {"north": north, "east": east})
    assert await nearest() == ["north", "east"]
    await there.index.embed(TURN, {"late": Vector.of("m", [0.1, 1.0])})
    assert await nearest() == ["north", "late", "east"]
    await there.index.embed(TURN, {"north": Vector.of("m", [0.0, -1.0])})
    assert await nearest() == ["late", "east", "north"]
    await there.records.delete(CONVERSATION, "d")
    assert await nearest() == ["east", "north"]
    await there.close()
    await here.close()


async def test_readers_with_older_and_newer_views_do_not_spoil_the_matrix(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = await open_sqlite(path, WORDS, REDACTOR)
    await store.records.put(CONVERSATION, conversation(uuid="c"))
    names = ["a", "b", "late"]
    await store.timeline.append("c", [Message("user", "", uuid=name) for name in names])
    await store.index.embed(
        TURN, {name: Vector.of("m", [1.0, number]) for number, name in enumerate(names[:2])}
    )
    shared = matrix.Matrix("turn", 1, 2)
    old, new = connect(path), connect(path)
    query = Vector.of("m", [1.0, 0.0]).data

    def nearest(view: apsw.Connection) -> list[int]:
        shared.refresh(view)
        return [owner for owner, _ in shared.nearest(view, query, None, 5, 0.0)]

    old.execute("BEGIN")
    assert nearest(old) == [1, 2]
    await store.index.embed(TURN, {"late": Vector.of("m", [2.0, 1.0])})
    await store.index.embed(TURN, {"a": Vector.of("m", [0.0, 1.0])})

    assert nearest(new) == [3, 2, 1]
    nearest(old)
    assert nearest(new) == [3, 2, 1]
    await store.close()
