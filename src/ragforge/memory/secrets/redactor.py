"""The redactor that stores are opened with: whatever is written passes it and loses its secrets."""

from __future__ import annotations

from collections.abc import Iterable

from ragforge.domain.text import Json


class SecretRedactor:
    """Implements `Redactor`. Its patterns are loaded when something is written."""

    def is_clean(self, values: Iterable[Json]) -> bool:
        from ragforge.memory.secrets.redact import is_plainly_clean

        return is_plainly_clean(values)

    def redact(self, value: Json) -> Json:
        from ragforge.memory.secrets.redact import redact_json

        return redact_json(value)


REDACTOR = SecretRedactor()
