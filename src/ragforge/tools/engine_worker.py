"""A search in Python: looks into the files it is given and prints what `rg --json` would.

python -m ragforge.tools.engine_worker lines|words i|s <regex> <file>...
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Iterator

from ragforge.brain.files.content_check import decode

SECONDS_A_FILE = 2.0
TOO_COSTLY = "the pattern takes too long here"


class TooLong(Exception):
    """A pattern takes too long for a file."""


def main() -> int:
    mode, case, pattern, *paths = sys.argv[1:]
    try:
        regex = re.compile(pattern, re.IGNORECASE if case == "i" else 0)
    except (re.error, RecursionError, OverflowError) as error:
        sys.stderr.write(f"{error} (as Python reads it)\n")
        return 2
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _too_long)
    out = sys.stdout.buffer
    for path in paths:
        try:
            found = _guarded(path, regex, mode)
        except TooLong:
            sys.stderr.write(f"{path}: {TOO_COSTLY}\n")
            continue
        except OSError as error:
            sys.stderr.write(f"{path}: {error}\n")
            continue
        if found:
            out.write("\n".join(found).encode("utf-8", "replace") + b"\n")
            out.flush()
    if mode == "lines":
        out.write(b'{"type": "summary", "data": {}}\n')
    out.flush()
    return 0


def _too_long(*_: object) -> None:
    raise TooLong


def _guarded(path: str, regex: re.Pattern[str], mode: str) -> list[str]:
    """Look into a file, but not for ever; where there is no alarm, the caller's time counts."""
    with open(path, "rb") as file:
        text = decode(file.read())
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, SECONDS_A_FILE)
    try:
        if mode == "words":
            return [match.group() for match in regex.finditer(text)]
        matches = list(_matches(path, regex, text))
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
    if not matches:
        return []
    begin, end = ({"type": kind, "data": {"path": {"text": path}}} for kind in ("begin", "end"))
    return [json.dumps(event) for event in (begin, *matches, end)]


def _matches(path: str, regex: re.Pattern[str], text: str) -> Iterator[dict[str, object]]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    for number, ended in enumerate(lines, 1):
        line = ended.removesuffix("\r")
        match = regex.search(line)
        if match is None:
            continue
        start = len(line[: match.start()].encode())
        end = start + len(match.group().encode())
        found = {"match": {"text": match.group()}, "start": start, "end": end}
        data = {"path": {"text": path}, "lines": {"text": line}, "line_number": number}
        yield {"type": "match", "data": {**data, "submatches": [found]}}


if __name__ == "__main__":
    try:
        code = main()
    except BrokenPipeError:  # whoever asked has enough
        code = 1
    sys.stderr.flush()
    os._exit(code)  # no second complaint about the pipe
