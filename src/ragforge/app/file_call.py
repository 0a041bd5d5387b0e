"""File call: which files a tool of another agent has read or changed, as its arguments say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

MAX_FILES = 10
MAX_PATH = 4_096
# Tools of all agents that open or change files, in small letters and without signs between words.
_FILE_TOOLS = frozenset(
    (
        *("read", "readfile", "edit", "multiedit", "write", "writefile", "replace"),
        *("notebookread", "notebookedit", "editfile", "applypatch"),
    )
)
# The first argument that is there names the file.
_PATHS = ("file_path", "notebook_path", "absolute_path", "path", "filePath", "absolutePath")
_HEADS = ("*** Update File: ", "*** Delete File: ", "*** Add File: ")


def list_files(tool: object, given: object, folder: str) -> tuple[str, ...]:
    """Return the files that a call in a folder reads or changes; none for any other tool.

    Each file has one path, however the call names it; links are not followed.
    """
    given = {"patch": given} if isinstance(given, str) else given  # a tool without a schema
    if not isinstance(tool, str) or not isinstance(given, dict):
        return ()
    name = "".join(sign for sign in tool[:100].casefold() if sign.isalnum())
    if name not in _FILE_TOOLS:
        return ()
    found = _read_patch(given) if name == "applypatch" else _read_path(given)
    paths = (os.path.normpath(os.path.join(folder, path)) for path in found)
    return tuple(dict.fromkeys(paths))[:MAX_FILES]


def _read_path(given: dict[str, Any]) -> Iterator[str]:
    values = (given.get(name) for name in _PATHS)
    path = next((value for value in values if isinstance(value, str) and value), "")
    if 0 < len(path) <= MAX_PATH:
        yield path


def _read_patch(given: dict[str, Any]) -> Iterator[str]:
    for patch in given.values():
        for line in patch.splitlines() if isinstance(patch, str) else ():
            for head in _HEADS:
                if line.startswith(head) and len(path := line[len(head) :].strip()) <= MAX_PATH:
                    yield path
