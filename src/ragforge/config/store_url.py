"""Store URLs: the values of `store.url`, with relative paths made absolute."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

SERVER_SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
FORMS = "a path, sqlite:///path, neo4j://host, neo4j+s://host or bolt://host"


def is_server(url: str) -> bool:
    """Tell whether the URL leads to a Neo4j server."""
    scheme, separator, _ = url.partition("://")
    return bool(separator) and scheme.lower() in SERVER_SCHEMES


def normalise_store_url(text: str, base: Path) -> str:
    """Return a server's URL as it is, and anything else as an absolute path.

    Relative paths start at `base`. What follows `sqlite:///` is a path:
    `sqlite:///notes.db` is relative, `sqlite:////tmp/notes.db` is absolute.
    Raises ValueError with half a sentence that goes after the key: "is …". It never
    repeats a password.
    """
    if not text.strip():
        raise ValueError(f"is empty: it must be {FORMS}")
    if "\0" in text:
        raise ValueError("holds a NUL character")
    scheme, separator, rest = text.partition("://")
    if not separator:
        return _normalise_file(text, base)
    if scheme.lower() == "sqlite":
        return _normalise_sqlite(rest, base)
    if "@" in text:
        raise ValueError(
            "holds a user name or a password: take them out of the URL and set "
            "RAGFORGE_NEO4J_USER and RAGFORGE_NEO4J_PASSWORD in the environment"
        )
    if not is_server(text):
        raise ValueError(f"starts with {scheme + '://'!r}: it must be {FORMS}")
    _check_host(text)
    return text


def check_inside(url: str, project: Path) -> None:
    """Raise ValueError if a store named by a project's file is not inside the project.

    Another person may have written a project's file: opening the project must not send
    conversations, and the password of a server, to a place that this person chose.
    """
    if is_server(url) or not Path(url).resolve().is_relative_to(project.resolve()):
        raise ValueError(
            "leads out of the project, which a project's file may not do: set it in your own "
            "file, in RAGFORGE_STORE or with --store"
        )


def _normalise_file(text: str, base: Path) -> str:
    scheme = text.partition(":")[0].lower()
    if text.lower() == ":memory:":
        raise ValueError(f"is ':memory:', which forgets everything: it must be {FORMS}")
    if scheme in (*SERVER_SCHEMES, "sqlite") and ":" in text:
        raise ValueError(f"starts with '{scheme}:' but not '{scheme}://': it must be {FORMS}")
    try:
        return str((base / Path(text).expanduser()).absolute())
    except RuntimeError as error:
        raise ValueError("starts with '~', but this user has no home directory") from error


def _normalise_sqlite(rest: str, base: Path) -> str:
    path = rest.removeprefix("/")
    if path == rest or not path:
        raise ValueError("has no path: write sqlite:/// and then the path")
    if "?" in path:
        raise ValueError("has parameters after '?', which a sqlite URL may not have here")
    return _normalise_file(path, base)


def _check_host(url: str) -> None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"is not a URL with a host and a port: {error}") from error
    if not parts.hostname:
        raise ValueError(f"names no host: it must be {FORMS}")
