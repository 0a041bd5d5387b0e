"""Mentions: what a question names after an `@` precedes it in the request."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.http_server import Answered, HttpServer
from tests.fakes.terminal import ENTER, TAB
from tests.fakes.wires import Says
from tests.screens.conftest import Open, model

PAGE = Answered(chunks=(b"<h1>Leases</h1><p>They end at noon.</p>",), content_type="text/html")


async def test_lines_files_and_folders_that_a_question_names_are_sent(
    ragforge: Open, project: Path
) -> None:
    (project / "src" / "long.py").write_text("".join(f"a{n} = {n}\n" for n in range(1, 101)))
    (project / "notes to self").mkdir()
    (project / "notes to self" / "todo.txt").write_text("Buy milk.\n")
    script = (Says("One."), Says("Two."), Says("Three."))
    async with model(*script) as server, ragforge(server=server) as terminal:
        await terminal.prompt()
        terminal.type(f"What is in @src/long.py:40-42, @src/long.py:7 and @src/cart.py?{ENTER}")
        await terminal.see("One.")
        await terminal.prompt()
        asked = server.asked_in_turns[0].text
        assert "@src/long.py:40-42\\n40\\ta40 = 40\\n41\\ta41 = 41\\n42\\ta42 = 42\\n<" in asked
        assert "@src/long.py:7\\n7\\ta7 = 7\\n<" in asked
        assert "@src/cart.py\\ndef add(item):\\n    return [item]" in asked
        terminal.type("And what in @sr")
        await terminal.on_screen("  src/cart.py")
        terminal.type(TAB)
        await terminal.on_screen("And what in @src/")
        terminal.type(f'{ENTER} and @"notes to self/"?{ENTER}')
        await terminal.see("Two.")
        await terminal.prompt()
        asked = server.asked_in_turns[1].text
        assert "@src/\\nsrc/cart.py  add:1\\nsrc/login.py  login:1\\nsrc/long.py" in asked
        assert "@notes to self/\\nnotes to self/todo.txt" in asked
        terminal.type(f"Who is @ann:3 at @localhost:80, and what does @dataclass mean?{ENTER}")
        await terminal.see("Three.")
        assert "not sent" not in "\n".join(terminal.scrollback)


async def test_secrets_and_files_outside_the_project_are_not_sent(
    ragforge: Open, project: Path
) -> None:
    (project / ".env").write_text("PASSWORD=hunter2-of-the-shop\n")
    (project.parent / "diary.txt").write_text("Dear diary\n")
    async with model(Says("No.")) as server, ragforge(server=server, size=(30, 150)) as terminal:
        await terminal.prompt()
        terminal.type(f"Read @.env:1 @../diary.txt:1 @.env @src/none.py:3{ENTER}")
        await terminal.see("@.env:1 is not sent: '.env' cannot be read: it is left out: secret.")
        await terminal.see("@../diary.txt:1 is not sent: ")
        await terminal.see("@src/none.py:3 is not sent: 'src/none.py' cannot be read: there is no")
        await terminal.see("No.")
        asked = server.asked_in_turns[0].text
        assert "hunter2" not in asked
        assert "Dear diary" not in asked


async def test_a_page_that_a_question_names_is_read_with_permission(ragforge: Open) -> None:
    async with HttpServer(lambda asked: PAGE) as site:
        url, host = f"{site.url}/guide?v=2", site.url.removeprefix("http://")
        variables = {"RAGFORGE_TOOLS__FETCH__PRIVATE_HOSTS": host, "NO_PROXY": "*"}
        async with (
            model(Says("At noon."), Says("I cannot see it.")) as server,
            ragforge(server=server, **variables) as terminal,
        ):
            await terminal.prompt()
            terminal.type(f"When do leases end? @{url}{ENTER}")
            await terminal.on_screen("Allow? [y/a/n]")
            assert site.asked == []
            assert f"Read a page of {host}?\n│ GET {url}\n" in "\n".join(terminal.scrollback)
            terminal.type(f"y{ENTER}")
            await terminal.see("At noon.")
            await terminal.prompt()
            assert "They end at noon." in server.asked_in_turns[0].text
            terminal.type(f"And there? @{site.url}/other.{ENTER}")
            await terminal.on_screen("GET " + f"{site.url}/other\n")
            await terminal.on_screen("Allow? [y/a/n]")
            terminal.type(f"n{ENTER}")
            await terminal.see(f"@{site.url}/other is not sent: The user declined this.")
            await terminal.see("I cannot see it.")
    assert len(site.asked) == 1
