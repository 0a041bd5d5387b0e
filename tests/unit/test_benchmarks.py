"""Benchmarks: what an ablation leaves out of a search is really left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import code_search
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.brain.search import code
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.rank import Candidates
from ragforge.search.words.tokenise import WORDS
from tests.fakes.projects import SHOP, ToyEmbedder, brain_of, write

QUESTION = "Where does price_of look the price of an item up?"


async def find_candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Candidates]:
    """Return what each way of the code search benchmark that ranks has to rank."""
    write(tmp_path / "shop", SHOP)
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    brain = brain_of(store, tmp_path / "shop", ToyEmbedder())
    await brain.ingest()
    ranked: dict[str, Candidates] = {}
    rank = code.rank
    for name, search in code_search.ways(brain, ablation=True).items():

        def note(question: str, found: Candidates, *rest: Any, name: str = name) -> Any:
            ranked[name] = found
            return rank(question, found, *rest)

        monkeypatch.setattr(code, "rank", note)
        assert await search(QUESTION, 10)
    await store.close()
    return ranked


async def test_each_ablation_of_code_search_leaves_out_its_part_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranked = await find_candidates(tmp_path, monkeypatch)

    parts = {
        name: {
            part
            for part in ("by_words", "by_meaning", "files_by_meaning", "by_name", "used")
            if getattr(found, part)
        }
        for name, found in ranked.items()
    }
    everything = {"by_words", "by_meaning", "files_by_meaning", "by_name", "used"}
    assert parts == {
        "ragforge": everything,
        "words only, ranked": everything - {"by_meaning", "files_by_meaning"},
        "vectors only, ranked": everything - {"by_words", "by_name"},
        "no graph": everything - {"used"},
        "no names": everything - {"by_name"},
    }
