"""Whole turns in a project whose code is known, or becomes known while it answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ragforge import load_settings, open_app
from ragforge.config.settings import Settings
from tests.fakes.chat_server import ChatServer
from tests.fakes.wires import OpenAiWire, Says
from tests.fakes.zygote import run_module

SESSIONS = '''"""Sessions of users."""


class SessionKey:
    """What tells one session from another."""

    def matches(self, path: str) -> bool:
        """Compare by the exact path."""
        return self.path == path


def open_session(key: SessionKey) -> None:
    """Open the session of a directory."""
    key.matches("/")
'''
QUESTION = "how are sessions told from each other?"


@pytest.fixture
def project(project: Path) -> Path:
    """A project with a little code."""
    folder = project
    (folder / "src").mkdir()
    (folder / "src" / "sessions.py").write_text(SESSIONS)
    (folder / "src" / "invoices.py").write_text("def render_invoice():\n    return 'pdf'\n")
    (folder / "README.md").write_text("# Shop\n\nSells things.\n")
    return folder


@pytest.fixture
def settings(environ: dict[str, str], project: Path) -> Settings:
    return load_settings(project, environ=environ).settings


async def test_an_answer_does_not_wait_for_the_code_and_the_next_one_has_it(
    settings: Settings, project: Path
) -> None:
    async with open_app(settings, project) as app:
        first = await app.ask(QUESTION)
        await app.jobs.wait(300)

    async with open_app(settings, project) as app:
        second = await app.ask(QUESTION)
        status = await app.brain.status()

    assert first.passages == ()
    assert second.passages[0].source.startswith("src/sessions.py:")
    assert "src/sessions.py:4-9 SessionKey" in second.content
    assert status.known
    assert status.files == 3
    assert status.unrelated_files == 0


async def test_a_model_sees_the_code_with_its_place(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0000")
    async with ChatServer(OpenAiWire(), [Says("By their exact path.")]) as server:
        with_model = {
            **environ,
            "RAGFORGE_LLM__MODEL": "openai:gpt-4o-mini",
            "RAGFORGE_LLM__BASE_URL": server.base_url,
        }
        settings = load_settings(project, environ=with_model).settings
        async with open_app(settings, project) as app:
            await app.brain.ingest()
            answer = await app.ask(QUESTION)
        asked = json.loads(server.asked[0].text)["messages"][-1]["content"]

    assert answer.content == "By their exact path."
    assert "[src/sessions.py:4-9] SessionKey (relevance" in asked
    assert "What tells one session from another." in asked
    assert asked.index("<code") < asked.index(QUESTION)


async def test_a_question_in_another_language_finds_the_english_code_that_answers_it(
    settings: Settings, project: Path
) -> None:
    (project / "src" / "comments.py").write_text("def comment(text):\n    return text\n")
    answers = {
        "Comment ouvre-t-on la session d'un dossier ?": "open_session",
        "wie wird die Sitzung eines Verzeichnisses geöffnet?": "open_session",
        "que fait la fonction matches ?": "SessionKey.matches",
    }
    async with open_app(settings, project) as app:
        await app.brain.ingest()
        for question, name in answers.items():
            [hit, *_] = await app.code.search(question, limit=3)
            assert hit.scope.qualified_name == name, question


async def test_a_directory_that_is_not_a_project_is_not_read_unasked(
    settings: Settings, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "secret.py").write_text("def secret(): ...\n")

    async with open_app(settings, home) as app:
        await app.ask("what is secret?")
        await app.jobs.wait(300)
        assert not await app.brain.is_ingested()
        await app.brain.ingest()
        assert (await app.brain.status()).files == 1


async def test_a_change_is_known_after_the_next_question(settings: Settings, project: Path) -> None:
    async with open_app(settings, project) as app:
        await app.brain.ingest()
        (project / "src" / "leases.py").write_text("def renew_lease():\n    return 60\n")
        await app.ask("anything at all")
        await app.jobs.wait(300)
        [hit, *_] = await app.code.search("renew_lease", limit=3)

    assert (hit.scope.file, hit.scope.name) == ("src/leases.py", "renew_lease")


@pytest.fixture
def ragforge(environ: dict[str, str], project: Path) -> Callable[..., str]:
    """Run the command in the project, each time in a separate process."""

    def run(*arguments: str, cwd: Path | None = None) -> str:
        done = run_module("ragforge", *arguments, cwd=cwd or project, env=environ)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    return run


async def test_code_through_the_command(ragforge: Callable[..., str], project: Path) -> None:
    assert "is not indexed yet" in ragforge("status")

    report = json.loads(ragforge("ingest", "--json"))
    again = json.loads(ragforge("ingest", "--json"))
    assert (report["files"], report["read"], report["embedded"] > 0) == (3, 3, True)
    assert (again["read"], again["embedded"]) == (0, 0)

    found = json.loads(ragforge("search", QUESTION, "--json"))
    assert found["hits"][0]["file"] == "src/sessions.py"
    [key] = [hit for hit in found["hits"] if hit["name"] == "SessionKey"]
    assert (key["start_line"], key["end_line"]) == (4, 9)
    assert "words" in key["signals"]

    shown = ragforge("search", "SessionKey")
    assert "src/sessions.py:4-9  SessionKey" in shown
    assert "class SessionKey" in shown
    inside = ragforge("search", "session", "--path", "sessions.py", cwd=project / "src")
    assert "invoices" not in inside

    assert "up to date" in ragforge("status")
    status = json.loads(ragforge("status", "--json"))
    assert status["fresh"]
    assert "1 files forgotten" in ragforge("forget", "src/invoices.py")
    assert "not up to date" in ragforge("status")
    assert "forgotten" in ragforge("forget", ".")
    assert "is not indexed yet" in ragforge("status")


async def test_searching_an_unknown_project_reads_it_first(ragforge: Callable[..., str]) -> None:
    found = json.loads(ragforge("search", "open_session", "--json"))

    assert found["hits"][0]["name"] == "open_session"


async def test_documents_and_configuration_are_listed_after_the_code(
    ragforge: Callable[..., str], project: Path
) -> None:
    (project / "keys.md").write_text("# Keys\n\n## Rotation\n\nA SessionKey is rotated daily.\n")
    question = "when is a SessionKey rotated"

    found = json.loads(ragforge("search", question, "--json"))
    shown = ragforge("search", question)

    assert found["documents"] == [
        {"place": "keys.md:3-5 Keys > Rotation", "excerpt": "A SessionKey is rotated daily."}
    ]
    assert "keys.md" not in [hit["file"] for hit in found["hits"]]
    heading = "\nDocuments and configuration\n"
    assert shown.index("src/sessions.py") < shown.index(heading) < shown.index("keys.md:3-5")
    assert heading not in ragforge("search", question, "--in", "code")
