"""Commands about the configuration: /config, /theme."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from ragforge.app.features.configure import set_setting
from ragforge.config import load_settings
from ragforge.config.dotted_keys import get_value, list_choices, list_keys, resolve_key
from ragforge.config.files import find_user_file, name_user_file
from ragforge.errors import InputError
from ragforge.show.console import fit_line
from ragforge.show.settings import (
    SettingLine,
    format_change,
    format_value,
    list_settings,
    show_setting_lines,
)
from ragforge.show.themes import use_theme
from ragforge.tui.commands.command import Command
from ragforge.tui.picker import Picker, filter_lines

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples

    from ragforge.tui.terminal import Terminal

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
    Command("config", "[NAME] [VALUE]", "Settings and where they come from; change one", config),
    Command("theme", "[NAME]", "Colours for a dark or a light background", theme),
)
