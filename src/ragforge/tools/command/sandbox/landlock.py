"""Landlock: a sandbox of the Linux kernel that needs no program and no rights.

It can only allow. So a directory is hidden by allowing everything around it, and what lies inside a
writable directory cannot be protected. The program is started by `landlock_launcher`, which
restricts itself first, and closes sockets by a filter of system calls.
"""

from __future__ import annotations

import json
import os
import sys
from functools import cache

from ragforge.tools.command.sandbox import landlock_launcher as launcher
from ragforge.tools.command.sandbox.policy import SandboxPolicy

CLOSES_TCP = 4
"""The first version that can refuse connections by TCP."""
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")


@cache
def find_version() -> int:
    """Return the version of the kernel's Landlock; 0 if there is none."""
    if sys.platform != "linux":
        return 0
    return max(launcher.get_version(), 0)


@cache
def filters_sockets() -> bool:
    """Tell whether all sockets can be closed, and not only TCP."""
    return sys.platform == "linux" and launcher.can_filter_sockets()


def build_prefix(policy: SandboxPolicy, program: str) -> list[str]:
    """Return the words before a command; `program` is the path of what runs."""
    rules = {
        "program": program,
        "hidden": policy.hidden,
        "read": policy.readable,
        "write": [*policy.writable, *([policy.temporary] if policy.temporary else [])],
        "devices": [os.path.join("/dev", name) for name in _DEVICES],
        "network": policy.network,
        "owners": policy.has_other_owner,
    }
    return [sys.executable, "-I", "-S", launcher.__file__, json.dumps(rules)]
