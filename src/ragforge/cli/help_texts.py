"""Help texts: what ends the help of a command, a file of `epilogs/` that is read when it is shown.

In these files `\\b` before a paragraph keeps its lines as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from ragforge.resources import read_resource

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Epilog:
    """Makes the name of an epilog its text: most commands run without showing theirs."""

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
        return super().command(name, cls=_Command, **options)
