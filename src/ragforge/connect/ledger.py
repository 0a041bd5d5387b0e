"""Ledger: what was connected, with the files as they were before."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from ragforge.private_files import make_private_folder, replace_file

FILE_NAME = "connections.json"


class Ledger:
    """What was connected, with the files as they were before."""

    def __init__(self, state_dir: Path) -> None:
        self.folder = state_dir / "connections"
        self.path = state_dir / FILE_NAME

    def read(self) -> dict[str, Any]:
        """Return what is remembered; one that cannot be read remembers nothing."""
        with suppress(OSError, ValueError):
            found = json.loads(self.path.read_text("utf-8"))
            if isinstance(found, dict) and isinstance(found.get("files"), dict):
                return found
        return {"version": 1, "files": {}}

    def list_agents(self) -> list[str]:
        """Return the names of the agents that are connected."""
        records = self.read()["files"].values()
        return sorted({str(one.get("agent")) for one in records if isinstance(one, dict)})

    def find_original(self, target: Path, current: bytes) -> tuple[bool, bytes | None]:
        """Return whether a file is as we left it, and what it was before; None: it was not."""
        record = self.read()["files"].get(str(target))
        if not isinstance(record, dict) or record.get("after") != _digest(current):
            return False, None
        if record.get("backup") is None:
            return True, None
        try:
            return True, (self.folder / str(record["backup"])).read_bytes()
        except OSError:
            return False, None

    def was_created(self, target: Path) -> bool:
        """Tell whether a file was made by connecting."""
        record = self.read()["files"].get(str(target))
        return isinstance(record, dict) and record.get("backup") is None

    def note(
        self,
        agent: str,
        target: Path,
        before: bytes | None,
        after: bytes | None,
        without: bytes | None = None,
    ) -> None:
        """Remember a change before it is made; `without` is the file without entries of ours.

        That is what a file was before if it was connected, then edited, and is connected again.
        """
        if after is None:
            return
        every = self.read()
        is_ours, original = (False, None) if before is None else self.find_original(target, before)
        if not is_ours:
            original = before if str(target) not in every["files"] else without
        backup = None
        if original is not None:
            backup = f"{_digest(str(target).encode())[:16]}-{target.name}"
            make_private_folder(self.folder)
            replace_file(str(self.folder / backup), original)
        every["files"][str(target)] = {"agent": agent, "backup": backup, "after": _digest(after)}
        self._write(every)

    def forget(self, target: Path) -> None:
        """Forget a file that is as it was before."""
        every = self.read()
        record = every["files"].pop(str(target), None)
        if isinstance(record, dict) and record.get("backup"):
            (self.folder / str(record["backup"])).unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()
        if every["files"]:
            self._write(every)
        else:
            self.path.unlink(missing_ok=True)

    def _write(self, every: dict[str, Any]) -> None:
        make_private_folder(self.path.parent)
        replace_file(str(self.path), (json.dumps(every, indent=2) + "\n").encode())


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
