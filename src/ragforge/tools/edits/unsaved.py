"""Unsaved: a file as an editor has it, in the bytes that it would have on the disk."""

from __future__ import annotations

from ragforge.errors import InputError
from ragforge.tools.edits.text import EditableText

_MARK = "\ufeff"


def merge_unsaved(path: str, saved: bytes, text: str) -> bytes:
    """Return the bytes of a file with the text of an editor, encoded as the saved one is.

    Editors differ in line ends, marks and the last line's end: those stay as they are saved.
    What is not UTF-8, an editor may have misread: that stays as it is saved, too.
    """
    try:
        kept = EditableText.of(path, saved)
    except InputError:  # it is binary
        return saved
    if kept.encoding != "utf-8":
        return saved
    content = text.removeprefix(_MARK)
    if kept.crlf or "\r\n" not in kept.content:
        content = content.replace("\r\n", "\n")
    if kept.content.endswith("\n") and content and not content.endswith("\n"):
        content += "\n"
    return kept.with_content(content).to_bytes()
