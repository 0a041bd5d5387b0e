"""Configuration files: where they are and what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragforge.errors import SettingsError
from ragforge.folders import exists, find_project, find_user_folder

PROJECT_FILE = "ragforge.config.yaml"
MAX_BYTES = 1_000_000


def find_user_file(cwd: Path, environ: Mapping[str, str]) -> Path | None:
    """Return the user's file, or None if there is none.

    RAGFORGE_CONFIG names another one; then it has to exist. Raises SettingsError.
    """
    if named := environ.get("RAGFORGE_CONFIG"):
        try:
            path = cwd / Path(named).expanduser()
        except RuntimeError as error:
            raise SettingsError("RAGFORGE_CONFIG: there is no home directory for '~'.") from error
        if not path.exists():
            raise SettingsError(f"RAGFORGE_CONFIG: there is no file {str(path)!r}.")
        return path
    path = name_user_file()
    return path if exists(path) else None


def name_user_file() -> Path:
    """Return where the user's file lies, if there is one."""
    return find_user_folder("config") / "config.yaml"


def find_project_file(cwd: Path) -> Path | None:
    """Return the nearest project file, from the directory up to the root of its project.

    What lies above the project does not configure it.
    """
    place = cwd.resolve()
    root = find_project(place)
    for folder in (place, *place.parents):
        if exists(folder / PROJECT_FILE):
            return folder / PROJECT_FILE
        if folder == root:
            break
    return None


def read_file(path: Path, shown: str) -> dict[Any, Any]:
    """Return the top level of a YAML file; an empty file is an empty mapping.

    Raises SettingsError, with the line where it is known.
    """
    text = read_text(path, shown)
    if not text:
        return {}
    from ragforge.config.mapping import parse  # most runs have no file, and no need of YAML

    return parse(text, shown)


def read_text(path: Path, shown: str) -> str:
    """Return the text of a configuration file. Raises SettingsError."""
    try:
        if not path.is_file() and path.exists():
            raise SettingsError(f"{shown}: it is not a file.")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SettingsError(f"{shown}: it cannot be read: {error.strerror}.") from error
    if len(data) > MAX_BYTES:
        raise SettingsError(f"{shown}: it is larger than {MAX_BYTES:,} bytes.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SettingsError(f"{shown}: line {line}: not valid UTF-8.") from None
