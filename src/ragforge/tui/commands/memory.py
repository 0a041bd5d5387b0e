"""Commands that search: /memory, /search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.errors import InputError
from ragforge.show import hits
from ragforge.show.jobs import show_jobs
from ragforge.show.notes import show_summaries
from ragforge.tui.commands.command import Command

if TYPE_CHECKING:
    from ragforge.tui.terminal import Terminal

FOUND = 8
JOBS = 20


async def memory(terminal: Terminal, argument: str) -> None:
    app = terminal.app
    if argument:
        found = await app.memory.search(argument, max_results=FOUND)
        changed = await app.memory.find_changed_code(found)
        pairs = list(zip(found, changed, strict=True))
        agents = await app.memory.find_agents(found)
        hits.show_memory(pairs, argument, True, app.identity.key, agents)
        return
    show_summaries(await app.memory.find_summaries())
    jobs = app.jobs
    show_jobs(await jobs.find(JOBS), await jobs.count())


async def search(terminal: Terminal, argument: str) -> None:
    if not argument:
        raise InputError("Say what to look for: /search where passwords are checked")
    hits.show_code(await terminal.app.code.search(argument, FOUND), argument)


COMMANDS = (
    Command("memory", "[WORDS]", "Search what was said and done, or see its summaries", memory),
    Command("search", "WORDS", "Search the code of this project", search),
)
