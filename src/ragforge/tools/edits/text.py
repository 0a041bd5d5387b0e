"""Text of a file: unchanged parts are written back byte for byte."""

from __future__ import annotations

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import replace

from ragforge.brain.files.content_check import is_binary
from ragforge.errors import InputError
from ragforge.records import dataclass


@dataclass(frozen=True, slots=True)
class EditableText:
    """A file's text with `\\n` between lines, and how it is encoded on disk."""

    content: str
    encoding: str = "utf-8"
    mark: bytes = b""  # before the first letter
    crlf: bool = False

    @classmethod
    def of(cls, path: str, data: bytes) -> EditableText:
        """Decode bytes. Raises InputError if they are not text."""
        if is_binary(data):
            raise InputError(f"{path!r} cannot be edited: it is binary.")
        for mark, encoding in _MARKS:
            if data.startswith(mark):
                return _unify_line_ends(
                    data[len(mark) :].decode(encoding, "surrogatepass"), encoding, mark
                )
        try:
            return _unify_line_ends(data.decode("utf-8"), "utf-8", b"")
        except UnicodeDecodeError:
            return _unify_line_ends(data.decode("latin-1"), "latin-1", b"")

    def with_content(self, content: str) -> EditableText:
        return replace(self, content=content)

    def to_bytes(self) -> bytes:
        """Return the bytes for the disk. Raises InputError if the encoding lacks a character."""
        text = self.content.replace("\n", "\r\n") if self.crlf else self.content
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            letter = text[error.start]
            raise InputError(f"The file is in {self.encoding}, which has no {letter!r}.") from error


_MARKS = (
    (BOM_UTF8, "utf-8"),
    (BOM_UTF16_LE, "utf-16-le"),
    (BOM_UTF16_BE, "utf-16-be"),
)


def _unify_line_ends(text: str, encoding: str, mark: bytes) -> EditableText:
    only_crlf = "\r\n" in text and text.count("\r\n") == text.count("\n")
    content = text.replace("\r\n", "\n") if only_crlf else text
    return EditableText(content, encoding, mark, only_crlf)
