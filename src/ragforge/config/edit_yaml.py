"""Edit YAML: set one key of a configuration file, and leave every other line as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LINE = re.compile(r"^( *)([\w-]+|\"[^\"]*\"|'[^']*') *:(?= |$)(.*)$")
_COMMENT = re.compile(r" +#.*$")


def set_key(text: str, names: Sequence[str], value: str | None) -> str | None:
    """Return a file's text with a key set to some YAML, or without it if that is None.

    Returns None if the file is written in another way than one key a line: then only a person
    can change it. Whether the result says what it should is for the caller to check.
    """
    lines = text.splitlines()
    start, end, indent = 0, len(lines), ""
    for depth, name in enumerate(names[:-1]):
        found = _find(lines, start, end, indent, name)
        if found is None:
            return text if value is None else _insert(lines, end, indent, names[depth:], value)
        rest = _COMMENT.sub("", _split(lines[found])[1]).strip()
        if rest:  # a section on one line
            return None
        start, end = found + 1, _find_end(lines, found + 1, end, len(indent))
        indent = _find_indent(lines, start, end) or indent + "  "
    at = _find(lines, start, end, indent, names[-1])
    if at is None:
        return text if value is None else _insert(lines, end, indent, names[-1:], value)
    if _find_end(lines, at + 1, end, len(indent)) > at + 1:
        return None  # its value continues in the next lines
    if value is None:
        del lines[at]
    else:
        head, rest = _split(lines[at])
        comment = _COMMENT.search(rest)
        lines[at] = f"{head} {value}{comment[0] if comment else ''}"
    return _join(lines)


def _find(lines: Sequence[str], start: int, end: int, indent: str, name: str) -> int | None:
    """Return the line of a key at an indentation."""
    for number in range(start, end):
        match = _LINE.match(lines[number])
        if match and match[1] == indent and match[2].strip("\"'") == name:
            return number
    return None


def _split(line: str) -> tuple[str, str]:
    """Return a line up to its colon, and what follows."""
    match = _LINE.match(line)
    rest = match[3] if match else ""
    return line[: len(line) - len(rest)], rest


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _find_end(lines: Sequence[str], start: int, end: int, indent: int) -> int:
    """Return where the lines end that are indented more deeply; comments after them are not."""
    last = start
    for number in range(start, end):
        if _is_content(lines[number]):
            if len(lines[number]) - len(lines[number].lstrip(" ")) <= indent:
                break
            last = number + 1
    return last


def _find_indent(lines: Sequence[str], start: int, end: int) -> str | None:
    content = (line for line in lines[start:end] if _is_content(line))
    first = next(content, None)
    return None if first is None else first[: len(first) - len(first.lstrip(" "))]


def _insert(lines: list[str], at: int, indent: str, names: Sequence[str], value: str) -> str:
    """Return the text with a key and the sections it needs, at the end of where it belongs."""
    new = [f"{indent}{'  ' * depth}{name}:" for depth, name in enumerate(names)]
    new[-1] += f" {value}"
    return _join([*lines[:at], *new, *lines[at:]])


def _join(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n" if lines else ""
