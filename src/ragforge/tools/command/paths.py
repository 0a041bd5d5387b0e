"""Paths: a line may only read files inside the project."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence

from ragforge.domain.text import shorten_end
from ragforge.errors import InputError, OutsideProject
from ragforge.records import dataclass
from ragforge.tools.command.plan import NotAllowed, Word
from ragforge.tools.command.secrets import (
    has_secrets_inside,
    holds_secrets,
    is_secret_folder,
    is_version_control,
)
from ragforge.tools.confine import Root

MAX_EXPANDED = 5_000
MAX_LISTED = 50_000
"""How many names are checked for one pattern."""
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class WorkingDirectory:
    """The project and the directory in it where a command runs, a real path."""

    root: Root
    cwd: str
    describes: bool = False  # the program shows names and sizes of files, not their contents


def quote_short(text: str) -> str:
    """Return a text quoted and shortened, for a message."""
    return repr(shorten_end(text, _SHOWN))


def check_path(place: WorkingDirectory, text: str) -> None:
    """Raise NotAllowed unless the path, its links resolved, is a file or directory inside.

    A file that may hold secrets, by its path or its first 16 kB, may only be described. One that
    does not exist may be named: the program will say so itself.
    """
    if text == "/dev/null":
        return
    real = _resolve(place, text)
    inside = os.path.relpath(real, place.root.path)
    try:
        mode = os.stat(real).st_mode
    except OSError:
        mode = stat.S_IFREG
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise NotAllowed(f"{quote_short(text)} is neither a file nor a directory")
    if place.describes or stat.S_ISDIR(mode):
        return
    if holds_secrets(inside) or has_secrets_inside(place.root, inside):
        raise NotAllowed(f"{quote_short(text)} may hold secrets")


def check_walks(place: WorkingDirectory, names: Sequence[str]) -> tuple[str, ...]:
    """Return the directories among the names that a program may walk, relative to the project.

    Raises NotAllowed if one is made for secrets, or is that of a version control system.
    """
    folders = []
    for name in names:
        real = _resolve(place, name)
        inside = os.path.relpath(real, place.root.path)
        if not os.path.isdir(real):
            continue
        if is_version_control(inside):
            raise NotAllowed(f"{quote_short(name)} is git's own; use git to look at it")
        if is_secret_folder(place.root, inside):
            raise NotAllowed(f"what is in {quote_short(name)} may hold secrets")
        folders.append(inside)
    return tuple(folders)


def is_directory(place: WorkingDirectory, text: str) -> bool:
    """Tell whether a path is that of a directory."""
    return os.path.isdir(os.path.join(place.cwd, text))


def _resolve(place: WorkingDirectory, text: str) -> str:
    try:
        return place.root.real(text, place.cwd)
    except OutsideProject:
        raise NotAllowed(f"{quote_short(text)} is outside the project") from None
    except InputError:
        raise NotAllowed(f"{quote_short(text)} is not a valid path") from None


def resolve_directory(place: WorkingDirectory, text: str) -> str:
    """Return the real path of a directory inside the project. Raises NotAllowed."""
    real = _resolve(place, text)
    if not os.path.isdir(real):
        raise NotAllowed(f"{quote_short(text)} is not a directory")
    return real


def as_path(text: str) -> str:
    """Return a path in a form that no program can take for an option."""
    return f"./{text}" if text.startswith("-") and text != "-" else text


def expand_pattern(place: WorkingDirectory, word: Word) -> list[str]:
    """Return the names that an unquoted pattern matches, sorted, or the word itself.

    As in a shell, a name that starts with a dot is matched by a pattern that does. Only
    directories inside the project are listed.
    """
    if word.glob is None:
        return [word.text]
    names = sorted(_match_names(place, word.glob))
    return names or [word.text]


def _match_names(place: WorkingDirectory, pattern: str) -> Iterator[str]:
    start = "/" if pattern.startswith("/") else ""
    parts = [part for part in pattern.split("/") if part]
    end = "/" if pattern.endswith("/") else ""
    for count, name in enumerate(_Expansion(place, pattern).below(start, parts)):
        if count >= MAX_EXPANDED:
            raise NotAllowed(f"{quote_short(pattern)} matches more than {MAX_EXPANDED} files")
        if not end or os.path.isdir(os.path.join(place.cwd, name)):
            yield f"{name}{end}"


class _Expansion:
    """The expansion of one pattern; in a large tree it is given up."""

    def __init__(self, place: WorkingDirectory, pattern: str) -> None:
        self._place = place
        self._pattern = pattern
        self._listed = 0

    def below(self, prefix: str, parts: list[str]) -> Iterator[str]:
        """Yield the names that begin with a prefix and match the parts behind it."""
        if not parts:
            yield prefix.rstrip("/") or prefix
            return
        part, *rest = parts
        if not any(character in part for character in "*?["):
            plain = re.sub(r"\\(.)", r"\1", part)
            if os.path.lexists(os.path.join(self._place.cwd, prefix, plain)):
                yield from self.below(f"{prefix}{plain}/", rest)
            return
        folder = _resolve(self._place, prefix or ".")
        matches = _compile_part(part)
        for name in self._names(folder):
            if name.startswith(".") and not part.startswith((".", "\\.")):
                continue
            if matches.fullmatch(name) and (not rest or os.path.isdir(os.path.join(folder, name))):
                yield from self.below(f"{prefix}{name}/", rest)

    def _names(self, folder: str) -> list[str]:
        names = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    names.append(entry.name)
                    self._listed += 1
                    if self._listed > MAX_LISTED:
                        raise NotAllowed(
                            f"{quote_short(self._pattern)} would look at too many files"
                        )
        except OSError:
            return []
        return sorted(names)


def _compile_part(part: str) -> re.Pattern[str]:
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
        raise NotAllowed(f"the pattern {quote_short(part)} is not understood") from None


_CLASS = re.compile(r"([!^]?)((?:\\.|[\w.,:;@%+=~ -])+)\]")
