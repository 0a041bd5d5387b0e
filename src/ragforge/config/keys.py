"""Keys and passwords: from the environment or the system keyring, and never written anywhere."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from ragforge.config.services import SERVICES

KEYRING_SERVICE = "ragforge"


def find_api_key(provider: str, environ: Mapping[str, str] | None = None) -> str | None:
    """Return the key of a provider, or None if there is none anywhere."""
    variables = os.environ if environ is None else environ
    for name in SERVICES[provider].variables:
        if value := variables.get(name, "").strip():
            return value
    return _from_keyring(provider)


def explain_key(provider: str) -> str:
    """Return half a sentence that says how to give a provider's key."""
    variable = SERVICES[provider].variables[0]
    return f"set {variable}, or store it with `keyring set {KEYRING_SERVICE} {provider}`"


def find_neo4j_credentials(
    url: str, environ: Mapping[str, str] | None = None
) -> tuple[str, str] | None:
    """Return the user and the password for the server at a URL, or None if there is no password.

    The keyring holds a password for each host, so that none is sent to another server.
    """
    variables = os.environ if environ is None else environ
    password = variables.get("RAGFORGE_NEO4J_PASSWORD") or _from_keyring(name_neo4j_entry(url))
    if not password:
        return None
    return variables.get("RAGFORGE_NEO4J_USER") or "neo4j", password


def name_neo4j_entry(url: str) -> str:
    """Return under which name the keyring holds the password of a server."""
    return f"neo4j@{urlsplit(url).hostname or ''}"


def _from_keyring(name: str) -> str | None:
    # Missing library, no keyring on this machine, a locked one: all of them mean "no key".
    with suppress(Exception):
        import keyring

        return keyring.get_password(KEYRING_SERVICE, name) or None
    return None
