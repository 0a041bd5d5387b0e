"""Excluded folders: where nothing is given to other agents, and nothing is taken from them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

FILE_NAME = "excluded.json"


def list_excluded(setting: str, state_dir: Path) -> tuple[str, ...]:
    """Return the folders of the setting `connect.exclude`, and those that the command excluded."""
    by_setting = (part.strip() for part in setting.split(os.pathsep))
    return (*filter(None, by_setting), *_read(state_dir))


def add_excluded(folder: Path, state_dir: Path) -> None:
    """Remember a folder that is excluded. Raises OSError."""
    from ragforge.private_files import make_private_folder, replace_file

    make_private_folder(state_dir)
    folders = sorted({*_read(state_dir), str(folder.resolve())})
    text = json.dumps({"folders": folders}, indent=2) + "\n"
    replace_file(str(state_dir / FILE_NAME), text.encode())


def is_excluded(folder: Path, excluded: Iterable[str]) -> bool:
    """Tell whether a folder is one of these, or below one."""
    place = folder.resolve()
    return any(place.is_relative_to(Path(one).expanduser().resolve()) for one in excluded)


def _read(state_dir: Path) -> list[str]:
    try:
        folders = json.loads((state_dir / FILE_NAME).read_text("utf-8"))["folders"]
        return [str(one) for one in folders]
    except (OSError, ValueError, KeyError, TypeError):
        return []
