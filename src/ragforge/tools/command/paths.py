"""Paths: what a line may read, which is what lies inside the project."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from ragforge.tools.command.plan import NotAllowed
from ragforge.tools.command.shell import Word

MAX_EXPANDED = 5_000
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Place:
    """The project and the directory in it where a command runs; both are real paths."""

    root: str
    cwd: str


def is_inside(root: str, path: str) -> bool:
    """Tell whether a real path is the root or below it."""
    return path == root or path.startswith(root if root.endswith(os.sep) else root + os.sep)


def shown(text: str) -> str:
    """Return a text for a reason: quoted and short."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def check_path(place: Place, text: str) -> None:
    """Raise NotAllowed unless the path, its links resolved, is a file or directory inside.

    One that does not exist may be named: the program will say so itself.
    """
    if text == "/dev/null":
        return
    real = os.path.realpath(os.path.join(place.cwd, text))
    if not is_inside(place.root, real):
        raise NotAllowed(f"{shown(text)} is outside the project")
    try:
        mode = os.stat(real).st_mode
    except (OSError, ValueError):
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise NotAllowed(f"{shown(text)} is neither a file nor a directory")


def directory(place: Place, text: str) -> str:
    """Return the real path of a directory inside the project. Raises NotAllowed."""
    check_path(place, text)
    real = os.path.realpath(os.path.join(place.cwd, text))
    if not os.path.isdir(real):
        raise NotAllowed(f"{shown(text)} is not a directory")
    return real


def as_path(text: str) -> str:
    """Return a path in a form that no program can take for an option."""
    return f"./{text}" if text.startswith("-") and text != "-" else text


def expanded(place: Place, word: Word) -> list[str]:
    """Return the names that an unquoted pattern matches, sorted, or the word itself.

    As in a shell, a name that starts with a dot is matched by a pattern that does. Only
    directories inside the project are listed.
    """
    if word.glob is None:
        return [word.text]
    names = sorted(_matches(place, word.glob))
    return names or [word.text]


def _matches(place: Place, pattern: str) -> Iterator[str]:
    start = "/" if pattern.startswith("/") else ""
    parts = [part for part in pattern.split("/") if part]
    for count, name in enumerate(_below(place, start, parts)):
        if count >= MAX_EXPANDED:
            raise NotAllowed(f"{shown(pattern)} matches more than {MAX_EXPANDED} files")
        yield name


def _below(place: Place, prefix: str, parts: list[str]) -> Iterator[str]:
    if not parts:
        yield prefix.rstrip("/") or prefix
        return
    part, *rest = parts
    if not any(character in part for character in "*?["):
        plain = re.sub(r"\\(.)", r"\1", part)
        if os.path.lexists(os.path.join(place.cwd, prefix, plain)):
            yield from _below(place, f"{prefix}{plain}/", rest)
        return
    folder = os.path.realpath(os.path.join(place.cwd, prefix))
    if not is_inside(place.root, folder):
        raise NotAllowed(f"{shown(prefix or '.')} is outside the project")
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
    except OSError:
        return
    matches = _compiled(part)
    for name in names:
        if name.startswith(".") and not part.startswith((".", "\\.")):
            continue
        if matches.fullmatch(name) and (not rest or os.path.isdir(os.path.join(folder, name))):
            yield from _below(place, f"{prefix}{name}/", rest)


def _compiled(part: str) -> re.Pattern[str]:
    """Return one part of a pattern as a regular expression; `**` is `*`, as in a plain shell."""
    out: list[str] = []
    position = 0
    while position < len(part):
        character = part[position]
        position += 1
        if character == "*":
            if out[-1:] != ["[^/]*"]:
                out.append("[^/]*")
        elif character == "?":
            out.append("[^/]")
        elif character == "\\" and position < len(part):
            out.append(re.escape(part[position]))
            position += 1
        elif character == "[" and (found := _CLASS.match(part, position)):
            negated, members = found[1], found[2]
            safe = re.sub(r"\\(.)", lambda m: re.escape(m[1]), members)
            out.append(f"[{'^' if negated else ''}{safe}]")
            position = found.end()
        else:
            out.append(re.escape(character))
    try:
        return re.compile("".join(out), re.DOTALL)
    except re.error:
        raise NotAllowed(f"the pattern {shown(part)} is not understood") from None


_CLASS = re.compile(r"([!^]?)((?:\\.|[\w.,:;@%+=~ -])+)\]")
