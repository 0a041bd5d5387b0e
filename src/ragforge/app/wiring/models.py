"""Models: open the chat model and the embedding model of the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ragforge.adapters.models.known_models import is_on_this_machine
from ragforge.config.services import SERVICES, explain_key, find_api_key
from ragforge.config.settings import LlmSettings, Settings
from ragforge.domain.chat import WindowShares
from ragforge.errors import InputError, KeyRejected, ModelError, ModelMissing
from ragforge.ports.models import Embedder

if TYPE_CHECKING:
    from ragforge.llm.ask import ChatClient, Meter
    from ragforge.ports.models import ChatModel, EmbeddingService

NO_CHAT_MODEL = (
    "No chat model is configured: set llm.model, for example to openai:gpt-5-mini or "
    "ollama:qwen3. `ragforge model` shows which can answer."
)


_THINKING: dict[str, bool | Literal["low", "medium", "high"] | None] = {
    "default": None,
    "off": False,
    "low": "low",
    "medium": "medium",
    "high": "high",
}


def open_chat(settings: Settings, meter: Meter) -> ChatClient | None:
    """Return the chat model of the settings, or None where there is none.

    Nothing is loaded or sent before the first request, which reports a missing key or library.
    """
    llm = settings.llm
    if llm.model == "none":
        return None
    from ragforge.llm.ask import ChatClient, LazyModel

    model = LazyModel(llm.model, llm.tools == "native", lambda: open_chat_model(llm))
    return ChatClient(model, meter=meter)


def open_chat_model(llm: LlmSettings) -> ChatModel:
    """Open the chat model of the settings.

    Raises ModelMissing if its library is not installed, KeyRejected if there is no key.
    """
    provider, _, model = llm.model.partition(":")
    service = SERVICES[provider]
    key = None if service.is_local else find_api_key(provider)
    if key is None and llm.base_url is None and not service.is_local:
        raise KeyRejected(f"{llm.model} needs a key: {explain_key(provider)}.")
    from ragforge.adapters.models.provided import Limits
    from ragforge.adapters.models.providers import open_model

    limits = Limits(
        llm.timeout_seconds,
        llm.request_seconds,
        _THINKING[llm.thinking],
        llm.max_output_tokens,
        llm.window_tokens,
    )
    calls_tools = llm.tools == "native"
    base_url = llm.base_url or service.base_url
    return open_model(
        service.api, model, key, base_url, limits, calls_tools=calls_tools, name=llm.model
    )


def is_by_model(chosen: Literal["auto", "model", "rules"], llm: LlmSettings) -> bool:
    """Tell whether the chat model does more than answer: searches, titles, summaries.

    With `auto` a model on this machine, or with a small window, does not: each further call takes
    it long, and keeps the user's next question waiting.
    """
    if chosen != "auto":
        return chosen == "model"
    service = SERVICES.get(llm.model.partition(":")[0])
    address = llm.base_url or (service.base_url if service else None)
    return not (is_on_this_machine(address) or WindowShares.of(llm.window_tokens).is_small)


def choose_model(settings: Settings, name: str) -> Settings:
    """Return the settings with another chat model. Raises InputError if there is no such model."""
    from pydantic import ValidationError

    try:
        llm = type(settings.llm).model_validate({**settings.llm.model_dump(), "model": name})
    except ValidationError as error:
        raise InputError(
            f"{name!r} is not a model: write none, or MODEL after one of {':, '.join(SERVICES)}:."
        ) from error
    return settings.model_copy(update={"llm": llm})


def require_chat(chat: ChatClient | None) -> ChatClient:
    """Return the chat model. Raises ModelMissing, in one sentence, if there is none."""
    if chat is None:
        raise ModelMissing(NO_CHAT_MODEL)
    return chat


def open_embedder(settings: Settings, meter: Meter | None = None) -> Embedder | None:
    """Return the embedding model of the settings, or None to search only by words.

    A model that cannot be used raises the reason with every request.
    """
    chosen = settings.embeddings
    if chosen.model == "none":
        return None
    if chosen.model == "bundled":
        from ragforge.adapters.embedders.bundled import BundledEmbedder

        return BundledEmbedder()
    from ragforge.llm.ask import Meter
    from ragforge.llm.embedding import RemoteEmbedder, UnusableEmbedder

    try:
        service = _open_service(settings)
    except ModelError as error:
        return UnusableEmbedder(chosen.model, error)
    return RemoteEmbedder(service, meter=meter or Meter(settings.llm.max_spend_usd))


def _open_service(settings: Settings) -> EmbeddingService:
    chosen = settings.embeddings
    if chosen.model == "local":
        from ragforge.adapters.embedders.local import LocalTransformer

        return LocalTransformer()
    provider, _, model = chosen.model.partition(":")
    key = find_api_key(provider)
    if key is None and chosen.base_url is None:
        raise KeyRejected(f"Embeddings of {chosen.model} need a key: {explain_key(provider)}.")
    from ragforge.adapters.embedders import http

    if provider == "openai":
        return http.OpenAiEmbeddings(
            model, key, base_url=chosen.base_url or http.OPENAI_URL, dimension=chosen.dimensions
        )
    return http.GeminiEmbeddings(
        key, model, base_url=chosen.base_url or http.GEMINI_URL, dimension=chosen.dimensions
    )
