"""Settled: a project says which model embedded all of it, and never too early."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ragforge.adapters.stores.holders import this_process
from ragforge.brain.ingestion import progress
from ragforge.brain.ingestion.embed import finish, format_embedded_state, settle, unsettle
from ragforge.domain.code import NEW, Project
from ragforge.domain.schema import PROJECT
from ragforge.domain.text import new_id
from ragforge.ports.store import Store
from tests.fakes.builders import project
from tests.fakes.engines import Engines

SHOP = project(uuid="shop")


@pytest.fixture
async def store(engines: Engines) -> Store:
    store = await engines.empty("sqlite")
    await store.records.put(PROJECT, SHOP)
    return store


async def settled(store: Store, found: Project) -> bool:
    await settle(store.records, found, "toy")
    return (await store.records.get(PROJECT, SHOP.uuid)).state == format_embedded_state("toy")


async def test_what_was_embedded_is_settled(store: Store) -> None:
    found = await unsettle(store.records, SHOP)

    assert await settled(store, found)


async def test_an_ingestion_that_came_between_keeps_it_unsettled(store: Store) -> None:
    found = await unsettle(store.records, SHOP)
    await unsettle(store.records, SHOP)

    assert not await settled(store, found)


async def test_an_ingestion_that_only_looks_does_not_keep_it_unsettled(store: Store) -> None:
    found = await unsettle(store.records, SHOP)
    other = replace(this_process(), token=new_id())
    await store.locks.acquire(progress.name_ingestion_lock("shop"), other, timedelta(minutes=1))

    assert await settled(store, found)
    await unsettle(store.records, await store.records.get(PROJECT, SHOP.uuid))
    assert not await settled(store, found)


async def test_a_project_is_whole_once_its_first_ingestion_has_finished(store: Store) -> None:
    begun = await unsettle(store.records, replace(SHOP, state=NEW))
    assert not (await unsettle(store.records, begun)).is_whole  # it was killed, and begins again

    found = await finish(store, await store.records.get(PROJECT, SHOP.uuid))
    assert await settled(store, found)
    assert (await unsettle(store.records, await store.records.get(PROJECT, SHOP.uuid))).is_whole


async def test_a_page_that_came_during_the_first_ingestion_keeps_it_unsettled(store: Store) -> None:
    begun = await unsettle(store.records, replace(SHOP, state=NEW))
    await unsettle(store.records, begun)

    found = await finish(store, begun)
    assert (await store.records.get(PROJECT, SHOP.uuid)).is_whole
    assert not await settled(store, found)
