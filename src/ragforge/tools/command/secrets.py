"""Secrets: files whose contents no command shows without permission, as read_file does not.

`holds_secrets` decides by the path, `has_secrets_inside` by the first 16 kB.
"""

from __future__ import annotations

import os
import re
from fnmatch import translate

from ragforge.brain.files.exclusions import VERSION_CONTROL
from ragforge.brain.files.secret_files import (
    HEAD_BYTES,
    SECRET_FOLDERS,
    has_secret_content,
    is_secret_file,
)
from ragforge.tools.confine import Root

# Names that may hold credentials; of these files, read_file decides by their content.
_DOUBTFUL = (
    *(".npmrc", "credentials.json", "secrets.json", "secrets.yml", "secrets.yaml", "secrets.toml"),
    "service-account*.json",
)
_DOUBTFUL_NAME = re.compile("|".join(map(translate, _DOUBTFUL)), re.IGNORECASE)
_VERSION_CONTROL = frozenset(map(str.lower, VERSION_CONTROL))
# Of git's own files, those that only name commits and paths. Others may hold credentials.
_PLAIN_IN_GIT = re.compile(
    r"HEAD|[A-Z]+_HEAD|packed-refs|description|refs/.*|hooks/[^/]*|info/(exclude|sparse-checkout)"
)


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
