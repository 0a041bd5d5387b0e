"""Put the pages of `ragforge help` into the wheel. The build calls it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TOPICS = Path("src") / "ragforge" / "cli" / "help_topics.toml"


class PackagePages(BuildHookInterface):  # type: ignore[misc,type-arg]
    """Adds pages of `docs/`; an editable installation reads them where they are."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the pages to what is built."""
        if version == "editable":
            return
        root = Path(self.root)
        for topic in tomllib.loads((root / TOPICS).read_text("utf-8")):
            page = root / "docs" / f"{topic}.md"
            build_data["force_include"][str(page)] = f"ragforge/help/{topic}.md"
