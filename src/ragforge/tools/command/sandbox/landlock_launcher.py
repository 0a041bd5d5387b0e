"""Launcher of Landlock: restrict this process by the kernel's own calls, then become the program.

It is run as a file by an interpreter without site packages: it imports the standard library alone.
"""

import ctypes
import json
import os
import stat
import sys

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PR_SET_NO_NEW_PRIVS = 38
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
_FIRST_VERSION = (1 << 13) - 1  # all rights that the first version knows
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_CONNECTIONS = 0b11  # bind and connect of TCP
_SCOPES = 0b11  # abstract sockets and signals
FAILED = 125


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def _call(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    return int(libc.syscall(ctypes.c_long(number), *arguments))


def get_version() -> int:
    """Return the version of Landlock, or -1."""
    return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))


def restrict(rules: dict) -> None:  # type: ignore[type-arg]
    """Allow this process no more than the rules say. Raises OSError."""
    version = get_version()
    handled = _FIRST_VERSION
    handled |= _REFER if version >= 2 else 0
    handled |= _TRUNCATE if version >= 3 else 0
    handled |= _IOCTL if version >= 5 else 0
    net = _CONNECTIONS if version >= 4 and not rules["network"] else 0
    attributes = _Ruleset(handled, net, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _call(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), 0)
    _check(ruleset)
    for path in [*_list_around(rules["hidden"]), *rules["read"]]:
        _allow(ruleset, path, _READ)
    for path in rules["write"]:
        _allow(ruleset, path, handled & ~_IOCTL)
    for path in rules["devices"]:
        _allow(ruleset, path, (_READ | _WRITE_FILE | _TRUNCATE | _IOCTL) & handled)
    libc = ctypes.CDLL(None, use_errno=True)
    _check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _check(_call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0)))
    os.close(ruleset)


def _list_around(hidden: list[str]) -> list[str]:
    """Return what together holds all files but the hidden ones."""
    folders = {path for path in hidden if os.path.isdir(path)}
    if not folders:
        return [os.sep]
    parents = {parent for path in folders for parent in _list_parents(path)}
    around: list[str] = []
    for parent in parents:
        try:
            with os.scandir(parent) as entries:  # what a link leads to is allowed by its own name
                around += [entry.path for entry in entries if not entry.is_symlink()]
        except PermissionError:
            continue  # what lies in it cannot be listed, and stays closed
    return [path for path in around if path not in parents and path not in folders]


def _list_parents(path: str) -> list[str]:
    parents = []
    while path != os.sep:
        path = os.path.dirname(path)
        parents.append(path)
    return parents


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # it is gone, or not ours: nothing to allow
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            access &= _OF_FILES
        rule = _Beneath(access, handle)
        _check(_call(_ADD_RULE, ctypes.c_int(ruleset), 1, ctypes.byref(rule), ctypes.c_uint32(0)))
    finally:
        os.close(handle)


def _check(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def main(given: str, words: list[str]) -> None:
    """Restrict this process and become the program."""
    rules = json.loads(given)
    try:
        restrict(rules)
    except OSError as error:  # without its sandbox it does not run
        sys.stderr.write(f"The sandbox cannot be made: {error.strerror}\n")
        os._exit(FAILED)
    try:
        os.execv(rules["program"], words)
    except OSError as error:
        sys.stderr.write(f"{rules['program']}: {error.strerror}\n")
        os._exit(127)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
