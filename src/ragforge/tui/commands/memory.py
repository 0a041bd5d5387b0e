"""Commands that search: /memory, /search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.domain.summaries import SummaryFilter
from ragforge.errors import InputError
from ragforge.show import hits
from ragforge.show.memory_view import show_jobs, show_summaries
from ragforge.tui.commands.command import Command

if TYPE_CHECKING:
    from ragforge.domain.work import JobStatus
    from ragforge.tui.terminal import Terminal

FOUND = 8
JOBS = 20


async def memory(terminal: Terminal, argument: str) -> None:
    app = terminal.app
    if argument:
        found = await app.search_conversation_history(argument, max_results=FOUND)
        ages = await app.ages_of(found)
        hits.show_memory(list(zip(found, ages, strict=True)), argument, everywhere=True)
        return
    show_summaries(
        await app.store.summaries.find(SummaryFilter(project_path=str(app.project_path)))
    )
    waiting: list[JobStatus] = ["running", "pending", "dead"]
    jobs = [job for status in waiting for job in await app.store.jobs.find(status, JOBS)]
    show_jobs(jobs[:JOBS], await app.store.jobs.counts())


async def search(terminal: Terminal, argument: str) -> None:
    if not argument:
        raise InputError("Say what to look for: /search where passwords are checked")
    hits.show_code(await terminal.app.search_code(argument, FOUND), argument)


COMMANDS = (
    Command("memory", "[WORDS]", "Search what was said and done, or see its summaries", memory),
    Command("search", "WORDS", "Search the code of this project", search),
)
