"""Keys of providers: from the environment or the system keyring, and never written anywhere."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

KEYRING_SERVICE = "ragforge"
VARIABLES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}


def find_api_key(provider: str, environ: Mapping[str, str] | None = None) -> str | None:
    """Return the key of a provider, or None if there is none anywhere."""
    variables = os.environ if environ is None else environ
    for name in VARIABLES[provider]:
        if value := variables.get(name, "").strip():
            return value
    return _from_keyring(provider)


def explain_key(provider: str) -> str:
    """Return half a sentence that says how to give a provider's key."""
    return (
        f"set {VARIABLES[provider][0]}, or store it with `keyring set {KEYRING_SERVICE} {provider}`"
    )


def _from_keyring(provider: str) -> str | None:
    # Missing library, no keyring on this machine, a locked one: all of them mean "no key".
    with suppress(Exception):
        import keyring

        return keyring.get_password(KEYRING_SERVICE, provider) or None
    return None
