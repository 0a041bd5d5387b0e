"""Zygote: a process that has imported RagForge and forks for every run of a module.

Tests start RagForge hundreds of times. Most of the time of a start is importing: here it is done
once for each worker of pytest. The forked process has its own directory, variables, input and
output, and dies as any other does. Tests of start-up itself start a new Python.
"""

from __future__ import annotations

import array
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import ragforge
from ragforge.adapters.stores.sqlite import database

ROOT = Path(__file__).parents[2]
EXTRA_MODULES = ("neo4j", "pydantic_ai.models.openai", "pydantic_ai.providers.openai")
"""What RagForge imports when it needs it, and most of its processes here do."""


class Forked:
    """A process that was forked, with the part of `subprocess.Popen` that tests use."""

    def __init__(self, connection: socket.socket, pid: int) -> None:
        self._connection = connection
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs."""
        if self.returncode is None and select.select([self._connection], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code; that of a signal is negative. Raises TimeoutError."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            status = b""
            while part := self._connection.recv(64):
                status += part
            self._connection.close()
            self.returncode = int(status)
        return self.returncode

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def run_module(
    module: str,
    *arguments: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    input: str = "",  # noqa: A002: as subprocess.run calls it
    timeout: float = 240,
) -> subprocess.CompletedProcess[str]:
    """Run a module as `python -m` does, and return what it printed."""
    with contextlib.ExitStack() as files:
        given, out, err = (files.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(input.encode())
        given.seek(0)
        forked = fork(module, arguments, (given.fileno(), out.fileno(), err.fileno()), cwd, env)
        try:
            code = forked.wait(timeout)
        except TimeoutError:
            forked.kill()
            raise subprocess.TimeoutExpired([module, *arguments], timeout) from None
        printed = []
        for file in (out, err):
            file.seek(0)
            printed.append(file.read().decode())
    return subprocess.CompletedProcess([module, *arguments], code, *printed)


def fork(
    module: str,
    arguments: Sequence[str],
    files: Sequence[int],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Forked:
    """Start a module with three open files as its input, output and errors."""
    request = {
        "module": module,
        "arguments": list(arguments),
        "cwd": str(cwd or Path.cwd()),
        "env": dict(os.environ if env is None else env),
        "synchronous": database.SYNCHRONOUS,
    }
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(_start())
    socket.send_fds(connection, [b"f"], list(files))
    connection.sendall(json.dumps(request).encode())
    connection.shutdown(socket.SHUT_WR)
    pid = b""
    while not pid.endswith(b"\n"):
        part = connection.recv(1)
        if not part:
            raise ConnectionError("the zygote has ended")
        pid += part
    return Forked(connection, int(pid))


@cache
def _start() -> str:
    """Start the zygote of this process, and return where it listens. It ends with its pipe."""
    place = tempfile.mkdtemp(prefix="zygote-")
    address = f"{place}/socket"
    command = [sys.executable, "-m", "tests.fakes.zygote", address]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    _KEPT.append(process)
    return address


_KEPT: list[Any] = []


def _serve(address: str) -> None:
    """Fork for every connection, until the parent process is gone."""
    for module in pkgutil.walk_packages(ragforge.__path__, "ragforge."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in EXTRA_MODULES:
        importlib.import_module(name)
    gc.freeze()  # what is collected in a child need not be copied for it
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(address)
    listener.listen(64)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one waits for the waiting processes
    if os.fork() == 0:  # ends the zygote when the pipe to its parent closes
        sys.stdin.buffer.read()
        os.kill(os.getppid(), signal.SIGKILL)
        os._exit(0)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _wait_for_child(connection)
        connection.close()


def _wait_for_child(connection: socket.socket) -> NoReturn:
    """Fork once more, tell the pid, wait, tell the exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(3 * array.array("i").itemsize))
    files = array.array("i", ancillary[0][2]).tolist()
    text = b""
    while part := connection.recv(1 << 16):
        text += part
    pid = os.fork()
    if pid == 0:
        connection.close()
        _become(json.loads(text), files)
    for file in files:
        os.close(file)
    connection.sendall(b"%d\n" % pid)
    _, status = os.waitpid(pid, 0)
    connection.sendall(b"%d" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _become(request: dict[str, Any], files: Sequence[int]) -> NoReturn:
    """Run the module in this process, as if Python had just started."""
    for number, file in enumerate(files):
        os.dup2(file, number)
    for file in files:
        os.close(file)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    database.SYNCHRONOUS = request["synchronous"]
    sys.argv = [request["module"], *request["arguments"]]
    code: object = 0
    try:
        runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
    except SystemExit as error:
        code = error.code
    except BaseException:  # as Python itself does
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    _serve(sys.argv[1])
