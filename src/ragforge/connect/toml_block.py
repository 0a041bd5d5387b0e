"""TOML blocks: lines at the end of a file, between two marks, that can be taken out again."""

from __future__ import annotations

import re

BEGIN = "# ragforge: begin; `ragforge disconnect` removes these lines"
END = "# ragforge: end"
_BLOCK = re.compile(
    rf"(?:\r?\n)?^{re.escape(BEGIN)}\r?\n.*?^{re.escape(END)}(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)


def add_block(text: str, lines: str) -> str:
    """Return the text with a block of lines at its end, instead of an earlier one."""
    text = remove_block(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + gap + newline.join([BEGIN, *lines.splitlines(), END]) + newline


def remove_block(text: str) -> str:
    """Return the text without its block."""
    return _BLOCK.sub("", text)
