"""Trigger files: whatever a repository holds, it is compared quickly and without an error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragforge.tools.command.git import trigger_files
from ragforge.tools.command.git.trigger_files import describe_changes, take_snapshot

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".git" / "hooks").mkdir(parents=True)
    (tmp_path / ".git" / "config").write_text("[core]\n")
    return tmp_path


def test_odd_names_pipes_and_broken_links_are_compared(root: Path) -> None:
    hooks = root / ".git" / "hooks"
    before = take_snapshot(str(root))
    os.mkfifo(hooks / "pipe")
    (hooks / "broken").symlink_to("nowhere")
    Path(os.fsdecode(os.fsencode(hooks) + b"/\xff")).touch()
    (hooks / "pre-push.sample").touch()

    warning = describe_changes(before, take_snapshot(str(root)), str(root))

    assert "changed .git/hooks/broken, .git/hooks/pipe, .git/hooks/?. Git" in warning


def test_what_a_hook_leads_to_counts_and_the_right_to_run_it(root: Path) -> None:
    script = root / "script"
    script.write_text("a")
    (root / ".git" / "hooks" / "pre-commit").symlink_to(script)
    first = take_snapshot(str(root))
    script.write_text("b")
    second = take_snapshot(str(root))
    script.chmod(0o755)
    third = take_snapshot(str(root))

    assert "pre-commit" in describe_changes(first, second, str(root))
    assert "pre-commit" in describe_changes(second, third, str(root))
    assert describe_changes(third, take_snapshot(str(root)), str(root)) == ""


@pytest.mark.parametrize("place", ["/", "..", "~", ".", "\0", "nowhere"])
def test_a_configuration_that_names_too_much_costs_little(
    root: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(trigger_files, "MAX_FILES", 5)
    for number in range(10):
        (root / str(number)).touch()
    (root / ".git" / "config").write_text(f"[core]\n\thooksPath = {place}\n")

    assert len(take_snapshot(str(root))) <= 5
