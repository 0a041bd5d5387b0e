"""Manual: the page for `man`, made from the help of all commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ragforge import __version__
from ragforge.cli.main import COMMANDS, HELP, build_program, load_command


def write_manual() -> str:
    """Return the page, in the macros of man(7)."""
    from typer.main import get_command

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
