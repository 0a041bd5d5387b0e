"""Where it is known which checkouts are one project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ragforge.domain.projects import Checkout, RepositoryIdentity


class ProjectStore(Protocol):
    """The checkouts of projects on all machines. Each write is one transaction."""

    async def related(self, path: str, identity: RepositoryIdentity) -> list[Checkout]:
        """Return all checkouts of the projects that have one at this path, or with this remote,
        or with these root commits; the last seen first.
        """

    async def save(self, checkout: Checkout) -> None:
        """Store a checkout, or change the one with this id."""

    async def join(self, project_ids: Sequence[str], into: str) -> None:
        """Make one project of several: their checkouts become its own, at once.

        What was stored about them keeps their ids, which become former ones.
        """
