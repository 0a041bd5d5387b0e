"""Pastes: many lines that were pasted stand as one sign in the prompt, and arrive in full."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from ragforge.domain.chat import IMAGE_ENDINGS

FOLDED_LINES = 10


def name_picture(file: Path) -> str:
    """Return how a question names a picture."""
    return f'@"{file}" ' if " " in str(file) else f"@{file} "


def find_picture(text: str) -> Path | None:
    """Return the picture whose path a text is, quoted, escaped or as an address."""
    path = text.strip()
    if path[:1] in ("'", '"') and path[-1:] == path[:1]:
        path = path[1:-1]
    elif path.startswith("file://"):
        path = unquote(path.removeprefix("file://"))
    else:
        path = path.replace("\\ ", " ")
    if "\n" in path or not path.lower().endswith(IMAGE_ENDINGS):
        return None
    file = Path(path).expanduser()
    return file if file.is_absolute() and file.is_file() else None


class Pastes:
    """The texts behind the signs of a terminal; an input that is recalled may hold them again."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """Return a pasted text, or its sign, such as `[500 lines]`, if it is long.

        The path of a picture, as a terminal writes it when a file is dropped, becomes its name.
        """
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if picture := find_picture(text):
            return name_picture(picture)
        many = text.rstrip("\n").count("\n") + 1
        if many < FOLDED_LINES:
            return text
        sign, number = f"[{many:,} lines]", 1
        while self._texts.get(sign, text) != text:
            number += 1
            sign = f"[{many:,} lines, {number}]"
        self._texts[sign] = text
        return sign

    def expand(self, text: str) -> str:
        """Return a text with the pasted texts in place of their signs."""
        for sign, pasted in self._texts.items():
            text = text.replace(sign, pasted)
        return text

    def find_sign_before(self, text: str) -> str:
        """Return the sign that a text ends with, or nothing."""
        return next((sign for sign in self._texts if text.endswith(sign)), "")
