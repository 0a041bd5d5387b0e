"""Arguments: the command line, prepared for parsing."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import islice

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


def arrange(arguments: Sequence[str]) -> list[str]:
    """Return the arguments as the parser expects them: global options come first, -p is `ask`.

    --store, --model and --debug may be anywhere before `--`.
    """
    first: list[str] = []
    rest: list[str] = []
    remaining = iter(arguments)
    for argument in remaining:
        if argument == "--":
            rest += [argument, *remaining]
        elif argument == "--debug" or argument.startswith(tuple(f"{one}=" for one in _WITH_VALUE)):
            first.append(argument)
        elif argument in _WITH_VALUE:
            first += [argument, *islice(remaining, 1)]
        else:
            rest.append(argument)
    return first + _expand_terminal_options(rest)


def _expand_terminal_options(given: list[str]) -> list[str]:
    """Replace -p before any command by the command `ask`, and give -r its empty id."""
    at = 0
    while at < len(given) and given[at].startswith("-") and given[at] not in ("-", "--"):
        name, following = given[at], given[at + 1 : at + 2]
        if name == "-p":
            return ["ask", *given[:at], *given[at + 1 :]]
        has_value = bool(following) and not following[0].startswith("-")
        if name in ("-r", "--resume") and not has_value:
            given.insert(at + 1, "")
            has_value = True
        at += 2 if has_value and name in ("-r", "--resume", "--mode") else 1
    return given


def wants_debug(arguments: Sequence[str] = ()) -> bool:
    """Tell whether the arguments or the environment ask for tracebacks, before parsing."""
    if os.environ.get(DEBUG_VARIABLE, "").lower() not in ("", "0", "false", "no", "off"):
        return True
    options = list(arguments)[: arguments.index("--")] if "--" in arguments else arguments
    return "--debug" in options
