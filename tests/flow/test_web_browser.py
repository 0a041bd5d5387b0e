"""The page in a real browser: typing, opening, folding, keys, light, narrow windows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ragforge.app import App, open_app
from ragforge.config import Settings
from ragforge.domain.receipts import Receipt, ReceiptItem
from tests.fakes.browser import Tab, find_browser, open_tab
from tests.fakes.builders import assistant, conversation, tool_call, user

pytest.importorskip("jinja2", reason="the extra web is not installed")

from ragforge.web.access import Access
from ragforge.web.serve import listen, serve

UUID = "9719cf4e-0000-4000-8000-000000000009"


@dataclass
class Open:
    """The page, open in a browser."""

    app: App
    access: Access
    tab: Tab

    async def visit(self, path: str) -> None:
        await self.tab.open(f"{self.access.root}{path}")


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    browser = find_browser()
    if browser is None:
        pytest.skip("no browser: there is no Chromium here")
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    source = "def apply_discount(price):\n    return price\n\n\ndef pay():\n    apply_discount(1)\n"
    (folder / "pricing.py").write_text(source)
    settings = Settings.model_validate(
        {
            "store": {"url": str(tmp_path / "memory.db")},
            "llm": {"model": "none"},
            "agent": {"state_dir": str(tmp_path / "state")},
            "jobs": {"detach": False},
        }
    )
    with listen("127.0.0.1", 0) as listening:
        access, started = Access(listening.getsockname()[1]), asyncio.Event()
        async with open_app(settings, folder, work=False) as app:
            await app.code.ingest()
            await _remember(app)
            running = asyncio.create_task(serve(app, access, listening, started.set))
            await started.wait()
            async with open_tab(browser, tmp_path / "profile") as tab:
                await tab.open(access.address)
                yield Open(app, access, tab)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def _remember(app: App) -> None:
    items = (ReceiptItem("code", "pricing.py:1-2", "named", 300, 0.9),)
    receipt = Receipt(1_000, 300, items).to_json()
    edit = tool_call("edit_file", arguments={"old_text": "a = 1", "new_text": "a = 2"})
    said = [
        user("Where is the discount computed? <script>document.title = 'broken'</script>"),
        assistant("Let me look.", edit, reasoning="Perhaps in pricing."),
        assistant("By `apply_discount`. ![x](https://evil.example/x.png)", receipt=receipt),
    ]
    said += [m for n in range(1, 60) for m in (user(f"Question {n}."), assistant("Yes.\n\n" * 9))]
    await app.store.conversations.create(conversation(uuid=UUID, title="Prices"))
    await app.store.conversations.append(UUID, said)


async def test_a_user_searches_opens_folds_and_looks_around(opened: Open) -> None:
    tab = opened.tab

    # The address of the terminal leads to the sessions; / leads to the box.
    assert await tab.run("document.title") == "Sessions · RagForge"
    await tab.press("/")
    assert await tab.run("document.activeElement.type") == "search"

    # Results come as one types; arrows and Enter open one in its place.
    await opened.visit("/search")
    await tab.type("discount")
    await tab.until("document.querySelectorAll('#results a.row').length >= 2")
    assert await tab.until("location.search.includes('q=discount')")
    assert "apply_discount" in await tab.run("document.querySelector('#results').innerText")
    await tab.press("ArrowDown")
    assert await tab.until("document.activeElement.matches('a.row')")
    await tab.press("Enter")
    await tab.until("location.hash === '#turn-0' && document.readyState === 'complete'")
    assert await tab.run("document.title") == "Prices · RagForge"  # the script did not run

    # Calls are folded, and open with their difference.
    assert await tab.run("document.querySelectorAll('details.fold[open]').length") == 0
    await tab.run(
        "document.querySelector('.diff').closest('details').querySelector('summary').click()"
    )
    assert await tab.run("document.querySelector('.diff .ins').getBoundingClientRect().height > 0")

    # Later turns come as they are scrolled to.
    assert await tab.run("document.querySelectorAll('.turn').length") == 20
    for turns in (40, 60):
        await tab.run("window.scrollTo(0, document.body.scrollHeight)")
        await tab.until(f"document.querySelectorAll('.turn').length >= {turns}")

    # A session that runs grows while it is read.
    await opened.app.store.conversations.append(UUID, [user("Still there?"), assistant("Sure.")])
    await tab.until("document.body.textContent.includes('Still there?')")

    # The receipt is a bar.
    await opened.visit(f"/sessions/{UUID}/receipt?turn=0")
    width = "document.querySelector('.bar rect').getBoundingClientRect().width"
    frame = "document.querySelector('.bar').getBoundingClientRect().width"
    assert await tab.run(f"Math.round(10 * {width} / {frame})") == 3

    # The playground follows the budget.
    await opened.visit("/context?q=discount")
    await tab.run(
        "{const r = document.querySelector('input[type=range]'); r.value = 1000;"
        "r.dispatchEvent(new Event('input', {bubbles: true}))}"
    )
    await tab.until("document.querySelector('#context').innerText.includes('of 1,000')")

    # Code leads to its callers.
    await opened.visit("/code?name=apply_discount")
    await tab.run(
        "[...document.querySelectorAll('.columns a')].find(a => a.text === 'pay').click()"
    )
    await tab.until("document.querySelector('h1')?.innerText === 'pay'")

    # Help opens with ? and closes with Esc.
    await opened.visit("/store")
    await tab.press("?")
    assert await tab.until("document.querySelector('#keys').open")
    await tab.press("Escape")
    await tab.until("!document.querySelector('#keys').open")

    # A form says where it comes from, and is accepted.
    await opened.visit(f"/sessions/{UUID}")
    await tab.run("document.querySelector('.tools summary').click()")
    await tab.run("document.querySelector('.tools button.danger').click()")
    await tab.until("location.pathname.endsWith('/sessions') && !document.querySelector('a.row')")

    # No request left the machine.
    own = f"http://127.0.0.1:{opened.access.port}/"
    assert [one for one in tab.requested if not one.startswith((own, "about:", "data:"))] == []


async def test_pages_fit_narrow_windows_in_both_lights_and_name_their_fields(opened: Open) -> None:
    tab = opened.tab
    paths = ("/sessions", f"/sessions/{UUID}", "/search?q=discount", "/context?q=discount")
    grounds = set()
    for scheme in ("light", "dark"):
        await tab.use_scheme(scheme)
        for path in (
            *paths,
            "/code?name=pay",
            "/store",
            "/none",
            f"/sessions/{UUID}/receipt?turn=0",
        ):
            await tab.resize(360, 740)
            await opened.visit(path)
            wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert await tab.run(wide) <= 0, path
            unnamed = (
                "[...document.querySelectorAll('input:not([type=hidden]), select, button')]"
                ".filter(e => !(e.labels?.length || e.textContent.trim() || e.ariaLabel)).length"
            )
            assert await tab.run(unnamed) == 0, path
            assert await tab.run("document.querySelectorAll('h1').length") <= 1, path
            assert await tab.run("document.querySelectorAll('main').length") == 1, path
        grounds.add(await tab.run("getComputedStyle(document.documentElement).backgroundColor"))
    assert len(grounds) == 2
