"""Pastes: many lines that were pasted stand as one sign in the prompt, and arrive in full."""

from __future__ import annotations

FOLDED_LINES = 10


class Pastes:
    """The texts behind the signs of a terminal; an input that is recalled may hold them again."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """Return what stands for a pasted text: itself, or `[500 lines]` if it is long."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
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
        """Return a text with what its signs stand for."""
        for sign, pasted in self._texts.items():
            text = text.replace(sign, pasted)
        return text

    def find_sign_before(self, text: str) -> str:
        """Return the sign that a text ends with, or nothing."""
        return next((sign for sign in self._texts if text.endswith(sign)), "")
