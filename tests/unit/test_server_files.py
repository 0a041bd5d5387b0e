"""The compose file of a team's server, and the page that explains it."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from scripts.neo4j_server import VERSION

ROOT = Path(__file__).parents[2]


def test_the_compose_file_runs_the_version_that_is_tested_with_tls_and_a_password() -> None:
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
    server = compose["services"]["neo4j"]

    image, _, tag = server["image"].partition(":")
    assert image == "neo4j"
    assert VERSION.startswith(f"{tag}.")
    settings = server["environment"]
    assert settings["NEO4J_AUTH"].startswith("neo4j/${NEO4J_PASSWORD:?")
    assert settings["NEO4J_server_bolt_tls__level"] == "REQUIRED"
    assert all(isinstance(value, str) for value in settings.values())
    assert server["ports"] == ["7687:7687"]
    assert set(compose["volumes"]) == {"data"}


def test_the_page_of_the_server_names_files_that_exist() -> None:
    page = (ROOT / "docs" / "server.md").read_text("utf-8")
    for path in re.findall(r"`((?:tests|scripts|deploy)/[\w./]+)`", page):
        assert (ROOT / path).is_file(), path
