"""Edits: which files a call writes, as its arguments say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from itertools import islice, takewhile
from typing import Any

from ragforge.domain.text import Json
from ragforge.transcripts.fields import get_text
from ragforge.transcripts.record import FileChange

MOST_FILES = 100
"""The most files of one call."""
# Tools of all agents that write files, in small letters and without signs between words.
_EDITORS = frozenset(
    (
        *("edit", "write", "multiedit", "notebookedit", "patch", "applypatch", "editfile"),
        *("writefile", "replace", "replacefile", "strreplacefile", "strreplace", "create"),
        *("strreplaceeditor", "strreplacebasededittool", "developertexteditor", "texteditor"),
        *("writetofile", "replaceinfile", "applydiff", "insertcontent", "searchandreplace"),
        *("searchreplace", "deletefile", "createfile", "insert", "developerwrite"),
        *("developeredit", "strreplaceedit"),
    )
)
_PATHS = (
    *("file_path", "filePath", "path", "notebook_path", "target_file", "absolute_path"),
    *("file", "filename"),
)
_WHOLE = ("content", "file_text", "contents")  # what a file then holds
_PATCH_BEGINS = "*** Begin Patch"
_READS = frozenset(("view", "read", "undo_edit"))
_HEADS = {
    "*** Update File: ": False,
    "*** Delete File: ": False,
    "*** Move to: ": False,
    "*** Add File: ": True,
}


def find_edits(name: str, arguments: Json) -> tuple[FileChange, ...]:
    """Return the files that a call writes if it succeeds."""
    if (patch := _find_patch(arguments)) is not None:
        return tuple(islice(_read_patch(patch), MOST_FILES))
    if not isinstance(arguments, dict) or _plain(name) not in _EDITORS:
        return ()
    if get_text(arguments, "command") in _READS:
        return ()
    path = next(filter(None, (get_text(arguments, key) for key in _PATHS)), None)
    return () if path is None else (FileChange(path, after=_hash_whole(arguments)),)


def hash_text(text: str | None) -> str | None:
    """Return the hash of a file's content, as files of a project have it."""
    if text is None:
        return None
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _plain(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def _hash_whole(arguments: Mapping[str, Any]) -> str | None:
    """Return the hash of a file that is written as a whole."""
    found = (arguments.get(key) for key in _WHOLE)
    return hash_text(next((text for text in found if isinstance(text, str)), None))


def _find_patch(value: Json) -> str | None:
    """Return a patch in the arguments, which may be the words of a command."""
    if isinstance(value, str):
        return value if _PATCH_BEGINS in value else None
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next(filter(None, (_find_patch(part) for part in parts)), None)


def _read_patch(patch: str) -> Iterator[FileChange]:
    """Yield the files of a patch; those that it adds have all their lines in it."""
    lines = patch[patch.index(_PATCH_BEGINS) :].split("\n")
    for number, line in enumerate(lines):
        for head, is_new in _HEADS.items():
            if line.startswith(head) and (path := line.removeprefix(head).strip()):
                yield FileChange(path, after=_hash_added(lines, number) if is_new else None)


def _hash_added(lines: list[str], number: int) -> str | None:
    added = takewhile(lambda line: line.startswith("+"), islice(lines, number + 1, None))
    return hash_text("".join(f"{line[1:]}\n" for line in added))
