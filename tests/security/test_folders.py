"""Folders above a project do not widen it; a folder that is not a project is not read unasked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest
import typer

from ragforge import ConversationAgent, load_settings, open_app
from ragforge.app.features.permission_rules import Refused, check_commands
from ragforge.cli.main import run
from ragforge.errors import InputError
from ragforge.folders import find_project, find_user_folder, is_project
from tests.fakes.chat_server import ChatServer
from tests.fakes.code import list_files
from tests.fakes.trust import move_home, trust_folder
from tests.fakes.wires import OpenAiWire, Says

Ragforge = Callable[..., tuple[int, str, str]]
KEY = "private_zanzibar_key"
QUESTION = f"Where is {KEY} defined?"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with something private in it, and the user there."""
    home = move_home(tmp_path / "home", monkeypatch)
    (home / "keys.py").write_text(f"def {KEY}():\n    return 'rain'\n")
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def notes(home: Path) -> Path:
    """A folder that is not a project."""
    folder = home / "notes"
    folder.mkdir()
    (home / "keys.py").rename(folder / "keys.py")
    return folder


@pytest.fixture
def ragforge(capsys: pytest.CaptureFixture[str]) -> Ragforge:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


def test_dotfiles_in_git_do_not_make_a_project_of_the_home(home: Path) -> None:
    inner = home / "work" / "shop"
    inner.mkdir(parents=True)
    (home / ".git").mkdir()
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id_ed25519").write_text("a key")

    [(_, decision)] = check_commands(["cat ../../.ssh/id_ed25519"], inner)

    assert find_project(inner) == inner
    assert isinstance(decision, Refused)


def test_a_git_tree_above_the_home_or_in_a_shared_folder_is_not_a_project(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.parent / ".git").mkdir()
    assert find_project(home / "notes") == home / "notes"

    shared = home / "shared"
    (shared / ".git").mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(shared))
    assert find_project(shared / "notes") == shared / "notes"


@pytest.mark.parametrize("home", ["/home/ann", "/home/ann/", "/", "", "ann"])
@pytest.mark.parametrize("given", [None, "", "/data/ann", "/data/ann/", "data", " /data"])
def test_the_folders_of_a_user_are_those_that_platformdirs_names(
    monkeypatch: pytest.MonkeyPatch, home: str, given: str | None
) -> None:
    monkeypatch.setenv("HOME", home)
    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        if given is None:
            monkeypatch.delenv(variable, raising=False)
        else:
            monkeypatch.setenv(variable, given)

    data, config = (
        find("ragforge", appauthor=False)
        for find in (platformdirs.user_data_dir, platformdirs.user_config_dir)
    )

    assert find_user_folder("data") == Path(data)
    assert find_user_folder("config") == Path(config)


def test_a_file_above_the_project_configures_nothing_even_if_trusted(home: Path) -> None:
    inner = home / "work" / "shop"
    inner.mkdir(parents=True)
    (home / "work" / "ragforge.config.yaml").write_text("jobs: {max_attempts: 9}")
    trust_folder(home / "work")

    loaded = load_settings(inner)

    assert loaded.project is None
    assert loaded.settings.jobs.max_attempts == 5


def test_a_project_is_known_by_what_lies_in_it_and_a_home_never_is(home: Path) -> None:
    shop = home / "shop"
    shop.mkdir()
    assert not is_project(shop)

    for folder in (shop, home, home.parent):
        (folder / "pyproject.toml").touch()

    assert is_project(shop)
    assert not any(is_project(folder) for folder in (home, home.parent, Path("/"), Path("/tmp")))


@pytest.mark.parametrize(
    "command", [["search", KEY], ["ask", QUESTION], ["context", QUESTION], ["status"]]
)
def test_no_command_reads_a_home_without_asking(
    ragforge: Ragforge, home: Path, command: list[str]
) -> None:
    code, out, shown = ragforge(*command)

    assert code == 0
    assert f"{home} is more than a project: its files are not read" in shown
    assert "rain" not in out
    assert not read_store(home)


@pytest.mark.parametrize("command", [["ingest"], ["ingest", "."], ["watch"]])
def test_a_home_is_ingested_only_with_a_yes(
    ragforge: Ragforge, home: Path, command: list[str]
) -> None:
    code, _, shown = ragforge(*command)

    assert code == 1
    assert "ragforge ingest --yes" in shown
    assert not read_store(home)

    assert ragforge("ingest", "--yes", str(home))[0] == 0
    assert "keys.py" in ragforge("search", KEY)[1]


def test_a_person_is_asked_before_a_folder_that_is_not_a_project_is_read(
    ragforge: Ragforge, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [False]
    monkeypatch.chdir(notes)
    monkeypatch.setattr("ragforge.cli.trust_questions.can_ask", lambda: True)
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: answers.pop(0))

    assert "keys.py" not in ragforge("search", KEY)[1]
    assert "keys.py" not in ragforge("search", KEY)[1]  # remembered: nothing is asked
    assert answers == []
    assert ragforge("trust", "--yes")[0] == 0
    assert "keys.py" in ragforge("search", KEY)[1]


def test_a_folder_that_is_named_is_read_and_stays_so(
    ragforge: Ragforge, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes)
    assert ragforge("ingest")[0] == 1

    assert ragforge("ingest", ".")[0] == 0

    assert [hit["file"] for hit in json.loads(ragforge("search", KEY, "--json")[1])["hits"]]
    assert ragforge("ingest")[0] == 0


async def test_memory_works_where_files_are_not_read(home: Path) -> None:
    async with await ConversationAgent.open(cwd=home) as agent:
        await agent.app.ask("The zanzibar deployment happens on Fridays.")
        await agent.app.jobs.wait(60)
        found = await agent.search_conversation_history("zanzibar deployment")

    assert found


async def test_a_program_reads_no_home_by_accident(home: Path) -> None:
    async with await ConversationAgent.open(cwd=home) as agent:
        assert await agent.search_code(KEY) == []
        assert not await agent.app.code.automatic_reading.queue()
        with pytest.raises(InputError, match="--yes"):
            await agent.ingest()
    async with await ConversationAgent.open(cwd=home, trust_project=True) as agent:
        assert await agent.search_code(KEY)


async def test_a_model_has_no_tool_for_files_where_they_are_not_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("RAGFORGE_AGENT__CONTEXT__PLAN_BY", "rules")
    project = home / "shop"
    (project / ".git").mkdir(parents=True)
    offered = []
    title = Says('{"title": "Keys"}')
    for folder in (home, project):
        async with ChatServer(OpenAiWire(), [Says("Nowhere.")], aside=title) as server:
            model = {"llm.model": f"openai:{server.wire.model}", "llm.base_url": server.base_url}
            async with open_app(load_settings(folder, model).settings, folder) as app:
                await app.ask(QUESTION)
            [request] = [one for one in server.asked if "tools" in one.body]
            offered.append({tool["function"]["name"] for tool in request.body["tools"]})
            assert "rain" not in json.dumps(request.body)

    unread, read = offered
    assert {"search_memory", "remember"} <= unread
    assert {"read_file", "grep_files", "run_command", "write_file", "search_code"} <= read - unread


def read_store(home: Path) -> list[str]:
    """Return the files that the store knows of the home."""

    async def read() -> list[str]:
        async with open_app(load_settings(home).settings, home) as app:
            return [file.path for file in await list_files(app.store, app.brain.project_id)]

    return asyncio.run(read())
