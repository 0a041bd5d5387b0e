"""Layers: defaults, the user's file, the project's file, the environment, options."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from ragforge.config import problems
from ragforge.config.agent_settings import add_project_hooks, check_hooks, find_default_state
from ragforge.config.dotted_keys import (
    MEMORY,
    add_provider,
    is_user_only,
    list_keys,
    list_sections,
    nest,
    read_settings,
    resolve_key,
)
from ragforge.config.files import find_project_file, find_user_file, read_file
from ragforge.config.settings import Settings
from ragforge.config.store_url import check_inside, is_server, normalise_store_url
from ragforge.config.trust import ProjectFile, ProjectFileState, TrustFile, read_proposed_settings
from ragforge.errors import SettingsError
from ragforge.folders import find_project
from ragforge.records import dataclass

DEFAULT = "default"
HOOKS = "agent.hooks"
OPTION_NAMES = {"store.url": "--store", "llm.model": "--model"}


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, where each came from, and the files that were read."""

    settings: Settings
    origins: Mapping[str, str]  # dotted key → "default", a file, a variable or an option
    files: tuple[Path, ...] = ()  # without a project's file that is not in force
    project: ProjectFile | None = None


@dataclass(frozen=True, slots=True)
class _Given:
    """A value as it was written."""

    key: str
    value: object
    origin: str  # for provenance
    shown: str  # for messages
    base: Path  # where relative paths start
    written: str  # the key as it was written, which may be another name of it
    as_text: bool = False  # a number is written as text, as in a variable
    by_project: bool = False  # another person may have written it: user-only settings are refused


def load_settings(
    cwd: Path,
    options: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    trust_project: bool = False,
) -> Loaded:
    """Merge all layers, the later ones stronger. Options are dotted keys, or sections; None is
    not given. Keys of the memory need no prefix, and all may be in camel case.

    The project's file counts only if the user trusted its folder, or with `trust_project`.
    Raises SettingsError that lists every problem of every layer: a bad value is an
    error even where a stronger layer hides it.
    """
    variables = os.environ if environ is None else environ
    wrong: list[str] = []
    user_file = _find_user_file(cwd, variables, wrong)
    by_user = [] if user_file is None else _from_file(user_file, cwd, wrong)
    by_command = [
        _Given(key, text, name, name, cwd, key, as_text=True)
        for key, (name, text) in read_settings(variables, wrong).items()
    ]
    by_command += _from_options(options or {}, cwd, wrong)
    found, by_project = find_project_file(cwd), list[_Given]()
    project = None
    if found is not None:
        trust = None if trust_project else TrustFile(_find_state_dir([*by_user, *by_command]))
        state, by_project = _from_project(found, cwd, trust, wrong)
        project = ProjectFile(found, state)
    given = [*by_user, *by_project, *by_command]
    values, origins = _merge(given, wrong)
    _check_store_kind(values, origins, given, wrong)
    if wrong:
        raise SettingsError("\n".join(wrong))
    files = [user_file, found if project and project.is_in_force else None]
    settings = Settings.model_validate(nest(values))
    return Loaded(settings, origins, tuple(path for path in files if path), project)


def _find_user_file(cwd: Path, variables: Mapping[str, str], wrong: list[str]) -> Path | None:
    try:
        return find_user_file(cwd, variables)
    except SettingsError as error:
        wrong.append(str(error))
        return None


def _find_state_dir(given: list[_Given]) -> Path:
    """Return where the user's decisions are kept; a project has no say in it."""
    named = [item.value for item in given if item.key == "agent.state_dir"]
    return Path(named[-1] if named and isinstance(named[-1], str) else find_default_state())


def _from_project(
    path: Path, cwd: Path, trust: TrustFile | None, wrong: list[str]
) -> tuple[ProjectFileState, list[_Given]]:
    """Return whether a project's file is applied, and what it sets then."""
    if trust is not None:
        root = find_project(cwd.resolve())
        decision = trust.find(root)
        if decision.trusted is None:
            return "not trusted", []
        proposed = read_proposed_settings(path)
        state = decision.judge(path.relative_to(root).as_posix(), proposed.digest)
        if state != "in force" and not (decision.trusted and proposed.problem):
            return state, []
    return "in force", _from_file(path, cwd, wrong, by_project=True)


