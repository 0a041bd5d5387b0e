"""The pager: a text that is longer than the screen, in the program that the user reads with."""

from __future__ import annotations

import os
import shlex
import subprocess

from ragforge.errors import InputError

PAGER = "less -R"


def run_pager(text: str, hint: str = "") -> None:
    """Show a text in $PAGER, or in less, until the user leaves it.

    Raises InputError, with what the user can do instead.
    """
    command = os.environ.get("PAGER", "").strip() or PAGER
    environ = {**os.environ, "LESS": os.environ.get("LESS", "R")}  # show colours, also in $PAGER
    try:
        words = shlex.split(command)
        subprocess.run(words, input=text.encode("utf-8", "replace"), env=environ, check=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"The pager {command!r} cannot be started. "
            f"Set PAGER to a program that shows text{hint}."
        ) from error
