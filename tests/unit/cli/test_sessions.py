"""`ragforge sessions`: how sessions look."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace

from ragforge.domain.conversations import Conversation
from tests.unit.cli.conftest import FakeApp, Ragforge

MOMENT = datetime(2025, 12, 9, 14, 30, tzinfo=UTC)


def line(title: str | None = "Leases") -> SimpleNamespace:
    conversation = Conversation(
        "/p", "/p", "ab12cd34-0000", title, turn_count=2, created_at=MOMENT, updated_at=MOMENT
    )
    return SimpleNamespace(conversation=conversation, last_message="And\nthen?")


def test_sessions_are_listed(ragforge: Ragforge, app: FakeApp) -> None:
    app.lines = [line()]
    shown = ragforge("sessions", "list")
    assert app.calls == [("sessions", False)]
    assert shown.out.splitlines() == [
        "SESSION   STARTED           LAST ACTIVE       TURNS  TITLE   LAST MESSAGE",
        "ab12cd34  2025-12-09 14:30  2025-12-09 14:30  2      Leases  And then?",
    ]


def test_sessions_of_all_directories_name_theirs(ragforge: Ragforge, app: FakeApp) -> None:
    app.lines = [line(title=None)]
    shown = ragforge("sessions", "list", "--all")
    assert app.calls == [("sessions", True)]
    assert shown.out.splitlines()[1].startswith("ab12cd34  /p  ")


def test_sessions_in_json_have_stable_keys(ragforge: Ragforge, app: FakeApp) -> None:
    app.lines = [line()]
    (session,) = json.loads(ragforge("sessions", "list", "--json").out)["sessions"]
    assert session["conversation_id"] == "ab12cd34-0000"
    assert session["updated_at"] == "2025-12-09T14:30:00.000+00:00"
    assert session["last_message"] == "And\nthen?"


def test_no_sessions_is_a_note_and_an_empty_list(ragforge: Ragforge, app: FakeApp) -> None:
    assert ragforge("sessions", "list").err.startswith("There are no sessions in this directory")
    assert json.loads(ragforge("sessions", "list", "--json").out) == {"sessions": []}
