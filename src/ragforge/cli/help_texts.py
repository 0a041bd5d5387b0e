"""Help texts: the end of a command's help, read from a file of `epilogs/` when it is shown.

In these files `\\b` before a paragraph keeps its lines as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from ragforge.resources import read_resource

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Epilog:
    """Replaces the name of an epilog by its text: most commands run without showing theirs."""

    _name: str | None = None

    @property
    def epilog(self) -> str | None:
        if self._name is None:
            return None
        return read_resource(f"cli/epilogs/{self._name}.md").replace("\\b\n", "\b\n")

    @epilog.setter
    def epilog(self, name: str | None) -> None:
        self._name = name


class _Command(_Epilog, TyperCommand):
    pass


class Group(_Epilog, TyperGroup):
    pass


class CommandGroup(typer.Typer):
    """Commands and groups whose `epilog` is the name of a file: "store/info"."""

    def __init__(self, **options: Any) -> None:
        super().__init__(cls=Group, **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[_Function], _Function]:
        """Register a function, or a coroutine function, as a command."""
        register = super().command(name, cls=_Command, **options)

        def register_function(function: _Function) -> _Function:
            register(_run_to_end(function) if iscoroutinefunction(function) else function)
            return function

        return register_function


def _run_to_end(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def run(*arguments: Any, **options: Any) -> Any:
        import asyncio  # slow to load: help needs none of it

        return asyncio.run(function(*arguments, **options))

    return run
