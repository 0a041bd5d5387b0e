"""Environment: where programs come from, and the few variables they see."""

from __future__ import annotations

import os
import sys
import sysconfig

from ragforge.tools.confine import Root

TRUSTED_DIRECTORIES = (
    "/usr/bin",
    "/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/run/current-system/sw/bin",
)
# ripgrep comes as a wheel: beside our own interpreter it is as trusted as we are.
_OURS = frozenset({"rg"})


def find_program(name: str, root: str) -> str | None:
    """Return the path of a program in a trusted directory, never one from the project."""
    for folder in TRUSTED_DIRECTORIES:
        path = os.path.join(folder, name)
        if _is_program(path) and not Root(root).holds(os.path.realpath(path)):
            return path
    if name in _OURS:
        path = os.path.join(sysconfig.get_path("scripts"), name)
        if _is_program(path):
            return path
    return None


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def build_variables(home: str) -> dict[str, str]:
    """Return the environment of a program; `home` is an empty directory of its own.

    Nothing of our own environment is passed on: neither keys nor variables that control programs.
    """
    return {
        "PATH": os.pathsep.join(path for path in TRUSTED_DIRECTORIES if os.path.isdir(path)),
        "HOME": home,
        "XDG_CONFIG_HOME": home,
        "XDG_CACHE_HOME": home,
        "TMPDIR": home,
        "LC_ALL": "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8",
        "TERM": "dumb",
        "PAGER": "cat",
    }


def build_git_variables(git_dir: str, work_tree: str) -> dict[str, str]:
    """Return the further variables for git: one repository, no configuration, no helpers."""
    return {
        "GIT_DIR": git_dir,
        "GIT_WORK_TREE": work_tree,
        "GIT_CEILING_DIRECTORIES": os.path.dirname(work_tree),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": "false",
        "GIT_ASKPASS": "false",
        "GIT_SSH_COMMAND": "false",
    }


# A second protection: `repository` already keeps the configuration from git.
GIT_SETTINGS = (
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "core.pager=cat",
    "-c",
    "core.sshCommand=false",
    "-c",
    "protocol.allow=never",
    "-c",
    "submodule.recurse=false",
    "-c",
    "diff.submodule=short",
    "-c",
    "log.showSignature=false",
)
