"""Policy: what a program in a sandbox may see, write and reach."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ragforge.records import dataclass
from ragforge.tools.command.git.trigger_files import find_git_folders, list_protected

# What toolchains need of a home directory, read-only.
TOOLCHAINS = """
    .cargo .rustup .pyenv .rbenv .nvm .volta .bun .deno .sdkman go .asdf .local/bin .local/lib
    .local/share/uv .local/share/pnpm .local/share/mise .local/share/virtualenvs .local/pipx .npm
    .m2 .gradle .cache/pip .cache/uv .cache/go-build .cache/pypoetry .cache/pre-commit .cache/yarn
    .cache/node .dotnet .nuget .gem .composer/vendor .conda miniconda3 anaconda3 miniforge3
    .gitconfig .config/git
    """.split()  # noqa: SIM905
# Those of them that hold downloads: writable where the network is allowed.
DOWNLOADS = """
    .cargo/registry .cargo/git go/pkg .npm .m2/repository .gradle/caches .cache/pip .cache/uv
    .cache/go-build .cache/pypoetry .cache/pre-commit .cache/yarn .cache/node .nuget/packages
    .local/share/pnpm
    """.split()  # noqa: SIM905
# Credentials that lie among them.
_NEVER = (".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml", ".gem/credentials")
_PLACES = """
    VIRTUAL_ENV CONDA_PREFIX CARGO_HOME RUSTUP_HOME GOPATH GOROOT NVM_DIR PYENV_ROOT JAVA_HOME
    GRADLE_HOME DOTNET_ROOT ANDROID_HOME VOLTA_HOME
    """.split()  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """What one program may do. Everything is readable that is not hidden."""

    cwd: str
    hidden: tuple[str, ...] = ()  # directories that look empty
    readable: tuple[str, ...] = ()  # exceptions inside them
    writable: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()  # what stays as it is inside the writable ones
    temporary: str | None = None  # a separate directory for temporary files
    network: bool = False
    has_other_owner: bool = False  # root works on another user's files, or below their directory
    confined: bool = False  # git's own folder is protected, by every sandbox

    def list_protected_folders(self) -> list[str]:
        """Return the directories of what is protected, outer ones first."""
        folders = {os.path.dirname(path) for path in self.protected}
        return sorted(folder for folder in folders if folder not in self.writable)


def find_hidden(root: str) -> tuple[str, ...]:
    """Return the user's home, unless the project is not below it but around it."""
    home = os.path.realpath(os.path.expanduser("~"))
    inside_project = home == root or home.startswith(os.path.join(root, ""))
    is_usable = home != os.sep and os.path.isdir(home) and not inside_project
    return (home,) if is_usable else ()


def allow_reading(readable: Sequence[str], home: str, cwd: str, root: str) -> SandboxPolicy:
    """Return the policy of a read-only program; `home` is a separate, empty directory."""
    owner = _has_other_owner(root)
    return SandboxPolicy(cwd, find_hidden(root), tuple(readable), (home,), has_other_owner=owner)


def allow_work(
    root: str,
    cwd: str,
    temporary: str,
    network: bool,
    environment: Mapping[str, str],
    repository: Sequence[str] = (),
) -> SandboxPolicy:
    """Return the policy of an approved command: it writes in the project and to its own files.

    `repository` are git's directories outside the project, of a linked work tree. Hooks and the
    configuration of git are protected: git runs what they name, later and outside.
    """
    hidden = find_hidden(root)
    home = hidden[0] if hidden else ""
    shown = [os.path.join(home, name) for name in TOOLCHAINS] if home else []
    shown += [os.path.realpath(environment[name]) for name in _PLACES if environment.get(name)]
    shown += [
        os.path.realpath(path) for path in environment.get("PATH", "").split(os.pathsep) if path
    ]
    downloads = [os.path.join(home, name) for name in DOWNLOADS] if home and network else []
    return SandboxPolicy(
        cwd,
        (*hidden, *(os.path.join(home, name) for name in _NEVER if home)),
        tuple(_below(shown, hidden)),
        tuple(_existing([*downloads, *repository, root])),
        tuple(list_protected(root, repository)),
        temporary,
        network,
        _has_other_owner(root),
    )


def allow_confined_work(
    root: str,
    cwd: str,
    temporary: str,
    environment: Mapping[str, str],
    repository: Sequence[str] = (),
) -> SandboxPolicy:
    """Return the policy of a command that no one was asked about: git's folders are read-only."""
    policy = allow_work(root, cwd, temporary, False, environment)
    readable = (*policy.readable, *_below(repository, policy.hidden))
    git = tuple(_existing(find_git_folders(root)))
    return replace(policy, readable=readable, protected=git, confined=True)


def _has_other_owner(root: str) -> bool:
    """Tell whether root needs its rights over other users' files to get at the project."""
    if os.geteuid() != 0:
        return False
    places = [root]
    while places[-1] != os.sep:
        places.append(os.path.dirname(places[-1]))
    return any(os.path.exists(place) and os.stat(place).st_uid != 0 for place in places)


def _below(paths: Iterable[str], hidden: Sequence[str]) -> list[str]:
    """Return the paths that are inside hidden directories and not these themselves."""
    inside = [
        path
        for path in dict.fromkeys(paths)
        if any(path.startswith(os.path.join(folder, "")) for folder in hidden)
    ]
    return _existing(inside)


def _existing(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if os.path.exists(path)]
