"""Keys of providers."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from ragforge.config.services import explain_key, find_api_key, find_neo4j_credentials


def test_a_key_comes_from_the_providers_variable() -> None:
    environ = {"OPENAI_API_KEY": " sk-1 ", "GOOGLE_API_KEY": "g-1"}

    assert find_api_key("openai", environ) == "sk-1"
    assert find_api_key("google", environ) == "g-1"


def test_a_key_may_be_in_the_system_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = {("ragforge", "anthropic"): "sk-ant"}
    fake = SimpleNamespace(get_password=lambda *place: stored.get(place))
    monkeypatch.setitem(sys.modules, "keyring", fake)

    assert find_api_key("anthropic", {}) == "sk-ant"
    assert find_api_key("openai", {}) is None


def test_a_keyring_that_fails_holds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*_: str) -> str:
        raise RuntimeError("locked")

    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_password=locked))

    assert find_api_key("openai", {}) is None


def test_a_missing_key_is_asked_for_by_name() -> None:
    assert "GEMINI_API_KEY" in explain_key("google")
    assert "keyring set ragforge google" in explain_key("google")


def test_the_password_of_neo4j_comes_from_the_environment_or_the_keyring(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored = {("ragforge", "neo4j@db.example.org"): "kept"}
    fake = SimpleNamespace(get_password=lambda *place: stored.get(place))
    monkeypatch.setitem(sys.modules, "keyring", fake)
    url = "neo4j+s://db.example.org:7687"
    given = {"RAGFORGE_NEO4J_USER": "ann", "RAGFORGE_NEO4J_PASSWORD": "given"}

    assert find_neo4j_credentials(url, given) == ("ann", "given")
    assert find_neo4j_credentials(url, {}) == ("neo4j", "kept")
    assert find_neo4j_credentials(url, {"RAGFORGE_NEO4J_USER": "ann"}) == ("ann", "kept")


def test_a_password_in_the_keyring_is_for_its_own_host(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = {("ragforge", "neo4j@db.example.org"): "kept"}
    fake = SimpleNamespace(get_password=lambda *place: stored.get(place))
    monkeypatch.setitem(sys.modules, "keyring", fake)

    assert find_neo4j_credentials("neo4j://other.example.org", {}) is None
