"""Child Python: the command with which RagForge starts Python again."""

from __future__ import annotations

import sys


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module in this Python.

    With -P the working directory is not searched for modules: it may be a cloned repository that
    has a `ragforge`, a `pip` or a `json.py`.
    """
    return [sys.executable, "-P", "-m", module, *arguments]
