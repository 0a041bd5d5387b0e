"""`ragforge config`: values with their origins, and no passwords."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.trust import trust_folder
from tests.unit.cli.conftest import Ragforge


def test_config_show_names_value_and_origin(
    ragforge: Ragforge, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "ragforge.config.yaml").write_text("jobs: {lease_seconds: 30}")
    trust_folder(project)
    monkeypatch.setenv("RAGFORGE_JOBS__MAX_ATTEMPTS", "9")
    lines = [line.split() for line in ragforge("config", "show").out.splitlines()]
    assert ["jobs.lease_seconds", "30", str(project / "ragforge.config.yaml")] in lines
    assert ["jobs.max_attempts", "9", "RAGFORGE_JOBS__MAX_ATTEMPTS"] in lines


def test_config_show_in_json(ragforge: Ragforge, project: Path) -> None:
    shown = json.loads(ragforge("config", "show", "--json", "--store", "a.db").out)
    assert shown["files"] == []
    assert shown["settings"]["store.url"] == {"value": str(project / "a.db"), "origin": "--store"}


def test_config_show_never_shows_a_password(
    ragforge: Ragforge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGFORGE_NEO4J_PASSWORD", "hunter2")
    assert "hunter2" not in ragforge("config", "show").out
    shown = ragforge("config", "show", "--debug", "--store", "bolt://ann:hunter2@host")
    assert shown.code == 2
    assert "hunter2" not in shown.err
