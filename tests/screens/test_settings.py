"""Settings in the terminal: shown with their origins, picked, changed, and followed at once."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.terminal import ENTER, ESCAPE
from tests.fakes.wires import Call, Says
from tests.screens.conftest import Open, model


async def test_settings_are_picked_with_their_origins_and_changed(
    ragforge: Open, home: Path
) -> None:
    async with ragforge(size=(30, 220)) as terminal:
        await terminal.prompt()
        terminal.type(f"/config{ENTER}")
        await terminal.on_screen("Search:")
        terminal.type("closing")
        await terminal.on_screen("  1 of ")
        (line,) = (line for line in terminal.lines if "jobs.closing_seconds" in line)
        assert "  0  RAGFORGE_JOBS__CLOSING_SECONDS" in line
        terminal.type("\x15thinking")
        await terminal.on_screen("llm.thinking")
        terminal.type(ENTER)
        await terminal.see("llm.thinking is default, from default.")
        await terminal.on_screen("chooses it")
        terminal.type("medium")
        await terminal.on_screen("1 of 6")
        terminal.type(ENTER)
        await terminal.see(f"llm.thinking is medium, from {home}/user.yaml.")
        await terminal.see("It applies when RagForge starts again.")
        await terminal.prompt()
        assert (home / "user.yaml").read_text() == "llm:\n  thinking: medium\n"
        terminal.type(f"/config llm.thinking unset{ENTER}")
        await terminal.see("llm.thinking is default, from default.", 2)
    assert "thinking" not in (home / "user.yaml").read_text()


async def test_a_setting_is_named_set_and_refused_in_one_line(ragforge: Open, home: Path) -> None:
    async with ragforge(size=(30, 220)) as terminal:
        await terminal.prompt()
        terminal.type(f"/config hook.budget{ENTER}")
        await terminal.see("hook.budget is 4000, from default.")
        await terminal.on_screen("❯ /config hook.budget 4000")
        terminal.type("0" + ENTER)
        await terminal.see(f"hook.budget is 40000, from {home}/user.yaml.")
        await terminal.prompt()
        terminal.type(f"/config hook.budget many{ENTER}")
        await terminal.see("'many'")
        await terminal.prompt()
        terminal.type(f"/config RAGFORGE_JOBS{ENTER}")
        await terminal.see("jobs.detach")
        await terminal.prompt()
        terminal.type(f"/config jobs.detach true{ENTER}")
        await terminal.see("but RAGFORGE_JOBS__DETACH overrides it.")
        terminal.type(f"/config mcp.servers{ENTER}")
        await terminal.see(f"It has several parts: edit it in {home}/user.yaml.")
        terminal.type(f"/config nonsense{ENTER}")
        await terminal.see("There is no setting 'nonsense'. /config lists all.")
    assert "budget: 40000" in (home / "user.yaml").read_text()


async def test_a_theme_is_picked_saved_and_used_at_once(
    ragforge: Open, home: Path, project: Path
) -> None:
    edit = Call(
        "edit_file", {"path": "src/login.py", "old_text": "check(user)", "new_text": "check(name)"}
    )
    script = (Says(calls=(edit,)), Says("Changed."))
    async with (
        model(*script) as server,
        ragforge(
            "--mode", "accept-edits", server=server, size=(30, 220), COLORFGBG="15;0"
        ) as terminal,
    ):
        await terminal.prompt("accept edits ❯")
        terminal.type(f"/theme{ENTER}")
        await terminal.on_screen("chooses it")
        assert any("auto  now" in line for line in terminal.lines)
        terminal.type("light")
        await terminal.on_screen("1 of 4")
        terminal.type(ENTER)
        await terminal.see(f"terminal.theme is light, from {home}/user.yaml.")
        await terminal.prompt("accept edits ❯")
        terminal.type(f"Rename it.{ENTER}")
        await terminal.see("Changed.")
        await terminal.prompt("accept edits ❯")
        assert terminal.style_of("check(name)").bg == "d7ffd7"  # light green
        terminal.type(f"/theme{ENTER}")
        await terminal.on_screen("light  now")
        terminal.type(ESCAPE)
        await terminal.prompt("accept edits ❯")
    assert (home / "user.yaml").read_text() == "terminal:\n  theme: light\n"


async def test_status_says_what_the_next_question_meets(
    ragforge: Open, home: Path, project: Path
) -> None:
    (project / "AGENTS.md").write_text("Use tabs.\n")
    async with (
        model(Says("It is there.")) as server,
        ragforge(server=server, size=(30, 220)) as terminal,
    ):
        await terminal.see("[y/N]")
        terminal.type(f"n{ENTER}")
        await terminal.prompt()
        terminal.type(f"Where is the login?{ENTER}")
        await terminal.see("It is there.")
        await terminal.prompt()
        terminal.type(f"/status{ENTER}")
        await terminal.see("scopes to embed")
        await terminal.prompt()
        shown = "\n".join(terminal.scrollback)
        for line in (
            "Mode     ask: RagForge asks before each change",
            "Model    openai:gpt-4o-mini  ",
            f"Store    {home}/store.db",
            "Sandbox  ",
            "Servers  none",
            "Trust    not trusted, ignored: AGENTS.md. `ragforge trust` shows and accepts them.",
        ):
            assert f"\n{line}" in shown
