"""A section of the settings: what all of them have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Some settings that belong together. They do not change, and no key is unknown."""

    # Values stay out of pydantic's messages: a URL may hold a password.
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, hide_input_in_errors=True, validate_default=True
    )
