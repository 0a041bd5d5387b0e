"""Arguments: the command line, prepared for parsing."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

DEBUG_VARIABLE = "RAGFORGE_DEBUG"
COMPLETION_VARIABLE = "_RAGFORGE_COMPLETE"
"""Set by the script of a shell; the program then prints how the line may continue."""
OLD_OPTIONS = {"anew": "again", "everywhere": "all"}
"""Earlier names of options, which still work."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_WITH_VALUE = ("--store", "--model")
"""The global options that take a value."""


def clean(text: str) -> str:
    """Replace bytes that could not be decoded by U+FFFD."""
    return _SURROGATES.sub("\ufffd", text)


def rename_option(name: str) -> str:
    """Return today's name of an option, without its dashes."""
    return OLD_OPTIONS.get(name, name)


def move_global_options_first(arguments: Sequence[str]) -> list[str]:
    """Move --store, --model and --debug to the front, so that they may be anywhere.

    Arguments after `--` stay where they are.
    """
    first: list[str] = []
    rest: list[str] = []
    remaining = iter(arguments)
    for argument in remaining:
        if argument == "--":
            rest += [argument, *remaining]
        elif _is_complete(argument):
            first.append(argument)
        elif argument in _WITH_VALUE:
            first += [argument, *([value] if (value := next(remaining, None)) is not None else [])]
        else:
            rest.append(argument)
    return first + rest


def expand_terminal_options(arguments: Sequence[str]) -> list[str]:
    """Replace -p by the command `ask`, and add the empty id to -r without one.

    Both options come before any command.
    """
    given = list(arguments)
    at = 0
    while at < len(given) and given[at].startswith("-") and given[at] not in ("-", "--"):
        name, following = given[at], given[at + 1 : at + 2]
        if name == "-p":
            rest = [*given[:at], *given[at + 1 :]]
            first = _count_global_options(rest)
            return [*rest[:first], "ask", *rest[first:]]
        has_value = bool(following) and not following[0].startswith("-")
        if name in ("-r", "--resume") and not has_value:
            given.insert(at + 1, "")
            has_value = True
        takes_value = name in ("-r", "--resume", "--mode", *_WITH_VALUE)
        at += 2 if takes_value and has_value else 1
    return given


def _count_global_options(arguments: Sequence[str]) -> int:
    """Return how many arguments belong to the global options at the front."""
    at = 0
    while at < len(arguments):
        if arguments[at] in _WITH_VALUE:
            at += 2
        elif _is_complete(arguments[at]):
            at += 1
        else:
            break
    return at


def _is_complete(argument: str) -> bool:
    """Tell whether an argument is a global option together with its value, if it takes one."""
    return argument == "--debug" or argument.startswith(tuple(f"{one}=" for one in _WITH_VALUE))


def wants_debug(arguments: Sequence[str] = ()) -> bool:
    """Tell whether the arguments or the environment ask for tracebacks, before parsing."""
    if os.environ.get(DEBUG_VARIABLE, "").lower() not in ("", "0", "false", "no", "off"):
        return True
    options = list(arguments)[: arguments.index("--")] if "--" in arguments else arguments
    return "--debug" in options
