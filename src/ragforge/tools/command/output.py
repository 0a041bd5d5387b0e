"""Output: find file locations in the output of grep, rg, git grep and lists of files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TypeAlias

from ragforge.records import dataclass

IsFile: TypeAlias = Callable[[str], bool]

_COLOUR = re.compile(r"\x1b(?:\[[0-9;:?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_NUMBER = re.compile(r":(\d{1,9}):")
_NUMBERED = re.compile(r"(\d{1,9}):(.*)", re.DOTALL)
_BINARY = re.compile(r"(?:grep: )?(?:Binary file .* matches|.*: binary file matches.*)\.?")
_COUNTED = re.compile(r"\s*\d[\d.,]*[KMGTP]?\s+(\S.*)")
_ESCAPES = re.compile(r'\\([0-7]{3}|[abfnrtv"\\])')
_LETTERS = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


@dataclass(frozen=True, slots=True)
class OutputLocation:
    """A file that a command named, with the line where it named one."""

    path: str  # relative to the project, with /
    line: int | None = None
    text: str = ""


def find_locations(
    output: str, is_file: IsFile, cwd: str = "", root: str = ""
) -> list[OutputLocation]:
    """Return the locations that the output names, in its order, each once.

    `is_file` gets paths relative to the project. It decides where a name with colons in it
    ends, and whether a line is a name at all. Context lines, separators and notes about
    binary files are ignored.
    """
    reader = _OutputReader(is_file, cwd, root)
    plain = _COLOUR.sub("", output).replace("\r\n", "\n")
    found = reader.read_records(plain) if "\0" in plain else reader.read_lines(plain.split("\n"))
    return list(dict.fromkeys(found))


class _OutputReader:
    def __init__(self, is_file: IsFile, cwd: str, root: str) -> None:
        self._cwd = cwd.replace("\\", "/")
        self._root = root.replace("\\", "/").rstrip("/")
        self._is_file = cache(is_file)

    def read_lines(self, lines: Iterable[str]) -> Iterator[OutputLocation]:
        heading: str | None = None
        for line in lines:
            if not line.strip() or line == "--" or _BINARY.fullmatch(line):
                heading = heading if line.strip() else None
            elif numbered := self._read_numbered(line):
                yield numbered
            elif heading is not None and (under := _NUMBERED.fullmatch(line)):
                yield OutputLocation(heading, int(under[1]), under[2])
            elif path := self._read_listed(line):
                heading = path
                yield OutputLocation(path)

    def read_records(self, output: str) -> Iterator[OutputLocation]:
        """Yield locations for names that end in NUL: lists of files, or matches after each name."""
        pieces = output.split("\0")
        position = 0
        while position < len(pieces):
            path = self._resolve(pieces[position].lstrip("\n"))
            position += 1
            if path is None:
                continue
            rest = pieces[position] if position < len(pieces) else ""
            if re.fullmatch(r"\d{1,9}", rest) and position + 1 < len(pieces):
                text, _, following = pieces[position + 1].partition("\n")
                pieces[position + 1] = following
                yield OutputLocation(path, int(rest), text)
                position += 1
            elif found := _NUMBERED.match(rest):
                text, _, following = found[2].partition("\n")
                pieces[position] = following
                yield OutputLocation(path, int(found[1]), text)
            else:
                yield OutputLocation(path)

    def _read_numbered(self, line: str) -> OutputLocation | None:
        """Return the location in `name:line:text`, where the name is that of a file."""
        for found in _NUMBER.finditer(line):
            if path := self._resolve(line[: found.start()]):
                return OutputLocation(path, int(found[1]), line[found.end() :])
        return None

    def _read_listed(self, line: str) -> str | None:
        """Return the file that a line of a list names, with or without a count before it."""
        if path := self._resolve(line):
            return path
        counted = _COUNTED.fullmatch(line)
        return self._resolve(counted[1]) if counted else None

    def _resolve(self, name: str) -> str | None:
        """Return the path of a file relative to the project; None if it does not exist."""
        if name.startswith('"') and name.endswith('"') and len(name) > 1:
            name = _unquote(name[1:-1])
        for candidate in (name, name.partition(":")[2]):  # HEAD:src/app.py is of a revision
            if path := self._make_relative(candidate):
                return path
        return None

    def _make_relative(self, name: str) -> str | None:
        if not name or "\n" in name:
            return None
        path = name.replace("\\", "/") if "/" not in name else name
        if self._root and path.startswith(f"{self._root}/"):
            path = path[len(self._root) + 1 :]
        elif not path.startswith("/"):
            path = posixpath.join(self._cwd, path)
        path = posixpath.normpath(path)
        if path.startswith(("/", "../")) or path in (".", ".."):
            return None
        return path if self._is_file(path) else None


def _unquote(text: str) -> str:
    """Undo the quoting of git for names that are not plain."""
    out = bytearray()
    end = 0
    for found in _ESCAPES.finditer(text):
        out += text[end : found.start()].encode()
        code = found[1]
        out.append(int(code, 8) & 0xFF if code.isdigit() else _LETTERS[code])
        end = found.end()
    out += text[end:].encode()
    return out.decode(errors="replace")
