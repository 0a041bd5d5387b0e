"""A repository is one project wherever it is; another one at the same path is another project."""

from __future__ import annotations

import json
import shutil
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from ragforge import App, load_settings, open_app
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.projects import ProjectPlace, RepositoryIdentity
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from tests.fakes.projects import SHOP, write
from tests.fakes.repositories import git, make_repository


class User:
    """A user with a store and folders."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.environ = environ

    def open(self, cwd: Path) -> AbstractAsyncContextManager[App]:
        return open_app(load_settings(cwd, environ=self.environ).settings, cwd)

    async def ask(self, cwd: Path, question: str) -> None:
        async with self.open(cwd) as app:
            await app.ask(question, (await app.sessions.create()).uuid)
            await app.worker.drain()

    async def ingest(self, cwd: Path) -> int:
        async with self.open(cwd) as app:
            report, _ = await app.code.ingest()
            return report.removed

    async def find(self, cwd: Path, query: str) -> set[str]:
        """Return the questions that a search finds, and those of the project's sessions."""
        async with self.open(cwd) as app:
            listed = await app.sessions.find()
            turns = [t for one in listed for t in await app.sessions.latest_turns(one, 9)]
            found = await app.memory.search(query, levels=[0])
            said = {hit.turn.user.content for hit in found if hit.type == "turn"}
            assert said <= {turn.user.content for turn in turns}
            return said

    async def find_about(self, cwd: Path, name: str) -> list[str]:
        async with self.open(cwd) as app:
            found = await app.sessions.find_about(name)
            return [code.since.describe(code.touch) for one in found for code in one.touched]

    async def look(self, cwd: Path) -> ProjectPlace:
        async with self.open(cwd) as app:
            return app.project


async def test_clones_share_what_was_said_and_another_repository_at_the_path_does_not(
    environ: dict[str, str], tmp_path: Path
) -> None:
    ann, bob = tmp_path / "ann" / "shop", tmp_path / "bob" / "shop"
    make_repository(ann, SHOP)
    bob.parent.mkdir()
    git(tmp_path, "clone", str(ann), str(bob))
    user = User(environ)
    await user.ingest(ann)
    await user.ask(ann, "What does price_of in shop/prices.py say about zebras?")

    assert await user.find(bob, "zebras")
    await user.ingest(bob)
    assert "unchanged since" in await user.find_about(bob, "price_of")
    prices = bob / "shop" / "prices.py"
    prices.write_text(prices.read_text().replace("def price_of(item):", "def price_of(item, x=1):"))
    await user.ingest(bob)
    assert "changed since" in await user.find_about(bob, "price_of")
    assert "unchanged since" in await user.find_about(ann, "price_of")

    ann.rename(tmp_path / "aside")
    make_repository(ann, {"other.py": "def zebra(): ...\n"})
    assert await user.find(ann, "zebras") == set()
    assert await user.ingest(ann) == 0
    assert await user.find(bob, "zebras")
    shutil.rmtree(ann)
    (tmp_path / "aside").rename(ann)
    assert await user.find(ann, "zebras")
    first, second = await user.look(ann), await user.look(bob)
    assert first.id == second.id
    assert {one.path for one in first.checkouts} == {str(ann), str(bob)}


async def test_a_folder_keeps_its_memory_when_it_becomes_a_repository_with_a_remote(
    environ: dict[str, str], tmp_path: Path
) -> None:
    folder, clone = tmp_path / "a", tmp_path / "b"
    write(folder, SHOP)
    make_repository(clone, {"a.py": "x = 1\n"})
    git(clone, "remote", "add", "origin", "https://example.org/shop")
    user = User(environ)
    await user.ask(folder, "Zebras are striped.")
    await user.ask(clone, "Zebras are fast.")
    assert await user.find(folder, "zebras") == {"Zebras are striped."}
    make_repository(folder, {})
    assert await user.find(folder, "zebras") == {"Zebras are striped."}

    git(folder, "remote", "add", "origin", "git@example.org:shop.git")

    both = {"Zebras are striped.", "Zebras are fast."}
    assert await user.find(folder, "zebras") == both  # two projects turn out to be one
    assert await user.find(clone, "zebras") == both


