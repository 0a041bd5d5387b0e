"""The first start in a folder that brings instructions: it is asked about, once."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.terminal import CTRL_D, ENTER
from tests.screens.conftest import Open


async def test_the_first_start_asks_whether_a_folder_is_trusted_and_the_next_does_not(
    ragforge: Open, project: Path
) -> None:
    (project / "AGENTS.md").write_text("Count in dozens.\n")
    (project / "ragforge.config.yaml").write_text("jobs: {max_attempts: 9}\n")
    async with ragforge() as terminal:
        await terminal.see("jobs.max_attempts: 9")
        await terminal.see("AGENTS.md")
        await terminal.see("Do you trust this folder?")
        terminal.type(f"y{ENTER}")
        await terminal.prompt()
        terminal.type(CTRL_D)
        await terminal.ended()

    async with ragforge() as terminal:
        await terminal.prompt()
        assert "trust" not in "\n".join(terminal.scrollback)
