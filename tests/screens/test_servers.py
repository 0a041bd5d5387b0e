"""MCP servers in the terminal: /mcp, their tools with permission, resources and prompts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes.chat_server import ChatServer
from tests.fakes.terminal import CTRL_C, ENTER, TAB, Terminal
from tests.fakes.wires import Call, Says
from tests.screens.conftest import Open, model

pytestmark = pytest.mark.long

server = pytest.importorskip(
    "tests.fakes.mcp_server", reason="no MCP client: the package mcp is not installed"
)

FORECAST = Call("weather__forecast", {"city": "Rome\n\u200bOslo"})
REST = Call("weather__sleep", {"seconds": 1_000})
ASKED = """\
Call weather__forecast?
│ server: weather
│ tool: forecast
│ {
│   "city": "Rome\\n<U+200B>Oslo"
│ }
  1 y  yes, this once
  2 a  always: mcp(weather__forecast)
  3    always all of: mcp(weather__*)
  4 n  no; you can give the model a reason
"""


def configure(home: Path, url: str) -> dict[str, str]:
    """Configure a server that answers and one that is not there."""
    servers = {"weather": {"url": url}, "broken": {"command": str(home / "no-such-program")}}
    (home / "user.yaml").write_text(json.dumps({"mcp": {"servers": servers}}))
    return {"RAGFORGE_MCP__WAIT_SECONDS": "120"}


async def interrupt_a_call(terminal: Terminal, chat: ChatServer) -> None:
    """Let the model rest, interrupt it, and ask something else of the same server."""
    terminal.type(f"Rest a while{ENTER}")
    await terminal.prompt(r"Allow\? \[y/a/n\]")
    terminal.type("3")
    await terminal.see("Allowed always: weather__*.")
    await terminal.on_screen("weather__sleep 1000")
    terminal.type(CTRL_C)
    await terminal.see("Interrupted. What was done is kept; /retry resumes it.")
    await terminal.prompt()
    terminal.type(f"And the weather?{ENTER}")
    await terminal.see("It rains again.")
    await terminal.prompt()
    assert "It rains in Rome" in chat.asked_in_turns[6].text
    terminal.type(f"/permissions{ENTER}")
    await terminal.see("allow  mcp(weather__*)  (all tools of a server)")


async def test_servers_are_listed_asked_interrupted_and_named_when_they_are_dead(
    ragforge: Open, home: Path
) -> None:
    script = (
        Says(calls=(FORECAST,)),
        Says("Take an umbrella."),
        Says("It is sunny."),
        Says("Rome is warmer."),
        Says(calls=(REST,)),
        Says(calls=(FORECAST,)),
        Says("It rains again."),
    )
    async with server.serve_http() as url, model(*script) as chat:
        variables = configure(home, url)
        async with ragforge(server=chat, size=(40, 200), **variables) as terminal:
            await terminal.prompt()
            terminal.type(f"How is the weather?{ENTER}")
            await terminal.prompt(r"Allow\? \[y/a/n\]")
            whole = "\n".join(terminal.scrollback)
            assert "The MCP server broken does not answer: " in whole
            assert ASKED in whole
            terminal.type(f"y{ENTER}")
            await terminal.see("Take an umbrella.")
            await terminal.prompt()
            assert "✓ weather__forecast" in "\n".join(terminal.scrollback)
            assert "It rains in Rome" in chat.asked_in_turns[1].text

            terminal.type(f"/mcp{ENTER}")
            await terminal.see("/mcp NAME connects again.")
            await terminal.prompt()
            whole = "\n".join(terminal.scrollback)
            assert "weather  6 tools, 1 resource, 1 prompt\n" in whole
            assert f"         {home / 'user.yaml'}\n" in whole
            assert "broken   '" in whole
            assert whole.count("The MCP server broken does not answer") == 1

            terminal.type("Is it like @weather:tod")
            await terminal.on_screen("weather:weather://today")
            terminal.type(TAB)
            await terminal.on_screen("Is it like @weather:weather://today")
            terminal.type(f"{ENTER}{ENTER}")
            await terminal.see("It is sunny.")
            await terminal.prompt()
            assert "Sunny, 21 degrees." in chat.asked_in_turns[2].text

            terminal.type("/weather:com")
            terminal.type(TAB)
            await terminal.on_screen("/weather:compare")
            terminal.type(f"Rome other=Bern{ENTER}")
            await terminal.see("Rome is warmer.")
            await terminal.prompt()
            assert "Compare the weather of Rome and Bern." in "\n".join(terminal.scrollback)
            assert "Compare the weather of Rome and Bern." in chat.asked_in_turns[3].text

            terminal.type(f"/nobody:compare x{ENTER}")
            await terminal.see("There is no MCP server nobody. /mcp lists them.")
            await terminal.prompt()

            await interrupt_a_call(terminal, chat)


QUESTION = """\
The MCP server asking asks:
│ Which trip to Rome?<U+200B>
  y  yes, and type 4 values
  n  no, decline
