"""Embed: what a vector is made of, and that nothing is embedded twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ragforge.adapters.stores.holders import this_process
from ragforge.brain.ingestion import embed
from ragforge.brain.ingestion.embed import embed_scopes
from ragforge.domain.code import ScopeName
from ragforge.domain.schema import PROJECT
from ragforge.domain.vectors import Vector
from ragforge.errors import ModelError
from ragforge.ports.store import Store
from ragforge.search.scope_words import SOURCE_CHARS, format_module, format_scope
from tests.fakes.builders import parsed, project, scope
from tests.fakes.code import count_missing, list_scopes
from tests.fakes.engines import Engines
from tests.fakes.projects import ToyEmbedder


@pytest.fixture
async def store(engines: Engines) -> Store:
    """A project with two scopes of one file; the engine does not matter here."""
    store = await engines.empty("sqlite")
    await store.records.put(PROJECT, project(uuid="shop"))
    await store.code.replace_files("shop", [file("add", "total")])
    return store


def file(*names: str, hash: str = "h"):
    scopes = [scope(name, "a.py", (n, n), uuid=name, hash=hash) for n, name in enumerate(names, 1)]
    return parsed("a.py", *scopes, uuid="A")


async def embedded(store: Store, embedder: ToyEmbedder) -> int:
    return await embed_scopes(store, this_process(), embedder, "shop")


async def hashes(store: Store) -> dict[str, str | None]:
    return {s.name: s.embedding_hash for s in await list_scopes(store, "shop", "a.py")}


def test_a_scope_is_its_place_name_signature_description_and_source() -> None:
    given = scope("add", signature="def add(x)", docstring="Adds.", source="def add(x): ...")

    assert format_scope(given) == "src/cart.py add\ndef add(x)\nAdds.\ndef add(x): ..."


def test_names_are_repeated_for_a_model_that_sums_words() -> None:
    given = scope("add", signature="def add(x)", docstring="Adds.", source="def add(x): ...")

    assert format_scope(given, 2) == f"{format_scope(given)}\ncart add\ncart add"


def test_a_section_of_a_document_is_not_named_after_its_file() -> None:
    given = scope("Install", "README.md", type="section", source="pip install shop")

    assert format_scope(given, 2) == "README.md Install\n\n\npip install shop"


def test_the_end_of_a_long_source_says_no_more() -> None:
    long = scope("add", source="x" * 9_999)

    assert format_scope(long).count("x") == SOURCE_CHARS


def test_a_file_is_all_that_it_defines_with_its_path() -> None:
    module = scope("cart", "cart.py", (1, 9), type="module", docstring="Carts.")
    names = [
        ScopeName("1", "cart", "cart", "module", "cart.py", 1, 9, ""),
        ScopeName("2", "add", "Cart.add", "method", "cart.py", 3, 4, "def add(self)"),
    ]

    assert format_module(module, names) == (
        "cart.py Carts.\ncart.py cart \ncart.py Cart.add def add(self)"
    )


def test_a_module_inside_a_file_is_only_what_it_contains() -> None:
    module = scope("M", "m.rb", (3, 5), type="module", signature="module M")
    names = [
        ScopeName("1", "f", "f", "function", "m.rb", 1, 2, "def f"),
        ScopeName("2", "g", "M.g", "method", "m.rb", 4, 4, "def g"),
        ScopeName("3", "h", "h", "function", "m.rb", 6, 7, "def h"),
    ]

    assert format_module(module, names) == "m.rb \nm.rb M.g def g"


async def test_a_second_run_embeds_nothing(store: Store) -> None:
    toy = ToyEmbedder()

    assert await embedded(store, toy) == 2
    assert await embedded(store, toy) == 0
    assert len(toy.texts) == 2


async def test_what_has_another_hash_is_embedded_again(store: Store) -> None:
    await embedded(store, ToyEmbedder())
    await store.code.replace_files("shop", [file("add", "total", "pay")])
    toy = ToyEmbedder()
    assert await embedded(store, toy) == 1
    assert "pay" in toy.texts[0]

    await store.code.replace_files("shop", [file("add", "total", "pay", hash="h2")])

    assert await embedded(store, ToyEmbedder()) == 3
    assert await hashes(store) == {"add": "h2", "total": "h2", "pay": "h2"}


async def test_another_model_embeds_everything_again(store: Store) -> None:
    await embedded(store, ToyEmbedder("toy-1"))

    assert await embedded(store, ToyEmbedder("toy-2")) == 2
    assert await count_missing(store, "shop", "toy-1") == (2, 2)
    assert await count_missing(store, "shop", "toy-2") == (0, 2)


async def test_all_batches_are_embedded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "BATCH", 3)
    await store.code.replace_files("shop", [file(*(f"f{n}" for n in range(10)))])
    told: list[tuple[int, int]] = []

    count = await embed_scopes(
        *(store, this_process(), ToyEmbedder(), "shop"),
        on_progress=lambda done, total: told.append((done, total)),
    )

    assert count == 10
    assert told == [(3, 10), (6, 10), (9, 10), (10, 10)]


class Interrupted(ToyEmbedder):
    """Does something else before it answers."""

    def __init__(self, meanwhile: Callable[[int], object]) -> None:
        super().__init__()
        self.meanwhile = meanwhile
        self.calls = 0

    async def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        self.calls += 1
        done = self.meanwhile(self.calls)
        if hasattr(done, "__await__"):
            await done
        return await super().embed(texts)


async def test_a_model_that_fails_keeps_what_was_embedded_before(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed, "BATCH", 1)

    def fail(call: int) -> None:
        if call == 2:
            raise ModelError("too many requests")

    with pytest.raises(ModelError, match="too many requests"):
        await embedded(store, Interrupted(fail))

    assert await count_missing(store, "shop", "toy-1") == (1, 2)
    assert await embedded(store, ToyEmbedder()) == 1


async def test_a_scope_that_went_while_it_was_embedded_is_left_out(store: Store) -> None:
    async def replace(_: int) -> None:
        await store.code.replace_files("shop", [file("total")])

    assert await embedded(store, Interrupted(replace)) == 1
    assert await hashes(store) == {"total": "h"}


async def test_a_text_without_meaning_has_no_vector_and_is_not_counted(store: Store) -> None:
    class Mute(ToyEmbedder):
        async def embed(self, texts: Sequence[str]) -> list[Vector | None]:
            return [None for _ in texts]

    assert await embedded(store, Mute()) == 0
    assert await hashes(store) == {"add": None, "total": None}
