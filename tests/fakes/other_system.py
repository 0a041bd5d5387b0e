"""Another system: run RagForge's commands in a Python that says it is Windows or macOS.

The standard library and the packages are loaded first, as they are here. Then names that the other
system does not have are removed, and only RagForge is loaded on that system: the branches are
its own, the files and processes are still those of this machine.

Usage: python other_system.py win32|darwin, with a JSON list of command lines on stdin. Prints a
JSON list of [exit code, stdout, stderr].
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import shutil
import signal
import sys
import sysconfig
from types import SimpleNamespace

BEFORE = """
apsw asyncio asyncio.subprocess concurrent.futures ctypes email.utils getpass hashlib
importlib.metadata logging.handlers multiprocessing numpy pathlib platform psutil
pydantic rapidfuzz.fuzz rich.console rich.progress rich.table select shutil signal socket ssl
subprocess tempfile tree_sitter typer uuid watchfiles webbrowser yaml zipfile
"""
"""What looks at the system while it is loaded; it is loaded as on this one."""

MODULES = ("fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "termios", "tty")
OS = """
chown fork forkpty fchown getegid geteuid getgid getgroups getpgid getuid killpg mkfifo nice setsid
sysconf uname O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH
"""
SIGNALS = "SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGTSTP SIGUSR1 SIGWINCH"
"""What Windows has not."""


def become_windows() -> None:
    import pathlib

    import platformdirs
    from platformdirs import windows

    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for place, names in ((os, OS), (signal, SIGNALS)):
        for name in names.split():
            if hasattr(place, name):
                delattr(place, name)
    os.supports_dir_fd.clear()
    _let_shutil_follow()

    def refuse(*_: object) -> None:
        raise NotImplementedError

    for name in ("add_signal_handler", "remove_signal_handler"):
        setattr(asyncio.SelectorEventLoop, name, refuse)
    sys.modules[pathlib.Path.__module__].WindowsPath = pathlib.PosixPath  # type: ignore[attr-defined]
    windows._resolve_win_folder = windows.get_win_folder_from_env_vars
    platformdirs.PlatformDirs = windows.Windows  # type: ignore[misc]
    os.name = "nt"
    sys.platform = "win32"


def _let_shutil_follow() -> None:
    """Take back what `shutil` chose by the system while it was loaded; versions differ."""
    for name, value in (
        ("_use_fd_functions", False),
        ("_rmtree_impl", getattr(shutil, "_rmtree_unsafe", None)),
        ("_winapi", SimpleNamespace(NeedCurrentDirectoryForExePath=lambda _: True)),
    ):
        if hasattr(shutil, name):
            setattr(shutil, name, value)


def become_macos() -> None:
    import platformdirs
    from platformdirs.macos import MacOS

    del os.O_PATH
    platformdirs.PlatformDirs = MacOS  # type: ignore[misc]
    sys.platform = "darwin"


def hide_proc(event: str, arguments: tuple[object, ...]) -> None:
    """Let no file of Linux's own be opened; psutil, which is Linux's, reads those of processes."""
    if event == "open" and str(arguments[0]).startswith(("/proc/self/", "/proc/sys/")):
        raise FileNotFoundError(2, "there is no such file on this system")


def run(arguments: list[str]) -> tuple[int, str, str]:
    """Run one command as the program would."""
    from ragforge.cli.guard import run_guarded
    from ragforge.cli.main import run as run_command

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = run_guarded(lambda: run_command(arguments), True)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    return code, out.getvalue(), err.getvalue()


def main() -> None:
    for name in BEFORE.split():
        __import__(name)
    sysconfig.get_config_vars()
    asyncio.run(asyncio.sleep(0))  # chooses its policy by the system, at the first use
    commands = json.loads(sys.stdin.read())
    {"win32": become_windows, "darwin": become_macos}[sys.argv[1]]()
    sys.addaudithook(hide_proc)
    results = [run(command) for command in commands]
    sys.__stdout__.write(json.dumps(results))  # type: ignore[union-attr]


if __name__ == "__main__":
    main()
