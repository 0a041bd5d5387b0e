"""Failures: the driver's errors in RagForge's words."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from neo4j._exceptions import BoltSecurityError  # no public error says that TLS is the reason
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
    UnsupportedServerProduct,
    WriteServiceUnavailable,
)

from ragforge import errors

_TAKEN = re.compile(r"already exists with label `(\w+)` and propert\w+ (.*)", re.DOTALL)
_VALUE = re.compile(r"`\w+` = '(.*?)'(?=, `\w+` = |\s*$)", re.DOTALL)
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
        raise errors.InvalidText("a text", error.start) from error
    except OverflowError as error:
        raise errors.InputError("A number does not fit into 64 bits") from error
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


def _translate(url: str, error: Exception) -> errors.RagForgeError:
    if isinstance(error, Neo4jError):
        return _from_server(url, error)
    if isinstance(error, IncompleteCommit):
        return errors.StoreUnavailable(
            f"Neo4j at {url} went away while it was storing: what was being stored may be there "
            "or not. Try again."
        )
    if isinstance(error, WriteServiceUnavailable):
        return errors.StoreReadOnly(
            f"Neo4j at {url} cannot be written to: it does not lead its cluster now. "
            + ("Write neo4j:// in place of bolt://." if url.startswith("bolt") else "Try again.")
        )
    if isinstance(error, UnsupportedServerProduct) or _is_http(error):
        return errors.StoreUnavailable(_describe_stranger(url))
    if isinstance(error, _AWAY):
        return errors.StoreUnavailable(
            _describe_failed_handshake(url, error) or _describe_away(url, error)
        )
    if isinstance(error, ConfigurationError):
        return errors.StoreUnavailable(
            f"Neo4j at {url} cannot be used: {error}. Check the address."
        )
    return errors.StoreError(f"Neo4j at {url}: {error}")


def describe_silence(url: str, seconds: float) -> str:
    """Say that something listens at the address, and does not answer."""
    return (
        f"Neo4j at {url} does not answer within {seconds:g} seconds. The server may be starting or "
        f"overloaded, or another program listens there. {_CHECK_PORT}"
    )


_CHECK_PORT = "Check the address: Bolt's default port is 7687."


def _describe_stranger(url: str) -> str:
    return f"What listens at {url} is not Neo4j, or not its Bolt port. {_CHECK_PORT}"


def _describe_away(url: str, error: Exception) -> str:
    host = (urlsplit(url).hostname or "").lower()
    start = "Start it"
    if host in _THIS_MACHINE and (checkout := _find_checkout()):
        start = f"Start it with `make neo4j` in {checkout}"
    return (
        f"Neo4j at {url} does not answer: {_find_reason(error)}. "
        f"{start}, or choose another store with --store."
    )


_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


def _find_checkout() -> Path | None:
    """Return the folder of RagForge's repository, if this RagForge runs from it."""
    folder = Path(__file__).resolve().parents[5]
    return folder if (folder / "scripts" / "neo4j_server.py").is_file() else None


def _describe_failed_handshake(url: str, error: Exception) -> str | None:
    """Say what is wrong with TLS, if that is why there is no connection."""
    scheme = urlsplit(url).scheme
    base = scheme.partition("+")[0]
    causes = list(_list_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"Neo4j at {url}: the TLS handshake failed, because the server's certificate is "
                f"not trusted here ({cause.verify_message}). Name the certificate of its authority "
                f"with SSL_CERT_FILE, or write {base}+ssc:// to encrypt without checking it."
            )
    if any(isinstance(cause, ssl.SSLError | BoltSecurityError) for cause in causes):
        return (
            f"Neo4j at {url}: the TLS handshake failed. The server may have no TLS on this "
            f"port: then write {base}:// instead of {scheme}://. {_CHECK_PORT}"
        )
    if scheme == base and any("incomplete handshake" in str(cause) for cause in causes):
        return (
            f"Neo4j at {url} closed the connection during the handshake. It may require TLS: "
            f"write {base}+s:// instead of {base}://. {_CHECK_PORT}"
        )
    return None


def _is_http(error: Exception) -> bool:
    return any("looks like HTTP" in str(cause) for cause in _list_causes(error))


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what led to it, the last first; several routers may have failed."""
    yield error
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _list_causes(one)
    if (cause := error.__cause__ or error.__context__) is not None:
        yield from _list_causes(cause)


def _find_reason(error: BaseException) -> str:
    """Return the first cause in few words; the driver's messages are long."""
    for cause in _list_causes(error):
        if isinstance(cause, OSError) and cause.errno:
            known = os.strerror(cause.errno) if cause.errno > 0 else cause.strerror
            return str(known).lower()
    return str(error).partition("\n")[0].rstrip(".:")


def _from_server(url: str, error: Neo4jError) -> errors.StoreError:
    code, message = error.code or "", error.message or ""
    if isinstance(error, AuthError):
        return errors.StoreUnavailable(
            f"Neo4j at {url} refuses the user name or password. Set RAGFORGE_NEO4J_USER and "
            "RAGFORGE_NEO4J_PASSWORD, or store the password with "
            f"`keyring set ragforge neo4j@{urlsplit(url).hostname}`."
        )
    if code.startswith("Neo.ClientError.Security."):
        return errors.StoreUnavailable(f"Neo4j at {url} denies access: {' '.join(message.split())}")
    if code == "Neo.ClientError.Schema.ConstraintValidationFailed":
        found = _TAKEN.search(message)
        if found and found[1] in _KINDS:
            return errors.DuplicateId(_KINDS[found[1]], ", ".join(_VALUE.findall(found[2])))
    if code == "Neo.ClientError.Database.DatabaseNotFound":
        return errors.StoreUnavailable(f"Neo4j at {url}: {message} Check store.neo4j_database.")
    if code in _READ_ONLY:
        return errors.StoreReadOnly(f"Neo4j at {url} cannot be written to: {message}")
    if "No space left" in message:
        return errors.StoreFull(
            f"The disk of Neo4j at {url} is full: this write was not stored, what was stored "
            "before it stays. Make room, try again."
        )
    if isinstance(error, TransientError) or error.is_retryable():
        return errors.StoreBusy(f"Neo4j at {url} is busy: {message} Try again.")
    return errors.StoreError(f"Neo4j at {url}: {message} ({code})")
