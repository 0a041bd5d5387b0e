"""Forks and rewinds of other agents: what they repeat is stored, counted and found once."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.app import App, open_app
from ragforge.config.settings import Settings
from ragforge.domain.conversations import Conversation
from tests.fakes.transcripts.claude_code import Claude
from tests.fakes.transcripts.codex import Codex


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user who forks and rewinds sessions."""
    folder = tmp_path / "home"
    (folder / "shop" / ".git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.model_validate(
        {
            "store": {"url": str(tmp_path / "store.db")},
            "agent": {"state_dir": str(tmp_path / "state")},
            "jobs": {"detach": False},
        }
    )


def fork_and_rewind_claude(home: Path) -> None:
    one = Claude("s1", cwd=str(home / "shop"))
    one.say("Where does the okapi sleep?")
    answer = one.answer("The okapi sleeps in the barn.")
    one.say("And the gnu?")
    one.answer("In the yard.")
    fork = one.fork("s2")
    one.say("And the quagga?", after=answer)  # rewound
    one.answer("Nowhere.")
    fork.say("And the emu?")
    fork.answer("On the roof.")
    one.write(home)
    fork.write(home)


def fork_codex(home: Path) -> None:
    one = Codex("c1", cwd=str(home / "shop"))
    one.say("Who feeds the tapir?")
    one.answer("Ann feeds the tapir.")
    fork = one.fork("c2", cwd=str(home / "shop"), forked_from_id="c1")
    fork.say("And on Sundays?")
    fork.answer("Bob.")
    for session in (one, fork):
        session.write(home)


async def tell(app: App, session: Conversation) -> list[str]:
    detail = await app.sessions.load_detail(session.uuid)
    return [turn.user.content for turn in detail.turns]


async def test_a_turn_that_forks_and_rewinds_repeat_is_found_once(
    home: Path, settings: Settings
) -> None:
    fork_and_rewind_claude(home)
    fork_codex(home)
    async with open_app(settings, home / "shop") as app:
        await app.imports.run()
        for question in ("okapi sleeps barn", "Ann feeds the tapir"):
            found = await app.memory.search(question, levels=[0], semantic=False)
            texts = [hit.turn.user.content for hit in found if hit.type == "turn"]
            assert len(texts) == len(set(texts))
        sessions = await app.sessions.find()
        assert await app.store.archive.count("message") == 12
        assert sum(one.turn_count for one in sessions) == 6


async def test_a_fork_is_shown_with_the_turns_that_it_shares(
    home: Path, settings: Settings
) -> None:
    fork_and_rewind_claude(home)
    async with open_app(settings, home / "shop") as app:
        await app.imports.run()
        told = [await tell(app, one) for one in await app.sessions.find()]
        [fork] = [one for one in await app.sessions.find() if one.agent_session == "s2"]
        latest = await app.sessions.latest_turns(fork, 2)
        inside = await app.memory.search("okapi barn", conversation=fork.uuid, semantic=False)

    first = "Where does the okapi sleep?"
    assert sorted(told) == [
        [first, "And the gnu?"],
        [first, "And the gnu?", "And the emu?"],
        [first, "And the quagga?"],
    ]
    assert [turn.user.content for turn in latest] == ["And the gnu?", "And the emu?"]
    assert inside[0].type == "turn"
    assert inside[0].turn.user.content == first
