"""Configuration files: where they are and what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import platformdirs

from ragforge.errors import SettingsError

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
    path = Path(platformdirs.user_config_dir("ragforge", appauthor=False)) / "config.yaml"
    return path if _is_there(path) else None


def find_project_file(cwd: Path) -> Path | None:
    """Return the nearest project file, from the directory upwards.

    The search ends with the root of a git work tree, the home directory or the root.
    """
    for folder in (cwd, *cwd.parents):
        path = folder / PROJECT_FILE
        if _is_there(path):
            return path
        if _is_there(folder / ".git") or folder == _find_home():
            break
    return None


def read_file(path: Path, shown: str) -> dict[Any, Any]:
    """Return the top level of a YAML file; an empty file is an empty mapping.

    Raises SettingsError, with the line where it is known.
    """
    text = _read_text(path, shown)
    if not text:
        return {}
    from ragforge.config.mapping import parse  # most runs have no file, and no need of YAML

    return parse(text, shown)


def _read_text(path: Path, shown: str) -> str:
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


def _is_there(path: Path) -> bool:
    """Tell whether the path exists; a dangling link counts, so that it is reported."""
    try:
        return path.exists() or path.is_symlink()
    except OSError:
        return False


def _find_home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None
