"""`ragforge completion` and `man`: what shells and `man` read about the commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal, TypeAlias

from ragforge.cli.completion import PROGRAM, find_place, write_file, write_script
from ragforge.cli.options import argument, flag
from ragforge.show.console import print_note

MAN_PAGE = f"{PROGRAM}.1"


Shell: TypeAlias = Literal["bash", "zsh", "fish", "powershell"]


def completion(
    shell: Shell = argument("SHELL", "bash, zsh, fish or powershell."),
    install: bool = flag("--install", "Write it to the file that the shell reads."),
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
    install: bool = flag("--install", "Write it to a folder of yours that man reads."),
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
