"""Sessions of other agents: imported, listed, found, and part of what a later question gets."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path

import pytest

from ragforge.app import App, open_app
from ragforge.config.settings import Settings
from ragforge.connect.excluded import add_excluded
from ragforge.domain.conversations import ConversationFilter
from ragforge.domain.schema import CONVERSATION
from tests.fakes.transcripts.claude_code import Claude, call, edit_result
from tests.fakes.transcripts.codex import Codex
from tests.fakes.zygote import run_module

BEFORE = "def total(items):\n    return sum(items[1:])\n"
AFTER = "def total(items):\n    return sum(items)\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user who worked with two other agents."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository, as the agents left it."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "cart.py").write_text(AFTER)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
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


def work_with_claude(home: Path, shop: Path) -> Claude:
    one = Claude("s1", cwd=str(shop))
    one.say("Why does the okapi basket total skip the first item?")
    one.answer("I look.", call("t1", "Read", file_path=str(shop / "cart.py")))
    one.give_result("t1", BEFORE)
    one.answer(call("t2", "Edit", file_path=str(shop / "cart.py"), old_string="items[1:]"))
    change = edit_result(str(shop / "cart.py"), BEFORE, "items[1:]", "items")
    change.pop("structuredPatch")
    one.give_result("t2", "The file was updated.", toolUseResult=change)
    one.answer("The slice began at one, so the okapi was never counted.")
    one.write(home)
    return one


def work_with_codex(home: Path, shop: Path) -> None:
    one = Codex("c1", cwd=str(shop))
    one.begin_turn(
        "turn-1",
    )
    one.say("Which quagga tests are flaky?")
    one.answer("The quagga checkout test waits for a clock.")
    one.put("event_msg", type="token_count", info={"last_token_usage": {"output_tokens": 42}})
    one.lines = [_move(line, shop) for line in one.lines]
    one.write(home)


def _move(line: dict[str, object], shop: Path) -> dict[str, object]:
    return json.loads(json.dumps(line).replace('"/work/shop"', json.dumps(str(shop))))


def run(
    home: Path, shop: Path, settings: Settings, *words: str
) -> subprocess.CompletedProcess[str]:
    environ = {
        **os.environ,
        "HOME": str(home),
        "RAGFORGE_STORE": settings.store.url,
        "RAGFORGE_JOBS__DETACH": "false",
        "RAGFORGE_AGENT__STATE_DIR": settings.agent.state_dir,
        "NO_COLOR": "1",
        "COLUMNS": "200",
    }
    return run_module("ragforge", *words, cwd=shop, env=environ)


def test_the_command_imports_what_other_agents_did_and_shows_whose_it_is(
    home: Path, shop: Path, settings: Settings
) -> None:
    work_with_claude(home, shop)
    work_with_codex(home, shop)
    (home / ".claude/projects/-work-shop/bad.jsonl").symlink_to(home / "nowhere")

    looked = run(home, shop, settings, "import", "--dry-run", "--json")
    done = run(home, shop, settings, "import")
    again = run(home, shop, settings, "import", "--from", "codex", "--json")
    listed = run(home, shop, settings, "sessions", "list")
    found = run(home, shop, settings, "search", "--in", "memory", "quagga clock")
    sessions = json.loads(run(home, shop, settings, "sessions", "list", "--json").stdout)
    codex = next(one for one in sessions["sessions"] if one["agent"] == "codex")
    shown = run(home, shop, settings, "sessions", "show", codex["conversation_id"], "--json")

    counted = json.loads(looked.stdout)["agents"]
    assert counted["claude-code"]["sessions"] == counted["codex"]["sessions"] == 1
    assert (looked.returncode, done.returncode, again.returncode) == (3, 3, 0)  # one is not a file
    assert "bad.jsonl was not read: No such file" in done.stderr
    assert "Claude Code" in done.stdout
    assert json.loads(again.stdout)["agents"]["codex"]["messages"] == 0
    assert "claude-code" in listed.stdout
    assert "Why does the okapi basket total skip the first item?" in listed.stdout
    assert "codex" in found.stdout
    assert "quagga checkout" in found.stdout
    said = [m for turn in json.loads(shown.stdout)["turns"] for m in turn["messages"]]
    assert [m["model"] for m in said] == [None, "gpt-x"]
    assert said[1]["token_count"] == 42


async def finish_jobs(app: App) -> None:
    """Wait for all jobs: the worker in the background may do some of them."""
    while True:
        await app.worker.drain()
        left = (await app.store.jobs.count()).by_status
        if not left["pending"] and not left["running"]:
            return
        await asyncio.sleep(0.01)


async def open_and_import(settings: Settings, shop: Path) -> None:
    async with open_app(settings, shop) as app:
        await app.imports.run()


async def test_a_later_question_gets_what_another_agent_said(
    home: Path, shop: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    work_with_claude(home, shop)
    await open_and_import(settings, shop)

    async with open_app(settings, shop) as app:
        context = await app.build_context("What was wrong with the okapi basket total?")
        assert await app.sessions.find_current() is None  # theirs are not continued unasked
    assert "The slice began at one, so the okapi was never counted." in context.text


async def test_edits_of_another_agent_are_references_to_code(
    home: Path, shop: Path, settings: Settings
) -> None:
    work_with_claude(home, shop)
    async with open_app(settings, shop) as app:
        await app.imports.run()
        await app.code.ingest()
        await finish_jobs(app)
        [one] = await app.sessions.find_about("cart.py")
        edits = [touched for touched in one.touched if touched.touch.how == "edited"]
        assert {touched.since.state for touched in edits} == {"unchanged"}

        (shop / "cart.py").write_text(AFTER + "\n# more\n")
        await app.code.ingest()
        [one] = await app.sessions.find_about("cart.py")
        edits = [touched for touched in one.touched if touched.touch.how == "edited"]
        assert {touched.since.state for touched in edits} == {"changed"}


def test_which_sessions_touched_a_file_is_known_right_after_an_import(
    home: Path, shop: Path, settings: Settings
) -> None:
    work_with_claude(home, shop)
    run(home, shop, settings, "import")
    found = run(home, shop, settings, "sessions", "about", "cart.py")
    assert "okapi basket total" in found.stdout
    assert "edited  cart" in found.stdout


async def test_code_that_changed_before_the_import_is_marked(
    home: Path, shop: Path, settings: Settings
) -> None:
    work_with_claude(home, shop)
    (shop / "cart.py").write_text(AFTER + "\n# more\n")
    async with open_app(settings, shop) as app:
        await app.code.ingest()
        await app.imports.run()
        await finish_jobs(app)
        [one] = await app.sessions.find_about("cart.py")
        edits = [touched for touched in one.touched if touched.touch.how == "edited"]
        assert {touched.since.state for touched in edits} == {"changed"}


async def test_a_file_that_is_gone_is_still_known_to_have_been_edited(
    home: Path, shop: Path, settings: Settings
) -> None:
    work_with_claude(home, shop)
    (shop / "cart.py").rename(shop / "basket.py")
    (shop / "basket.py").write_text("BASKET = 1\n")
    async with open_app(settings, shop) as app:
        await app.code.ingest()
        await app.imports.run()
        await finish_jobs(app)
        [one] = await app.sessions.find_about("cart.py")
    assert {(code.touch.how, code.since.state) for code in one.touched} == {("edited", "gone")}


async def test_a_document_that_changed_since_is_still_known_to_have_been_edited(
    home: Path, shop: Path, settings: Settings
) -> None:
    notes, before = shop / "notes.md", "# Okapi\n\nHe eats leaves.\n"
    notes.write_text("# Quagga\n\nIt is gone.\n")
    one = Claude("s1", cwd=str(shop))
    one.say("Write down what the okapi eats.")
    one.answer(call("t1", "Edit", file_path=str(notes), old_string="leaves"))
    change = edit_result(str(notes), before, "leaves", "buds")
    one.give_result("t1", "The file was updated.", toolUseResult=change)
    one.answer("He eats buds.")
    one.write(home)
    async with open_app(settings, shop) as app:
        await app.code.ingest()
        await app.imports.run()
        await finish_jobs(app)
        [found] = await app.sessions.find_about("notes.md")
        hits = await app.memory.search("okapi buds", levels=[0])
        [stale, *_] = await app.memory.find_changed_code(hits)
    assert [(code.touch.how, code.since.state) for code in found.touched] == [("edited", "changed")]
    assert [str(code) for code in stale] == ["notes.md: changed since"]


async def test_what_is_deleted_stays_deleted_and_new_lines_are_followed(
    home: Path, shop: Path, settings: Settings
) -> None:
    claude = work_with_claude(home, shop)
    work_with_codex(home, shop)
    await open_and_import(settings, shop)
    async with open_app(settings, shop) as app:
        [codex] = await app.store.records.find(CONVERSATION, ConversationFilter(agent="codex"))
        await app.sessions.delete(codex)
        claude.say("And the tests?")
        claude.write(home)
        (home / ".codex/sessions/2026/03/02/rollout-2026-03-02T09-00-00-c1.jsonl").touch()
        await app.imports.sweep()
        found = await app.store.records.find(CONVERSATION, ConversationFilter())
    assert [(one.agent, one.turn_count) for one in found] == [("claude-code", 2)]


async def test_an_open_application_follows_what_another_agent_writes(
    home: Path, shop: Path, settings: Settings
) -> None:
    claude = work_with_claude(home, shop)
    await open_and_import(settings, shop)
    async with open_app(settings, shop) as app:
        stopping = asyncio.Event()
        following = asyncio.create_task(app.imports.follow(stopping, seconds=0.01))
        claude.say("And the tests?")
        claude.write(home)
        while True:
            [one] = await app.sessions.find()
            if one.turn_count == 2:
                break
            await asyncio.sleep(0.01)
        stopping.set()
        await following
        turns = await app.sessions.latest_turns(one, 1)
    assert turns[-1].user.content == "And the tests?"


async def test_an_import_that_is_asked_for_stops_the_follower_and_reports_the_rest(
    home: Path, shop: Path, settings: Settings
) -> None:
    await open_and_import(settings, shop)
    for number in range(6):
        one = Claude(f"s{number}", cwd=str(shop))
        one.say(f"Question {number}?")
        one.write(home)
    async with open_app(settings, shop, work=False) as app:
        await app.imports.run(["claude-code"])
        for number in range(6):
            one = Claude(f"t{number}", cwd=str(shop))
            one.say(f"Another question {number}?")
            one.write(home)
        sweeping = asyncio.create_task(app.imports.sweep())
        report = await app.imports.run(["claude-code"])
        swept = await sweeping
        assert await app.imports.sweep() is not None  # afterwards it follows again
    assert swept is None or swept.of("claude-code").turns + report.of("claude-code").turns == 6
    assert report.of("claude-code").turns >= 5
    assert report.of("claude-code").elsewhere == 0


async def test_nothing_is_read_before_the_user_imports(
    home: Path, shop: Path, settings: Settings
) -> None:
    work_with_claude(home, shop)
    async with open_app(settings, shop) as app:
        assert await app.imports.sweep() is None
        assert await app.sessions.find(everywhere=True) == []


async def test_nothing_is_imported_from_an_excluded_folder(
    home: Path, shop: Path, settings: Settings, tmp_path: Path
) -> None:
    (secret := tmp_path / "secret").mkdir()
    claude = work_with_claude(home, shop)
    work_with_codex(home, secret / "deep")
    add_excluded(secret, Path(settings.agent.state_dir))
    async with open_app(settings, shop) as app:
        report = await app.imports.run()
        assert (report.of("codex").sessions, report.of("codex").messages) == (0, 0)
        add_excluded(shop, Path(settings.agent.state_dir))
        claude.say("And the tests?")
        claude.write(home)
        await app.imports.sweep()
        [one] = await app.sessions.find(everywhere=True)
    assert (one.agent, one.turn_count) == ("claude-code", 1)


async def test_a_session_belongs_to_the_repository_also_when_its_folder_is_gone(
    home: Path, shop: Path, settings: Settings
) -> None:
    work_with_claude(home, shop / "src")
    async with open_app(settings, shop) as app:
        await app.imports.run()
        [one] = await app.sessions.find()
        assert one.project_id == app.project.id
        assert one.cwd == str(shop / "src")


async def test_a_session_whose_folder_is_gone_belongs_to_the_repository_with_its_remote(
    home: Path, shop: Path, settings: Settings, tmp_path: Path
) -> None:
    gone = tmp_path / "another-machine" / "shop"
    work_with_codex(home, gone)  # its transcript names https://example.org/shop
    await open_and_import(settings, tmp_path / "home")
    git = ["git", "-C", str(shop), "remote", "add", "origin", "git@example.org:shop.git"]
    subprocess.run(git, check=True)
    async with open_app(settings, shop) as app:
        [one] = await app.sessions.find()
    assert (one.agent, one.cwd) == ("codex", str(gone))


async def test_no_model_is_asked_about_imported_sessions(
    home: Path, shop: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Claude("s1", cwd=str(shop))
    for number in range(4):
        one.say(f"Question {number}: " + "why is it so slow? " * 300)
        one.answer("Because it waits. " * 300)
    one.write(home)
    monkeypatch.setenv("OPENAI_API_KEY", "for a server that is not there")
    model = {"model": "openai:gpt-x", "base_url": "http://127.0.0.1:9/v1"}
    with_model = Settings.model_validate(settings.model_dump() | {"llm": model})
    async with open_app(with_model, shop) as app:
        assert app.model is not None
        await app.imports.run()
        await finish_jobs(app)
        summaries = await app.memory.find_summaries()
    assert summaries
    assert {made.made_by for made in summaries} == {"extractive"}


def test_lines_that_cannot_be_read_are_listed_with_their_numbers(
    home: Path, shop: Path, settings: Settings
) -> None:
    claude = work_with_claude(home, shop)
    path = claude.write(home)
    with path.open("a") as file:
        file.write("{broken\n" * 30)
    done = run(home, shop, settings, "import", "--from", "claude-code")
    with path.open("a") as file:
        file.write("\n[1]\n")
    again = run(home, shop, settings, "import", "--from", "claude-code", "--json")

    first = len(claude.lines) + 1
    assert "lines left out: not JSON (30)" in done.stderr
    assert f"s1.jsonl:{first} was left out: not JSON" in done.stderr
    assert done.stderr.count("was left out: not JSON") == 20
    assert "… and 10 other lines." in done.stderr
    [line] = json.loads(again.stdout)["skipped_lines"]
    assert line == {
        "agent": "claude-code",
        "path": str(path),
        "line": first + 31,
        "reason": "not JSON",
    }


def test_a_file_that_gives_nothing_says_why(home: Path, shop: Path, settings: Settings) -> None:
    folder = work_with_claude(home, shop).write(home).parent
    (folder / "empty.jsonl").touch()
    (folder / "notes.jsonl").write_text('{"type": "summary", "summary": "An older talk"}\n')
    (folder / "other.jsonl").write_text('{"event": 1, "who": "me"}\n{"event": 2}\n')
    (folder / "words.jsonl").write_text("Dear diary,\n")
    (folder / "copy.jsonl").write_bytes((folder / "s1.jsonl").read_bytes())
    os.utime(folder / "s1.jsonl", (1, 1))

    looked = run(home, shop, settings, "import", "--dry-run", "--json")
    done = run(home, shop, settings, "import", "--json")
    again = run(home, shop, settings, "import")

    reasons = {Path(one["path"]).name: one["reason"] for one in json.loads(done.stdout)["empty"]}
    assert reasons == {
        "empty.jsonl": "it holds no complete message",
        "notes.jsonl": "there are no messages in its 1 line",
        "other.jsonl": "nothing in its 2 lines looks like this agent's transcripts: "
        "without a type (2)",
        "words.jsonl": "nothing in its 1 line looks like this agent's transcripts: not JSON (1)",
        "copy.jsonl": "all of it is stored already, or was deleted",
    }
    assert json.loads(looked.stdout) == json.loads(done.stdout)
    assert done.returncode == 0
    # What has another shape may be read by a later version, so it is looked at again.
    assert "other.jsonl has no turns: nothing in its 2 lines" in again.stderr
    assert "empty.jsonl" not in again.stderr
