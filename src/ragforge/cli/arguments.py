"""Arguments: what the shell gave, made safe to parse."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SURROGATES = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Replace bytes that could not be decoded by U+FFFD."""
    return _SURROGATES.sub("\ufffd", text)


def global_options_first(arguments: Sequence[str]) -> list[str]:
    """Move --store and --debug to the front, so that they may stand anywhere.

    What follows `--` stays as it is.
    """
    first: list[str] = []
    rest: list[str] = []
    remaining = iter(arguments)
    for argument in remaining:
        if argument == "--":
            rest += [argument, *remaining]
        elif argument == "--debug" or argument.startswith("--store="):
            first.append(argument)
        elif argument == "--store":
            first += [argument, *([value] if (value := next(remaining, None)) is not None else [])]
        else:
            rest.append(argument)
    return first + rest


def command_in(arguments: Sequence[str]) -> str | None:
    """Return the first argument after the global options, which stand first."""
    remaining = iter(arguments)
    for argument in remaining:
        if argument == "--store":
            next(remaining, None)
        elif argument != "--debug" and not argument.startswith("--store="):
            return argument
    return None


def wants_debug(arguments: Sequence[str], variable: str | None) -> bool:
    """Tell whether tracebacks are wanted, before anything is parsed."""
    if variable and variable.lower() not in ("0", "false", "no", "off"):
        return True
    options = list(arguments)[: arguments.index("--")] if "--" in arguments else arguments
    return "--debug" in options
