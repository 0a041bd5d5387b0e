"""Distributions: build the wheel and the sdist twice, compare their bytes, check what is in them.

Run it with `make dist`. The second build is of a copy with other file times and another umask.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
FOREIGN = ("tests/", "benchmarks/", "__pycache__/", ".pyc", ".cache/", ".git/", ".venv/")
"""What no distribution may contain."""
CHECKS = {"twine": ("check", "--strict"), "check_wheel_contents": ()}


def build(source: Path, target: Path, epoch: str, *kinds: str) -> dict[str, str]:
    """Build the distributions of a source tree; return the hash of each by its name."""
    options = [option for kind in kinds for option in ("-t", kind)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *options, "-d", str(target)],
        cwd=source,
        env={**os.environ, "SOURCE_DATE_EPOCH": epoch},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(target.iterdir())
        if file.name.endswith((".whl", ".tar.gz"))
    }


def copy_tracked(target: Path) -> None:
    """Copy the files that git knows; they get the time of now, and are for this user only."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    before = os.umask(0o077)
    try:
        for name in filter(None, listed.stdout.decode().split("\0")):
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_file():
                place.write_bytes((ROOT / name).read_bytes())
    finally:
        os.umask(before)


def list_names(file: Path) -> list[str]:
    """Return the names of what is in a wheel or an sdist."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            return wheel.namelist()
    with tarfile.open(file) as sdist:
        return sdist.getnames()


def find_foreign(names: Iterable[str]) -> list[str]:
    """Return the names that belong into no distribution."""
    return [name for name in names if any(part in name for part in FOREIGN)]


def read_epoch() -> str:
    """Return the time of the last commit, which becomes the time of all files."""
    shown = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return shown.stdout.strip()


def main() -> None:
    DIST.mkdir(exist_ok=True)
    for old in DIST.glob("ragforge_agent-*"):
        old.unlink()
    epoch = read_epoch()
    first = build(ROOT, DIST, epoch)
    with TemporaryDirectory() as folder:
        copy, again = Path(folder, "copy"), Path(folder, "again")
        copy_tracked(copy)
        second = build(copy, again, epoch)
    if first != second:
        sys.exit(f"The second build differs:\n{first}\n{second}")
    for name, digest in first.items():
        file = DIST / name
        if foreign := find_foreign(list_names(file)):
            sys.exit(f"{name} contains {', '.join(foreign[:5])}")
        print(f"{digest}  {name}  {file.stat().st_size / 1e6:.1f} MB, the same bytes twice")
    for module, options in CHECKS.items():
        if find_spec(module) is None:
            sys.exit(f"{module} is not installed: run `make dist`")
        wheels = DIST.glob("*.whl" if module == "check_wheel_contents" else "ragforge_agent-*")
        subprocess.run([sys.executable, "-m", module, *options, *map(str, wheels)], check=True)


if __name__ == "__main__":
    main()
