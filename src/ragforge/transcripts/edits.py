"""Edits: which files a call writes, according to its arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from itertools import islice, takewhile
from pathlib import PurePosixPath
from typing import Any

from ragforge.domain.text import Json, split_words
from ragforge.patterns import compile_on_use
from ragforge.transcripts import fields
from ragforge.transcripts.record import RecordedChange

MAX_FILES = 100
"""Maximum number of files of one call."""
# Tools of all agents that write files, in small letters and without signs between words.
_EDITORS = split_words(
    """
    edit write multiedit notebookedit editnotebook editfile writefile replace replacefile
    strreplacefile strreplace create createfile strreplaceeditor strreplacebasededittool
    developertexteditor texteditor writetofile replaceinfile applydiff applieddiff insertcontent
    insert searchandreplace searchreplace strreplaceedit developerwrite developeredit delete
    deletefile filedeleted removefile movefile renamefile patch applypatch createnewfile
    replacefilecontent multireplacefilecontent writetofilewithdiff appendfile overwritefile
    """
)
# Names of arguments, written as the tools are. The first that is there names the file.
_PATHS = (
    *("filepath", "path", "notebookpath", "targetnotebook", "targetfile", "absolutepath"),
    *("relativepath", "relativeworkspacepath", "file", "filename"),
)
_MOVED = ("oldpath", "newpath", "destination", "destinationpath")
_PARTS = ("edits", "files", "changes", "operations", "batchDiffs")
_WHOLE = ("content", "file_text", "contents")  # the new content of a file
_PATCH_BEGINS = "*** Begin Patch"
_READS = frozenset(("view", "read", "undo_edit"))
_HEADS = {
    "*** Update File: ": False,
    "*** Delete File: ": False,
    "*** Move to: ": False,
    "*** Add File: ": True,
}
_FOLDER = compile_on_use(r"\s*cd\s+('[^'\n]+'|\"[^\"\n]+\"|[^\s'\"&;|]+)\s*&&")
MAX_NAME = 200
MAX_PATH = 4_096
"""A longer text is not a path: what a call writes is stored with every cursor."""


def find_edits(name: str, arguments: Json) -> tuple[RecordedChange, ...]:
    """Return the files that a call writes if it succeeds."""
    if isinstance(arguments, dict) and _is_editor(name[:MAX_NAME]):
        if fields.text(arguments, "command") in _READS:
            return ()
        if found := tuple(islice(_list_files(arguments), MAX_FILES)):
            return found
    if (patch := _find_patch(arguments)) is None:
        return ()
    folder = _find_folder(arguments, patch)
    return tuple(
        replace(one, path=folder + one.path) if _is_relative(one.path) else one
        for one in islice(_read_patch(patch), MAX_FILES)
    )


@lru_cache(maxsize=256)
def _is_editor(name: str) -> bool:
    """Tell whether a tool writes files; the names of MCP tools begin with the server's."""
    return _plain(name) in _EDITORS or _plain(name.rpartition("__")[2]) in _EDITORS


def _list_files(arguments: Mapping[str, Any]) -> Iterator[RecordedChange]:
    """Yield the files that arguments name: one, the two of a move, or those of its parts."""
    parts = [
        part for key in _PARTS if isinstance(arguments.get(key), list) for part in arguments[key]
    ]
    seen: set[str] = set()
    for given in (arguments, *(part for part in parts if isinstance(part, dict))):
        plain = {_plain(key): value for key, value in given.items()}
        names = [key for key in _PATHS if _is_path(plain.get(key))][:1]
        names += [key for key in _MOVED if _is_path(plain.get(key))]
        for number, path in enumerate(plain[key] for key in names):
            if path not in seen:
                seen.add(path)
                yield RecordedChange(path, after=None if number else _hash_whole(given))


def _is_path(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_PATH


def _is_relative(path: str) -> bool:
    return not path.startswith(("/", "~")) and path[1:2] != ":"


def _find_folder(arguments: Json, patch: str) -> str:
    """Return the folder that the paths of a patch are relative to, if the call names one."""
    given = arguments if isinstance(arguments, dict) else {}
    folders = [fields.text(given, key) for key in ("workdir", "working_directory", "cwd")]
    if (moved := _FOLDER.match(patch)) is not None:
        folders.append(moved[1].strip("'\""))
    path = PurePosixPath(*(folder for folder in folders if folder and _is_path(folder)))
    return "" if path == PurePosixPath(".") else f"{path}/"


def hash_text(text: str | None) -> str | None:
    """Return the hash of a file's content, as in `File.hash`."""
    if text is None:
        return None
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _plain(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def _hash_whole(arguments: Mapping[str, Any]) -> str | None:
    """Return the hash of a file that is completely written."""
    found = (arguments.get(key) for key in _WHOLE)
    return hash_text(next((text for text in found if isinstance(text, str)), None))


def _find_patch(value: Json) -> str | None:
    """Return a patch in the arguments, which may be the words of a command."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str) and _PATCH_BEGINS in part:
            return part
        if isinstance(part, dict | list):
            waiting += reversed(list(part.values()) if isinstance(part, dict) else part)
    return None


def _read_patch(patch: str) -> Iterator[RecordedChange]:
    """Yield the files of a patch; those that it adds have all their lines in it."""
    lines = patch[patch.index(_PATCH_BEGINS) :].split("\n")
    for number, line in enumerate(lines):
        for head, is_new in _HEADS.items():
            if line.startswith(head) and _is_path(path := line.removeprefix(head).strip()):
                yield RecordedChange(path, after=_hash_added(lines, number) if is_new else None)


def _hash_added(lines: list[str], number: int) -> str | None:
    added = takewhile(lambda line: line.startswith("+"), islice(lines, number + 1, None))
    return hash_text("".join(f"{line[1:]}\n" for line in added))
