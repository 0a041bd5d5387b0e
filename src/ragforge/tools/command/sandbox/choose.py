"""Choose: the sandbox that works on this machine: bubblewrap, Landlock, or macOS's sandbox-exec.

Landlock needs no program and no rights. It can only allow: a directory is hidden by allowing
everything around it, and what is inside a writable directory cannot be protected. The program is
started by `landlock_launcher`, which restricts itself first, and closes sockets by a filter of
system calls.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Literal, TypeAlias

from ragforge.records import dataclass
from ragforge.tools.command.environment import build_variables, find_program
from ragforge.tools.command.git.trigger_files import find_git_folders, list_protected
from ragforge.tools.command.sandbox import landlock_launcher as launcher

TEMPORARY = "/tmp"
"""Where a program in bubblewrap sees its own directory for temporary files."""
_VAR_TEMPORARY = "/var/tmp"
_SOCKETS = "/run"
"""Where services of this machine listen: D-Bus, Docker and the like do whatever they are asked."""
_SHOWN = ("/run/current-system", "/run/opengl-driver")
"""What programs need of it."""
_RESOLVER = "/etc/resolv.conf"
_SECONDS = 5


def build_bubblewrap_prefix(bwrap: str, policy: SandboxPolicy) -> list[str]:
    """Return the words before a command that run it inside the sandbox."""
    words = [bwrap, "--die-with-parent", "--unshare-all"]
    if os.geteuid() == 0:  # bubblewrap leaves root its capabilities
        words += ["--cap-drop", "ALL"]
    if policy.network:
        words.append("--share-net")
    words += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    words += _hide_sockets(policy.network)
    if policy.temporary:
        for place in filter(os.path.isdir, (TEMPORARY, _VAR_TEMPORARY)):
            words += ["--bind", policy.temporary, place]
    for path in policy.hidden:
        if os.path.isdir(path):
            words += ["--tmpfs", path]
    for path in policy.readable:
        words += ["--ro-bind", path, path]
    for path in policy.writable:
        words += ["--bind", path, path]
    words += _protect(policy)
    for path in policy.hidden:
        if os.path.isfile(path):
            words += ["--ro-bind", os.devnull, path]
    return [*words, "--chdir", policy.cwd, "--"]


def _protect(policy: SandboxPolicy) -> list[str]:
    words: list[str] = []
    for folder in policy.list_protected_folders():  # what is mounted cannot be moved away
        words += ["--bind", folder, folder]
    for path in policy.protected:
        if os.path.lexists(path):
            words += ["--ro-bind", os.path.realpath(path), path]
        elif os.path.basename(path) == "hooks":  # an empty one, so that none can be made
            words += ["--perms", "0555", "--tmpfs", path, "--remount-ro", path]
    return words


def _hide_sockets(network: bool) -> list[str]:
    if not os.path.isdir(_SOCKETS):
        return []
    resolver = os.path.realpath(_RESOLVER)
    shown = [*_SHOWN, resolver] if network and resolver.startswith(_SOCKETS) else _SHOWN
    binds = [["--ro-bind", path, path] for path in shown if os.path.exists(path)]
    return ["--tmpfs", _SOCKETS, *chain.from_iterable(binds)]


def find_bwrap(root: str) -> str | None:
    """Return the path of bubblewrap if it works here. Tried once for a project."""
    bwrap = find_program("bwrap", root)
    return bwrap if bwrap and _can_bwrap(bwrap, root) else None


@cache
def _can_bwrap(bwrap: str, root: str) -> bool:
    trial = find_program("true", root)
    if trial is None:
        return False
    words = [*build_bubblewrap_prefix(bwrap, allow_reading([root], root, root, root)), trial]
    try:
        done = subprocess.run(
            words,
            env=build_variables(root),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


SANDBOX_EXEC = "/usr/bin/sandbox-exec"
_SEATBELT_DEVICES = (
    "/dev/null /dev/zero /dev/tty /dev/random /dev/urandom /dev/dtracehelper".split()  # noqa: SIM905
)


def has_seatbelt() -> bool:
    """Tell whether this is macOS and its sandbox is there."""
    return sys.platform == "darwin" and os.access(SANDBOX_EXEC, os.X_OK)


def build_seatbelt_prefix(policy: SandboxPolicy) -> list[str]:
    """Return the words before a command that run it inside the sandbox."""
    return [SANDBOX_EXEC, "-p", build_profile(policy)]


def build_profile(policy: SandboxPolicy) -> str:
    """Return the profile; of rules that fit, the last one decides."""
    writable = [*policy.writable, *([policy.temporary] if policy.temporary else [])]
    lines = [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        '(deny sysctl-read (sysctl-name "kern.procargs2"))',  # other processes' environment
        *(f"(allow file-write* (literal {_quote(path)}))" for path in _SEATBELT_DEVICES),
        *(f"(deny file-read* (subpath {_quote(path)}))" for path in policy.hidden),
        # Programs ask for the properties of every directory on their way.
        *(f"(allow file-read-metadata (literal {_quote(path)}))" for path in policy.hidden),
        *(f"(allow file-read* (subpath {_quote(path)}))" for path in policy.readable),
        *(f"(allow file-read* file-write* (subpath {_quote(path)}))" for path in writable),
        *(f"(deny file-write* (subpath {_quote(path)}))" for path in policy.protected),
        *(
            f"(deny file-write-unlink (literal {_quote(path)}))"  # and cannot be moved away
            for path in policy.list_protected_folders()
        ),
    ]
    if not policy.network:
        lines.append("(deny network*)")
    return "\n".join(lines)


def _quote(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


CLOSES_TCP = 4
"""The first version that can refuse connections by TCP."""
_LANDLOCK_DEVICES = "null zero full random urandom tty ptmx pts".split()  # noqa: SIM905


@cache
def find_landlock_version() -> int:
    """Return the version of the kernel's Landlock; 0 if there is none."""
    if sys.platform != "linux":
        return 0
    return max(launcher.get_version(), 0)