def _from_file(path: Path, cwd: Path, wrong: list[str], by_project: bool = False) -> list[_Given]:
    shown = str(path.relative_to(cwd)) if path.is_relative_to(cwd) else str(path)
    given: list[_Given] = []
    keys, sections = list_keys(), list_sections()

    def walk(section: Mapping[Any, Any], prefix: str) -> None:
        for name, value in section.items():
            written = f"{prefix}{name}"
            key = resolve_key(written)
            if "." in str(name) and key in keys:
                wrong.append(problems.describe_flat_key(shown, written))
            elif key in keys:
                item = _Given(key, value, str(path), shown, path.parent, written)
                given.append(replace(item, by_project=by_project))
            elif not isinstance(name, str) or key not in sections:
                wrong.append(problems.describe_unknown_key(shown, written))
            elif isinstance(value, dict):
                walk(value, f"{written}.")
            elif value is not None:
                wrong.append(problems.describe_no_section(shown, key, value))

    try:
        walk(read_file(path, shown), "")
    except SettingsError as error:
        wrong.append(str(error))
    return _check_each_once(given, wrong)


def _from_options(options: Mapping[str, object], cwd: Path, wrong: list[str]) -> list[_Given]:
    given: list[_Given] = []
    keys = list_keys() if options else {}
    for written, value in _flatten(options):
        key = resolve_key(written)
        if key not in keys and "." not in written:
            memory_key = resolve_key(MEMORY + written)
            key = memory_key if memory_key in keys else written
        name = OPTION_NAMES.get(key, f"--{written}")
        item = _Given(key, value, name, name, cwd, written, as_text=isinstance(value, str))
        given.append(item)
    return _check_each_once(given, wrong)


def _flatten(options: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield dotted keys with their values; sections may be nested. None is not given."""
    for name, value in options.items():
        if isinstance(value, Mapping) and f"{prefix}{name}" not in list_keys():
            yield from _flatten(value, f"{prefix}{name}.")
        elif value is not None:
            yield f"{prefix}{name}", value


def _check_each_once(given: list[_Given], wrong: list[str]) -> list[_Given]:
    """Return the values of one origin, after checking for settings under two names."""
    first: dict[str, _Given] = {}
    for item in given:
        known = first.setdefault(item.key, item)
        if known is not item:
            wrong.append(problems.describe_same_setting(item.shown, known.written, item.written))
    return given


def _merge(given: list[_Given], wrong: list[str]) -> tuple[dict[str, object], dict[str, str]]:
    fields = list_keys()
    values: dict[str, object] = {}
    origins = dict.fromkeys(fields, DEFAULT)
    for item in given:
        field = fields.get(item.key)
        if field is None:
            wrong.append(problems.describe_unknown_key(item.shown, item.written))
            continue
        try:
            value = _check(item, field)
            if item.by_project and item.key == HOOKS and HOOKS in values:
                value = add_project_hooks(cast("Any", values[HOOKS]), cast("Any", value))
            values[item.key] = value
            origins[item.key] = item.origin
        except ValidationError:
            wrong.append(problems.describe_bad_value(item.shown, item.written, item.value, field))
        except ValueError as error:
            wrong.append(f"{item.shown}: {item.written!r} {error}.")
    return values, origins


def _check_store_kind(
    values: Mapping[str, object], origins: Mapping[str, str], given: list[_Given], wrong: list[str]
) -> None:
    """Find a kind of store that the store is not: nothing is guessed about where it would be."""
    key = "agent.memory.persistence.type"
    wanted = values.get(key)
    is_given = any(item.key == "store.url" for item in given)
    if wanted is None or (is_given and "store.url" not in values):
        return  # not set, or the store is invalid
    serves = is_server(str(values.get("store.url", "")))
    if serves != (wanted == "neo4j"):
        shown = next(item.shown for item in reversed(given) if item.key == key)
        url = origins["store.url"]
        wrong.append(problems.describe_other_store(shown, str(wanted), url, serves))


def _check(item: _Given, field: FieldInfo) -> object:
    """Return the value as its type.

    Raises ValidationError if it is another type or out of bounds, ValueError with half
    a sentence if it is not a store or a project may not set it.
    """
    if item.by_project and is_user_only(field):
        raise ValueError(
            "is for you to decide, not for a project's file: it sends your key and your words to "
            "another place, or costs money. Set it in your own file or in the environment"
        )
    if item.key == "mcp.servers":
        from ragforge.config.mcp_client import check_servers  # most users have none

        return check_servers(item.value)
    if item.key == HOOKS:
        return check_hooks(item.value, by_project=item.by_project, as_text=item.as_text)
    given = add_provider(item.value) if item.key == "embeddings.model" else item.value
    adapter: TypeAdapter[object] = TypeAdapter(cast("Any", Annotated[field.annotation, field]))
    if item.as_text:
        value = adapter.validate_strings(given)
    else:
        value = adapter.validate_python(given, strict=True)
    if item.key == "agent.memory.persistence.auto_save" and value is False:
        raise ValueError("is false, but what is said is always stored: set it to true")
    if item.key == "store.url" and isinstance(value, str):
        url = normalise_store_url(value, item.base)
        if item.by_project:
            check_inside(url, item.base)
        return url
    return value
