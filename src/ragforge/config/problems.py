"""Problems: messages about wrong settings that tell the user how to fix them."""

from __future__ import annotations

import difflib
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Le, MinLen
from pydantic.fields import FieldInfo

from ragforge.config.dotted_keys import list_keys
from ragforge.domain.text import shorten_end

SHOWN_CHARS = 60
_SECRETS = {"password", "passwd", "secret", "token", "key", "apikey", "credential", "credentials"}
_CREDENTIALS = {"neo4j_user": "RAGFORGE_NEO4J_USER", "neo4j_password": "RAGFORGE_NEO4J_PASSWORD"}


def describe_unknown_key(origin: str, key: str) -> str:
    """Describe an unknown key in a file."""
    name = key.rpartition(".")[2].lower()
    if variable := _CREDENTIALS.get(name):
        return f"{origin}: {key!r} does not belong in a file. Set {variable} in the environment."
    if _SECRETS & set(name.split("_")):
        return (
            f"{origin}: unknown key {key!r}. Secrets do not belong in a file: "
            "they come from the environment or the system keyring."
        )
    return f"{origin}: unknown key {key!r}. {_suggest(key)}"


def describe_flat_key(origin: str, key: str) -> str:
    """Describe a key that was written with dots instead of nested sections."""
    nested = ": {".join(key.split(".")) + ": …" + "}" * key.count(".")
    return f"{origin}: write {key!r} as nested sections: {nested}"


def describe_bad_value(origin: str, key: str, value: object, field: FieldInfo) -> str:
    """Describe a wrong value, and the valid ones."""
    return f"{origin}: {key!r} is {_format_value(value)}: it must be {describe_allowed(field)}."


def describe_same_setting(origin: str, one: str, other: str) -> str:
    """Describe a setting that is given twice, under two names."""
    return f"{origin}: {one!r} and {other!r} are the same setting: keep one."


def describe_other_store(origin: str, wanted: str, url_origin: str, is_server: bool) -> str:
    """Describe a kind of store that does not match the store's URL."""
    found = "a server" if is_server else "a file"
    where = "by default" if url_origin == "default" else f"by {url_origin}"
    hint = "a path" if is_server else "the server's address, such as neo4j://localhost:7687,"
    return (
        f"{origin}: 'agent.memory.persistence.type' is {wanted!r}, but 'store.url' is {found}, "
        f"{where}. Set store.url to {hint} or leave the type out."
    )


def describe_no_section(origin: str, key: str, value: object) -> str:
    """Describe a value in place of a section."""
    inside = {
        k.removeprefix(f"{key}.").split(".")[0] for k in list_keys() if k.startswith(f"{key}.")
    }
    names = ", ".join(sorted(inside))
    return (
        f"{origin}: {key!r} is {_format_value(value)}: it must be a section that may hold {names}."
    )


def describe_allowed(field: FieldInfo) -> str:
    """Describe the values that a field takes."""
    kinds = set(get_args(field.annotation)) or {field.annotation}
    nothing = ", or nothing" if type(None) in kinds else ""
    extra = field.json_schema_extra
    if isinstance(extra, dict) and "form" in extra:
        return f"{extra['form']}{nothing}"
    if get_origin(field.annotation) is Literal:
        *choices, last = get_args(field.annotation)
        return f"{', '.join(choices)} or {last}"
    if field.annotation is bool:
        return "true or false"
    if kinds & {int, float}:
        number = "a whole number" if int in kinds else "a number"
        low, high = _find_bound(field, Ge, "ge"), _find_bound(field, Le, "le")
        return f"{number} from {low} to {high}{nothing}"
    text = "text that is not empty" if _find_bound(field, MinLen, "min_length") else "text"
    return f"{text}{nothing}"


def _find_bound(field: FieldInfo, kind: type, name: str) -> Any:
    return next((getattr(m, name) for m in field.metadata if isinstance(m, kind)), None)


def _format_value(value: object) -> str:
    if isinstance(value, dict):
        return "a section"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "empty"
    text = repr(value) if isinstance(value, str | bool) else str(value)
    return shorten_end(text, SHOWN_CHARS)


def _suggest(key: str) -> str:
    """Suggest a key: one of the same section, then one of the same name, then a similar one."""
    section, _, name = key.rpartition(".")
    places = _list_places()
    neighbours = {p.rpartition(".")[2]: p for p in places if p.rpartition(".")[0] == section}
    near = difflib.get_close_matches(name, neighbours, n=1, cutoff=0.6)
    if near:
        return f"Did you mean {neighbours[near[0]]!r}?"
    same = [place for place in places if place.rpartition(".")[2] == name]
    alike = same or difflib.get_close_matches(key, places, n=1, cutoff=0.6)
    if alike:
        return f"Did you mean {alike[0]!r}?"
    return f"Valid names: {', '.join(neighbours.values() or list_keys())}."


def _list_places() -> list[str]:
    """Return all keys and all sections."""
    keys = list(list_keys())
    sections = {key[:end] for key in keys for end, char in enumerate(key) if char == "."}
    return keys + sorted(sections)
