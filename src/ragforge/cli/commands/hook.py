"""`ragforge hook`: what other agents run at the start of a session and at every turn."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = """\b
Examples:
  echo '{"hook_event_name": "UserPromptSubmit", "cwd": ".", "prompt": "Why?"}' | ragforge hook
  ragforge hook UserPromptSubmit --agent codex < call.json

\b
What it does:
  For SessionStart and UserPromptSubmit it prints context from memory, if some is relevant, within
  hook.deadline_ms. For Stop, PreCompact and SessionEnd it has the transcript taken in. It always
  ends with 0. `ragforge connect` adds it to agents' configuration.
"""


def register(app: typer.Typer) -> None:
    app.command("hook", epilog=EXAMPLES)(hook)


def hook(
    event: Annotated[
        str, typer.Argument(metavar="EVENT", help="The event, if the input does not name it.")
    ] = "",
    agent: Annotated[str, typer.Option(metavar="NAME", help="Who calls.")] = "claude-code",
) -> None:
    """Answer another agent: its call is on standard input."""
    from ragforge.cli.hook import run_hook

    run_hook([*([event] if event else []), "--agent", agent])
