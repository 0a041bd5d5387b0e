"""Hook outcomes: how each call of the hook ended, in a small file of the state folder.

Agents run many hooks at once. Each appends one line, which the system does not mix with those of
others. A file that has grown is renamed once, under a lock, so that two files hold the last few
hundred calls and no line is lost.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

from ragforge.private_files import make_private_folder

Result: TypeAlias = Literal["given", "empty", "late", "failed", "excluded"]

FILE_NAME = "hooks.jsonl"
MAX_BYTES = 40_000
"""About 400 calls. Then the file is renamed, and the one that was renamed before is removed."""
MAX_WHY = 200
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT


class HookOutcome(NamedTuple):
    """How one call of the hook ended."""

    when: float  # seconds since 1970
    agent: str
    kind: str  # start, prompt, file; ring and none where they failed
    result: Result
    milliseconds: int
    chars: int = 0  # what was given; of a late one, what there was by then
    why: str = ""


def record_outcome(folder: Path, outcome: HookOutcome) -> None:
    """Append an outcome. It is dropped if it cannot be written: no hook fails for that."""
    said = json.dumps([*outcome[:-1], outcome.why[:MAX_WHY]]).encode()
    line = b"\n%b\n" % said  # the line before may be half written, on a disk that was full
    path = folder / FILE_NAME
    with suppress(OSError):
        file = _open(path)
        try:
            os.write(file, line)
            if os.fstat(file).st_size > MAX_BYTES:
                _rename(path, file)
        finally:
            os.close(file)


def describe_failure(error: BaseException) -> str:
    """Return what went wrong, without secrets."""
    try:
        from ragforge.errors import RagForgeError
        from ragforge.memory.secrets.redact import redact

        said = str(error) if isinstance(error, RagForgeError) else ""
        return redact(said or f"{type(error).__name__}: {error}")
    except BaseException:
        return type(error).__name__


def read_outcomes(folder: Path, limit: int) -> list[HookOutcome]:
    """Return the last outcomes, the oldest first. Lines that are damaged are left out."""
    lines: list[bytes] = []
    for path in (_name_older(folder / FILE_NAME), folder / FILE_NAME):
        with suppress(OSError):
            lines += path.read_bytes().splitlines()
    found = sorted(filter(None, map(_read_line, lines)))
    return found[-limit:]


def _read_line(line: bytes) -> HookOutcome | None:
    if not line.strip():
        return None
    try:
        outcome = HookOutcome(*json.loads(line))
        is_known = outcome.result in get_args(Result)
        return outcome if is_known and isinstance(outcome.when, float) else None
    except (ValueError, TypeError):
        return None


def _open(path: Path) -> int:
    try:
        return os.open(path, _FLAGS, 0o600)
    except FileNotFoundError:
        make_private_folder(path.parent)
        return os.open(path, _FLAGS, 0o600)


def _rename(path: Path, file: int) -> None:
    """Begin another file, unless another process has just done so."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # Windows: a file that another process has open cannot be renamed
        pass
    if os.path.samestat(os.stat(path), os.fstat(file)):
        os.replace(path, _name_older(path))


def _name_older(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")