async def test_a_checkout_keeps_memory_and_code_when_the_address_of_its_remote_changes(
    environ: dict[str, str], tmp_path: Path
) -> None:
    shop, clone = tmp_path / "shop", tmp_path / "clone"
    make_repository(shop, SHOP)
    git(shop, "remote", "add", "origin", "https://example.org/shop")
    git(tmp_path, "clone", str(shop), str(clone))
    git(clone, "remote", "set-url", "origin", "https://example.org/shop")
    user = User(environ)
    await user.ingest(shop)
    await user.ask(shop, "Zebras are striped.")
    before = await user.look(shop)

    git(shop, "remote", "set-url", "origin", "https://codeberg.example/team/shop")

    after = await user.look(shop)
    assert (after.id, after.checkout_id) == (before.id, before.checkout_id)
    assert after.former_remote == "example.org/shop"
    assert (await user.look(shop)).former_remote is None  # it is said once
    assert await user.find(shop, "zebras") == {"Zebras are striped."}
    async with user.open(shop) as app:
        assert (await app.code.status()).files > 0
    assert await user.find(clone, "zebras") == {"Zebras are striped."}
    assert (await user.look(clone)).former_remote is None

    git(shop, "remote", "set-url", "origin", "https://example.org/shop")
    assert await user.find(shop, "zebras") == {"Zebras are striped."}
    shutil.rmtree(shop)
    make_repository(shop, {"other.py": "def zebra(): ...\n"})
    git(shop, "remote", "add", "origin", "https://codeberg.example/team/other")
    assert await user.find(shop, "zebras") == set()


async def test_a_checkout_that_moves_to_the_remote_of_another_project_moves_no_other_checkout(
    environ: dict[str, str], tmp_path: Path
) -> None:
    mine, upstream, fork = tmp_path / "mine", tmp_path / "upstream", tmp_path / "fork"
    make_repository(upstream, SHOP)
    for clone, remote in ((mine, "team"), (fork, "ann")):
        git(tmp_path, "clone", str(upstream), str(clone))
        git(clone, "remote", "set-url", "origin", f"https://example.org/{remote}/shop")
    git(upstream, "remote", "add", "origin", "https://example.org/team/shop")
    user = User(environ)
    await user.ask(mine, "Zebras are striped.")
    await user.ask(upstream, "Zebras are black.")
    await user.ask(fork, "Zebras are fast.")
    teams = {"Zebras are striped.", "Zebras are black."}
    assert await user.find(upstream, "zebras") == teams

    git(mine, "remote", "set-url", "origin", "https://example.org/ann/shop")

    assert await user.find(mine, "zebras") == {*teams, "Zebras are fast."}
    assert await user.find(upstream, "zebras") == teams


async def test_a_repository_without_commits_is_read_again_when_it_has_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragforge.app.wiring import projects

    reads = 0
    read_identity = projects._read_identity

    async def count_reads(root: Path) -> RepositoryIdentity | None:
        nonlocal reads
        reads += 1
        return await read_identity(root)

    monkeypatch.setattr(projects, "_read_identity", count_reads)
    root = tmp_path / "new"
    root.mkdir()
    git(root, "init", "-q")
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    for _ in range(3):
        before = await projects.recognise(store, root, None)
    assert reads == 1  # git is a process: it is not asked each time

    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    await projects.recognise(replace(store, read_only=True), root, None)
    assert reads == 1  # a process that only reads, as a hook does, could not record it
    for _ in range(2):
        after = await projects.recognise(store, root, None)
    await store.close()

    assert reads == 2
    assert after.id == before.id


async def test_an_imported_session_belongs_to_its_repository_wherever_that_lies(
    environ: dict[str, str], tmp_path: Path
) -> None:
    ann, bob = tmp_path / "ann" / "shop", tmp_path / "bob" / "shop"
    make_repository(ann, SHOP)
    git(tmp_path, "clone", str(ann), str(bob))
    user = User(environ)
    await user.ask(ann, "Why are zebras striped?")
    async with user.open(ann) as app:
        [session] = await app.sessions.find()
        document = json.loads(await app.sessions.export_bytes(session.uuid))
    identity = (await user.look(ann)).checkouts[0].identity
    assert document["repository"] == {"remote": None, "roots": list(identity.roots)}
    shutil.rmtree(ann)
    document["conversation"] |= {"cwd": "/far/away", "project_path": "/far/away"}

    async with user.open(bob) as app:  # the store knows a checkout of it
        known = await app.sessions.import_document(document, as_new=True)
        again = await app.sessions.export(known.conversation.uuid)
        assert again["repository"] == document["repository"]
        roots = [one * 40 for one in "ab"]
        document["repository"] = {"remote": "example.org/zoo", "roots": roots}
        unknown = await app.sessions.import_document(document, as_new=True)
        here = {one.uuid for one in await app.sessions.find()}
        assert here == {known.conversation.uuid, session.uuid}

    zoo = make_repository(tmp_path / "zoo", {"zoo.py": "ZEBRAS = 2\n"})
    git(zoo, "remote", "add", "origin", "git@example.org:zoo.git")
    async with user.open(zoo) as app:  # the store meets a checkout of it later
        assert [one.uuid for one in await app.sessions.find()] == [unknown.conversation.uuid]
