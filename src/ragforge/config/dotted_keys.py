"""Dotted keys: how settings are named in files, variables and commands."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ragforge.config.aliases import ALIASES
from ragforge.config.settings import Settings


def get_section(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a field that is a section, or None for a value."""
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def is_user_only(field: FieldInfo) -> bool:
    """Tell whether a project's file may not set it: the project may be somebody else's."""
    extra = field.json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("user_only"))


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
