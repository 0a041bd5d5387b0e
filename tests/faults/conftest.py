"""Fixtures of faults: a disk that is soon full."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if (
        mount is None
        or subprocess.run([mount, *options], capture_output=True, check=False).returncode
    ):
        pytest.skip("a small disk needs the right to mount one")
    yield place
    subprocess.run(["umount", str(place)], check=True)
