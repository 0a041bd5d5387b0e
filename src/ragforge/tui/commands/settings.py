"""Commands about settings: /model, /permissions, /mcp, prompts of servers, /config, /theme."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from ragforge.app.features.configure import set_setting
from ragforge.app.features.model_choice import find_models
from ragforge.app.features.permission_rules import Effect, add_rule
from ragforge.app.wiring.models import NO_CHAT_MODEL
from ragforge.config import load_settings
from ragforge.config.dotted_keys import get_value, list_choices, list_keys, resolve_key
from ragforge.config.files import find_user_file, name_user_file
from ragforge.errors import InputError
from ragforge.show.console import fit_line, use_theme
from ragforge.show.mcp_client import NO_SERVERS, format_servers
from ragforge.show.settings import (
    SettingLine,
    format_change,
    format_value,
    list_settings,
    show_setting_lines,
)
from ragforge.show.visible import make_visible
from ragforge.tui.commands.command import Command
from ragforge.tui.picker import Picker, filter_lines

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples

    from ragforge.tui.terminal import Terminal

RULE_USAGE = (
    "Write /permissions allow RULE, deny RULE or forget NUMBER, such as allow edit_file(src/**)."
)
SHOWN_CHARS = 500
_PROMPT = re.compile(r"/([A-Za-z0-9_-]+):(\S+)(?:\s+(.*))?", re.DOTALL)
Wanted: TypeAlias = tuple[str, str, str]
"""A server, one of its prompts, and what follows it."""

NONE = "none"


async def model(terminal: Terminal, argument: str) -> None:
    current = terminal.app.model
    if argument == "save":
        change = set_setting(terminal.app.cwd, "llm.model", current or NONE)
        terminal.screen.say(f"{current or 'No model'} answers in later sessions: {change.file}")
        return
    name = argument or await _pick(terminal)
    if not name:
        terminal.screen.say(f"{current} answers." if current else NO_CHAT_MODEL)
        return
    terminal.app = terminal.app.with_model(name)
    now = terminal.app.model
    terminal.screen.say(f"{now} answers from now on." if now else "No model answers from now on.")
    terminal.screen.note("/model save keeps it for later sessions.")


async def _pick(terminal: Terminal) -> str:
    """Return the model that the user picks among those that can be asked, or nothing."""
    places = await find_models()
    models = [name for place in places if place.is_ready for name in place.models]
    if not models:
        return ""
    current = terminal.app.model

    def format_model(name: str, width: int) -> StyleAndTextTuples:
        shown = fit_line(name, width)
        return [("", shown), ("class:dim", "  answers now" if name == current else "")]

    signs = terminal.screen.signs
    return await Picker([*models, NONE], signs, format_model, "chooses it").pick() or ""


async def permissions(terminal: Terminal, argument: str) -> None:
    rules, screen = terminal.app.rules, terminal.screen
    what, _, text = argument.partition(" ")
    every = rules.all()
    if what in ("allow", "deny"):
        effect: Effect = "allow" if what == "allow" else "deny"
        add_rule(rules, effect, text)
    elif what == "forget" and text.strip().isdecimal() and 1 <= int(text) <= len(every):
        rules.remove(every[int(text) - 1])
    elif what:
        raise InputError(RULE_USAGE)
    every = rules.all()
    if not every:
        screen.say("This project has no rules: RagForge asks before every change.")
    for number, rule in enumerate(every, 1):
        shown = f"{make_visible(str(rule))}  ({rule.meaning})"
        screen.say_after(f"{number:>3}  {rule.effect:<5}  ", shown)
    if not what:
        screen.note(RULE_USAGE)


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
        screen.note("/mcp NAME connects again.")


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
    """Ask the question that a prompt of a server makes; the user sees it."""
    server, prompt, rest = wanted
    try:
        words = shlex.split(rest)
    except ValueError:  # an apostrophe that is not a quote
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
    """Return what a question can name: files and folders of the project, resources of servers."""
    files = terminal.app.code.list_files()
    return [*terminal.app.servers.list_resources(), *files, *list_folders(files)]


def list_folders(files: Sequence[str]) -> list[str]:
    """Return the folders of files, each with a `/` at its end."""
    folders: set[str] = set()
    for folder in {path.rpartition("/")[0] for path in files}:
        above = folder
        while above and f"{above}/" not in folders:
            folders.add(f"{above}/")
            above = above.rpartition("/")[0]
    return sorted(folders)


THEME = "terminal.theme"
UNSET = "unset"
AT_ONCE = (THEME, "terminal.notify", "terminal.notify_seconds")
"""Settings that the open terminal follows; the others are read when RagForge starts."""
LATER = "It applies when RagForge starts again."
MAX_KEY_CELLS = 45
VALUE_CELLS = 24


async def config(terminal: Terminal, argument: str) -> None:
    """Show the settings and change one, as far as the argument names it."""
    name, _, value = argument.partition(" ")
    lines = await asyncio.to_thread(_list, terminal)
    if not name:
        signs = terminal.screen.signs
        picked = await Picker(lines, signs, format_setting, "changes it", join_setting).pick()
        if picked is None:
            return
        name = picked.key
    key = resolve_key(name)
    if value.strip():
        await _set(terminal, key, value.strip())
    elif key in list_keys():
        await _edit(terminal, next(one for one in lines if one.key == key))
    elif found := filter_lines(lines, name, join_setting):
        show_setting_lines(found)
    else:
        raise InputError(f"There is no setting {name!r}. /config lists all.")


async def theme(terminal: Terminal, argument: str) -> None:
    if argument:
        await _set(terminal, THEME, argument)
        return
    lines = await asyncio.to_thread(_list, terminal)
    await _edit(terminal, next(one for one in lines if one.key == THEME))


def _list(terminal: Terminal) -> list[SettingLine]:
    """Return the settings; one that an option or a command changed is marked."""
    settings = terminal.app.settings
    return [
        replace(one, value=here, origin="this terminal, until it ends")
        if (here := format_value(settings, one.key)) != one.value and one.key not in AT_ONCE
        else one
        for one in list_settings(load_settings(terminal.app.cwd))
    ]


async def _edit(terminal: Terminal, line: SettingLine) -> None:
    """Let the user choose a value, or write one in the next prompt."""
    screen = terminal.screen
    screen.say(f"{line.key} is {line.value}, from {line.origin}.")
    screen.note(line.meaning)
    choices = list_choices(list_keys()[line.key])
    if isinstance(get_value(terminal.app.settings, line.key), dict):
        file = find_user_file(terminal.app.cwd, os.environ) or name_user_file()
        screen.note(f"It has several parts: edit it in {file}.")
        return
    if not choices:
        value = "" if line.value == "-" else line.value
        terminal.draft = f"/config {line.key} {value}"
        return

    def format_choice(word: str, width: int) -> StyleAndTextTuples:
        is_now = word == line.value
        mark = "  now" if is_now else "  remove from your file" if word == UNSET else ""
        return [("", fit_line(word, width)), ("class:dim", mark)]

    words = [*choices, UNSET]
    picked = await Picker(words, screen.signs, format_choice, "chooses it").pick()
    if picked is not None:
        await _set(terminal, line.key, picked)


async def _set(terminal: Terminal, key: str, value: str) -> None:
    """Change a setting in the user's file, and follow it where the terminal can."""
    app = terminal.app
    text = None if value == UNSET else value
    change = await asyncio.to_thread(set_setting, app.cwd, key, text)
    loaded = await asyncio.to_thread(load_settings, app.cwd)
    for line in format_change(change, format_value(loaded.settings, change.key)):
        terminal.screen.say(line)
    if change.key not in AT_ONCE:
        terminal.screen.note(LATER)
        return
    name = change.key.rpartition(".")[2]
    changed = app.settings.terminal.model_copy(update={name: change.value})
    terminal.app = replace(app, settings=app.settings.model_copy(update={"terminal": changed}))
    use_theme(changed.theme)


def format_setting(line: SettingLine, width: int) -> StyleAndTextTuples:
    """Return a setting on one line: its key, its value, and where that comes from."""
    key = fit_line(line.key, MAX_KEY_CELLS)
    cells = min(MAX_KEY_CELLS, max(len(key), width - VALUE_CELLS - 12))
    value = fit_line(line.value, max(width - cells - 2, 8) if width < 80 else VALUE_CELLS)
    room = width - cells - len(value) - 4
    origin = fit_line(line.origin, room) if room >= 10 else ""
    return [("", f"{key:<{cells}}  "), ("class:branch", f"{value}  "), ("class:dim", origin)]


def join_setting(line: SettingLine) -> str:
    """Return what a setting is searched by."""
    return f"{line.key} {line.value} {line.origin} {line.meaning}"


COMMANDS = (
    Command("model", "[NAME|save]", "Pick the model; save keeps it for later sessions", model),
    Command("permissions", "[allow|deny|forget]", "What is allowed without asking", permissions),
    Command("mcp", "[NAME]", "MCP servers and what they offer", mcp),
    Command("config", "[NAME] [VALUE]", "Settings and where they come from; change one", config),
    Command("theme", "[NAME]", "Colours for a dark or a light background", theme),
)
