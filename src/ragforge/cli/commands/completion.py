"""`ragforge completion` and `man`: what shells and `man` read about the commands."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

from typer.completion import get_completion_script  # type: ignore[attr-defined]
from typer.main import get_command

from ragforge import __version__
from ragforge.cli.arguments import COMPLETION_VARIABLE
from ragforge.cli.main import COMMANDS, HELP, build_program, load_command
from ragforge.cli.options import argument, flag
from ragforge.errors import InputError
from ragforge.show.console import print_note

PROGRAM = "ragforge"
MAN_PAGE = f"{PROGRAM}.1"
Shell: TypeAlias = Literal["bash", "zsh", "fish", "powershell"]


def completion(
    shell: Shell = argument("SHELL", "bash, zsh, fish or powershell."),
    install: bool = flag("--install", "Write it to the file that the shell reads."),
) -> None:
    """Print or install completion for a shell."""
    script = _write_script(shell)
    if not install:
        sys.stdout.write(script)
        return
    place, hint = _find_place(shell)
    _write_file(place, script)
    print_note(f"Completion for {shell} is in {place}. New shells use it.")
    if hint:
        print_note(hint)


def man(install: bool = flag("--install", "Write it to a folder of yours that man reads.")) -> None:
    """Print or install the manual page."""
    page = _write_manual()
    if not install:
        sys.stdout.write(page)
        return
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    place = data / "man" / "man1" / MAN_PAGE
    _write_file(place, page)
    print_note(f"The manual page is in {place}. Read it with: man {PROGRAM}")


def _write_script(shell: str) -> str:
    """Return the script that makes a shell complete the commands of `ragforge`."""
    script: str = get_completion_script(
        prog_name=PROGRAM, complete_var=COMPLETION_VARIABLE, shell=shell
    )
    return script + "\n"


def _find_place(shell: str) -> tuple[Path, str]:
    """Return the file that a shell reads its completion from, and what the user may have to do.

    No start-up file of the user's is changed. Raises InputError if the shell has no such file.
    """
    home = Path.home()
    if shell == "bash":
        data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
        place = data / "bash-completion" / "completions" / PROGRAM
        return place, f"Without the package bash-completion, add to ~/.bashrc: source {place}"
    if shell == "zsh":
        line = "fpath+=~/.zfunc; autoload -Uz compinit; compinit"
        return home / ".zfunc" / f"_{PROGRAM}", f"If ~/.zshrc does not have it yet, add: {line}"
    if shell == "fish":
        config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        return config / "fish" / "completions" / f"{PROGRAM}.fish", ""
    raise InputError(
        "PowerShell reads completion from your profile. Add it yourself: "
        "ragforge completion powershell >> $PROFILE"
    )


def _write_file(place: Path, text: str) -> None:
    """Write a file for other programs of the user, with its folders. Raises InputError."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(f"{place} cannot be written: {error.strerror}.") from error


def _write_manual() -> str:
    """Return the page, in the macros of man(7)."""
    program: Any = get_command(build_program())
    with program.make_context("ragforge", [], resilient_parsing=True) as context:
        lines = [
            f'.TH RAGFORGE 1 "" "ragforge {__version__}" "User commands"',
            ".SH NAME",
            "ragforge \\- a coding agent that remembers",
            ".SH SYNOPSIS",
            ".B ragforge",
            "[\\fIOPTIONS\\fR] [\\fICOMMAND\\fR] [\\fIARGUMENTS\\fR]",
            ".SH DESCRIPTION",
            *_write_text(HELP),
            ".SH OPTIONS",
            *_write_parameters(program, context),
            ".SH COMMANDS",
        ]
        for name in COMMANDS:
            lines += _write_command(load_command(name), f"ragforge {name}", context)
        lines += _write_epilog(program)
    return "\n".join(lines) + "\n"


def _write_command(command: Any, path: str, parent: Any) -> Iterator[str]:
    """Yield a command, and all below it."""
    with type(parent)(command, info_name=path.rpartition(" ")[2], parent=parent) as context:
        usage = " ".join(command.collect_usage_pieces(context))
        yield f".SS {_escape(f'{path} {usage}')}"
        yield from _write_text(command.help or "")
        yield from _write_parameters(command, context)
        below = getattr(command, "commands", {})
        for name, one in below.items():
            yield from _write_command(one, f"{path} {name}", context)
        if not below:
            yield from _write_epilog(command)


def _write_parameters(command: Any, context: Any) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            name, text = record
            yield ".TP"
            yield f"\\fB{_escape(name)}\\fR"
            yield _escape(" ".join(text.split())) or "\\&"


def _write_epilog(command: Any) -> Iterator[str]:
    yield from _write_text(command.epilog or "")


def _write_text(text: str) -> Iterator[str]:
    """Yield paragraphs; those after a `\\b` keep their lines."""
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        lines = [line.rstrip() for line in paragraph.split("\n")]
        if lines[:1] == ["\b"]:
            yield from (".PP", ".nf", *map(_escape, lines[1:]), ".fi")
        elif paragraph.strip():
            yield from (".PP", _escape(" ".join(paragraph.split())))


def _escape(text: str) -> str:
    """Return a text that roff prints as it is."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti")
    escaped = escaped.replace("^", "\\(ha").replace("`", "\\(ga").replace("'", "\\(aq")
    return f"\\&{escaped}" if escaped.startswith((".", " ")) else escaped
