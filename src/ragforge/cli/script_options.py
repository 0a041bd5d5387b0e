"""Script options: what `ragforge ask` takes from a program."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ragforge.errors import InputError

if TYPE_CHECKING:
    from ragforge.config import Settings
    from ragforge.domain.chat import JsonSchema
    from ragforge.permissions import Approve


def limit_steps(settings: Settings, steps: int | None) -> Settings:
    """Return the settings with another limit of the model's steps in a turn, if one is given."""
    if steps is None:
        return settings
    turn = settings.agent.turn.model_copy(update={"max_steps": steps})
    return settings.model_copy(update={"agent": settings.agent.model_copy(update={"turn": turn})})


def read_allowed(texts: Sequence[str]) -> Callable[[Approve], Approve]:
    """Return what makes an `approve` say yes to the listed rules. Raises BadParameter."""
    if not texts:
        return lambda approve: approve
    from ragforge.app.features.permission_rules import allow_listed, parse_allowed

    try:
        rules = parse_allowed(texts)
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--allowed-tools") from error
    return lambda approve: allow_listed(rules, approve)


def read_instructions(text: str) -> str:
    """Return the text of an option, or of the file that it names as `@FILE`."""
    if not text.startswith("@"):
        return text
    return _read_file(text[1:], "--append-system-prompt")


def read_schema(text: str | None) -> JsonSchema | None:
    """Return the schema that an option contains or names, if it is given. Raises BadParameter."""
    if text is None:
        return None
    from ragforge.domain.json_schema import check_answer_schema

    option = "--output-schema"
    written = text if text.lstrip().startswith("{") else _read_file(text, option)
    try:
        return check_answer_schema(json.loads(written))
    except (InputError, ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, InputError) else f"it is not valid JSON: {error}"
        raise typer.BadParameter(why, param_hint=option) from error


def _read_file(path: str, option: str) -> str:
    try:
        return Path(path).expanduser().read_text("utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise typer.BadParameter(f"{path!r} cannot be read: {why}", param_hint=option) from error
