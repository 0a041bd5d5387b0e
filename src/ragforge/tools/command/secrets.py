"""Secrets: files whose contents no command shows without permission, as read_file does not.

`holds_secrets` is the only question that the decider asks; `SECRET_NAMES` are the same names as
patterns, for programs that walk directories themselves.
"""

from __future__ import annotations

import re
from fnmatch import translate

from ragforge.brain.files.names import VERSION_CONTROL
from ragforge.brain.files.secret_files import NAME_PATTERNS, is_secret_file

# Names that may hold credentials; of these files, read_file decides by their content.
_DOUBTFUL = (
    *(".npmrc", "credentials.json", "secrets.json", "secrets.yml", "secrets.yaml"),
    "service-account*.json",
)
SECRET_NAMES = (*NAME_PATTERNS, *_DOUBTFUL)
_DOUBTFUL_NAME = re.compile("|".join(map(translate, _DOUBTFUL)), re.IGNORECASE)
# Of git's own files, those that only name commits and paths. Others may hold credentials.
_PLAIN_IN_GIT = re.compile(
    r"HEAD|[A-Z]+_HEAD|packed-refs|description|refs/.*|hooks/[^/]*|info/(exclude|sparse-checkout)"
)


def holds_secrets(path: str) -> bool:
    """Tell whether a file, by its path in the project, may hold keys, passwords or credentials."""
    *folders, name = path.split("/")
    for depth, folder in enumerate(folders):
        if folder in VERSION_CONTROL:
            inner = "/".join([*folders[depth + 1 :], name])
            return folder != ".git" or not _PLAIN_IN_GIT.fullmatch(inner)
    return is_secret_file(path) or _DOUBTFUL_NAME.fullmatch(name) is not None


def is_version_control(path: str) -> bool:
    """Tell whether a path in the project is of a version control system itself."""
    return not VERSION_CONTROL.isdisjoint(path.split("/"))
