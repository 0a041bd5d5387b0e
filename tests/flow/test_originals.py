"""Originals: a transcript can be imported again when its agent has deleted it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ragforge.app import App, open_app
from ragforge.config.settings import Settings
from ragforge.connect.excluded import add_excluded
from ragforge.domain.schema import CONVERSATION
from ragforge.originals.files import OriginalFiles
from ragforge.transcripts.claude_code import ClaudeCodeReader
from tests.fakes.secrets import made
from tests.fakes.transcripts.claude_code import Claude
from tests.fakes.transcripts.codex import Codex
from tests.fakes.transcripts.gemini import Gemini
from tests.fakes.zygote import run_module

PAGE = Path(__file__).parents[2] / "docs" / "import.md"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    (folder / "shop" / ".git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return make_settings(tmp_path)


def make_settings(folder: Path, store: str = "store.db", **originals: object) -> Settings:
    return Settings.model_validate(
        {
            "store": {"url": str(folder / store)},
            "agent": {"state_dir": str(folder / "state")},
            "jobs": {"detach": False},
            "originals": originals,
        }
    )


def talk_to_claude(home: Path, session: str = "s1") -> Path:
    one = Claude(session, cwd=str(home / "shop"))
    one.say("Where does the okapi sleep?")
    one.answer("The okapi sleeps in the barn.")
    return one.write(home)


async def finish_jobs(app: App) -> None:
    await app.worker.drain()
    await app.jobs.wait(60)


async def import_and_keep(settings: Settings, shop: Path) -> None:
    async with open_app(settings, shop) as app:
        await app.imports.run()
        await finish_jobs(app)


def open_files(settings: Settings) -> OriginalFiles:
    return OriginalFiles(Path(settings.agent.state_dir) / "originals")


async def test_what_an_agent_has_deleted_is_imported_again(home: Path, tmp_path: Path) -> None:
    gone = [talk_to_claude(home), Codex("c1", cwd=str(home / "shop")).write(home)]
    await import_and_keep(make_settings(tmp_path), home / "shop")
    for path in gone:
        path.unlink()

    async with open_app(make_settings(tmp_path, "another.db"), home / "shop") as app:
        report = await app.imports.run_again(["claude-code"])
        [session] = await app.sessions.find()
        [turn] = (await app.sessions.load_detail(session.uuid)).turns
        again = await app.imports.run_again()

    assert (report.of("claude-code").sessions, report.of("claude-code").turns) == (1, 1)
    assert (session.agent_session, session.cwd) == ("s1", str(home / "shop"))
    assert turn.answer == "The okapi sleeps in the barn."
    assert again.of("claude-code").messages == 0


async def test_a_better_reader_finds_more_in_a_deleted_transcript(
    home: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = talk_to_claude(home)
    with monkeypatch.context() as poor:
        poor.setattr(ClaudeCodeReader, "_read_assistant", lambda self, content, link: link)
        await import_and_keep(settings, home / "shop")
    path.unlink()

    async with open_app(settings, home / "shop") as app:
        report = await app.imports.run_again()
        found = await app.memory.search("barn", semantic=False, levels=[0])
    assert report.of("claude-code").messages == 1
    assert [hit.turn.answer for hit in found if hit.type == "turn"] == [
        "The okapi sleeps in the barn."
    ]


async def test_files_that_are_still_there_are_left_to_the_import(
    home: Path, settings: Settings
) -> None:
    path = talk_to_claude(home)
    await import_and_keep(settings, home / "shop")
    async with open_app(settings, home / "shop") as app:
        there = await app.imports.run_again()
        path.write_text('{"type": "user", "uuid": "x"}\n')  # the agent rewrote it
        await app.imports.run()
        await finish_jobs(app)
        changed = await app.imports.run_again(only_look=True)
    assert there.agents == {}
    assert changed.of("claude-code").files == 1


@pytest.mark.parametrize("path", ["session", "project", "elsewhere"])
async def test_what_is_forgotten_cannot_be_imported_again(
    home: Path, settings: Settings, path: str
) -> None:
    transcript = talk_to_claude(home)
    talk_to_claude(home, "s2")
    await import_and_keep(settings, home / "shop")
    async with open_app(settings, home / "shop") as app:
        sessions = await app.sessions.find()
        [one] = [one for one in sessions if one.agent_session == "s1"]
        if path == "session":
            await app.sessions.delete(one)
        elif path == "project":
            await app.memory.forget_project(app.project.ids)
        else:  # on another machine, or by a program that uses the store
            await app.store.records.delete(CONVERSATION, one.uuid)
            await app.imports.run_again()
        kept = open_files(settings).find_all()
        with transcript.open("a") as file:
            file.write("{}\n")
        await app.imports.run()
        await finish_jobs(app)
        transcript.unlink()
        report = await app.imports.run_again()

    assert str(transcript) not in {original.path for original in kept}
    assert len(kept) == (0 if path == "project" else 1)
    assert report.of("claude-code").messages == 0
    assert str(transcript) not in {one.path for one in open_files(settings).find_all()}


async def test_with_a_session_the_forks_that_repeat_it_are_forgotten(
    home: Path, settings: Settings
) -> None:
    one = Claude("s1", cwd=str(home / "shop"))
    one.say("Where does the okapi sleep?")
    one.answer("In the barn.")
    one.write(home)
    fork = one.fork("s2")
    fork.say("And the gnu?")
    fork.write(home)
    await import_and_keep(settings, home / "shop")
    async with open_app(settings, home / "shop") as app:
        assert len(open_files(settings).find_all()) == 2
        [first] = [one for one in await app.sessions.find() if one.agent_session == "s1"]
        await app.sessions.delete(first)
    assert open_files(settings).find_all() == []


async def test_nothing_is_kept_of_excluded_folders_or_against_the_users_will(
    home: Path, tmp_path: Path
) -> None:
    talk_to_claude(home)
    unwanted = make_settings(tmp_path, keep=False)
    await import_and_keep(unwanted, home / "shop")
    assert not open_files(unwanted).folder.exists()

    small = make_settings(tmp_path, "small.db", max_megabytes=0)
    await import_and_keep(small, home / "shop")
    assert open_files(small).find_all() == []

    excluding = make_settings(tmp_path, "excluding.db")
    add_excluded(home / "shop", tmp_path / "state")
    await import_and_keep(excluding, home / "shop")
    assert open_files(excluding).find_all() == []


async def test_no_secret_reaches_the_disk(home: Path, settings: Settings) -> None:
    secret = "ghp_" + made(36)
    one = Claude("s1", cwd=str(home / "shop"))
    one.say(f"Use {secret} for the release.")
    path = one.write(home)
    await import_and_keep(settings, home / "shop")
    files = open_files(settings)
    [kept] = files.find_all()
    content = b"".join(files.read(kept))
    assert secret.encode() not in content
    assert b"for the release" in content
    path.unlink()
    async with open_app(settings, home / "shop") as app:
        assert (await app.imports.run_again()).of("claude-code").messages == 0


async def test_what_a_reader_learns_from_the_place_of_a_file_is_kept(
    home: Path, tmp_path: Path
) -> None:
    project = home / ".gemini" / "tmp" / "shop"
    gemini = Gemini()
    gemini.say("Where does the okapi sleep?")
    path = gemini.write(home)
    (project / ".project_root").write_text(str(home / "shop"))
    await import_and_keep(make_settings(tmp_path), home / "shop")
    path.unlink()
    (project / ".project_root").unlink()
    async with open_app(make_settings(tmp_path, "another.db"), home / "shop") as app:
        await app.imports.run_again()
        [session] = await app.sessions.find()
    assert session.cwd == str(home / "shop")


def test_the_example_of_the_page_is_true(home: Path, tmp_path: Path) -> None:
    environ = {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "RAGFORGE_STORE": str(tmp_path / "store.db"),
        "RAGFORGE_AGENT__STATE_DIR": str(tmp_path / "state"),
        "RAGFORGE_JOBS__CLOSING_SECONDS": "60",
        "RAGFORGE_JOBS__DETACH": "false",
        "NO_COLOR": "1",
        "COLUMNS": "200",
    }
    path = talk_to_claude(home)
    part = PAGE.read_text("utf-8").partition("## Originals")[2]
    shown = re.findall(r"^\$ (.+)\n((?:(?!```|\$).*\n)+)?", part, re.MULTILINE)
    assert [command for command, _ in shown] == [
        "ragforge import",
        "rm ~/.claude/projects/-work-shop/s1.jsonl",
        "ragforge import --again",
    ]
    for command, output in shown:
        if command.startswith("rm "):
            path.unlink()
            continue
        done = run_module("ragforge", *command.split()[1:], cwd=home / "shop", env=environ)
        assert done.returncode == 0, done.stderr
        assert _squeeze(done.stdout) == _squeeze(output)

    as_json = run_module("ragforge", "import", "--again", "--json", cwd=home / "shop", env=environ)
    assert json.loads(as_json.stdout)["agents"]["claude-code"]["files"] == 1
    wrong = run_module("ragforge", "import", "--again", "--path", ".", cwd=home, env=environ)
    assert wrong.returncode == 1
    assert "Leave out --path" in wrong.stderr


def _squeeze(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]
