"""Commands that show and search: /status, /cost, /memory, /search, /agents, /jobs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ragforge.domain.instants import begin_of_day
from ragforge.errors import InputError
from ragforge.show import hits, mcp_client
from ragforge.show.calls import format_duration
from ragforge.show.console import fit_line
from ragforge.show.notes import show_summaries
from ragforge.show.project import show_status
from ragforge.show.sessions import count_turns, name_session
from ragforge.show.settings import format_trust
from ragforge.show.store import show_jobs
from ragforge.show.usage import show_costs
from ragforge.tui.commands.command import Command
from ragforge.tui.commands.sessions import MEANINGS
from ragforge.tui.toolbar import format_usage

if TYPE_CHECKING:
    from ragforge.app.features.usage import By
    from ragforge.tui.terminal import Terminal

FOUND = 8
JOBS = 20
DESCRIPTION_CHARS = 300
NO_AGENTS = (
    "There are no agents. Write one to agents/NAME.md in your configuration folder, or to "
    ".ragforge/agents/NAME.md of a project that you trust."
)
JOBS_USAGE = "Write /jobs, /jobs N to see what a command printed, or /jobs stop N to end it."


async def status(terminal: Terminal, argument: str) -> None:
    app, screen = terminal.app, terminal.screen
    for name, text in (await describe_state(terminal)).items():
        screen.say_after(f"{name:<9}", text)
    show_status(await app.code.status(), (await app.jobs.count()).by_status)


async def cost(terminal: Terminal, argument: str) -> None:
    app = terminal.app
    by: tuple[By, ...] = ("model",)
    reports = {}
    if terminal.session is not None:
        uuid = terminal.session.uuid
        if terminal.turn_began is not None:
            began = terminal.turn_began
            reports["This turn"] = await app.usage.report(by, session=uuid, since=began)
        reports["This session"] = await app.usage.report(by, session=uuid)
    reports["All of today"] = await app.usage.report(by, since=begin_of_day(), everywhere=True)
    show_costs(reports)


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
        raise InputError("Write what to search for, such as /search where passwords are checked")
    hits.show_code(await terminal.app.code.search(argument, FOUND), argument)


async def agents(terminal: Terminal, argument: str) -> None:
    screen, found = terminal.screen, terminal.app.agents
    if not found:
        screen.note(NO_AGENTS)
    for one in found:
        whose = "of the project" if one.by_project else ""
        facts = filter(None, (one.mode, " ".join(one.tools), one.model, whose))
        about = f"cannot be used: {one.problem}" if one.problem else one.description
        screen.say(f"{one.name}  {fit_line(about, DESCRIPTION_CHARS)}")
        screen.note(f"  {fit_line(', '.join(facts), DESCRIPTION_CHARS)}")


async def jobs(terminal: Terminal, argument: str) -> None:
    background, screen = terminal.app.background, terminal.screen
    what, _, number = argument.rpartition(" ")
    if argument:
        if not number.isdecimal() or what not in ("", "stop"):
            raise InputError(JOBS_USAGE)
        if what:
            await background.stop(int(number))
        command = background.get(int(number))
        screen.say(command.output.text().rstrip("\n"))
        screen.note(_describe(terminal, int(number)))
        return
    for command in background.all():
        screen.say(f"{command.id:>3}  {_describe(terminal, command.id)}")
    queue = terminal.app.jobs
    show_jobs(await queue.find(JOBS), await queue.count())


def _describe(terminal: Terminal, number: int) -> str:
    command = terminal.app.background.get(number)
    state = "running" if command.is_running else command.problem or f"exit {command.exit_code}"
    return f"{fit_line(command.line, 60)}  {state}, {format_duration(command.duration_ms)}"


COMMANDS = (
    Command(
        "status", "", "Session, mode, model, store, sandbox, servers, trust, code index", status
    ),
    Command("cost", "", "Tokens and money: this turn, this session, today", cost),
    Command("memory", "[WORDS]", "Search past conversations, or show their summaries", memory),
    Command("search", "WORDS", "Search the code of this project", search),
    Command("agents", "", "The sub-agents that you or the project wrote", agents),
    Command("jobs", "[N|stop N]", "Commands and jobs that run in the background", jobs),
)


async def describe_state(terminal: Terminal) -> dict[str, str]:
    """Return session, mode, model, store, sandbox, servers and trust, each in a few words."""
    from ragforge.app.features.doctor import check_sandbox  # only this command needs these
    from ragforge.app.wiring.trust import examine_folder

    app, session = terminal.app, terminal.session
    about = "new, no question yet"
    if session is not None:
        session = await app.sessions.load(session.uuid)
        about = f"{name_session(session)}, {count_turns(session)}"
    sandbox = await asyncio.to_thread(check_sandbox, app.settings, app.project_path)
    reports = app.servers.list_reports()
    servers = [f"{one.spec.name} ({mcp_client.describe_state(one)})" for one in reports]
    return {
        "Session": about,
        "Mode": f"{terminal.mode}: {MEANINGS[terminal.mode]}",
        "Model": f"{app.model or 'none'}  {format_usage(terminal.usage)}".rstrip(),
        "Store": app.settings.store.url,
        "Sandbox": sandbox.detail,
        "Servers": ", ".join(servers) or "none",
        "Trust": format_trust(await asyncio.to_thread(examine_folder, app.settings, app.cwd)),
    }
