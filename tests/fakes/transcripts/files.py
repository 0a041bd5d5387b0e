"""Files: transcripts are written as agents write them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Line = Mapping[str, Any]
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def write_lines(path: Path, lines: Iterable[Line]) -> Path:
    """Write a file of lines again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(join_lines(lines))
    return path


def join_lines(lines: Iterable[Line]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def write_json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def format_time(minute: float) -> str:
    """Return the moment this many minutes after the start, as agents write it."""
    return (START + timedelta(minutes=minute)).isoformat().replace("+00:00", "Z")


def format_milliseconds(minute: float) -> int:
    return int((START + timedelta(minutes=minute)).timestamp() * 1000)
