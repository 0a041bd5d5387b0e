"""Services: the providers of models, such as `ollama` in `ollama:qwen3`, and their keys."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal
from urllib.parse import urlsplit

from ragforge.records import dataclass

KEYRING_SERVICE = "ragforge"


@dataclass(frozen=True, slots=True)
class ChatService:
    """A place with chat models, and the API it speaks."""

    api: Literal["openai", "anthropic", "google"]
    base_url: str | None = None  # None: the API's own
    variables: tuple[str, ...] = ()  # that hold its key
    is_local: bool = False  # a server on this machine, which needs no key


def _at(address: str, variable: str) -> ChatService:
    return ChatService("openai", f"https://{address}", (variable,))


def _here(port: int) -> ChatService:
    return ChatService("openai", f"http://127.0.0.1:{port}/v1", is_local=True)


SERVICES: dict[str, ChatService] = {
    "openai": ChatService("openai", variables=("OPENAI_API_KEY",)),
    "anthropic": ChatService("anthropic", variables=("ANTHROPIC_API_KEY",)),
    "google": ChatService("google", variables=("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    "ollama": _here(11434),
    "lmstudio": _here(1234),
    "llamacpp": _here(8080),
    "vllm": _here(8000),
    "openrouter": _at("openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "groq": _at("api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": _at("api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "deepseek": _at("api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "xai": _at("api.x.ai/v1", "XAI_API_KEY"),
    "together": _at("api.together.xyz/v1", "TOGETHER_API_KEY"),
    "cerebras": _at("api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
}

SEARCH_KEYS = {"brave": "BRAVE_API_KEY", "tavily": "TAVILY_API_KEY"}
"""The services that search the web with a key, and the variables that hold it."""


def find_api_key(provider: str, environ: Mapping[str, str] | None = None) -> str | None:
    """Return the key of a provider, or None if there is none anywhere."""
    return _find_key(provider, SERVICES[provider].variables, environ)


def find_search_key(service: str) -> str | None:
    """Return the key of a service that searches the web, or None if there is none anywhere."""
    return _find_key(service, (SEARCH_KEYS[service],))


def explain_key(name: str) -> str:
    """Return half a sentence on how to set the key of a provider, or of a search of the web."""
    variable = SEARCH_KEYS.get(name) or SERVICES[name].variables[0]
    return f"set {variable}, or store it with `keyring set {KEYRING_SERVICE} {name}`"


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


def _find_key(
    name: str, variables: Sequence[str], environ: Mapping[str, str] | None = None
) -> str | None:
    found = os.environ if environ is None else environ
    keys = (found.get(variable, "").strip() for variable in variables)
    return next(filter(None, keys), None) or _from_keyring(name)


def _from_keyring(name: str) -> str | None:
    # Missing library, no keyring on this machine, a locked one: all of them mean "no key".
    with suppress(Exception):
        import keyring

        return keyring.get_password(KEYRING_SERVICE, name) or None
    return None
