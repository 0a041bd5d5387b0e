"""Files that cannot be used: each is refused with a sentence that names it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragforge.config import Settings
from ragforge.config.files import MAX_BYTES
from ragforge.errors import SettingsError
from tests.fakes.trust import load_trusted_settings as load_settings

NAME = "ragforge.config.yaml"


def refusal(project: Path, content: bytes | str) -> str:
    data = content.encode() if isinstance(content, str) else content
    (project / NAME).write_bytes(data)
    with pytest.raises(SettingsError) as caught:
        load_settings(project, environ={})
    return str(caught.value)


def test_broken_yaml_is_refused_with_its_line(project: Path) -> None:
    message = refusal(project, "store:\n  url: x\n  neo4j_database: [1\n")
    assert message.startswith(f"{NAME}: line ")
    assert "not valid YAML" in message


def test_a_tab_as_indentation_is_refused_with_its_line(project: Path) -> None:
    assert refusal(project, "store:\n\turl: x\n").startswith(f"{NAME}: line 2: not valid YAML")


@pytest.mark.parametrize("content", ["just text", "- a\n- b\n", "42"])
def test_a_top_level_without_sections_is_refused(project: Path, content: str) -> None:
    assert "it must hold sections such as 'store:'" in refusal(project, content)


@pytest.mark.parametrize("content", ["", "\n\n", "# nothing yet\n", "---\n", "{}"])
def test_an_empty_file_is_fine(project: Path, content: str) -> None:
    (project / NAME).write_text(content)
    assert load_settings(project, environ={}).settings == Settings()


def test_a_byte_order_mark_is_fine(project: Path) -> None:
    (project / NAME).write_bytes(b"\xef\xbb\xbfjobs: {max_attempts: 2}\n")
    assert load_settings(project, environ={}).settings.jobs.max_attempts == 2


def test_a_key_that_occurs_twice_is_refused_with_its_line(project: Path) -> None:
    message = refusal(project, "jobs:\n  max_attempts: 1\n  max_attempts: 2\n")
    assert message == f"{NAME}: line 3: not valid YAML: the key 'max_attempts' occurs twice."


def test_an_anchor_that_is_merged_and_overridden_is_not_a_duplicate(project: Path) -> None:
    content = "jobs: &jobs {max_attempts: 1}\njobs2: {<<: *jobs, max_attempts: 2}\n"
    assert refusal(project, content) == f"{NAME}: unknown key 'jobs2'. Did you mean 'jobs'?"


def test_text_that_is_not_utf8_is_refused_with_its_line(project: Path) -> None:
    message = refusal(project, b"store:\n  url: caf\xe9.db\n")
    assert message == f"{NAME}: line 2: not valid UTF-8."


@pytest.mark.parametrize(
    "content",
    [
        "store: {url: \x00}",
        "store: \x1b",
        "? [a, b]\n: c\n",
        "store: !!python/object/apply:os.system ['true']",
        "a: 1\n---\nb: 2\n",
        "store: *nowhere",
        "jobs: {max_attempts: 2024-99-99}",
    ],
)
def test_strange_yaml_is_refused_and_nothing_of_it_runs(project: Path, content: str) -> None:
    assert refusal(project, content).startswith(NAME)


def test_yaml_that_is_nested_too_deeply_is_refused(project: Path) -> None:
    assert "nested too deeply" in refusal(project, "[" * 100_000)


def test_a_file_that_is_too_large_is_refused(project: Path) -> None:
    assert "larger than" in refusal(project, "#" * (MAX_BYTES + 1))


def test_a_directory_in_place_of_the_file_is_refused(project: Path) -> None:
    (project / NAME).mkdir()
    with pytest.raises(SettingsError, match="it is not a file"):
        load_settings(project, environ={})


def test_a_link_that_leads_nowhere_is_refused(project: Path) -> None:
    (project / NAME).symlink_to(project / "gone.yaml")
    with pytest.raises(SettingsError, match=r"cannot be read: No such file"):
        load_settings(project, environ={})


def test_a_file_that_may_not_be_read_is_refused(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    (project / NAME).write_text("jobs: {}")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SettingsError, match=r"cannot be read: Permission denied"):
        load_settings(project, environ={})


def test_a_file_above_the_working_directory_is_named_in_full(project: Path) -> None:
    (project / NAME).write_text("bogus: 1")
    (project / "src").mkdir()
    with pytest.raises(SettingsError) as caught:
        load_settings(project / "src", environ={})
    assert str(caught.value).startswith(os.fspath(project / NAME))


def test_problems_of_both_files_are_listed_together(home: Path, project: Path) -> None:
    (home / "config" / "config.yaml").write_text("a: [")
    message = refusal(project, "b: [")
    assert len(message.splitlines()) == 2
