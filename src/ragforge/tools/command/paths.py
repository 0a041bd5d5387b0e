"""Paths: a line may only read files inside the project.

`holds_secrets` decides by the path, `has_secrets_inside` by the first 16 kB.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import translate

from ragforge.brain.files.exclusions import (
    HEAD_BYTES,
    MARKS,
    SECRET_FOLDERS,
    VERSION_CONTROL,
    has_secret_content,
    is_secret_file,
    may_have_credentials,
)
from ragforge.domain.text import shorten_end
from ragforge.errors import InputError, OutsideProject
from ragforge.records import dataclass
from ragforge.tools.command.environment import find_program
from ragforge.tools.command.plan import NotAllowed, Stage, Walk, Word
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


# Names that may hold credentials; of these files, read_file decides by their content.
_DOUBTFUL = """
    .npmrc credentials.json secrets.json secrets.yml secrets.yaml secrets.toml service-account*.json
    """.split()  # noqa: SIM905
_DOUBTFUL_NAME = re.compile("|".join(map(translate, _DOUBTFUL)), re.IGNORECASE)
_VERSION_CONTROL = frozenset(map(str.lower, VERSION_CONTROL))
# Of git's own files, those that only name commits and paths. Others may hold credentials.
_PLAIN_IN_GIT = re.compile(
    r"HEAD|[A-Z]+_HEAD|packed-refs|description|refs/.*|hooks/[^/]*|info/(exclude|sparse-checkout)"
)

MAX_NAMES = 1_000
_SPECIAL = re.compile(r"([*?\[\]{}\\!])")
_COUNTED = re.compile(rb"([^\0]+)\0(\d+)\n")
# All files are listed, each with whether it has a mark. Ignore files outside the project do not
# count: the program may not see them.
_OPTIONS = """
    --no-config --no-messages --count --include-zero --max-count=1 --null --text --fixed-strings
    --no-ignore-global --no-ignore-parent
    """.split()  # noqa: SIM905


def holds_secrets(path: str) -> bool:
    """Tell whether a file, by its path in the project, may hold keys, passwords or credentials."""
    *folders, name = path.split("/")
    for depth, folder in enumerate(folders):
        if folder.lower() in _VERSION_CONTROL:
            inner = "/".join([*folders[depth + 1 :], name])
            return folder.lower() != ".git" or not _PLAIN_IN_GIT.fullmatch(inner)
    return is_secret_file(path) or _DOUBTFUL_NAME.fullmatch(name) is not None


def has_secrets_inside(root: Root, path: str) -> bool:
    """Tell whether a file of the project is secret by its content; not if it cannot be read."""
    try:
        with root.open(path) as file:
            return has_secret_content(path, file.read(HEAD_BYTES))
    except OSError:
        return False


def is_version_control(path: str) -> bool:
    """Tell whether a path in the project is of a version control system itself."""
    return not _VERSION_CONTROL.isdisjoint(path.lower().split("/"))


def is_secret_folder(root: Root, path: str) -> bool:
    """Tell whether a folder is made for credentials, or has nothing but secret files."""
    if not SECRET_FOLDERS.isdisjoint(path.lower().split("/")):
        return True
    found = False
    for folder, _, names in os.walk(root.full(path)):
        for name in names:
            if not holds_secrets(os.path.relpath(os.path.join(folder, name), root.path)):
                return False
            found = True
    return found


def leave_out_secrets(stage: Stage, root: str, seconds: float) -> tuple[Stage, list[str]]:
    """Return a program with options that leave out secret files, and the paths of these.

    Programs leave out files by their names, so other files of the same name are left out too.
    Raises NotAllowed if the files cannot be checked.
    """
    walk = stage.walk
    if walk is None or not walk.folders:
        return stage, []
    found = find_secrets(walk, Root(root), seconds)
    names = sorted({os.path.basename(path) for path in found})
    if len(names) > MAX_NAMES:
        raise NotAllowed("the directories have too many files that may hold secrets")
    options = [walk.option + _SPECIAL.sub(r"\\\1", name) for name in names]
    split = len(stage.arguments) - walk.followed_by
    words = (*stage.arguments[:split], *options, *stage.arguments[split:])
    return replace(stage, arguments=words), found


def find_secrets(walk: Walk, root: Root, seconds: float) -> list[str]:
    """Return the paths of the files that may hold secrets, by path or by their first 16 kB."""
    found = []
    for listed in _COUNTED.finditer(_list_files(walk.folders, walk.seen, root, seconds)):
        path = os.path.normpath(os.fsdecode(listed[1]))
        looks_so = listed[2] != b"0" or may_have_credentials(path)
        if holds_secrets(path) or (looks_so and has_secrets_inside(root, path)):
            found.append(path)
    return found


def _list_files(folders: Sequence[str], seen: Sequence[str], root: Root, seconds: float) -> bytes:
    """Return what ripgrep prints of every file in the folders: its path, and whether it has a mark.

    Raises NotAllowed.
    """
    ripgrep = find_program("rg", root.path)
    if ripgrep is None:
        raise NotAllowed("ripgrep is missing, which looks for secret files before a search")
    marks = [word for mark in MARKS for word in ("-e", mark.decode())]
    left_out = [f"--iglob=!{name}" for name in sorted(VERSION_CONTROL)]
    places = [os.path.join(".", folder) for folder in folders]
    command = [ripgrep, *_OPTIONS, *marks, *seen, *left_out, "--", *places]
    try:
        done = subprocess.run(
            command,
            cwd=root.path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=max(seconds, 0.1),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotAllowed("the directories are too large to look for secret files first") from None
    return done.stdout
