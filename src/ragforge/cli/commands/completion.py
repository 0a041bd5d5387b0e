"""`ragforge completion` and `man`: what shells and `man` read about the commands."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ragforge.cli.completion import PROGRAM, find_place, write_file, write_script
from ragforge.show.console import print_note

MAN_PAGE = f"{PROGRAM}.1"


class Shell(StrEnum):
    """The shells that can complete commands of `ragforge`."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"
    powershell = "powershell"


def register(app: typer.Typer) -> None:
    app.command("completion", epilog="completion")(completion)
    app.command("man", epilog="man")(man)


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.")],
    install: Annotated[
        bool, typer.Option("--install", help="Write it to the file that the shell reads.")
    ] = False,
) -> None:
    """Print or install completion for a shell."""
    script = write_script(shell)
    if not install:
        sys.stdout.write(script)
        return
    place, hint = find_place(shell)
    write_file(place, script)
    print_note(f"Completion for {shell} is in {place}. New shells use it.")
    if hint:
        print_note(hint)


def man(
    install: Annotated[
        bool, typer.Option("--install", help="Write it to a folder of yours that man reads.")
    ] = False,
) -> None:
    """Print or install the manual page."""
    from ragforge.cli.manual import write_manual

    page = write_manual()
    if not install:
        sys.stdout.write(page)
        return
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    place = data / "man" / "man1" / MAN_PAGE
    write_file(place, page)
    print_note(f"The manual page is in {place}. Read it with: man {PROGRAM}")
