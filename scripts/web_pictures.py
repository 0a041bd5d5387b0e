"""Take pictures of every page of `ragforge web`, dark and light, with Chromium.

    python -m scripts.web_pictures docs/web

The pages show a small store that is made for them.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from ragforge.app import open_app
from ragforge.config import Settings
from ragforge.web.access import Access
from ragforge.web.serve import listen, serve
from scripts.web_demo import fill, write_project
from tests.fakes.browser import find_browser, open_tab

SIZES = {"": (1_200, 860), "-narrow": (390, 780)}
NARROW = ("sessions", "session")


async def take_pictures(folder: Path, home: Path, browser: str) -> None:
    """Open every page in both lights and save what is seen."""
    project = home / "shop"
    write_project(project)
    settings = Settings.model_validate(
        {
            "store": {"url": str(home / "memory.db")},
            "llm": {"model": "none"},
            "agent": {"state_dir": str(home / "state")},
            "jobs": {"detach": False},
        }
    )
    with listen("127.0.0.1", 0) as opened:
        access, started = Access(opened.getsockname()[1]), asyncio.Event()
        async with open_app(settings, project, work=False) as app:
            session = await fill(app)
            running = asyncio.create_task(serve(app, access, opened, started.set))
            await started.wait()
            pages = {
                "sessions": "/sessions",
                "session": f"/sessions/{session}",
                "search": "/search?q=discount",
                "receipt": f"/sessions/{session}/receipt?turn=0",
                "context": "/context?q=how+is+a+discount+applied&budget=4000",
                "code": "/code?name=apply_discount",
                "store": "/store",
            }
            async with open_tab(browser, home / "profile") as tab:
                await tab.open(access.address)
                for scheme in ("light", "dark"):
                    await tab.use_scheme(scheme)
                    for name, path in pages.items():
                        for size, (width, height) in SIZES.items():
                            if size and name not in NARROW:
                                continue
                            await tab.resize(width, height)
                            await tab.open(f"{access.root}{path}")
                            await tab.picture(folder / f"{name}-{scheme}{size}.webp")
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


def main() -> int:
    browser = find_browser()
    if len(sys.argv) != 2 or browser is None:
        print(__doc__ if browser else "There is no Chromium here.", file=sys.stderr)
        return 1
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="demo-", dir="/tmp") as home:
        asyncio.run(take_pictures(folder, Path(home), browser))
    return 0


if __name__ == "__main__":
    sys.exit(main())
