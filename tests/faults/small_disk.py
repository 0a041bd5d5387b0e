"""A small disk: a file system of a few megabytes, where the right to mount one is given."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class CannotMount(Exception):
    """A small disk needs the right to mount one."""


@contextmanager
def mount_small_disk(place: Path, size: str = "2m") -> Iterator[Path]:
    """Mount a disk at a new folder. Raises CannotMount."""
    place.mkdir(parents=True)
    mount = shutil.which("mount")
    command = [str(mount), "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        raise CannotMount("a small disk needs the right to mount one")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)
