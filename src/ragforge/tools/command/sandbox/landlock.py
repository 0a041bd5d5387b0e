"""Landlock: a sandbox of the Linux kernel that needs no program and no rights.

It can only allow. So a directory is hidden by allowing everything around it, and what lies inside a
writable directory cannot be protected. The program is started by `landlock_launcher`, which
restricts itself first.
"""

from __future__ import annotations

import json
import os
import sys
from functools import cache

from ragforge.tools.command.sandbox import landlock_launcher as launcher
from ragforge.tools.command.sandbox.policy import SandboxPolicy

CLOSES_NETWORK = 4
"""The first version that can refuse connections."""
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
_MAX_AROUND = 2_000


@cache
def find_version() -> int:
    """Return the version of the kernel's Landlock; 0 if there is none."""
    if sys.platform != "linux":
        return 0
    return max(launcher.get_version(), 0)


def build_prefix(policy: SandboxPolicy, program: str) -> list[str]:
    """Return the words before a command; `program` is the path of what runs."""
    rules = {
        "program": program,
        "read": [*_list_around(policy.hidden), *policy.readable],
        "write": [*policy.writable, *([policy.temporary] if policy.temporary else [])],
        "devices": [os.path.join("/dev", name) for name in _DEVICES],
        "network": policy.network,
    }
    return [sys.executable, "-I", "-S", launcher.__file__, json.dumps(rules)]


def _list_around(hidden: tuple[str, ...]) -> list[str]:
    """Return what together holds all files but the hidden ones."""
    folders = [path for path in hidden if os.path.isdir(path)]
    if not folders:
        return [os.sep]
    around: list[str] = []
    parents = {parent for path in folders for parent in _list_parents(path)}
    for parent in sorted(parents):
        with os.scandir(parent) as entries:  # where links lead is allowed by its own name, or not
            paths = [entry.path for entry in entries if not entry.is_symlink()]
        around += [path for path in paths if path not in parents and path not in folders]
    return sorted(around)[:_MAX_AROUND]


def _list_parents(path: str) -> list[str]:
    parents = []
    while path != os.sep:
        path = os.path.dirname(path)
        parents.append(path)
    return parents