"""


async def fill_in(terminal: Terminal) -> None:
    """Answer the questions of a trip, some of them wrongly at first."""
    terminal.type("y")
    await terminal.prompt(r"City \(text\):")
    terminal.type(f"R{ENTER}")
    await terminal.see("The value has 1 characters, and must have at least 2.")
    await terminal.prompt(r"City \(text\):")
    terminal.type(f"Rome{ENTER}")
    await terminal.see("  2  fahrenheit")
    await terminal.prompt(r"Unit \(a number or a value of the list\):")
    terminal.type(f"2{ENTER}")
    await terminal.see("How many days?")
    await terminal.prompt(r"Days \(a whole number\):")
    terminal.type(f"many{ENTER}")
    await terminal.see("The value must be integer, not 'many'.")
    await terminal.prompt(r"Days \(a whole number\):")
    terminal.type(f"3{ENTER}")
    await terminal.prompt(r"Alone \(y or n; Enter leaves it out\):")
    terminal.type(f"y{ENTER}")


async def test_what_a_server_asks_is_answered_field_by_field_or_declined(
    ragforge: Open, home: Path
) -> None:
    trip = Call("asking__plan_trip", {"place": "Rome"})
    page = Call("asking__visit_page", {})
    script = (
        Says(calls=(trip,)),
        Says("Have a nice trip."),
        Says(calls=(trip,)),
        Says("Then not."),
        Says(calls=(page,)),
        Says("Paid."),
    )
    asking = pytest.importorskip("tests.fakes.asking_server", reason="mcp is not installed")
    served = server.serve_http(make=lambda url: asking.make_asking_server(), is_old=True)
    async with served as url, model(*script) as chat:
        servers = {"mcp": {"servers": {"asking": {"url": url}}}}
        (home / "user.yaml").write_text(json.dumps(servers))
        variables = {"RAGFORGE_MCP__WAIT_SECONDS": "120"}
        async with ragforge(server=chat, size=(40, 200), **variables) as terminal:
            await terminal.prompt()
            terminal.type(f"Plan a trip{ENTER}")
            await terminal.prompt(r"Allow\? \[y/a/n\]")
            terminal.type("3")  # all tools of the server
            await terminal.prompt(r"Answer\? \[y/n\]")
            assert QUESTION in "\n".join(terminal.scrollback)
            await fill_in(terminal)
            await terminal.see("Answered.")
            await terminal.see("Have a nice trip.")
            await terminal.prompt()
            told = json.loads(chat.asked_in_turns[1].body["messages"][-1]["content"])["content"]
            values = {"city": "Rome", "unit": "fahrenheit", "days": 3, "alone": True}
            assert json.loads(told.removeprefix("accept: ")) == values

            terminal.type(f"Plan it again{ENTER}")
            await terminal.prompt(r"Answer\? \[y/n\]")
            terminal.type("n")
            await terminal.see("Declined.")
            await terminal.see("Then not.")
            await terminal.prompt()
            assert "decline: -" in chat.asked_in_turns[3].text

            terminal.type(f"Pay{ENTER}")
            await terminal.prompt(r"Answer\? \[y/n\]")
            whole = "\n".join(terminal.scrollback)
            assert "│ Pay here\n│ https://pay.example.org/4711\n" in whole
            assert "yes: I opened this page myself and am done" in whole
            terminal.type("y")
            await terminal.see("Paid.")
            await terminal.prompt()
            assert "page: accept" in chat.asked_in_turns[5].text


async def test_a_projects_servers_are_shown_before_they_are_trusted(
    ragforge: Open, home: Path, project: Path
) -> None:
    async with server.serve_http() as url, model(Says("Fine.")) as chat:
        entry = {"url": url, "headers": {"A": "b\u200b"}}
        (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"theirs": entry}}))
        variables = {"RAGFORGE_MCP__WAIT_SECONDS": "120"}
        async with ragforge(server=chat, size=(40, 200), **variables) as terminal:
            await terminal.see("Do you trust this folder?")
            whole = "\n".join(terminal.scrollback)
            assert ".mcp.json, which would start or reach:" in whole
            assert f'theirs: {{"url": "{url}", "headers": {{"A": "b\\u200b"}}}}' in whole
            terminal.type(f"n{ENTER}")
            await terminal.prompt()
            terminal.type(f"/mcp{ENTER}")
            await terminal.see("not started: you did not trust .mcp.json as it is now")
