"""Dotted keys: how settings are named in files, variables and commands."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ragforge.config.settings import Settings

MEMORY = "agent.memory."
ALIASES: Mapping[str, str] = {
    "agent.memory.enable_summarization": "agent.memory.summarization.enabled",
    "agent.memory.summarize_every": "agent.memory.summarization.every_n_messages",
    "agent.memory.embed_messages": "agent.memory.embeddings.enabled",
    "agent.memory.embeddings.model": "embeddings.model",
    "agent.memory.embeddings.dimension": "embeddings.dimensions",
}
"""Another name → its key."""

_CAPITAL = re.compile(r"(?<=[a-z0-9])[A-Z]")
_PROVIDERS = (
    (re.compile(r"(models/)?(text-embedding-00\d|gemini-embedding-\S+|embedding-00\d)"), "google"),
    (re.compile(r"text-embedding-(3-\w+|ada-\d+)"), "openai"),
)
PREFIX = "RAGFORGE_"
SHORT_NAMES = {"RAGFORGE_STORE": "store.url"}
OTHER_NAMES = (
    "RAGFORGE_CONFIG",
    "RAGFORGE_DEBUG",
    "RAGFORGE_LOG",
    "RAGFORGE_NEO4J_JARS",
    "RAGFORGE_NEO4J_PASSWORD",
    "RAGFORGE_NEO4J_USER",
)
TEST_PREFIX = "RAGFORGE_TEST_"


def get_section(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a field that is a section, or None for a value."""
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def is_user_only(field: FieldInfo) -> bool:
    """Tell whether a project's file may not set it: another person may have written that file."""
    extra = field.json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("user_only"))


def list_choices(field: FieldInfo) -> tuple[str, ...]:
    """Return the words that a setting can be set to; () for a text or a number."""
    if field.annotation is bool:
        return ("true", "false")
    kinds = (field.annotation, *get_args(field.annotation))
    return tuple(word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind))


@cache
def list_keys(model: type[BaseModel] = Settings, prefix: str = "") -> Mapping[str, FieldInfo]:
    """Return every dotted key with its field, in the order of declaration."""
    keys: dict[str, FieldInfo] = {}
    for name, field in model.model_fields.items():
        section = get_section(field)
        if section is None:
            keys[prefix + name] = field
        else:
            keys |= list_keys(section, f"{prefix}{name}.")
    return keys


@cache
def list_sections() -> frozenset[str]:
    """Return every section's dotted key, with those that hold other names for settings."""
    keys = [*list_keys(), *ALIASES]
    return frozenset(key[:end] for key in keys for end, char in enumerate(key) if char == ".")


def get_value(settings: Settings, key: str) -> object:
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


def resolve_key(key: str) -> str:
    """Return the key of a name: maxContextChars is max_context_chars."""
    snake = _CAPITAL.sub(lambda letter: f"_{letter[0].lower()}", key)
    return ALIASES.get(snake, snake)


def add_provider(model: object) -> object:
    """Return the name of an embedding model with its provider, where that is known by its name."""
    if isinstance(model, str):
        for pattern, provider in _PROVIDERS:
            if pattern.fullmatch(model):
                return f"{provider}:{model.removeprefix('models/')}"
    return model


def format_variable(key: str) -> str:
    """Return the variable of a key: jobs.lease_seconds → RAGFORGE_JOBS__LEASE_SECONDS."""
    return PREFIX + key.upper().replace(".", "__")


def read_settings(environ: Mapping[str, str], problems: list[str]) -> dict[str, tuple[str, str]]:
    """Return the variables that are settings: key → (variable, value).

    An empty variable counts as unset. Adds to the problems a name with `__` that is no
    setting, and a setting that is given under both its names.
    """
    names = {format_variable(alias): key for alias, key in ALIASES.items()}
    names |= {format_variable(key): key for key in list_keys()}
    found: dict[str, tuple[str, str]] = {}
    for variable, value in sorted(environ.items()):
        if not variable.startswith(PREFIX) or variable.startswith(TEST_PREFIX) or not value:
            continue
        key = SHORT_NAMES.get(variable) or names.get(variable)
        if key is None:
            if "__" in variable:
                problems.append(_describe_unknown(variable, [*names, *SHORT_NAMES, *OTHER_NAMES]))
        elif key in found:
            problems.append(f"{found[key][0]} and {variable} both set {key!r}: keep one.")
        else:
            found[key] = (variable, value)
    return found


def find_doubtful_names(environ: Mapping[str, str]) -> dict[str, str]:
    """Return variables that look like a mistyped name: variable → the name that is known.

    They may belong to another program, so they are not an error.
    """
    known = [*SHORT_NAMES, *OTHER_NAMES]
    doubtful: dict[str, str] = {}
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name.startswith(TEST_PREFIX) or "__" in name:
            continue
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
        if name not in known and near:
            doubtful[name] = near[0]
    return doubtful


def _describe_unknown(name: str, known: list[str]) -> str:
    """Describe a variable that is not a setting."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"Did you mean {near[0]}?" if near else f"Valid names: {', '.join(known)}."
    return f"unknown environment variable {name}. {hint}"
