"""Providers: open the model that a name such as `openai:gpt-5-mini` refers to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ragforge.adapters.models.known_models import is_on_this_machine
from ragforge.adapters.models.provided import Limits, ProvidedModel
from ragforge.domain.distribution import format_install_command
from ragforge.errors import ModelMissing

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.models import Model

CONNECT_SECONDS = 10.0
NO_KEY = "no-key"
"""What is sent to a local server, which wants none: the libraries insist on something."""


def _open_openai(model: str, key: str, base_url: str | None, http: AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=base_url, api_key=key, http_client=http)
    return OpenAIChatModel(model, provider=provider)


def _open_anthropic(model: str, key: str, base_url: str | None, http: AsyncClient) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(base_url=base_url, api_key=key, http_client=http)
    return AnthropicModel(model, provider=provider)


def _open_google(model: str, key: str, base_url: str | None, http: AsyncClient) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(base_url=base_url, api_key=key, http_client=http)
    return GoogleModel(model, provider=provider)


PROVIDERS: dict[str, Callable[[str, str, str | None, AsyncClient], Model]] = {
    "openai": _open_openai,
    "anthropic": _open_anthropic,
    "google": _open_google,
}


CACHES_BY_MARKS = frozenset({"anthropic"})
"""Others cache what two requests have in common by themselves."""


def open_model(
    provider: str,
    model: str,
    key: str | None,
    base_url: str | None = None,
    limits: Limits | None = None,
    *,
    calls_tools: bool = True,
    name: str | None = None,
) -> ProvidedModel:
    """Return a provider's model; nothing is sent until it is asked something.

    `name` is what it is called, where that is not its provider's. Raises ModelMissing if the
    provider's library is not installed.
    """
    from httpx2 import AsyncClient, Timeout

    limits = limits or Limits()
    if is_on_this_machine(base_url):  # reading takes long, a retry starts over
        limits = replace(limits, seconds=limits.request_seconds + 1)
    patience = Timeout(limits.seconds, connect=min(limits.seconds, CONNECT_SECONDS))
    http = AsyncClient(timeout=patience)  # ours, so that it can be closed
    try:
        made = PROVIDERS[provider](model, key or NO_KEY, base_url, http)
    except ImportError as error:
        raise ModelMissing(
            f"Models of {provider} need a library that is not installed: "
            f"{format_install_command(provider)}"
        ) from error
    return ProvidedModel(
        name or f"{provider}:{model}",
        made,
        http,
        limits,
        calls_tools,
        secret=key or "",
        takes_marks=provider in CACHES_BY_MARKS,
        address=_name_address(base_url or made.base_url or ""),
    )


def _name_address(url: str) -> str:
    """Return the address of a server, without the user and password that it may contain."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.netloc else ""
