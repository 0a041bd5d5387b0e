"""Secrets: files whose contents no command shows without permission, as read_file does not.

`holds_secrets` decides by the path, `has_secrets_inside` by the first 16 kB.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
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
from ragforge.tools.command.environment import find_program
from ragforge.tools.command.plan import NotAllowed, Stage, Walk
from ragforge.tools.confine import Root

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
