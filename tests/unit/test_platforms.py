"""Platforms: what only POSIX has is used in a few modules, and paths of Windows are understood."""

from __future__ import annotations

import ast
import ntpath
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragforge import processes
from ragforge.app.hook import call
from ragforge.connect.agents import make_hook_command
from ragforge.domain.projects import normalise_remote
from ragforge.memory.code.links import FileNames

SOURCE = Path(__file__).parents[2] / "src" / "ragforge"
ADAPTERS = {
    "adapters/stores/holders.py",  # processes of this machine: Linux, else psutil
    "app/features/doctor.py",  # whether the user is root
    "app/hook/outcomes.py",  # a lock while a file is renamed
    "brain/ingestion/pool.py",  # limits of workers
    "cli/commands/brain.py",  # a background process is nice
    "cli/guard.py",  # signals end a command
    "folders.py",  # the home of a user without HOME
    "private_files.py",  # a folder is flushed to the disk
    "processes.py",  # process groups
    "tools/command/pipeline.py",  # limits of commands
    "tools/command/sandbox/choose.py",
    "tools/command/sandbox/landlock_launcher.py",
    "tools/scan.py",  # how long a command line may be
    "tui/keyboard.py",  # what is typed while a turn runs
    "tui/start.py",  # signals end the terminal
}
"""The modules that may name something that Windows lacks. Each asks first whether it is there."""

MODULES = frozenset(
    [
        "crypt",
        "fcntl",
        "grp",
        "posix",
        "pty",
        "pwd",
        "readline",
        "resource",
        "syslog",
        "termios",
        "tty",
    ]
)
NAMES = {
    "os": frozenset(
        [
            "chown",
            "chroot",
            "fchown",
            "fork",
            "forkpty",
            "getegid",
            "geteuid",
            "getgid",
            "getgroups",
            "getloadavg",
            "getpgid",
            "getpgrp",
            "getuid",
            "initgroups",
            "killpg",
            "lchown",
            "mkfifo",
            "mknod",
            "nice",
            "openpty",
            "pathconf",
            "posix_fadvise",
            "posix_fallocate",
            "pread",
            "pwrite",
            "sched_getaffinity",
            "sendfile",
            "setgid",
            "setpgid",
            "setsid",
            "setuid",
            "statvfs",
            "sysconf",
            "tcgetpgrp",
            "tcsetpgrp",
            "ttyname",
            "uname",
            "wait3",
            "wait4",
            "O_CLOEXEC",
            "O_DIRECTORY",
            "O_NOCTTY",
            "O_NOFOLLOW",
            "O_NONBLOCK",
            "O_PATH",
            "WNOHANG",
        ]
    ),
    "signal": frozenset(
        [
            "SIGALRM",
            "SIGCHLD",
            "SIGCONT",
            "SIGHUP",
            "SIGKILL",
            "SIGPIPE",
            "SIGQUIT",
            "SIGSTOP",
            "SIGTSTP",
            "SIGTTIN",
            "SIGTTOU",
            "SIGUSR1",
            "SIGUSR2",
            "SIGWINCH",
            "alarm",
            "pause",
            "pthread_sigmask",
            "setitimer",
            "sigwait",
        ]
    ),
    "time": frozenset(("CLOCK_BOOTTIME", "CLOCK_MONOTONIC", "clock_gettime", "clock_gettime_ns")),
    "socket": frozenset(("AF_UNIX",)),
}
METHODS = frozenset(("add_signal_handler", "remove_signal_handler"))


def find_posix_names(code: str) -> Iterator[str]:
    """Yield what a module names that only POSIX has."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if node.attr in METHODS or node.attr in NAMES.get(owner, ()):
                yield f"{owner}.{node.attr}"
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            if node.module in MODULES:
                yield str(node.module)
            known = NAMES.get(node.module or "", frozenset())
            yield from (f"{node.module}.{one.name}" for one in node.names if one.name in known)


def test_only_these_modules_name_what_windows_lacks() -> None:
    found = {
        file.relative_to(SOURCE).as_posix(): sorted(set(find_posix_names(file.read_text("utf-8"))))
        for file in SOURCE.rglob("*.py")
    }

    named = {path: names for path, names in found.items() if names}
    assert named.keys() == ADAPTERS, {path: named.get(path) for path in named.keys() ^ ADAPTERS}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("import fcntl", ["fcntl"]),
        ("def f():\n    from pwd import getpwuid", ["pwd"]),
        ("import os\nos.fork()", ["os.fork"]),
        ("from signal import SIGKILL", ["signal.SIGKILL"]),
        ("loop.add_signal_handler(2, f)", ["loop.add_signal_handler"]),
        ("getattr(os, 'O_NOFOLLOW', 0)", []),
        ("import os, signal\nos.open(p, os.O_RDONLY); signal.SIGINT", []),
    ],
)
def test_a_posix_name_is_found_however_it_is_written(code: str, names: list[str]) -> None:
    assert list(find_posix_names(code)) == names


def test_a_hook_of_windows_is_a_line_that_bash_and_cmd_understand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = ["C:\\Program Files\\RagForge\\ragforge.exe"]
    monkeypatch.setattr(sys, "platform", "win32")

    assert make_hook_command(program, "codex") == (
        '"C:/Program Files/RagForge/ragforge.exe" hook --agent codex'
    )


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("C:\\work\\shop\\cart.py", "cart.py"),
        ("c:/work/shop/src/Cart.py", "src/Cart.py"),
        ("src\\cart.py", "src/cart.py"),
        ("\\\\?\\C:\\work\\shop\\src\\cart.py", "src/cart.py"),
        ("D:\\other\\cart.py", None),
    ],
)
def test_a_path_of_windows_in_a_session_is_the_file_of_the_project(
    written: str, found: str | None
) -> None:
    names = FileNames(["cart.py", "src/cart.py", "src/Cart.py"], "C:\\work\\shop", "C:\\work\\shop")

    assert names.resolve(written) == found


def test_the_files_of_a_call_on_windows_are_normalised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call, "os", SimpleNamespace(path=ntpath))

    given = {"file_path": "src\\..\\cart.py"}

    assert call.list_files("Edit", given, "C:\\work\\shop") == ("C:\\work\\shop\\cart.py",)
    given = {"file_path": "\\\\?\\C:\\work\\shop\\cart.py"}
    assert call.list_files("Edit", given, "D:\\") == ("\\\\?\\C:\\work\\shop\\cart.py",)


@pytest.mark.parametrize("remote", ["C:\\repos\\shop.git", "c:/repos/shop.git", "d:\\x"])
def test_a_folder_of_windows_is_not_the_address_of_a_remote(remote: str) -> None:
    assert normalise_remote(remote) is None


def test_a_program_without_process_groups_ends_the_process_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[str] = []
    process = SimpleNamespace(pid=1, returncode=None, kill=lambda: ended.append("killed"))
    monkeypatch.setattr(processes, "os", SimpleNamespace(name="nt"))

    processes._signal_group(process, "SIGTERM")  # type: ignore[arg-type]

    assert ended == ["killed"]
    assert not processes._group_exists(process)  # type: ignore[arg-type]
