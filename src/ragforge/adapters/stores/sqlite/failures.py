"""Failures: SQLite's errors in RagForge's words."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from ragforge.errors import (
    InvalidText,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

_READ_ONLY = (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError)
_CORRUPT = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)


@contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """Raise what SQLite reports as an error that says what to do about it."""
    try:
        yield
    except apsw.Error as error:
        raise _translate(path, error) from error
    except UnicodeEncodeError as error:
        raise InvalidText("A text", error.start) from error
    except UnicodeDecodeError as error:  # only damage makes a stored text unreadable
        raise _describe_damage(path, error) from error


def _translate(path: str, error: apsw.Error) -> StoreError:
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return StoreBusy(f"{path} is busy: another process is writing to it. Try again.")
    if isinstance(error, _READ_ONLY):
        return StoreReadOnly(
            f"{path} cannot be written to. Change its permissions, or choose another store "
            "with --store."
        )
    if isinstance(error, apsw.FullError):
        return StoreFull(
            f"The disk of {path} is full: this write was not stored, what was stored before it "
            "stays. Make room, try again."
        )
    if isinstance(error, _CORRUPT):
        return _describe_damage(path, error)
    if isinstance(error, apsw.CantOpenError) and _has_no_descriptors():
        return StoreUnavailable(
            f"{path} cannot be opened: too many files are open in this process. Raise the limit: "
            "ulimit -n 1024"
        )
    if isinstance(error, apsw.CantOpenError):
        return StoreUnavailable(
            f"{path} cannot be opened. Check that its folder exists and can be written to."
        )
    if isinstance(error, apsw.IOError):
        return StoreUnavailable(f"{path} cannot be read or written ({error}). Check the disk.")
    if isinstance(error, apsw.TooBigError):
        return StoreError(f"A text is too large for {path}: {error}")
    return StoreError(f"{path}: {error}")


def _has_no_descriptors() -> bool:
    """Tell whether no file can be opened any more: SQLite reports that like a missing folder."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    return False


def _describe_damage(path: str, error: Exception) -> StoreCorrupt:
    return StoreCorrupt(
        f"{path} is damaged or is not a RagForge store ({error}). Restore a copy, or save what "
        f"can be read: ragforge store repair --store {path}"
    )
