"""Commands about servers: /mcp, and the prompts that servers offer as /server:prompt."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ragforge.errors import InputError
from ragforge.show.console import fit_line
from ragforge.show.mcp_client import NO_SERVERS, format_servers
from ragforge.tui.commands.command import Command

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

SHOWN_CHARS = 500
_PROMPT = re.compile(r"/([A-Za-z0-9_-]+):(\S+)(?:\s+(.*))?", re.DOTALL)
Wanted: TypeAlias = tuple[str, str, str]
"""A server, one of its prompts, and what follows it."""


async def mcp(terminal: Terminal, argument: str) -> None:
    servers, screen = terminal.app.servers, terminal.screen
    if argument:
        servers.start_again(argument)
    await servers.wait()
    servers.take_news()  # it is shown right here
    reports = servers.list_reports()
    for line in format_servers(reports) or [NO_SERVERS]:
        screen.say(line)
    if any(report.state == "failed" for report in reports):
        screen.note("/mcp NAME connects once more.")


def find_prompt(terminal: Terminal, text: str) -> Wanted | None:
    """Return the prompt of a server that an input calls, or None for a question.

    Raises InputError if it looks like one and there is no such server.
    """
    servers = terminal.app.servers
    found = _PROMPT.fullmatch(text.strip())
    if found is None:
        return None
    servers.start()
    if not servers.list_reports():
        return None
    if not servers.has(found[1]):
        raise InputError(f"There is no MCP server {found[1]}. /mcp lists them.")
    return found[1], found[2], found[3] or ""


async def use_prompt(terminal: Terminal, wanted: Wanted) -> None:
    """Ask what a prompt of a server says; the user sees its words."""
    server, prompt, rest = wanted
    try:
        words = shlex.split(rest)
    except ValueError:  # an apostrophe is no quote
        words = rest.split()
    text = await terminal.app.servers.word_prompt(server, prompt, words)
    if not text.strip():
        raise InputError(f"The prompt {prompt} of {server} is empty.")
    terminal.screen.note(fit_line(text, SHOWN_CHARS))
    await terminal.ask(text)


def list_prompts(terminal: Terminal) -> Mapping[str, str]:
    """Return the prompts of servers as commands, with what each is for."""
    prompts = terminal.app.servers.list_prompts()
    return {f"/{name}": fit_line(one.description, 80) for name, one in prompts.items()}


def list_named(terminal: Terminal) -> Sequence[str]:
    """Return what can be named in a question: files of the project, resources of servers."""
    return [*terminal.app.servers.list_resources(), *terminal.app.code.list_files()]


COMMANDS = (Command("mcp", "[NAME]", "MCP servers and what they offer", mcp),)