@cache
def can_filter_sockets() -> bool:
    """Tell whether all sockets can be closed, and not only TCP."""
    return sys.platform == "linux" and launcher.can_filter_sockets()


def build_landlock_prefix(policy: SandboxPolicy, program: str) -> list[str]:
    """Return the words before a command; `program` is the path of what runs."""
    temporary = [policy.temporary] if policy.temporary else []
    readable, writable = list(policy.readable), list(policy.writable)
    if policy.confined and policy.protected:
        readable += writable
        writable = [path for folder in writable for path in _list_open(folder, policy.protected)]
    rules = {
        "program": program,
        "hidden": policy.hidden,
        "read": readable,
        "write": [*writable, *temporary],
        "devices": [os.path.join("/dev", name) for name in _LANDLOCK_DEVICES],
        "network": policy.network,
        "owners": policy.has_other_owner,
    }
    return [sys.executable, "-I", "-S", launcher.__file__, json.dumps(rules)]


def _list_open(folder: str, closed: Sequence[str]) -> Iterator[str]:
    """Yield what is in a folder and not closed: Landlock cannot exclude a part of a folder.

    The folder itself stays closed: nothing can be added to it or removed from it. What a link
    leads to would be opened, so links are left out.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            holds_closed = any(f"{path}/".startswith(f"{entry.path}/") for path in closed)
            if not holds_closed and not entry.is_symlink():
                yield entry.path


Mode: TypeAlias = Literal["auto", "off", "required"]
REQUIRED = "tools.sandbox is `required`, and no sandbox works on this machine"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A way to run programs apart."""

    kind: Literal["bubblewrap", "landlock", "seatbelt"]
    program: str = ""  # of bubblewrap
    version: int = 0  # of Landlock
    filters_sockets: bool = False  # where Landlock would close only TCP

    def wrap(self, policy: SandboxPolicy, path: str, words: list[str]) -> list[str]:
        """Return the command that runs a program, at a path and with its words, inside.

        bubblewrap looks for the program by its name, in PATH; the others are given its path.
        """
        if self.kind == "bubblewrap":
            return [*build_bubblewrap_prefix(self.program, policy), *words]
        if self.kind == "landlock":
            return [*build_landlock_prefix(policy, path), *words]
        return [*build_seatbelt_prefix(policy), path, *words[1:]]

    def place_temporary(self, folder: str) -> str:
        """Return where a program finds its directory for temporary files."""
        return TEMPORARY if self.kind == "bubblewrap" else folder

    @property
    def closes_network(self) -> bool:
        """Tell whether all connections can be refused."""
        return self.kind != "landlock" or self.filters_sockets

    @property
    def can_confine(self) -> bool:
        """Tell whether commands may run in it that no one was asked about."""
        return self.closes_network and self.kind != "seatbelt"

    def list_limits(self, has_repository: bool = True) -> list[str]:
        """Return what this sandbox does not stop, as parts of a sentence."""
        # Those of macOS are reached by Mach messages, which its own libraries need too.
        limits = ["does not close services of this machine"] if self.kind == "seatbelt" else []
        if not self.closes_network:
            has_tcp = self.version < CLOSES_TCP
            limits.append(f"does not close {'the network' if has_tcp else 'UDP and unix sockets'}")
        if has_repository and self.kind == "landlock":
            limits.append("does not protect .git/hooks and .git/config")
        return limits

    def __str__(self) -> str:
        names = {
            "bubblewrap": f"bubblewrap ({self.program})",
            "landlock": f"Landlock, version {self.version}",
            "seatbelt": "sandbox-exec",
        }
        return "; ".join([names[self.kind], *self.list_limits()])


def find_sandbox(root: str, mode: Mode = "auto") -> Sandbox | None:
    """Return the best sandbox that works here, or None; what was tried once is kept."""
    if mode == "off":
        return None
    if bwrap := find_bwrap(root):
        return Sandbox("bubblewrap", program=bwrap)
    if version := find_landlock_version():
        return Sandbox("landlock", version=version, filters_sockets=can_filter_sockets())
    return Sandbox("seatbelt") if has_seatbelt() else None


def explain_no_auto(root: str, mode: Mode = "auto") -> str:
    """Return why auto mode cannot be used, and what to do; empty if it can."""
    sandbox = find_sandbox(root, mode)
    if sandbox is not None and sandbox.can_confine:
        return ""
    if mode == "off":
        return "auto mode needs a sandbox, but tools.sandbox is off. Set tools.sandbox: auto."
    why = explain_absence(mode) if sandbox is None else f"the sandbox {sandbox.list_limits()[0]}"
    hint = (
        "Install bubblewrap, for example with `apt install bubblewrap` or `dnf install bubblewrap`"
        if sys.platform == "linux"
        else "Use another mode"
    )
    return f"auto mode needs a sandbox that closes the network and local services: {why}. {hint}."


def explain_absence(mode: Mode) -> str:
    """Return why there is no sandbox, as half a sentence."""
    if mode == "off":
        return "no sandbox: tools.sandbox is `off`"
    on_linux = platform.system() == "Linux"
    missing = "bubblewrap does not work here, and the kernel has no Landlock"
    return f"no sandbox: {missing if on_linux else 'this system has none that RagForge knows'}"


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
