"""A Chromium for tests and pictures: one that is installed, or Debian's, installed by apt as root.

    python -m scripts.chromium

Prints its path. Nothing is downloaded from anywhere else, and no one is asked for a password.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from scripts.neo4j_server import CACHE, hold_lock

NAMES = ("chromium", "chromium-browser", "google-chrome")
INSTALL_SECONDS = 200  # twice, for the list and the program: within the time of one test
APT = "apt-get"
_QUIET = {"DEBIAN_FRONTEND": "noninteractive"}
_UPDATE = (APT, "-qq", "update")
_INSTALL = (APT, "-qq", "install", "--yes", "--no-install-recommends", "chromium")


class ChromiumUnavailable(Exception):
    """There is no Chromium here, and none can be installed; the message says why."""


def find_chromium() -> str | None:
    """Return the path of a Chromium on this machine."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def ensure_chromium() -> str:
    """Return the path of a Chromium, installed first if need be. Raises ChromiumUnavailable."""
    if found := find_chromium():
        return found
    if shutil.which(APT) is None:
        raise ChromiumUnavailable("there is no Chromium here, and no apt to install it")
    if os.geteuid() != 0:
        raise ChromiumUnavailable("there is no Chromium here; run: sudo apt install chromium")
    CACHE.mkdir(exist_ok=True)
    with hold_lock(CACHE / "chromium.lock"):  # of several test processes one installs it
        return find_chromium() or _install(CACHE / "chromium.failed")


def _install(failed: Path) -> str:
    """Install Debian's Chromium. What failed once is not tried again by every process."""
    if failed.is_file():
        raise ChromiumUnavailable(failed.read_text())
    try:
        for command in (_UPDATE, _INSTALL):
            subprocess.run(
                command,
                check=True,
                env=os.environ | _QUIET,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=INSTALL_SECONDS,
            )
    except (subprocess.SubprocessError, OSError) as error:
        failed.write_text(f"apt cannot install it: {error}")
        raise ChromiumUnavailable(failed.read_text()) from error
    found = find_chromium()
    if found is None:
        raise ChromiumUnavailable("apt installed it, and it is not there")
    return found


def main() -> int:
    try:
        print(ensure_chromium())
    except ChromiumUnavailable as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
