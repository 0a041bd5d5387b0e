"""Beneath: open files below a directory in such a way that no link can lead out of it.

Between a check of a path and its use, another process may replace a directory by a link. So a path
is not checked and then used: the kernel follows it from a descriptor of the root and refuses every
link on the way (`openat2`), or each of its steps is opened from the one before. Paths are relative
to the root, with `/`, and without links: callers that want to follow a link resolve it first.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import cast

from ragforge.private_files import replace_file

HAS_DESCRIPTORS = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
"""Whether directories have descriptors; Windows has none, and checks the path before its use."""
_OPENAT2 = 437  # the same number on every architecture
_NO_MAGIC_LINKS, _NO_LINKS, _BENEATH = 0x02, 0x04, 0x08
_RETRIES = 100  # while a path is renamed
_CLOSED = getattr(os, "O_CLOEXEC", 0)
_DIRECTORY = os.O_RDONLY | _CLOSED | getattr(os, "O_DIRECTORY", 0)
_READ = os.O_RDONLY | _CLOSED | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NOT_FOLLOWED = getattr(os, "O_NOFOLLOW", 0)


class _OpenHow(ctypes.Structure):
    """The arguments of `openat2`."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_file(root: str, path: str) -> int:
    """Return a descriptor to read a regular file with. Raises OSError, also for a link or pipe."""
    if not HAS_DESCRIPTORS:
        _check_path(root, path)
        descriptor = os.open(os.path.join(root, path), _READ)
    else:
        descriptor = _open_below(root, path, _READ)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return descriptor


def read_bytes(root: str, path: str) -> bytes:
    """Return the bytes of a regular file. Raises OSError."""
    with os.fdopen(open_file(root, path), "rb") as file:
        return file.read()


@contextmanager
def open_directory(root: str, path: str) -> Iterator[int]:
    """Open a directory to list it, or to reach what is in it. Raises OSError."""
    descriptor = _open_below(root, path, _DIRECTORY) if path else os.open(root, _DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def open_parent(root: str, path: str, make: bool = False) -> Iterator[Parent]:
    """Open the directory that a path is in; `make` makes those that are missing. Raises OSError."""
    folder, _, name = path.rpartition("/")
    if not HAS_DESCRIPTORS:
        if make:
            os.makedirs(os.path.join(root, folder), exist_ok=True)
        _check_path(root, path)
        yield Parent(None, os.path.join(root, path))
        return
    if make:
        _make_directories(root, folder)
    with open_directory(root, folder) as descriptor:
        yield Parent(descriptor, name)


class Parent:
    """A name in an open directory, which stays the same whatever happens to its path."""

    def __init__(self, descriptor: int | None, name: str) -> None:
        self._at = descriptor  # None: there are no descriptors, and the name is a whole path
        self._name = name

    def stat(self) -> os.stat_result:
        """Return the facts of what has this name, a link itself included. Raises OSError."""
        return os.stat(self._name, dir_fd=self._at, follow_symlinks=False)

    def unlink(self) -> None:
        os.unlink(self._name, dir_fd=self._at)

    def replace(self, data: bytes, mode: int) -> None:
        """Write the file completely or not at all; it is durable when this returns.

        Raises OSError; then the file is as it was.
        """
        replace_file(self._name, data, mode, self._at)


def _make_directories(root: str, folder: str) -> None:
    """Make the missing directories of a path, each in the one before."""
    done = ""
    for step in filter(None, folder.split("/")):
        with open_directory(root, done) as above, suppress(FileExistsError):
            os.mkdir(step, dir_fd=above)
        done = f"{done}/{step}" if done else step


def _open_below(root: str, path: str, flags: int) -> int:
    start = os.open(root, _DIRECTORY)
    try:
        return _follow(start, path, flags)
    finally:
        os.close(start)


def _follow(start: int, path: str, flags: int) -> int:
    """Return a descriptor of what a path leads to without any link. Raises OSError."""
    if "\0" in path:
        raise OSError(errno.EINVAL, "it is not a valid path")
    for _ in range(_RETRIES if _load_openat2() else 0):
        try:
            return _call_openat2(start, path, flags)
        except BlockingIOError:  # something above it was renamed meanwhile
            continue
        except OSError as error:
            if error.errno in (errno.ENOSYS, errno.EPERM):  # an old kernel, or a filter of calls
                break
            if error.errno == errno.ELOOP:
                raise OSError(errno.ELOOP, "a link leads there") from error
            raise
    return _follow_steps(start, path, flags)


def _follow_steps(start: int, path: str, flags: int) -> int:
    """Follow a path step by step, each opened from the directory before it."""
    *folders, name = path.split("/")
    if any(step in ("", ".", "..") for step in (*folders, name)):
        raise OSError(errno.EXDEV, "it leads out of the project")
    at = os.dup(start)
    try:
        for step in folders:
            below = os.open(step, _DIRECTORY | _NOT_FOLLOWED, dir_fd=at)
            os.close(at)
            at = below
        return os.open(name, flags | _NOT_FOLLOWED, dir_fd=at)
    finally:
        os.close(at)


@cache
def _load_openat2() -> Callable[[int, int, bytes, _OpenHow, int], int] | None:
    """Return the system call, which not every C library wraps."""
    if sys.platform != "linux":
        return None
    call = ctypes.CDLL(None, use_errno=True).syscall
    how = ctypes.POINTER(_OpenHow)
    call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, how, ctypes.c_size_t)
    return cast("Callable[[int, int, bytes, _OpenHow, int], int]", call)


def _call_openat2(start: int, path: str, flags: int) -> int:
    call = _load_openat2()
    assert call is not None
    how = _OpenHow(flags, 0, _NO_MAGIC_LINKS | _NO_LINKS | _BENEATH)
    descriptor = call(_OPENAT2, start, os.fsencode(path), how, ctypes.sizeof(how))
    if descriptor < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return descriptor


def _check_path(root: str, path: str) -> None:
    full = os.path.join(root, *path.split("/"))
    if os.path.realpath(full) != full:
        raise OSError(errno.ELOOP, "a link leads there")
