"""Seatbelt: the sandbox of macOS, by `sandbox-exec` and a profile."""

from __future__ import annotations

import os
import sys

from ragforge.tools.command.sandbox.policy import SandboxPolicy

PROGRAM = "/usr/bin/sandbox-exec"
_DEVICES = (
    "/dev/null",
    "/dev/zero",
    "/dev/tty",
    "/dev/random",
    "/dev/urandom",
    "/dev/dtracehelper",
)


def is_usable() -> bool:
    """Tell whether this is macOS and its sandbox is there."""
    return sys.platform == "darwin" and os.access(PROGRAM, os.X_OK)


def build_prefix(policy: SandboxPolicy) -> list[str]:
    """Return the words before a command that run it inside the sandbox."""
    return [PROGRAM, "-p", build_profile(policy)]


def build_profile(policy: SandboxPolicy) -> str:
    """Return the profile; of rules that fit, the last one decides."""
    writable = [*policy.writable, *([policy.temporary] if policy.temporary else [])]
    lines = [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        '(deny sysctl-read (sysctl-name "kern.procargs2"))',  # other processes' environment
        *(f"(allow file-write* (literal {_quote(path)}))" for path in _DEVICES),
        *(f"(deny file-read* (subpath {_quote(path)}))" for path in policy.hidden),
        # Programs ask for the properties of every directory on their way.
        *(f"(allow file-read-metadata (literal {_quote(path)}))" for path in policy.hidden),
        *(f"(allow file-read* (subpath {_quote(path)}))" for path in policy.readable),
        *(f"(allow file-read* file-write* (subpath {_quote(path)}))" for path in writable),
        *(f"(deny file-write* (subpath {_quote(path)}))" for path in policy.protected),
        *(
            f"(deny file-write-unlink (literal {_quote(path)}))"  # nor be moved away
            for path in policy.list_protected_folders()
        ),
    ]
    if not policy.network:
        lines.append("(deny network*)")
    return "\n".join(lines)


def _quote(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
