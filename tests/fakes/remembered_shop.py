"""A shop whose code was touched by a session and changed after, in a store on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ragforge.app import open_app
from ragforge.config import load_settings
from ragforge.domain.schema import CONVERSATION, MESSAGE, SCOPE
from tests.fakes.builders import assistant, conversation, reference, user
from tests.fakes.code import find_named
from tests.fakes.repositories import git, make_repository

LOGIN = '''"""Login of the shop."""


def check_password(user, password):
    """Return whether the password is the user's."""
    return user["hash"] == hash(password)


def login(user, password):
    """Let a user in."""
    return check_password(user, password)
'''
DOCUMENT = """# Login

## Passwords

A password is checked in one place. It is never logged.
"""
ASKED = "Why does check_password compare hashes?"
ANSWERED = "Because the store keeps no clear text."


@dataclass(frozen=True, slots=True)
class RememberedShop:
    """A project, and the ids of what is remembered of it."""

    root: Path
    environ: Mapping[str, str]
    session: str
    turn: str
    note: str


def make_environ(home: Path) -> dict[str, str]:
    """Return the variables of a user who has nothing but a home."""
    (home / "user.yaml").touch()
    return {
        "HOME": str(home),
        "RAGFORGE_AUTHOR": "Ann <ann@example.org>",
        "RAGFORGE_STORE": str(home / "store.db"),
        "RAGFORGE_CONFIG": str(home / "user.yaml"),
        "RAGFORGE_AGENT__STATE_DIR": str(home / "state"),
    }


async def remember_shop(folder: Path) -> RememberedShop:
    """Make the project, remember one session of another agent, and change the code."""
    root = make_repository(folder / "shop", {"src/login.py": LOGIN})
    environ = make_environ(folder)
    settings = load_settings(root, environ=environ).settings
    async with open_app(settings, root, work=False) as app:
        await app.code.ingest()
        store = app.store
        talk = conversation(
            str(root), title="The password check", agent="codex", project_id=app.project.id
        )
        await store.records.put(CONVERSATION, talk)
        asked = user(ASKED)
        await store.timeline.append(talk.uuid, [asked, assistant(ANSWERED)])
        named = await find_named(store, app.brain.project_id, ["check_password"])
        [found] = named["check_password"]
        scope = await store.records.get(SCOPE, found.uuid)
        touched = reference(scope.uuid, scope.file, scope.qualified_name, scope.hash)
        await store.timeline.link(MESSAGE, asked.uuid, [touched])
        note = await app.notes.remember("Passwords are compared in one place: check_password.")
        (root / "src" / "login.py").write_text(LOGIN.replace("hash(password)", "digest(password)"))
        git(root, "commit", "-am", "use a digest")
        await app.code.ingest()
    return RememberedShop(root, environ, talk.uuid, asked.uuid, note.uuid)


async def add_document(shop: RememberedShop) -> None:
    """Write a document about passwords, and have it read."""
    (shop.root / "docs").mkdir()
    (shop.root / "docs" / "login.md").write_text(DOCUMENT)
    settings = load_settings(shop.root, {"llm.model": "none"}, environ=shop.environ).settings
    async with open_app(settings, shop.root, work=False) as app:
        await app.code.ingest()


def run_ragforge(
    root: Path, environ: Mapping[str, str], *arguments: str, given: object = None
) -> str:
    """Run the command in a project, with what it reads as JSON; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "ragforge", *arguments],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, **environ},
        check=True,
    )
    assert "Traceback" not in done.stderr
    return done.stdout


def read_context(heard: str) -> str:
    """Return the context in what a hook printed; empty if it gave none."""
    if not heard.strip():
        return ""
    text: str = json.loads(heard)["hookSpecificOutput"]["additionalContext"]
    return text
