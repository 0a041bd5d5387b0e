"""Launcher of Landlock: restrict this process by the kernel's own calls, then become the program.

Landlock restricts files and TCP. A filter of system calls (seccomp) closes other sockets, and the
capabilities of root are dropped: with them a program could read the memory of other processes.

It is run as a file by an interpreter without site packages: it imports only the standard library.
"""

import ctypes
import json
import os
import stat
import struct
import sys

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 22, 38
_FILTER_MODE = 2
_EFAULT, _EACCES = 14, 13
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL, _RESOLVE_UNIX = 1 << 13, 1 << 14, 1 << 15, 1 << 16
_SCOPES_SOCKETS = 9  # from this version on, only unix sockets of the sandbox itself can be reached
_FIRST_VERSION = (1 << 13) - 1  # all rights that the first version knows
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_CONNECTIONS = 0b11  # bind and connect of TCP
_SCOPES = 0b11  # abstract sockets and signals
FAILED = 125

_CAPABILITIES_VERSION = 0x20080522
_FILE_CAPABILITIES = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4  # CHOWN, DAC_OVERRIDE, FOWNER, FSETID
# Of each machine: how the kernel names it, and its numbers of socket, socketpair and connect.
_MACHINES = {"x86_64": (0xC000003E, 41, 53, 42), "aarch64": (0xC00000B7, 198, 199, 203)}
_IO_URING_SETUP = 425  # what is done through it, no filter sees
_X32 = 0x40000000  # numbers from here on are the same calls by another name
_NUMBER, _MACHINE, _FIRST, _SECOND = 0, 4, 16, 24  # where the filter finds the call
_AF_UNIX = 1
_STREAM, _SEQPACKET = 1, 5  # the types whose packets go where they are connected to
_TYPE_MASK = 0xF


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"  # what it always was; Python 3.14 wants it said
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
    handled |= _RESOLVE_UNIX if version >= _SCOPES_SOCKETS else 0
    net = _CONNECTIONS if version >= 4 and not rules["network"] else 0
    attributes = _Ruleset(handled, net, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _call(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), 0)
    _check(ruleset)
    for path in [*_list_around(rules["hidden"]), *rules["read"]]:
        _allow(ruleset, path, _READ)
    for path in rules["write"]:
        _allow(ruleset, path, handled & ~(_IOCTL | _RESOLVE_UNIX))
    for path in rules["devices"]:
        _allow(ruleset, path, (_READ | _WRITE_FILE | _TRUNCATE | _IOCTL) & handled)
    libc = ctypes.CDLL(None, use_errno=True)
    _check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _check(_call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0)))
    os.close(ruleset)
    _drop_capabilities(_FILE_CAPABILITIES if rules["owners"] else 0)
    if can_filter_sockets():
        _filter_sockets(rules["network"], is_scoped=version >= _SCOPES_SOCKETS)


def _drop_capabilities(kept: int) -> None:
    """Give up all capabilities but some on files; with no_new_privs no program regains them."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = struct.pack("Ii", _CAPABILITIES_VERSION, 0)
    held = ctypes.create_string_buffer(24)
    _check(libc.capget(header, held))
    first = struct.unpack("6I", held.raw)[1] & kept  # the permitted ones, of the first 32
    _check(libc.capset(header, struct.pack("6I", first, first, 0, 0, 0, 0)))


def can_filter_sockets() -> bool:
    """Tell whether the kernel takes a filter, and the numbers of this machine are known."""
    libc = ctypes.CDLL(None, use_errno=True)
    # Without a filter, this fails in one way if filters are supported and in another if not.
    libc.prctl(_PR_SET_SECCOMP, _FILTER_MODE, None, 0, 0)
    return ctypes.get_errno() == _EFAULT and os.uname().machine in _MACHINES and sys.maxsize > 2**32


def _filter_sockets(network: bool, is_scoped: bool) -> None:
    """Refuse sockets that lead out of the sandbox, for this process and all that it starts."""
    program = b"".join(build_filter(os.uname().machine, network, is_scoped))
    code = ctypes.create_string_buffer(program, len(program))
    given = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    _check(libc.prctl(_PR_SET_SECCOMP, _FILTER_MODE, given, 0, 0))


def build_filter(machine: str, network: bool, is_scoped: bool) -> list[bytes]:
    """Return the instructions of the filter.

    Of unix sockets those of other programs on this machine must not be reached: a program outside
    would do whatever it is asked to. `is_scoped`: Landlock does that. Otherwise they cannot be
    connected at all, for a filter does not see to what; pairs of them stay.
    """
    name, socket, socketpair, connect = _MACHINES[machine]
    connected = [_do(_LOAD, _SECOND), _do(_AND, _TYPE_MASK)]
    connected += [*_if(_STREAM, _ALLOW), *_if(_SEQPACKET, _ALLOW), *_DENY]
    program = [_do(_LOAD, _MACHINE), _do(_EQUAL, name, 1, 0), *_KILL]
    program += [_do(_LOAD, _NUMBER), _do(_GREATER_OR_EQUAL, _X32, 0, 1), *_DENY]
    program += _if(_IO_URING_SETUP, _DENY)
    if not network:
        unix = _ALLOW if is_scoped else connected
        program += _if(socket, [_do(_LOAD, _FIRST), *_if(_AF_UNIX, unix), *_DENY])
    elif not is_scoped:
        program += _if(socket, [_do(_LOAD, _FIRST), *_if(_AF_UNIX, _DENY), *_ALLOW])
    if not is_scoped:
        program += _if(socketpair, connected)
        program += [] if network else _if(connect, _DENY)
    return [*program, *_ALLOW]


def _do(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return an instruction; a comparison skips as many as its last two numbers say."""
    return struct.pack("HBBI", code, if_true, if_false, value)


def _if(value: int, then: list[bytes]) -> list[bytes]:
    """Return what does `then`, which must end in a decision, if the loaded number is the value."""
    return [_do(_EQUAL, value, 0, len(then)), *then]


_LOAD, _AND, _EQUAL, _GREATER_OR_EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _KILL = [_do(_RETURN, 0x7FFF0000)], [_do(_RETURN, 0x80000000)]
_DENY = [_do(_RETURN, 0x00050000 | _EACCES)]


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
        return  # it is gone or belongs to another user: nothing to allow
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
    except OSError as error:  # it must not run without its sandbox
        sys.stderr.write(f"The sandbox could not be created: {error.strerror}\n")
        os._exit(FAILED)
    try:
        os.execv(rules["program"], words)
    except OSError as error:
        sys.stderr.write(f"{rules['program']}: {error.strerror}\n")
        os._exit(127)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
