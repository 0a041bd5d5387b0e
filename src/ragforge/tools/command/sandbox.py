"""Sandbox: bubblewrap around a program, where the machine has it and lets us use it.

Everything is read-only but the program's own empty home, there is no network, and the user's
home is hidden except for the project.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from functools import cache

from ragforge.tools.command.environment import build_variables, find_program

_SECONDS = 5


def build_prefix(bwrap: str, readable: Sequence[str], home: str, cwd: str) -> list[str]:
    """Return the words before a command that run it inside the sandbox."""
    user = os.path.realpath(os.path.expanduser("~"))
    hidden = [user] if user != os.sep and os.path.isdir(user) else []
    return [
        bwrap,
        "--die-with-parent",
        "--unshare-all",
        *("--ro-bind", "/", "/"),
        *("--dev", "/dev"),
        *("--proc", "/proc"),
        *(word for path in hidden for word in ("--tmpfs", path)),
        *(word for path in readable for word in ("--ro-bind", path, path)),
        *("--bind", home, home),
        *("--chdir", cwd),
        "--",
    ]


def find_bwrap(root: str) -> str | None:
    """Return the path of bubblewrap if it works here. Tried once for a project."""
    bwrap = find_program("bwrap", root)
    return bwrap if bwrap and _is_usable(bwrap, root) else None


@cache
def _is_usable(bwrap: str, root: str) -> bool:
    trial = find_program("true", root)
    if trial is None:
        return False
    words = [*build_prefix(bwrap, [root], root, root), trial]
    try:
        done = subprocess.run(
            words,
            env=build_variables(root),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
