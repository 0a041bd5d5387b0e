"""Store URLs: which are accepted, what they become, and that no password is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.config.store_url import is_server, normalise_store_url
from ragforge.errors import SettingsError
from tests.fakes.trust import load_trusted_settings as load_settings

BASE = Path("/base")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("notes.db", "/base/notes.db"),
        ("/tmp/notes.db", "/tmp/notes.db"),
        ("sqlite:///notes.db", "/base/notes.db"),
        ("sqlite:////tmp/notes.db", "/tmp/notes.db"),
        ("SQLITE:///notes.db", "/base/notes.db"),
        ("me@home/notes.db", "/base/me@home/notes.db"),
    ],
)
def test_a_file_becomes_an_absolute_path(text: str, path: str) -> None:
    assert normalise_store_url(text, BASE) == path


def test_a_tilde_is_the_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert normalise_store_url("~/notes.db", BASE) == "/home/ann/notes.db"
    assert normalise_store_url("sqlite:///~/notes.db", BASE) == "/home/ann/notes.db"


@pytest.mark.parametrize(
    "url",
    [
        "neo4j://host",
        "neo4j+s://db.example.org:7687",
        "neo4j+ssc://host",
        "bolt://127.0.0.1:7687",
        "bolt+s://host",
        "bolt://[::1]:7687",
    ],
)
def test_a_server_stays_as_it_is(url: str) -> None:
    assert normalise_store_url(url, BASE) == url
    assert is_server(url)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("a\0b", "NUL"),
        ("ftp://host", "starts with 'ftp://'"),
        ("bolt:host", "not 'bolt://'"),
        ("sqlite:notes.db", "not 'sqlite://'"),
        ("sqlite://notes.db", "has no path"),
        ("sqlite:///", "has no path"),
        ("sqlite:///notes.db?mode=ro", "parameters"),
        (":memory:", "forgets everything"),
        ("sqlite:///:memory:", "forgets everything"),
        ("bolt://", "names no host"),
        ("bolt://:7687", "names no host"),
        ("bolt://host:port", "is not a URL"),
        ("bolt://[::1", "is not a URL"),
        ("~nobody-of-this-name/x.db", "no home directory"),
    ],
)
def test_anything_else_is_refused_with_a_reason(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        normalise_store_url(text, BASE)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "neo4j://ann:hunter2@host",
        "bolt://ann:hunt/er2@host",
        "bolt://ann:hunter2#@host",
        "neo4j+s://:hunter2@host:7687",
        "http://ann:hunter2@host",
    ],
)
def test_a_url_with_credentials_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ValueError, match="RAGFORGE_NEO4J_PASSWORD") as caught:
        normalise_store_url(url, BASE)
    assert "hunt" not in str(caught.value)
    assert "ann" not in str(caught.value)


@given(
    scheme=st.sampled_from(["neo4j", "bolt", "bolt+s", "http", "BOLT"]),
    password=st.text(st.characters(codec="utf-8"), min_size=1),
)
def test_no_password_is_ever_repeated(scheme: str, password: str) -> None:
    secret = f"s3cr3t{password}s3cr3t"
    with pytest.raises(ValueError, match=r".") as caught:
        normalise_store_url(f"{scheme}://ann:{secret}@host", BASE)
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize("url", ["bolt://elsewhere.example", "/tmp/x.db", "../x.db", "~/x.db"])
def test_a_projects_file_may_not_lead_memory_out_of_the_project(project: Path, url: str) -> None:
    (project / "ragforge.config.yaml").write_text(f"store:\n  url: {url}\n")

    with pytest.raises(SettingsError, match=r"ragforge\.config\.yaml: 'store\.url' leads out"):
        load_settings(project, environ={})


def test_a_link_does_not_lead_memory_out_of_the_project(project: Path, tmp_path: Path) -> None:
    (project / "data").symlink_to(tmp_path)
    (project / "ragforge.config.yaml").write_text("store:\n  url: data/x.db\n")

    with pytest.raises(SettingsError, match="leads out of the project"):
        load_settings(project, environ={})


def test_a_projects_file_may_keep_memory_inside_the_project(project: Path) -> None:
    (project / "ragforge.config.yaml").write_text("store:\n  url: .ragforge/x.db\n")

    loaded = load_settings(project / "src", environ={})

    assert loaded.settings.store.url == str(project / ".ragforge/x.db")
