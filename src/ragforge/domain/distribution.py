"""Distribution: the name under which RagForge is installed.

It differs from the name of the package and the command, `ragforge`, which another project holds
on the package index.
"""

from __future__ import annotations

DISTRIBUTION = "ragforge-agent"


def format_install_command(extra: str) -> str:
    """Return the command that installs RagForge with one of its extras."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"
