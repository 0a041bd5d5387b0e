"""Web pages: stored next to the files of a project, found again, replaced and forgotten."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ragforge.brain.ingestion import progress
from ragforge.brain.ingestion.embed import format_embedded_state, settle, unsettle
from ragforge.brain.project import Brain
from ragforge.domain.schema import PROJECT
from ragforge.domain.text import Json
from ragforge.errors import ModelError
from ragforge.ports.store import Store
from ragforge.ports.web import WebPage
from tests.fakes.code import count_missing
from tests.fakes.projects import SHOP, ToyEmbedder, brain_of, write

URL = "https://docs.example.org/guide/leases.html"
TEXT = "# Leases\n\nA lease of the kangaroo queue ends.\n\n## Renewal\n\nRenew it in time.\n"
MONDAY = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
QUESTION = "when does a lease of the kangaroo queue end"


@pytest.fixture
def toy() -> ToyEmbedder:
    return ToyEmbedder()


@pytest.fixture
async def brain(store: Store, tmp_path: Path, toy: ToyEmbedder) -> Brain:
    root = tmp_path / "project"
    write(root, SHOP)
    brain = brain_of(store, root, toy)
    await brain.ingest()
    return brain


def page(text: str = TEXT, url: str = URL) -> WebPage:
    return WebPage(url, "Leases", text, "markdown", MONDAY)


async def find(brain: Brain, question: str = QUESTION) -> list[tuple[str, str, object]]:
    found = await brain.search_documents(question)
    return [
        (hit.scope.file, hit.scope.qualified_name, hit.fetched_at)
        for hit in found
        if hit.scope.file == URL
    ]


async def test_a_page_is_found_with_its_address_and_date_and_no_ingestion_removes_it(
    brain: Brain,
) -> None:
    await brain.save_page(page())

    for _ in range(2):
        assert (await find(brain))[0] == (URL, "Leases", MONDAY)
        assert all(hit.scope.file != URL for hit in await brain.search(QUESTION, 50))
        assert (await brain.status()).is_fresh
        (brain.root / "shop" / "cart.py").unlink(missing_ok=True)
        report, _ = await brain.ingest()
    assert report.files == len(SHOP) - 1
    named = await brain.ingest(paths=["shop/cart.py"])
    assert named[0].removed == 0
    assert [one.path for one in await brain.list_pages()] == [URL]


async def test_a_page_that_is_fetched_again_replaces_what_was_stored(brain: Brain) -> None:
    await brain.save_page(page())
    await brain.save_page(page("# Platypus\n\nNothing of the old text is left.\n"))

    assert [name for _, name, _ in await find(brain)] == ["Platypus"]
    found = await brain.search_documents(QUESTION)
    assert all("kangaroo" not in hit.scope.source for hit in found)
    assert len(await brain.list_pages()) == 1


async def test_a_page_is_embedded_at_once_and_the_project_stays_settled(
    brain: Brain, store: Store, toy: ToyEmbedder
) -> None:
    await brain.save_page(page())

    missing, _ = await count_missing(store, brain.project_id, toy.name)
    assert missing == 0
    project = await store.records.get(PROJECT, brain.project_id)
    assert project.state == format_embedded_state(toy.name)


async def test_a_page_that_the_model_did_not_embed_is_found_by_words_and_embedded_later(
    brain: Brain, store: Store, toy: ToyEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise ModelError("away")

    with monkeypatch.context() as away:
        away.setattr(toy, "embed", fail)
        await brain.save_page(page())
        assert await find(brain)
    await brain.ingest()

    assert await count_missing(store, brain.project_id, toy.name) != (0, 0)
    assert (await count_missing(store, brain.project_id, toy.name))[0] == 0


async def test_a_page_that_comes_during_an_ingestion_is_completed_by_the_next_one(
    brain: Brain, store: Store, toy: ToyEmbedder
) -> None:
    name = progress.name_ingestion_lock(brain.project_id)
    async with progress.hold_lock(store.locks, name, brain.ingester.holder):
        ingesting = await unsettle(
            store.records, await store.records.get(PROJECT, brain.project_id)
        )
        await brain.save_page(page())
        assert await find(brain)
        await settle(store.records, ingesting, toy.name)  # it knows nothing of the page
        project = await store.records.get(PROJECT, brain.project_id)
        assert project.state != format_embedded_state(toy.name)
    await brain.ingest()

    project = await store.records.get(PROJECT, brain.project_id)
    assert project.state == format_embedded_state(toy.name)
    assert (await count_missing(store, brain.project_id, toy.name))[0] == 0


async def test_a_page_of_a_project_that_was_never_read_does_not_count_as_reading_it(
    store: Store, tmp_path: Path, toy: ToyEmbedder
) -> None:
    root = tmp_path / "project"
    write(root, SHOP)
    brain = brain_of(store, root, toy)
    await brain.save_page(page())

    assert await find(brain)
    assert not await brain.is_ingested()
    await brain.ingest()
    assert await brain.is_ingested()
    assert await find(brain)


async def test_pages_are_part_of_what_is_found_for_a_message_in_any_directory(
    brain: Brain,
) -> None:
    await brain.save_page(page())

    found = await brain.find_relevant_documents(QUESTION, "shop")
    assert [hit.scope.file for hit in found.hits][:1] == [URL]
    below = await brain.search_documents(QUESTION, brain.root / "shop")
    assert URL not in [hit.scope.file for hit in below]  # `--path` means files there


async def test_a_single_page_is_forgotten_and_all_go_with_their_project(
    brain: Brain, store: Store
) -> None:
    await brain.save_page(page())
    await brain.save_page(page(url=f"{URL}?v=2"))

    assert await brain.forget_page(f"{URL}?v=2")
    assert not await brain.forget_page(f"{URL}?v=2")
    assert not await brain.forget_page("shop/cart.py")
    assert [one.path for one in await brain.list_pages()] == [URL]
    await brain.ingester.forget(brain.project_id)
    assert await brain.list_pages() == []


@pytest.mark.parametrize(
    ("language", "text"),
    [("text", "Kangaroo lease\n\n" * 200), ("json", '{"kangaroo": "lease"}'), ("markdown", "")],
)
async def test_texts_and_json_are_stored_as_sections_too(
    brain: Brain, language: Json, text: str
) -> None:
    await brain.save_page(WebPage(URL, "", text, language, MONDAY))

    [stored] = await brain.list_pages()
    assert (stored.kind, stored.language) == ("web_page", language)
    assert bool(await find(brain)) == bool(text)
