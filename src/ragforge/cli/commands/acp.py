"""`ragforge acp`: be the agent of an editor."""

from __future__ import annotations

import typer

EXAMPLES = """\b
Example, in the settings of Zed:
  {
    "agent_servers": {
      "RagForge": {"type": "custom", "command": "ragforge", "args": ["acp"], "env": {}}
    }
  }

Editors start it themselves. It reads requests from standard input and ends with it; what goes
wrong stands in the log. Other editors: see docs/acp.md.
"""


def register(app: typer.Typer) -> None:
    app.command("acp", epilog=EXAMPLES)(acp)


def acp(context: typer.Context) -> None:
    """Be the agent of an editor, over the Agent Client Protocol."""
    from ragforge.cli.serve_acp import serve_acp

    raise typer.Exit(serve_acp(context.obj))
