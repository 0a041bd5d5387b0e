"""Take pictures of every page of `ragforge web`, dark and light, with Chromium.

    python -m scripts.web_pictures docs/web

The pages show a small store that is made for them.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

from ragforge.app import open_app
from ragforge.config import Settings
from ragforge.domain.instants import now
from ragforge.web.access import Access
from ragforge.web.serve import listen, serve
from scripts.chromium import find_chromium
from scripts.web_demo import fill
from scripts.web_demo_shop import write_project
from tests.fakes.browser import open_tab

SIZES = {"": (1_200, 860), "-narrow": (390, 780)}
_UNFOLD = "document.querySelector('.diff').closest('details').open = true"
NARROW = ("sessions", "session", "receipt", "graph")


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
            since = quote((now() - timedelta(hours=1)).isoformat(), safe="")
            running = asyncio.create_task(serve(app, access, opened, started.set))
            await started.wait()
            pages = {
                "first": "/search",
                "sessions": "/sessions",
                "session": f"/sessions/{session}",
                "search": "/search?q=discount",
                "receipt": f"/sessions/{session}/receipt?turn=0",
                "context": "/context?q=how+is+a+discount+applied&budget=4000",
                "code": "/code?name=apply_discount",
                "changes": f"/code/changes?file=pricing.py&since={since}",
                "timeline": "/timeline",
                "map": "/map",
                "graph": "/graph?node=file:pricing.py",
                "notes": "/notes",
                "today": "/today",
                "usage": "/usage?by=model",
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
                            if name == "session":
                                await tab.run(_UNFOLD)
                            if name == "graph":
                                await tab.until("document.querySelectorAll('.node').length > 3")
                            await tab.picture(folder / f"{name}-{scheme}{size}.webp")
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


def main() -> int:
    browser = find_chromium()
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
