"""A page over an empty store, and a browser's requests to it without a socket."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest

from ragforge.app import App, open_app
from ragforge.config import Settings
from ragforge.domain.instants import now

if TYPE_CHECKING:
    from ragforge.web.access import Access

PORT = 8421
HOST = f"127.0.0.1:{PORT}"


@dataclass(frozen=True)
class Page:
    """The page, as a browser sees it that has the cookie."""

    app: App
    access: Access
    client: httpx2.AsyncClient

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        return await self.client.get(self.access.base + path, headers=headers)

    async def post(self, path: str, form: dict[str, str], **headers: str) -> httpx2.Response:
        return await self.client.post(self.access.base + path, data=form, headers=headers)

    async def read(self, path: str, **headers: str) -> str:
        """Return the text of a page that must be there."""
        response = await self.get(path, **headers)
        assert response.status_code == 200, response.text
        return response.text


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    """An application in an empty project."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    settings = Settings.model_validate(
        {
            "store": {"url": str(tmp_path / "memory.db")},
            "llm": {"model": "none"},
            "embeddings": {"model": "none"},
            "agent": {"state_dir": str(tmp_path / "state")},
            "jobs": {"detach": False},
        }
    )
    async with open_app(settings, folder, work=False) as opened:
        yield opened


@pytest.fixture
async def stranger(app: App) -> AsyncIterator[Page]:
    """A user who has no cookie yet."""
    from ragforge.web.access import Access  # tests are skipped where the extra is not installed
    from ragforge.web.site import build_site

    access = Access(PORT)
    transport = httpx2.ASGITransport(app=build_site(app, access), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
        yield Page(app, access, client)


@pytest.fixture
async def page(stranger: Page) -> Page:
    """The user, who opened the address of the terminal."""
    entered = await stranger.client.get(stranger.access.address)
    assert entered.status_code == 303
    return stranger


def commit(folder: Path, source: str, subject: str = "Pay") -> None:
    """Make the folder a repository whose only commit is two days old."""
    (folder / "shop.py").write_text(source)
    then = (now() - timedelta(days=2)).isoformat()
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", subject]):
        subprocess.run(
            ["git", "-C", str(folder), *words],
            check=True,
            env={"PATH": "/usr/bin:/bin", "GIT_AUTHOR_DATE": then, "GIT_COMMITTER_DATE": then},
        )
