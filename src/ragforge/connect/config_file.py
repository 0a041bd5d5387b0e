"""Config files: what RagForge adds to a configuration file of an agent, and takes out again."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, TypeAlias

from ragforge.connect import json_text
from ragforge.errors import InputError
from ragforge.records import dataclass

Keys: TypeAlias = tuple[str, ...]
_OWN_HOOK = re.compile(r"\bragforge(?:\.exe)?['\"]* hook --agent ")
_EMPTY = "{}\n"

BEGIN = "# ragforge: begin; `ragforge disconnect` removes these lines"
END = "# ragforge: end"
_BLOCK = re.compile(
    rf"(?:\r?\n)?^{re.escape(BEGIN)}\r?\n.*?^{re.escape(END)}(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class JsonFile:
    """A file in JSON, which may have comments and trailing commas."""

    path: Path
    servers: Mapping[Keys, Any] = field(default_factory=dict)  # where → the entry
    hooks: Mapping[Keys, Any] = field(default_factory=dict)  # which list → the entry
    needs: Mapping[Keys, Any] = field(
        default_factory=dict
    )  # what the agent needs in addition to hooks

    def add(self, text: str | None) -> str:
        """Return the text with our entries, each once. Raises InputError, also for a text that
        cannot be changed safely.
        """
        text = _EMPTY if text is None or not text.strip("\ufeff \t\r\n") else text
        before = json_text.parse(text).value
        wanted = self._add_to(before)
        for keys, entry in self.servers.items():
            if _get(before, keys) != entry:
                text = json_text.set_member(text, keys, entry)
        for keys, value in self.needs.items():
            if _get(before, keys) is None:
                text = json_text.set_member(text, keys, value)
        for keys, entry in self.hooks.items():
            if [item for item in _get_list(before, keys) if is_own_hook(item)] != [entry]:
                text = json_text.append_item(self._remove_hooks(text, keys), keys, entry)
        return _check(text, wanted)

    def remove(self, text: str) -> str:
        """Return the text without our entries, and without what became empty by that."""
        before = json_text.parse(text).value
        for keys in self.servers:
            if _is_own_server(_get(json_text.parse(text).value, keys)):
                text = _prune(json_text.remove_member(text, keys), keys[:-1])
        for keys in self.hooks:
            had = _get_list(before, keys)
            text = self._remove_hooks(text, keys)
            if had and not _get_list(json_text.parse(text).value, keys):
                text = _prune(text, keys)
        return _check(text, self._remove_from(before))

    def is_hollow(self, text: str) -> bool:
        """Tell whether a text says nothing but what we need."""
        value = json_text.parse(text).value
        return not value or value == {keys[0]: need for keys, need in self.needs.items()}

    def _remove_hooks(self, text: str, keys: Keys) -> str:
        items = _get_list(json_text.parse(text).value, keys)
        for index in reversed(range(len(items))):
            if is_own_hook(items[index]):
                text = json_text.remove_item(text, keys, index)
                continue
            inner = _get_list(items[index], ("hooks",))
            for number in reversed(range(len(inner))):
                if is_own_hook(inner[number]):  # the user added others next to ours
                    text = json_text.remove_item(text, (*keys, index, "hooks"), number)
        return text

    def _add_to(self, before: Any) -> Any:
        """Return the document as it has to be with our entries, made without its text."""
        document = copy.deepcopy(before)
        if not isinstance(document, dict):
            raise InputError("its content is not an object")
        for keys, entry in self.servers.items():
            known = _get(document, keys)
            if known is not None and not _is_own_server(known):
                raise InputError(f"{'.'.join(keys)} is another server")
            _make_way(document, keys[:-1])[keys[-1]] = entry
        for keys, value in self.needs.items():
            _make_way(document, keys[:-1]).setdefault(keys[-1], value)
        for keys, entry in self.hooks.items():
            hooks = _make_way(document, keys[:-1]).setdefault(keys[-1], [])
            if not isinstance(hooks, list):
                raise InputError(f"{'.'.join(keys)} is not a list")
            if [item for item in hooks if is_own_hook(item)] != [entry]:
                hooks[:] = [*_without_own(hooks), entry]
        return document

    def _remove_from(self, before: Any) -> Any:
        document = copy.deepcopy(before)
        for keys in self.servers:
            if _is_own_server(_get(document, keys)):
                _get(document, keys[:-1]).pop(keys[-1])
                _prune_data(document, keys[:-1])
        for keys in self.hooks:
            if hooks := _get_list(document, keys):
                hooks[:] = _without_own(hooks)
                _prune_data(document, keys)
        return document


@dataclass(frozen=True, slots=True)
class TomlFile:
    """A file in TOML, which gets a marked block of lines at its end."""

    path: Path
    block: str

    def add(self, text: str | None) -> str:
        """Return the text with our block, once. Raises InputError."""
        if text is not None and self._is_there(text):
            return text
        bare = remove_block(text or "")
        added = add_block(bare, self.block)
        if _parse_toml(added) != _merge(_parse_toml(bare), tomllib.loads(self.block)):
            raise InputError("adding our lines would change other parts of it")
        return added

    def remove(self, text: str) -> str:
        """Return the text without our block. Raises InputError."""
        bare = remove_block(text)
        _parse_toml(bare)
        return bare

    def is_hollow(self, text: str) -> bool:
        """Tell whether a text says nothing at all."""
        return not text.strip()

    def _is_there(self, text: str) -> bool:
        _parse_toml(text)
        return add_block("", self.block).strip() in text.replace("\r\n", "\n")


ConfigFile: TypeAlias = JsonFile | TomlFile


def is_own_hook(item: Any) -> bool:
    """Tell whether a hook, or a group of hooks, runs `ragforge hook` and nothing else."""
    if not isinstance(item, dict):
        return False
    if isinstance(hooks := item.get("hooks"), list):
        return bool(hooks) and all(map(is_own_hook, hooks))
    return isinstance(command := item.get("command"), str) and bool(_OWN_HOOK.search(command))


def _is_own_server(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    command, rest = entry.get("command"), entry.get("args")
    parts = [*(command if isinstance(command, list) else [command]), *(rest or [])]
    words = [str(part) for part in parts]
    return words[-1:] == ["mcp"] and any("ragforge" in word for word in words)


def _without_own(hooks: list[Any]) -> list[Any]:
    left = [item for item in hooks if not is_own_hook(item)]
    for item in left:
        if isinstance(item, dict) and isinstance(inner := item.get("hooks"), list):
            inner[:] = [one for one in inner if not is_own_hook(one)]
    return left


def _get(document: Any, keys: Keys) -> Any:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _get_list(document: Any, keys: Keys) -> list[Any]:
    found = _get(document, keys)
    return found if isinstance(found, list) else []


def _make_way(document: Any, keys: Keys) -> dict[str, Any]:
    for number, key in enumerate(keys):
        document = document.setdefault(key, {})
        if not isinstance(document, dict):
            raise InputError(f"{'.'.join(keys[: number + 1])} is not an object")
    return document  # type: ignore[no-any-return]


def _prune(text: str, keys: Keys) -> str:
    """Return the text without the containers at these keys that are empty."""
    while keys and _get(json_text.parse(text).value, keys) in ({}, []):
        text, keys = json_text.remove_member(text, keys), keys[:-1]
    return text


def _prune_data(document: Any, keys: Keys) -> None:
    while keys and _get(document, keys) in ({}, []):
        _get(document, keys[:-1]).pop(keys[-1])
        keys = keys[:-1]


def _check(text: str, wanted: Any) -> str:
    """Return the text if it says what it has to. Raises InputError."""
    if json_text.parse(text).value != wanted:
        raise InputError("adding our entry would change other parts of it")
    return text


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(error)) from None


def _merge(before: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return both documents in one: tables together, lists one after the other."""
    merged = dict(before)
    for key, value in new.items():
        known = merged.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            merged[key] = _merge(known, value)
        elif isinstance(known, list) and isinstance(value, list):
            merged[key] = [*known, *value]
        else:
            merged[key] = value
    return merged


def add_block(text: str, lines: str) -> str:
    """Return the text with a block of lines at its end, instead of an earlier one."""
    text = remove_block(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + gap + newline.join([BEGIN, *lines.splitlines(), END]) + newline


def remove_block(text: str) -> str:
    """Return the text without its block."""
    return _BLOCK.sub("", text)
