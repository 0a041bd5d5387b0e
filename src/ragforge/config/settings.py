"""Settings: every key RagForge knows, its default and its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo


def default_store() -> str:
    """Return the path of the store that is used when none is configured."""
    return str(Path(platformdirs.user_data_dir("ragforge", appauthor=False)) / "ragforge.db")


class _Section(BaseModel):
    # Values stay out of pydantic's messages: a URL may hold a password.
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, hide_input_in_errors=True, validate_default=True
    )


class StoreSettings(_Section):
    """Where memory is kept."""

    url: str = Field(
        default_factory=default_store,
        min_length=1,
        description="A file's path, sqlite:///path, or the URL of a Neo4j server.",
    )
    neo4j_database: str | None = Field(
        default=None, min_length=1, description="The database on the server; none: its default."
    )


class MemorySettings(_Section):
    """How much of the past goes into a context. Percentages are of max_context_chars."""

    max_context_chars: int = Field(
        default=100_000, ge=1, le=100_000_000, description="Characters a context may have."
    )
    recent_turns_percent: int = Field(
        default=10, ge=0, le=100, description="Budget for the latest turns, word for word."
    )


class AgentSettings(_Section):
    """How the agent works."""

    memory: MemorySettings = Field(default_factory=MemorySettings)


class EmbeddingSettings(_Section):
    """How texts are compared by meaning."""

    model: Literal["bundled", "none"] = Field(
        default="bundled", description="The model of meaning; none: search by words alone."
    )


class JobSettings(_Section):
    """Work in the background."""

    lease_seconds: int = Field(
        default=60, ge=1, le=86_400, description="How long a worker keeps a job without a sign."
    )
    max_attempts: int = Field(
        default=5, ge=1, le=1_000, description="How often a failing job is tried."
    )


class Settings(_Section):
    """All settings."""

    store: StoreSettings = Field(default_factory=StoreSettings)
    agent: AgentSettings = Field(default_factory=AgentSettings)
    embeddings: EmbeddingSettings = Field(default_factory=EmbeddingSettings)
    jobs: JobSettings = Field(default_factory=JobSettings)


def section_of(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a field that is a section, or None for a value."""
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def known_keys(model: type[BaseModel] = Settings, prefix: str = "") -> dict[str, FieldInfo]:
    """Return every dotted key with its field, in the order of declaration."""
    keys: dict[str, FieldInfo] = {}
    for name, field in model.model_fields.items():
        section = section_of(field)
        if section is None:
            keys[prefix + name] = field
        else:
            keys |= known_keys(section, f"{prefix}{name}.")
    return keys


def value_at(settings: Settings, key: str) -> object:
    """Return the value of a dotted key."""
    value: Any = settings
    for name in key.split("."):
        value = getattr(value, name)
    return value


def nest(values: Mapping[str, object]) -> dict[str, Any]:
    """Turn dotted keys into sections: {"a.b": 1} gives {"a": {"b": 1}}."""
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *sections, name = key.split(".")
        place = tree
        for section in sections:
            place = place.setdefault(section, {})
        place[name] = value
    return tree
