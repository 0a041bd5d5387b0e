"""Preprocessor: the source with the first branch of each condition only.

Grammars see all branches at once, which together are often no valid code: two heads of one
class, an `else` in each branch.
"""

from __future__ import annotations

import re

_DIRECTIVE = re.compile(rb"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b")
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(?:if|ifdef|ifndef)\b", re.MULTILINE)


def first_branches(data: bytes) -> bytes:
    """Return the source with directives and other branches blanked, line for line."""
    if not _CONDITION.search(data):
        return data
    lines = data.split(b"\n")
    left_out: list[bool] = []  # for each open condition, whether we are past its first branch
    for number, line in enumerate(lines):
        directive = _DIRECTIVE.match(line)
        keyword = directive.group(1) if directive else b""
        if keyword.startswith(b"if"):
            left_out.append(bool(left_out) and left_out[-1])
        elif keyword == b"endif" and left_out:
            left_out.pop()
        elif keyword and left_out:
            left_out[-1] = True
        if keyword or (left_out and left_out[-1]):
            lines[number] = b" " * len(line)
    return b"\n".join(lines)
