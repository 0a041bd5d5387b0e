"""A few vectors are compared without numpy, with the same result."""

from __future__ import annotations

import random
from array import array
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragforge.adapters.stores.sqlite import vectors
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.notes import Note, NoteFilter
from ragforge.domain.schema import NOTE
from ragforge.domain.vectors import Vector
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS

DICE = random.Random(31)


def draw() -> Vector:
    return Vector("toy", array("f", [DICE.uniform(-1, 1) for _ in range(16)]).tobytes())


@pytest.mark.parametrize("few", [300, 5], ids=["few", "too many for it"])
async def test_both_ways_find_the_same(
    few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    made = {f"n{number}": draw() for number in range(40)}
    for id_ in made:
        await store.records.put(NOTE, Note(f"Note {id_}", "/shop", uuid=id_, project_id="p"))
    await store.index.embed(NOTE, made)
    asked, where = draw(), NoteFilter(["p"])

    with_numpy = await store.index.search(NOTE, "", asked, where, 9, 0.4)
    monkeypatch.setattr(vectors, "FEW", few)
    monkeypatch.setattr(vectors, "sys", SimpleNamespace(modules={}))
    without = await store.index.search(NOTE, "", asked, where, 9, 0.4)
    await store.close()

    assert [match.id for match in without.by_vector] == [match.id for match in with_numpy.by_vector]
    scores = [match.score for match in with_numpy.by_vector]
    assert [match.score for match in without.by_vector] == pytest.approx(scores, abs=1e-6)
    assert len(scores) == 9
