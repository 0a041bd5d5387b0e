"""Bubblewrap: a sandbox of Linux namespaces, where it is installed and may be used."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from itertools import chain

from ragforge.tools.command.environment import build_variables, find_program
from ragforge.tools.command.sandbox.policy import SandboxPolicy, allow_reading

TEMPORARY = "/tmp"
_VAR_TEMPORARY = "/var/tmp"
_SOCKETS = "/run"
"""Where services of this machine listen: D-Bus, Docker and the like do whatever they are asked."""
_SHOWN = ("/run/current-system", "/run/opengl-driver")
"""What programs need of it."""
_RESOLVER = "/etc/resolv.conf"
_SECONDS = 5


def build_prefix(bwrap: str, policy: SandboxPolicy) -> list[str]:
    """Return the words before a command that run it inside the sandbox."""
    words = [bwrap, "--die-with-parent", "--unshare-all"]
    if os.geteuid() == 0:  # bubblewrap leaves root its capabilities
        words += ["--cap-drop", "ALL"]
    if policy.network:
        words.append("--share-net")
    words += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    words += _hide_sockets(policy.network)
    if policy.temporary:
        for place in filter(os.path.isdir, (TEMPORARY, _VAR_TEMPORARY)):
            words += ["--bind", policy.temporary, place]
    for path in policy.hidden:
        if os.path.isdir(path):
            words += ["--tmpfs", path]
    for path in policy.readable:
        words += ["--ro-bind", path, path]
    for path in policy.writable:
        words += ["--bind", path, path]
    words += _protect(policy)
    for path in policy.hidden:
        if os.path.isfile(path):
            words += ["--ro-bind", os.devnull, path]
    return [*words, "--chdir", policy.cwd, "--"]


def _protect(policy: SandboxPolicy) -> list[str]:
    words: list[str] = []
    for folder in policy.list_protected_folders():  # what is mounted cannot be moved away
        words += ["--bind", folder, folder]
    for path in policy.protected:
        if os.path.lexists(path):
            words += ["--ro-bind", os.path.realpath(path), path]
        elif os.path.basename(path) == "hooks":  # an empty one, so that none can be made
            words += ["--perms", "0555", "--tmpfs", path, "--remount-ro", path]
    return words


def _hide_sockets(network: bool) -> list[str]:
    if not os.path.isdir(_SOCKETS):
        return []
    resolver = os.path.realpath(_RESOLVER)
    shown = [*_SHOWN, resolver] if network and resolver.startswith(_SOCKETS) else _SHOWN
    binds = [["--ro-bind", path, path] for path in shown if os.path.exists(path)]
    return ["--tmpfs", _SOCKETS, *chain.from_iterable(binds)]


def find_bwrap(root: str) -> str | None:
    """Return the path of bubblewrap if it works here. Tried once for a project."""
    bwrap = find_program("bwrap", root)
    return bwrap if bwrap and _is_usable(bwrap, root) else None


@cache
def _is_usable(bwrap: str, root: str) -> bool:
    trial = find_program("true", root)
    if trial is None:
        return False
    words = [*build_prefix(bwrap, allow_reading([root], root, root, root)), trial]
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
