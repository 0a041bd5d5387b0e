"""Configure: change one setting in the user's own configuration file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragforge.config import load_settings
from ragforge.config.dotted_keys import get_value, list_keys, resolve_key
from ragforge.config.files import find_user_file, name_user_file, read_text
from ragforge.errors import InputError, SettingsError
from ragforge.private_files import make_private_folder, replace_file
from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting as it is now, and what hides the change."""

    key: str
    value: object
    file: Path
    origin: str  # where the value in force comes from


def set_setting(cwd: Path, key: str, text: str | None) -> SettingChange:
    """Set a setting in the user's file, or remove it from there if the text is None.

    Everything else in the file stays as it is. Raises SettingsError for a key or a value that is
    wrong, and InputError if the file cannot be changed; then it is as it was.
    """
    name = resolve_key(key)
    if name not in list_keys():
        load_settings(cwd, {key: text or ""})  # it says which keys are like it
        raise SettingsError(f"There is no setting {key}. `ragforge config show` lists all.")
    path = find_user_file(cwd, os.environ) or name_user_file()
    before = read_text(path, str(path)) if path.exists() else ""
    value = None if text is None else _format_value(cwd, name, text)
    after = set_key(before, name.split("."), value)
    if after is None or _parse(after) != _change(_parse(before), name.split("."), value):
        raise InputError(f"{path} cannot be edited automatically. Set {name} there by hand.")
    if after != before:
        _write(path, before, after, cwd)
    loaded = load_settings(cwd)
    return SettingChange(name, get_value(loaded.settings, name), path, loaded.origins[name])


def _format_value(cwd: Path, key: str, text: str) -> str:
    """Return a value as YAML, after checking it. Raises SettingsError."""
    import yaml

    try:
        read = yaml.safe_load(text)
    except yaml.YAMLError:
        read = text
    value = read if isinstance(read, bool | int | float) else text
    if value is not text:
        try:
            load_settings(cwd, {key: value})
        except SettingsError:
            value = text  # it looks like a number, and is none
    load_settings(cwd, {key: value})
    dumped = yaml.safe_dump(value, default_flow_style=True, width=len(text) + 100)
    return str(dumped).removesuffix("...\n").strip()


def _parse(text: str) -> dict[str, Any]:
    from ragforge.config.mapping import parse

    return parse(text, "the changed file")


def _change(content: Mapping[str, Any], names: list[str], value: str | None) -> dict[str, Any]:
    """Return what a file should say after the change."""
    first, *rest = names
    new = dict(content)
    if rest:
        inner = _change(new.get(first) or {}, rest, value)
        if value is not None or first in new:
            new[first] = inner or None
    elif value is None:
        new.pop(first, None)
    else:
        new[first] = _parse(f"value: {value}")["value"]
    return new


def _write(path: Path, before: str, after: str, cwd: Path) -> None:
    try:
        make_private_folder(path.parent)
        replace_file(str(path.resolve()), after.encode())
        try:
            load_settings(cwd)
        except SettingsError:
            replace_file(str(path.resolve()), before.encode())
            raise
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error


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
