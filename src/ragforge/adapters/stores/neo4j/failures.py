"""Failures: the driver's errors in RagForge's words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    ConnectionAcquisitionTimeoutError,
    DriverError,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from ragforge.errors import (
    DuplicateId,
    InputError,
    InvalidText,
    RagForgeError,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

_TAKEN = re.compile(r"already exists with label `(\w+)` and propert\w+ `(\w+)` = '(.*)'", re.DOTALL)
_KINDS = {
    "Conversation": "conversation",
    "Message": "message",
    "ToolCall": "tool call",
    "ToolResult": "tool result",
    "Summary": "summary",
    "Project": "project",
    "File": "file",
    "WebPage": "file",
    "Scope": "scope",
    "MarkdownSection": "scope",
    "RagForgeJob": "job",
}
_AWAY = (ServiceUnavailable, SessionExpired, ConnectionAcquisitionTimeoutError, OSError)
_READ_ONLY = (
    "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase",
    "Neo.ClientError.Cluster.NotALeader",
)


@contextmanager
def translate_errors(url: str) -> Iterator[None]:
    """Raise what the driver or the server reports as an error that says what to do about it."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise InvalidText("a text", error.start) from error
    except OverflowError as error:
        raise InputError("A number does not fit into 64 bits") from error
    except (Neo4jError, DriverError, OSError) as error:
        raise _translate(url, error) from error


@contextmanager
def translate_url_errors(url: str) -> Iterator[None]:
    """Do as `translated`, for a URL that the driver may not understand at all."""
    with translate_errors(url):
        try:
            yield
        except ValueError as error:
            raise ConfigurationError(str(error)) from error


def _translate(url: str, error: Exception) -> RagForgeError:
    if isinstance(error, Neo4jError):
        return _from_server(url, error)
    if isinstance(error, IncompleteCommit):
        return StoreUnavailable(
            f"Neo4j at {url} went away while it was storing: what was being stored may be there "
            "or not. Try again."
        )
    if isinstance(error, _AWAY):
        return StoreUnavailable(
            f"Neo4j at {url} does not answer: {_find_reason(error)}. "
            "Start it with `make neo4j`, or choose another store with --store."
        )
    if isinstance(error, ConfigurationError):
        return StoreUnavailable(f"Neo4j at {url} cannot be used: {error}. Check the address.")
    return StoreError(f"Neo4j at {url}: {error}")


def _find_reason(error: BaseException) -> str:
    """Return the first cause in few words: the driver's own are many."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno:
            known = os.strerror(cause.errno) if cause.errno > 0 else cause.strerror
            return str(known).lower()
        cause = cause.__cause__ or cause.__context__
    return str(error).partition("\n")[0].rstrip(".:")


def _from_server(url: str, error: Neo4jError) -> StoreError:
    code, message = error.code or "", error.message or ""
    if isinstance(error, AuthError):
        return StoreUnavailable(
            f"Neo4j at {url} refuses the user name or password. Set RAGFORGE_NEO4J_USER and "
            "RAGFORGE_NEO4J_PASSWORD."
        )
    if code.startswith("Neo.ClientError.Security."):
        return StoreUnavailable(f"Neo4j at {url} denies access: {' '.join(message.split())}")
    if code == "Neo.ClientError.Schema.ConstraintValidationFailed":
        found = _TAKEN.search(message)
        if found and found[1] in _KINDS:
            return DuplicateId(_KINDS[found[1]], found[3])
    if code == "Neo.ClientError.Database.DatabaseNotFound":
        return StoreUnavailable(f"Neo4j at {url}: {message} Check store.neo4j_database.")
    if code in _READ_ONLY:
        return StoreReadOnly(f"Neo4j at {url} cannot be written to: {message}")
    if "No space left" in message:
        return StoreFull(f"The disk of Neo4j at {url} is full. Make room, try again.")
    if isinstance(error, TransientError) or error.is_retryable():
        return StoreBusy(f"Neo4j at {url} is busy: {message} Try again.")
    return StoreError(f"Neo4j at {url}: {message} ({code})")
