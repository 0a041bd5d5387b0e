"""Layers: defaults, the user's file, the project's file, the environment, options."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from ragforge.config import problems
from ragforge.config.environment import settings_in
from ragforge.config.files import project_file, read_file, user_file
from ragforge.config.settings import Settings, known_keys, nest, section_of, user_only
from ragforge.config.store_url import check_inside, normal_store_url
from ragforge.errors import SettingsError

DEFAULT = "default"
OPTION_NAMES = {"store.url": "--store"}


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, where each came from, and the files that were read."""

    settings: Settings
    origins: Mapping[str, str]  # dotted key → "default", a file, a variable or an option
    files: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class _Given:
    """A value as somebody wrote it."""

    key: str
    value: object
    origin: str  # for provenance
    shown: str  # for messages
    base: Path  # where relative paths start
    as_text: bool = False  # a number is written as text, as in a variable
    by_project: bool = False  # perhaps somebody else's words: they may not lead elsewhere


def load_settings(
    cwd: Path,
    options: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Loaded:
    """Merge all layers, the later ones stronger. Options are dotted keys; None is not given.

    Raises SettingsError that lists every problem of every layer: a bad value is an
    error even where a stronger layer hides it.
    """
    variables = os.environ if environ is None else environ
    wrong: list[str] = []
    files = _find_files(cwd, variables, wrong)
    given = [item for path in files for item in _from_file(path, cwd, wrong)]
    for key, (name, text) in settings_in(variables, wrong).items():
        given.append(_Given(key, text, name, name, cwd, as_text=True))
    given += _from_options(options or {}, cwd)
    values, origins = _merge(given, wrong)
    if wrong:
        raise SettingsError("\n".join(wrong))
    return Loaded(Settings.model_validate(nest(values)), origins, tuple(files))


def _find_files(cwd: Path, variables: Mapping[str, str], wrong: list[str]) -> list[Path]:
    try:
        found = [user_file(cwd, variables), project_file(cwd)]
    except SettingsError as error:
        wrong.append(str(error))
        found = [project_file(cwd)]
    return [path for path in found if path is not None]


def _from_file(path: Path, cwd: Path, wrong: list[str]) -> list[_Given]:
    shown = str(path.relative_to(cwd)) if path.is_relative_to(cwd) else str(path)
    by_project = path == project_file(cwd)
    given: list[_Given] = []

    def walk(section: Mapping[Any, Any], model: type[BaseModel], prefix: str) -> None:
        for name, value in section.items():
            key = f"{prefix}{name}"
            field = model.model_fields.get(name) if isinstance(name, str) else None
            inner = section_of(field) if field else None
            if field is None and key in known_keys() and "." in str(name):
                wrong.append(problems.flat_key(shown, key))
            elif field is None:
                wrong.append(problems.unknown_key(shown, key))
            elif inner is None:
                item = _Given(key, value, str(path), shown, path.parent, by_project=by_project)
                given.append(item)
            elif isinstance(value, dict):
                walk(value, inner, f"{key}.")
            elif value is not None:
                wrong.append(problems.not_a_section(shown, key, value))

    try:
        walk(read_file(path, shown), Settings, "")
    except SettingsError as error:
        wrong.append(str(error))
    return given


def _from_options(options: Mapping[str, object], cwd: Path) -> list[_Given]:
    names = {key: OPTION_NAMES.get(key, f"--{key}") for key in options}
    return [
        _Given(key, value, names[key], names[key], cwd, as_text=isinstance(value, str))
        for key, value in options.items()
        if value is not None
    ]


def _merge(given: list[_Given], wrong: list[str]) -> tuple[dict[str, object], dict[str, str]]:
    fields = known_keys()
    values: dict[str, object] = {}
    origins = dict.fromkeys(fields, DEFAULT)
    for item in given:
        field = fields.get(item.key)
        if field is None:
            wrong.append(problems.unknown_key(item.shown, item.key))
            continue
        try:
            values[item.key] = _check(item, field)
            origins[item.key] = item.origin
        except ValidationError:
            wrong.append(problems.bad_value(item.shown, item.key, item.value, field))
        except ValueError as error:
            wrong.append(f"{item.shown}: {item.key!r} {error}.")
    return values, origins


def _check(item: _Given, field: FieldInfo) -> object:
    """Return the value as its type.

    Raises ValidationError if it is another type or out of bounds, ValueError with half
    a sentence if it is no store or not for a project to decide.
    """
    if item.by_project and user_only(field):
        raise ValueError(
            "is for you to decide, not for a project's file: it leads your key and your words "
            "elsewhere, or costs money. Set it in your own file or in the environment"
        )
    adapter: TypeAdapter[object] = TypeAdapter(cast(Any, Annotated[field.annotation, field]))
    if item.as_text:
        value = adapter.validate_strings(item.value)
    else:
        value = adapter.validate_python(item.value, strict=True)
    if item.key == "store.url" and isinstance(value, str):
        url = normal_store_url(value, item.base)
        if item.by_project:
            check_inside(url, item.base)
        return url
    return value
