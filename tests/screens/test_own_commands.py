"""Commands that users wrote, in the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.terminal import ENTER, TAB
from tests.fakes.trust import trust_folder
from tests.fakes.wires import Says
from tests.screens.conftest import Open, model

pytestmark = pytest.mark.long

REVIEW = (
    "---\ndescription: Review a file\nargument-hint: FILE\n---\nReview $1 as $ARGUMENTS says.\n"
)


async def test_a_custom_command_is_offered_listed_and_sent_with_its_arguments(
    ragforge: Open, home: Path, project: Path
) -> None:
    folder = home / "prompts" / "commands"
    folder.mkdir(parents=True)
    (folder / "review-it.md").write_text(REVIEW)
    theirs = project / ".ragforge" / "commands"
    theirs.mkdir(parents=True)
    (theirs / "deploy.md").write_text("Deploy it.")
    trust_folder(project, home / "state")
    script, size = (Says("It is fine."),), (60, 100)
    async with model(*script) as server, ragforge(server=server, size=size) as terminal:
        await terminal.prompt()
        terminal.type("/rev")
        await terminal.on_screen("Review a file")
        terminal.type(f"{TAB}src/login.py 'with care'{ENTER}")
        await terminal.see("It is fine.")
        [asked] = server.asked_in_turns
        assert "Review src/login.py as src/login.py 'with care' says." in asked.text
        await terminal.prompt()
        (folder / "later.md").write_text("# Later\n")
        terminal.type(f"/help{ENTER}")
        await terminal.see("/review-it FILE")
        await terminal.see("/deploy ")
        await terminal.prompt()
        terminal.type(f"/help{ENTER}")
        await terminal.see("/later ")


async def test_a_command_of_an_untrusted_folder_does_not_exist(
    ragforge: Open, home: Path, project: Path
) -> None:
    theirs = project / ".ragforge" / "commands"
    theirs.mkdir(parents=True)
    (theirs / "deploy.md").write_text("Deploy it.")
    async with ragforge() as terminal:
        await terminal.see("instructions that the model would follow: /deploy")
        terminal.type(f"n{ENTER}")
        await terminal.prompt()
        terminal.type(f"/deploy{ENTER}")
        await terminal.see("There is no command /deploy.")


async def test_agents_are_listed_with_what_they_may_do(
    ragforge: Open, home: Path, project: Path
) -> None:
    folder = home / "prompts" / "agents"
    folder.mkdir(parents=True)
    (folder / "tester.md").write_text(
        "---\ndescription: Writes tests\ntools: edit_file\nmode: ask\n---\nBe brief.\n"
    )
    (folder / "odd.md").write_text("---\nmode: yolo\n---\nBe brief.\n")
    async with ragforge() as terminal:
        await terminal.prompt()
        terminal.type(f"/agents{ENTER}")
        await terminal.see("tester  Writes tests")
        await terminal.see("ask, edit_file")
        await terminal.see("odd  cannot be used: 'yolo' is not a mode")
