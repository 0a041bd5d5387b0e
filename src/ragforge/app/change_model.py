"""Switch: go on with another chat model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ragforge.app.models import open_chat
from ragforge.errors import InputError

if TYPE_CHECKING:
    from ragforge.app.application import App


def with_model(app: App, name: str) -> App:
    """Return the application with another model that answers; jobs in the queue keep theirs.

    Raises InputError if there cannot be such a model.
    """
    settings = app.settings
    try:
        llm = type(settings.llm).model_validate({**settings.llm.model_dump(), "model": name})
    except ValidationError as error:
        raise InputError(
            f"{name!r} is no model: write none, openai:MODEL, anthropic:MODEL or google:MODEL."
        ) from error
    changed = settings.model_copy(update={"llm": llm})
    return replace(app, settings=changed, chat=open_chat(changed, app.meter))
