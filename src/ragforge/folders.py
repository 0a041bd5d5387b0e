"""Folders: the project of a directory, and which folders may be read without asking."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

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
"""Names of which one in a folder says: somebody works on something here."""

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


def find_project(cwd: Path) -> Path:
    """Return the project of a directory: the nearest git tree, or the directory itself.

    A git tree at the home directory or above it, or in a folder of everybody, does not count:
    dotfiles in git must not make a project of all that a user has, nor a stranger's `/tmp/.git`.
    """
    for folder in (cwd, *cwd.parents):
        if exists(folder / ".git"):
            return cwd if is_too_wide(folder) else folder
    return cwd


def is_project(folder: Path) -> bool:
    """Tell whether a folder is a project, whose files may be read without asking."""
    return not is_too_wide(folder) and any(exists(folder / name) for name in MARKERS)


def is_too_wide(folder: Path) -> bool:
    """Tell whether a folder holds more than a project: a home, what is above it, or `/tmp`."""
    place = folder.resolve()
    home = find_home()
    if home is not None and home.resolve().is_relative_to(place):
        return True
    shared = {os.path.realpath(path) for path in (*SHARED, tempfile.gettempdir())}
    return place == Path(place.anchor) or str(place) in shared


def find_home() -> Path | None:
    """Return the user's home directory, or None if there is none."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def exists(path: Path) -> bool:
    """Tell whether something is at a path; a dangling link counts, so that it is reported."""
    return os.path.lexists(path)
