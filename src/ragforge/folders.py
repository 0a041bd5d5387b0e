"""Folders: the project of a directory, and which folders may be read without asking."""

from __future__ import annotations

import os
import stat
import sys
from functools import cache
from pathlib import Path
from typing import Literal

MARKERS = frozenset(
    [
        ".git",
        ".hg",
        ".svn",
        ".jj",
        "ragforge.config.yaml",
        "README",
        "README.md",
        "README.rst",
        "README.txt",
        "README.adoc",
        "Makefile",
        "GNUmakefile",
        "makefile",
        "Justfile",
        "justfile",
        "CMakeLists.txt",
        "meson.build",
        "BUILD.bazel",
        "WORKSPACE",
        "MODULE.bazel",
        "Dockerfile",
        "flake.nix",
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "requirements.txt",
        "Pipfile",
        "package.json",
        "deno.json",
        "tsconfig.json",
        "Cargo.toml",
        "go.mod",
        "go.work",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "settings.gradle",
        "build.sbt",
        "Gemfile",
        "Rakefile",
        "composer.json",
        "mix.exs",
        "rebar.config",
        "Package.swift",
        "pubspec.yaml",
        "stack.yaml",
        "cabal.project",
        "dune-project",
        "deps.edn",
        "project.clj",
        "build.zig",
    ]
)
"""A folder that contains one of these names is a project."""

SHARED = (
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    "/home",
    "/Users",
    "/mnt",
    "/media",
    "/etc",
    "/usr",
    "/var",
)
"""Folders of everybody: whatever lies in them, none of them is a project."""
TEMPORARY = ("TMPDIR", "TEMP", "TMP")
"""The variables that name another one."""
APP_FOLDER = "ragforge"
_USER_FOLDERS = {
    "data": ("XDG_DATA_HOME", ".local/share"),
    "config": ("XDG_CONFIG_HOME", ".config"),
}


def find_project(cwd: Path) -> Path:
    """Return the project of a directory: the nearest git tree, or the directory itself.

    A git tree at the home directory or above it, or in a folder of everybody, does not count:
    dotfiles in git must not make a project of all that a user has, nor a stranger's `/tmp/.git`.
    """
    for folder in (cwd, *cwd.parents):
        if exists(folder / ".git"):
            return cwd if is_too_wide(folder) else folder
    return cwd


def make_stamp(root: Path) -> str:
    """Return a text that changes when another repository, or another remote, may be in a folder.

    It costs a few looks at the file system and no process. "" if there is no repository.
    """
    entry = root / ".git"
    if not exists(entry):
        return ""
    folder = _find_repository(root)
    return " ".join(map(_describe, (entry, folder / "config", folder / "shallow")))


def may_have_commits(root: Path) -> bool:
    """Tell whether a folder's repository holds a branch, which a new one does not."""
    folder = _find_repository(root)
    if (folder / "packed-refs").exists() or (folder / "reftable").exists():
        return True
    try:
        return bool(os.listdir(folder / "refs" / "heads"))
    except OSError:
        return False


def _find_repository(root: Path) -> Path:
    """Return the folder where git keeps what all work trees of a repository share."""
    folder = entry = root / ".git"
    if entry.is_file():  # of a linked work tree
        folder = root / _read_line(entry).removeprefix("gitdir: ")
    if (folder / "commondir").is_file():
        folder = folder / _read_line(folder / "commondir")
    return folder


def is_project(folder: Path) -> bool:
    """Tell whether a folder is a project, whose files may be read without asking."""
    # A turn asks this several times: the usual marker comes first, and no paths are parsed.
    markers = (f"{folder}/{name}" for name in (".git", *MARKERS))
    return any(map(os.path.lexists, markers)) and not is_too_wide(folder)


def is_too_wide(folder: Path) -> bool:
    """Tell whether a folder holds more than a project: a home, what is above it, or `/tmp`."""
    place = folder.resolve()
    home = find_home()
    if home is not None and home.resolve().is_relative_to(place):
        return True
    shared = _resolve_shared(*map(os.environ.get, TEMPORARY))
    return place == Path(place.anchor) or str(place) in shared


@cache
def _resolve_shared(*temporary: str | None) -> frozenset[str]:
    """Return where the folders of everybody are; none of them moves while a program runs."""
    return frozenset(map(os.path.realpath, (*SHARED, *filter(None, temporary))))


def find_user_folder(kind: Literal["data", "config"]) -> Path:
    """Return the user's folder for our data or configuration, as the system has it."""
    if sys.platform != "linux":
        import platformdirs

        find = platformdirs.user_data_dir if kind == "data" else platformdirs.user_config_dir
        return Path(find(APP_FOLDER, appauthor=False))
    variable, usual = _USER_FOLDERS[kind]
    given = os.environ.get(variable, "")
    base = given if given.startswith("/") else f"{_find_unix_home()}/{usual}"
    return Path(base) / APP_FOLDER


def _find_unix_home() -> str:
    home = os.environ.get("HOME", "")
    if home.startswith("/"):
        return home.rstrip("/")
    import pwd  # the variable is missing or useless

    try:
        return pwd.getpwuid(os.getuid()).pw_dir.rstrip("/")
    except KeyError:  # a container without this user
        return ""


def find_home() -> Path | None:
    """Return the user's home directory, or None if there is none."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def exists(path: Path) -> bool:
    """Tell whether something is at a path; a dangling link counts, so that it is reported."""
    return os.path.lexists(path)


def _read_line(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(4_096).decode(errors="replace").strip().replace("\0", "")
    except OSError:
        return ""


def _describe(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return "-"
    if stat.S_ISDIR(found.st_mode):  # its time changes with every commit
        return str(found.st_ino)
    return f"{found.st_ino}.{found.st_size}.{found.st_mtime_ns}"
