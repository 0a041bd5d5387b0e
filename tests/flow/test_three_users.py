"""Three users, each with a home and a name, on one store: sharing, privacy, jobs, names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from ragforge import load_settings, open_app
from ragforge.app import App
from ragforge.context.build import ContextOptions
from ragforge.errors import InputError, NotAuthor
from ragforge.show.sessions import show_sessions
from tests.fakes.projects import SHOP
from tests.fakes.repositories import git, make_repository

pytestmark = pytest.mark.both_engines

As: TypeAlias = Callable[..., AbstractAsyncContextManager[App]]

SECRET = "The okapi is paid in zlotys every Friday"
QUESTION = "how is the okapi paid in zlotys?"


@pytest.fixture
def as_user(
    environ: dict[str, str], project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> As:
    """Open the application as a user whose name git reads from their own home."""

    @asynccontextmanager
    async def open_as(name: str, checkout: Path = project) -> AsyncIterator[App]:
        home = tmp_path / name
        home.mkdir(exist_ok=True)
        mail = f"{name.lower()}@example.org"
        (home / ".gitconfig").write_text(f"[user]\n\tname = {name}\n\temail = {mail}\n")
        monkeypatch.setenv("HOME", str(home))
        for variable in ("GIT_CONFIG_GLOBAL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
            monkeypatch.delenv(variable, raising=False)
        own = {**environ, "HOME": str(home), "RAGFORGE_AGENT__STATE_DIR": str(home / "state")}
        own["RAGFORGE_STORE__VISIBILITY"] = "private"
        own["RAGFORGE_BRAIN__INGEST_AUTOMATICALLY"] = "false"
        async with open_app(load_settings(checkout, environ=own).settings, checkout) as app:
            yield app

    return open_as


async def test_what_ann_keeps_to_herself_does_not_exist_for_others(as_user: As) -> None:
    async with as_user("Ann") as ann:
        await ann.ask(SECRET)
        await ann.notes.remember("The okapi likes zlotys")
        hers = await ann.sessions.find_current()
        assert hers is not None
        assert (hers.author, hers.visibility) == ("Ann <ann@example.org>", "private")
        assert await ann.memory.search(QUESTION, max_results=5) != []
    for name in ("Bob", "Cleo"):
        async with as_user(name) as other:
            assert await other.sessions.find(None, everywhere=True) == []
            assert await other.sessions.find_current() is None
            assert await other.memory.search(QUESTION, max_results=5, everywhere=True) == []
            assert await other.notes.find() == []
            with pytest.raises(InputError, match="No session"):
                await other.sessions.resolve(hers.uuid)
            context = await other.build_context(QUESTION, ContextOptions())
            assert "Friday" not in str(context)


async def test_what_ann_shares_is_found_with_her_name_and_stays_hers(
    as_user: As, capsys: pytest.CaptureFixture[str]
) -> None:
    async with as_user("Ann") as ann:
        await ann.ask(SECRET)
        hers = await ann.sessions.ensure_current()
        await ann.sessions.set_visibility(hers, "shared")
    async with as_user("Bob") as bob:
        found = await bob.memory.search(QUESTION, max_results=5)
        assert found[0].type == "turn"
        assert found[0].turn.user.author == "Ann <ann@example.org>"
        own = await bob.sessions.create()
        context = await bob.build_context(QUESTION, ContextOptions(), own)
        assert "Ann, 20" in str(context), "the author and the date"
        listed = await bob.sessions.find()
        show_sessions(await bob.sessions.add_last_messages(listed), False, bob.identity.key)
        assert "Ann" in capsys.readouterr().out
        with pytest.raises(NotAuthor, match="Ann"):
            await bob.ask("And the zebra?", hers.uuid)
        with pytest.raises(NotAuthor, match="Ann"):
            await bob.sessions.delete(hers)
        branch = await bob.sessions.branch(hers, "0")
        await bob.ask("And the zebra?", branch.uuid)
    async with as_user("Ann") as ann:
        assert [one.uuid for one in await ann.sessions.find()] == [hers.uuid]
        await ann.sessions.set_visibility(hers, "private")
    async with as_user("Cleo") as cleo:
        assert await cleo.sessions.find(None, everywhere=True) == []
    async with as_user("Bob") as bob:
        kept = await bob.sessions.latest_turns(await bob.sessions.load(branch.uuid), 5)
        authors = [turn.user.author for turn in kept]
        assert authors == ["Ann <ann@example.org>", "Bob <bob@example.org>"]


async def test_a_worker_does_not_do_the_jobs_of_other_users(as_user: As) -> None:
    async with as_user("Ann") as ann:
        talk = await ann.sessions.create()
        await ann.recorder.record_question(talk.uuid, SECRET)
        asked = (await ann.store.timeline.messages(talk.uuid))[0]
    async with as_user("Ann") as ann:
        await ann.jobs.wait(60)
        await ann.recorder.end_turn(talk.uuid, asked.uuid)
        async with as_user("Bob") as bob:
            await bob.worker.drain()
            assert await bob.jobs.find(50) == []
        await ann.jobs.wait(60)
        assert (await ann.sessions.load(talk.uuid)).title is not None
        done = await ann.jobs.find(50, ["done"])
        assert {job.owner for job in done} == {"ann@example.org"}


async def test_clones_of_colleagues_are_one_project_and_another_repository_at_the_path_is_not(
    as_user: As, tmp_path: Path
) -> None:
    anns, bobs = tmp_path / "work" / "shop", tmp_path / "src" / "shop-clone"
    make_repository(anns, SHOP)
    bobs.parent.mkdir()
    git(tmp_path, "clone", str(anns), str(bobs))
    async with as_user("Ann", anns) as ann:
        await ann.ask(SECRET)
        await ann.sessions.set_visibility(await ann.sessions.ensure_current(), "shared")
        await ann.code.ingest()
    anns.rename(tmp_path / "aside")  # Cleo has something else where Ann has her checkout
    make_repository(anns, {"bank.py": "def zebra(): ...\n"})
    async with as_user("Cleo", anns) as cleo:
        assert await cleo.sessions.find() == []
        assert await cleo.memory.search(QUESTION, max_results=5) == []
        report, _ = await cleo.code.ingest()
        assert (report.read, report.removed) == (1, 0)
        assert "Friday" not in str(await cleo.build_context(QUESTION, ContextOptions()))
    async with as_user("Bob", bobs) as bob:
        [found, *_] = await bob.memory.search(QUESTION, max_results=5)
        assert found.type == "turn"
        assert found.turn.user.author == "Ann <ann@example.org>"
        assert "Ann, 20" in str(await bob.build_context(QUESTION, ContextOptions()))
        await bob.code.ingest()
        assert {hit.scope.file for hit in await bob.code.search("zebra price")} <= set(SHOP)
