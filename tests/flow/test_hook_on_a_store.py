"""A hook as agents start it, on each kind of store."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragforge.app import open_app
from ragforge.config import load_settings
from ragforge.domain.schema import CONVERSATION
from tests.fakes.builders import assistant, conversation, user
from tests.fakes.remembered_shop import read_context, run_ragforge

RULE = "Commit messages are in English."


@pytest.fixture
async def shop(environ: dict[str, str], project: Path) -> Path:
    settings = load_settings(project, environ=environ).settings
    async with open_app(settings, project, work=False) as app:
        talk = conversation(str(project), title="Cookies", agent="codex", project_id=app.project.id)
        await app.store.records.put(CONVERSATION, talk)
        said = [
            user("Why is the session cookie lost on the parent domain?"),
            assistant("Its domain was the host. It is the parent domain now, in make_cookie."),
        ]
        await app.store.timeline.append(talk.uuid, said)
        await app.notes.remember(RULE, rule=True)
        await app.maintenance.embed_memory(lambda _: None)
    return project


def hear(environ: dict[str, str], root: Path, event: str, **given: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name.startswith("RAGFORGE_")}
    kept["RAGFORGE_HOOK__DEADLINE_MS"] = "60000"  # however busy the machine is
    call = {"session_id": "now", "cwd": str(root), "hook_event_name": event, **given}
    return read_context(run_ragforge(root, {**kept, **environ}, "hook", given=call))


@pytest.mark.both_engines
def test_a_prompt_gets_what_was_said_about_it(environ: dict[str, str], shop: Path) -> None:
    asked = "The session cookie is lost on the parent domain again"

    heard = hear(environ, shop, "UserPromptSubmit", prompt=asked)

    assert "It is the parent domain now, in make_cookie." in heard
    assert RULE in heard


@pytest.mark.both_engines
def test_a_session_starts_with_rules_and_the_last_sessions(
    environ: dict[str, str], shop: Path
) -> None:
    heard = hear(environ, shop, "SessionStart", source="startup")

    assert RULE in heard
    assert "Cookies" in heard
