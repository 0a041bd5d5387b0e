"""The page on commands says which command ends with which code."""

from __future__ import annotations

from pathlib import Path

import ragforge.cli.commands
from ragforge.cli.guard import INCOMPLETE

PAGE = Path(__file__).parents[3] / "docs" / "commands.md"
NAMES = {"connect": "import"}


def test_every_command_that_may_be_incomplete_is_named_next_to_its_code() -> None:
    [row] = [line for line in PAGE.read_text().splitlines() if line.startswith(f"| {INCOMPLETE} |")]
    folder = Path(ragforge.cli.commands.__file__).parent
    using = [one.stem for one in folder.glob("*.py") if "Exit(INCOMPLETE)" in one.read_text()]
    assert using
    for name in using:
        assert f"`{NAMES.get(name, name)}`" in row
