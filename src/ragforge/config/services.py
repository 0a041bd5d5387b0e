"""Services: where the models are that a name such as `ollama:qwen3` begins with."""

from __future__ import annotations

from typing import Literal

from ragforge.records import dataclass


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
