"""A prompt to a connected agent gets likely files and what was done before, from imports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.remembered_shop import make_environ, read_context, run_ragforge
from tests.fakes.repositories import make_repository
from tests.fakes.transcripts.claude_code import Claude, call, edit_result

COOKIE = "The login loops forever: set the session cookie on the parent domain"
TAX = "Add the tax to the totals of the cart before the discount is taken off"


class Desk:
    """A project with two past sessions, and an agent that asks in a separate session."""

    def __init__(self, home: Path) -> None:
        code = {"src/login.py": "def log_in(): ...\n", "src/cart.py": "def total_tax(): ...\n"}
        self.home = home
        self.root = make_repository(home / "shop", code)
        self.environ = {**make_environ(home), "XDG_DATA_HOME": str(home / "data")}
        self.environ["RAGFORGE_HOOK__DEADLINE_MS"] = "60000"
        for session, asked, file in (
            ("past-1", COOKIE, "src/login.py"),
            ("past-2", TAX, "src/cart.py"),
        ):
            self.work(Claude(session, cwd=str(self.root)), asked, file).write(home)
        self.run("import", "--from", "claude-code")

    def work(self, claude: Claude, asked: str, file: str) -> Claude:
        """Have a session edit a file for a prompt."""
        path = str(self.root / file)
        claude.say(asked)
        claude.answer(call(f"t-{file}", "Edit", file_path=path, old_string="a"))
        claude.give_result(f"t-{file}", "ok", toolUseResult=edit_result(path, *"aab"))
        claude.answer(f"Changed {file} as you asked.")
        return claude

    def run(self, *arguments: str, given: object = None) -> str:
        return run_ragforge(self.root, self.environ, *arguments, given=given)

    def ask(self, prompt: str, session: str = "now", live: Claude | None = None) -> str:
        """Return what an agent gets with a prompt; `live` is its transcript so far."""
        transcript = self.home / f"{session}.jsonl"
        if live is not None:
            transcript.write_text("".join(f"{json.dumps(line)}\n" for line in live.lines))
        heard = self.run(
            *("hook", "--agent", "claude-code"),
            given={
                "session_id": session,
                "transcript_path": str(transcript),
                "cwd": str(self.root),
                "hook_event_name": "UserPromptSubmit",
                "prompt": prompt,
            },
        )
        return read_context(heard)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_prompt_gets_the_likely_files_and_what_was_done_before(desk: Desk) -> None:
    text = desk.ask("The session cookie of the login is lost on the parent domain again")

    files, _, turns = text.partition("\n\n")
    assert "Likely files:" in files
    assert "src/login.py (edited for similar prompts)" in files
    assert f"claude-code, session {turns.partition('session ')[2][:8]}] {COOKIE}" in turns
    assert "edited: src/login.py" in turns
    assert "Changed src/login.py as you asked." in turns
    assert len(text) <= 4_000


def test_yes_gets_what_its_session_is_about_and_thanks_gets_nothing(desk: Desk) -> None:
    live = desk.work(Claude("live", cwd=str(desk.root)), "Round what the cart sums", "src/cart.py")

    text = desk.ask("yes, please go on", "live", live)

    assert "src/cart.py (touched in this session)" in text
    assert TAX in text
    assert COOKIE not in text[: text.index(TAX)]
    assert desk.ask("thanks!", "live", live) == ""
    assert desk.ask("commit this and push", "live", live) == ""
    assert desk.ask("What is the capital of Mongolia?", "live", live) == ""
    assert desk.ask("yes, please go on", "empty") == ""


def test_a_file_that_a_prompt_names_comes_first(desk: Desk) -> None:
    desk.run("ingest")

    text = desk.ask("The session cookie of the login: look at cart.py too")

    first = text[text.index("Likely files:") :].splitlines()[1]
    assert first == "- src/cart.py (named)"


def test_a_session_gets_no_turn_twice(desk: Desk) -> None:
    prompt = "The session cookie of the login is lost on the parent domain again"

    assert COOKIE in desk.ask(prompt)
    assert COOKIE not in desk.ask(prompt)
    assert COOKIE in desk.ask(prompt, "another")


def test_a_note_that_holds_the_words_of_a_prompt_comes_first(desk: Desk) -> None:
    desk.run("remember", "The login loop came from the cookie's domain: it is the parent domain")
    desk.run("remember", "Releases are cut on Thursdays")

    text = desk.ask("Why did the login loop because of the cookie?")

    assert text.index("note, ") < text.index("Likely files:")
    assert "came from the cookie's domain" in text
    assert "Thursdays" not in text
