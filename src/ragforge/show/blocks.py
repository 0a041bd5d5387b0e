"""Blocks: Markdown that is still being written, cut where it will not change any more."""

from __future__ import annotations

import re

_FENCE = re.compile(r"( *)(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r"#{1,6}(\s|$)")


class Blocks:
    """Receives text as it comes and returns complete blocks, all of it and in order.

    A block ends with a blank line, unless what follows is indented and so belongs to it; a
    fence and a heading are blocks of their own. Every line is looked at once.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []  # of the block that is not finished
        self._begun = ""  # the line that is not finished
        self._fence: tuple[int, str] | None = None  # its indent, and what closes it
        self._blank = False  # whether the last line was

    def tail(self, lines: int) -> str:
        """Return the last lines of what is not finished yet, in its fence if it has one."""
        kept = self._lines[-lines:]
        if self._fence is not None and len(kept) < len(self._lines):
            kept = [self._lines[0], *kept]
        return "\n".join([*kept, self._begun])

    def feed(self, text: str) -> list[str]:
        """Take the next piece; return the blocks that are finished with it."""
        *lines, self._begun = (self._begun + text).split("\n")
        finished: list[str] = []
        for line in lines:
            finished += self._take(line.removesuffix("\r"))
        return finished

    def close(self) -> list[str]:
        """Return what is left: nothing follows."""
        finished = self._take(self._begun) if self._begun else []
        self._begun = ""
        self._fence = None
        return finished + self._end()

    def _take(self, line: str) -> list[str]:
        if self._fence is not None:
            return self._take_fenced(line)
        if not line.strip():
            self._blank = True
            self._lines += [line] if self._lines else []
            return []
        finished: list[str] = []
        fence = _find_fence(line)
        begins = self._blank or fence is not None or _HEADING.match(line)
        if begins and not line[0].isspace():
            finished = self._end()
        self._blank = False
        self._lines.append(line)
        self._fence = fence
        return finished + (self._end() if _HEADING.match(line) else [])

    def _take_fenced(self, line: str) -> list[str]:
        assert self._fence is not None
        self._lines.append(line)
        indent, mark = self._fence
        text = line.strip()
        if len(text) < len(mark) or text.strip(mark[0]):
            return []
        self._fence = None
        return self._end() if indent == 0 else []

    def _end(self) -> list[str]:
        block = "\n".join(self._lines).rstrip()
        self._lines = []
        self._blank = False
        return [block] if block else []


def _find_fence(line: str) -> tuple[int, str] | None:
    """Return the indent and the mark of a fence that a line opens."""
    found = _FENCE.fullmatch(line)
    if found is None or (found[2][0] == "`" and "`" in found[3]):
        return None
    return len(found[1]), found[2]
