"""The question: from the command line, from a pipe, or from both."""

from __future__ import annotations

import os
import re
import select
import stat
import sys

import typer

from ragforge.show.console import print_note

MAX_QUESTION_BYTES = 10_000_000
PIPE_SECONDS = 3.0


def read_question(argument: str | None, wait: bool = False) -> str:
    """Return the question; what is piped in beside one stands below it, fenced.

    Raises BadParameter if there is none, or too much of it.
    """
    if argument is None and sys.stdin.isatty():
        raise typer.BadParameter("give a question, or pipe one in", param_hint="QUESTION")
    if argument in (None, "-"):
        text = _from_stdin()
    else:
        text = argument or ""
        if text.strip() and (wait or _is_piped()):
            text = with_input(text, _from_stdin())
    if not text.strip():
        raise typer.BadParameter("the question is empty", param_hint="QUESTION")
    return text


def with_input(question: str, text: str) -> str:
    """Return a question with a text below it, in a fence that the text cannot close."""
    if not text.strip():
        return question
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{question}\n\n{fence}\n{text}\n{fence}"


def _is_piped() -> bool:
    """Tell whether stdin is a file, or a pipe from which something comes.

    An empty pipe may be an accident of the process that started this one.
    """
    try:
        stdin = sys.stdin.fileno()
        mode = os.fstat(stdin).st_mode
    except (OSError, ValueError, AttributeError):  # there is none
        return False
    if stat.S_ISREG(mode):
        return True
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return False
    try:
        ready, _, _ = select.select([stdin], [], [], PIPE_SECONDS)
    except (OSError, ValueError):  # Windows has this for sockets alone
        return True
    if not ready:
        print_note("Nothing comes from stdin: the question is asked without it. --stdin waits.")
    return bool(ready)


def _from_stdin() -> str:
    data = sys.stdin.buffer.read(MAX_QUESTION_BYTES + 1)
    if len(data) > MAX_QUESTION_BYTES:
        raise typer.BadParameter(
            f"the question is longer than {MAX_QUESTION_BYTES:,} bytes", param_hint="QUESTION"
        )
    return data.decode("utf-8", errors="replace").removeprefix("\ufeff").rstrip("\r\n")
