"""Start: the program, with a short path for what starts all the time."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Any

SELDOM_USED = ("fnmatch", "inspect", "ipaddress", "ntpath", "socket", "traceback")
"""What `dataclasses`, `logging`, `pathlib` and others load, and a hook does not use: 20 ms."""
_PACKAGES = "importlib.metadata"
UNNEEDED = ("_hashlib", "numpy", "pandas", "pyarrow")
"""What `hashlib` (OpenSSL, 4 ms) and the Neo4j driver (120 ms) load only if it is there."""


def main() -> None:
    """Run the program with the arguments of the process.

    `ragforge hook`, `ragforge mcp` and the terminal start without loading the other commands.
    """
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"] and not {"-h", "--help"}.intersection(arguments):
        gc.disable()  # the process ends before there is much to collect
        _put_off(SELDOM_USED, UNNEEDED)
        from ragforge.cli.hook import run_hook

        run_hook(arguments[1:])
    if "mcp" in arguments[:3]:
        from ragforge.cli.commands.mcp import run_plain

        code = run_plain(arguments)
        if code is not None:
            sys.exit(code)
    sys.modules.setdefault(_PACKAGES, _Packages(_PACKAGES))
    from ragforge.cli.guard import run_process

    if not arguments and sys.stdin.isatty() and sys.stdout.isatty():
        run_process(_open_terminal)
    from ragforge.cli.main import run

    run_process(lambda: run(arguments))


def _put_off(seldom_used: Iterable[str], unneeded: Iterable[str]) -> None:
    """Load some modules when something in them is first used, and others not at all."""
    for name in seldom_used:
        sys.modules.setdefault(name, _LoadedOnUse(name))
    for name in unneeded:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]


class _LoadedOnUse(ModuleType):
    """A module that loads the real one. `importlib.util.LazyLoader` does so at every import."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


class _Packages(_LoadedOnUse):
    """Loads what reads the metadata of packages when it is called.

    pydantic takes a function from it to look for plugins, which settings need not: 30 modules.
    """

    def entry_points(self, **given: Any) -> Any:
        return self.__getattr__("entry_points")(**given)


def _open_terminal() -> int:
    from ragforge.cli.arguments import wants_debug
    from ragforge.cli.guard import run_guarded
    from ragforge.cli.loading import GlobalOptions, open_terminal

    debug = wants_debug()
    return run_guarded(lambda: open_terminal(GlobalOptions(debug=debug)), debug)
