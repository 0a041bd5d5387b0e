"""System errors: what the machine has no more of, in a sentence that says what to do."""

from __future__ import annotations

import errno

_SENTENCES = {
    errno.EMFILE: (
        "Too many files are open in this process. Raise the limit: ulimit -n 1024, "
        "then run the command again."
    ),
    errno.ENFILE: "Too many files are open on this machine. Close some programs.",
    errno.EAGAIN: (
        "No more threads or processes can be started. Close some programs, or raise the limit: "
        "ulimit -u."
    ),
    errno.ENOMEM: "There is not enough memory. Close some programs.",
    errno.ENOSPC: "The disk is full. Free some space.",
}
_THREADS = ("can't start new thread", "can't create new thread")


def explain_system_error(error: BaseException) -> str | None:
    """Return the sentence for an error of the system, None for any other."""
    if isinstance(error, BaseExceptionGroup):
        found = (explain_system_error(one) for one in error.exceptions)
        return next((sentence for sentence in found if sentence), None)
    if isinstance(error, MemoryError):
        return _SENTENCES[errno.ENOMEM]
    if isinstance(error, RuntimeError) and any(text in str(error) for text in _THREADS):
        return _SENTENCES[errno.EAGAIN]
    if isinstance(error, OSError) and error.errno is not None:
        return _SENTENCES.get(error.errno)
    return None
