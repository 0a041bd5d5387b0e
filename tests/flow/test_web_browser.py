"""The page in a real browser: typing, opening, folding, keys, light, narrow windows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragforge.app import App, open_app
from ragforge.app.features.memory import Memory
from ragforge.app.features.sessions import Sessions
from ragforge.config import Settings
from ragforge.domain.chat import UsageRecord
from ragforge.domain.receipts import Receipt, ReceiptItem
from ragforge.domain.schema import CONVERSATION, MESSAGE, NOTE, USAGE
from ragforge.errors import StoreUnavailable
from scripts.axe import install_axe
from scripts.chromium import ChromiumUnavailable, ensure_chromium
from scripts.mcp_clients import ClientsUnavailable
from tests.fakes.browser import Tab, open_tab
from tests.fakes.builders import (
    assistant,
    conversation,
    note,
    reference,
    summary,
    tool_call,
    tool_result,
    user,
)
from tests.fakes.reading import being_read_elsewhere

pytest.importorskip("jinja2", reason="the extra web is not installed")

from ragforge.web.access import Access
from ragforge.web.serve import listen, serve

pytestmark = pytest.mark.browser

UUID = "9719cf4e-0000-4000-8000-000000000009"
CHILD = "9719cf4e-0000-4000-8000-000000000010"
BEGUN = "9719cf4e-0000-4000-8000-000000000011"
LONG = "total = 1\n" * 40
PAGES = (
    "/search",
    "/enter",
    "/sessions",
    "/sessions?agent=none",
    f"/sessions/{UUID}",
    f"/sessions/{UUID}/receipt?turn=0",
    f"/sessions/{UUID}?from=40",
    f"/sessions/{CHILD}",
    "/search?q=discount",
    "/search?q=nothing-has-this",
    "/context",
    "/context?q=discount",
    "/code",
    "/code?name=nothing-has-this",
    "/code?name=pay",
    "/code?name=pricing.py",
    "/code/changes?file=pricing.py&since=2026-01-05T12:00:00Z",
    "/timeline",
    "/map",
    "/map?by=lately",
    f"/graph?node=session:{UUID}",
    "/graph?node=file:pricing.py",
    "/notes",
    "/notes?q=nothing-has-this",
    "/usage",
    "/usage?by=model&days=365",
    "/usage?project=none",
    "/today",
    "/today?since=2026-01-01",
    "/store",
    "/store/forget?project={project}",
    "/none",
)


@dataclass
class Open:
    """The page, open in a browser."""

    app: App
    access: Access
    tab: Tab

    async def visit(self, path: str) -> None:
        await self.tab.open(f"{self.access.root}{path}")


@pytest.fixture(scope="module")
def browser() -> str:
    try:
        return ensure_chromium()
    except ChromiumUnavailable as error:
        pytest.skip(f"no browser: {error}")


@pytest.fixture
async def opened(browser: str, tmp_path: Path) -> AsyncIterator[Open]:
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
    diff = "@@ -1,2 +1,2 @@\n-a = 1\n+a = 2\n b = 3\n"
    edit = tool_call("edit_file", result=tool_result({"diff": diff}))
    asked = user("Where is the discount computed? <script>document.title = 'broken'</script>")
    said = [
        asked,
        assistant("Let me look.", edit, reasoning="Perhaps in pricing."),
        assistant(
            f"By `apply_discount`. ![x](https://evil.example/x.png)\n\n```python\n{LONG}```",
            receipt=receipt,
        ),
    ]
    said += [m for n in range(1, 60) for m in (user(f"Question {n}."), assistant("Yes.\n\n" * 9))]
    talks, here = app.store.timeline, {"project_id": app.project.id}
    await app.store.records.put(
        CONVERSATION, conversation(str(app.cwd), uuid=UUID, title="Prices", **here)
    )
    await talks.append(UUID, said)
    child = {"uuid": CHILD, "title": "Look for it", "parent_id": UUID}
    await app.store.records.put(CONVERSATION, conversation(str(app.cwd), **child, **here))
    [scope] = [one for one in await app.code.outline("pricing.py") if one.name == "apply_discount"]
    touched = reference(scope.uuid, "pricing.py", "apply_discount", "old", "edited")
    await talks.link(MESSAGE, asked.uuid, [touched])
    await app.store.timeline.save_summary(
        summary(UUID, 0, 4, conversation_summary="About discounts.")
    )
    usage = [UsageRecord(UUID, f"model-{n}", 9_000, 70, 5_000, usd=0.5) for n in range(9)]
    await app.store.records.put(USAGE, *usage)
    for text in ("The port is 8080.", "The backend port is 9090.", "Never use tabs."):
        await app.notes.remember(text, rule="tabs" in text)
    await app.store.records.put(NOTE, note("Totals are **rounded once**.", str(app.cwd), **here))


class SlowSearch:
    """A search of memory that waits until it may continue, and counts what became of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.may_continue, self.changed = asyncio.Event(), asyncio.Event()
        self.begun = self.stopped = 0
        monkeypatch.setattr(Memory, "search", self.search)

    async def search(self, query: str, **given: Any) -> Any:
        self.begun += 1
        self.changed.set()
        try:
            await self.may_continue.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            self.changed.set()
            raise
        raise StoreUnavailable("The server does not answer.")

    async def until(self, *, begun: int, stopped: int) -> None:
        async with asyncio.timeout(60):
            while self.begun < begun or self.stopped < stopped:
                await self.changed.wait()
                self.changed.clear()


async def lose_the_store_and_find_it_again(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """See that the store is away, and that a reload is enough once it is back."""
    tab = opened.tab
    with monkeypatch.context() as patch:

        async def fail(*_: object, **__: object) -> None:
            raise StoreUnavailable("The server does not answer.")

        patch.setattr(Sessions, "find", fail)
        await opened.visit("/sessions")
        assert "cannot be reached" in await tab.run("document.querySelector('h1').innerText")
    await opened.visit("/sessions")
    assert await tab.run("document.querySelectorAll('a.row').length") == 2


async def delete_a_session(opened: Open) -> None:
    """Delete a session, which asks first."""
    tab = opened.tab
    await opened.visit(f"/sessions/{CHILD}")
    await tab.run("document.querySelector('.tools summary').click()")
    await tab.run("document.querySelector('.tools button.danger').click()")
    await tab.until("location.pathname.endsWith('/sessions') && !!document.querySelector('a.row')")
    assert await tab.run("document.querySelectorAll('a.row').length") == 1


async def test_results_say_how_far_the_first_reading_is_until_it_is_finished(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab, code = opened.tab, opened.app.code
    label = "(document.querySelector('#results .reading') || {}).innerText"
    await code.forget(opened.app.project_path)

    async with being_read_elsewhere(code, monkeypatch):
        await opened.visit("/search")
        await tab.type("discount")
        await tab.until(f"({label} || '').startsWith('Indexing the code: 0 of 1 files.')")
        assert "apply_discount" in await tab.run("document.querySelector('#results').innerText")

    await code.ingest()
    await opened.visit("/search?q=discount")
    assert "apply_discount" in await tab.run("document.querySelector('#results').innerText")
    assert await tab.run(f"{label} === undefined")


async def test_old_results_are_marked_and_keys_wait_for_the_new_ones(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = opened.tab
    type_in = (
        "{{const b = document.querySelector('#seek'); for (const t of {}) "
        "{{b.value = t; b.dispatchEvent(new Event('input', {{bubbles: true}}))}}}}"
    )
    busy = "document.querySelector('#results').ariaBusy === 'true'"
    state = "document.querySelector('.state').textContent"
    on_box = "document.activeElement.id === 'seek'"

    # Many keys are one request.
    await opened.visit("/search?q=about")
    tab.requested.clear()
    await tab.run(type_in.format(["d", "di", "dis", "disc", "discount"]))
    assert await tab.run(f"{busy} && {state}") == "Searching…"
    await tab.until(f"!({busy})")
    assert (await tab.run(state)).endswith(" results")
    assert [one.rpartition("?q=")[2].partition("&")[0] for one in tab.requested] == ["discount"]

    # While the next search runs, the arrow and Enter lead nowhere; a newer search stops it.
    with monkeypatch.context() as patch:
        slow = SlowSearch(patch)
        here = await tab.run("location.href")
        await tab.run(type_in.format(["total"]))
        await slow.until(begun=1, stopped=0)
        await tab.press("ArrowDown")
        await tab.press("Enter")
        assert await tab.run(f"{busy} && {on_box} && location.href") == here
        await tab.run(type_in.format(["totals"]))
        await slow.until(begun=2, stopped=1)
        slow.may_continue.set()
        await tab.until(f"!({busy})")

    # A failure is said, and nothing is left that does not belong to it.
    assert await tab.run(state) == "This did not work. Try again."
    assert await tab.run("document.querySelectorAll('#results a.row').length") == 0

    # An arrow that was pressed too early selects the first of the new results.
    await tab.run(type_in.format(["discount"]))
    await tab.press("ArrowDown")
    await tab.until("document.activeElement.matches('#results a.row')")
    await tab.press("Enter")
    await tab.until("location.hash === '#turn-0' && document.readyState === 'complete'")


async def test_a_user_searches_opens_folds_and_looks_around(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = opened.tab

    await tab.resize(1_200, 800)

    # The address of the terminal leads to the search, with the latest sessions below it.
    assert await tab.run("document.title") == "Search · RagForge"
    assert await tab.run("document.activeElement.type") == "search"
    assert await tab.run("document.querySelectorAll('a.row').length") == 2

    # A session that begins elsewhere appears while one looks.
    begun = conversation("/work/blog", uuid=BEGUN, title="Just begun", agent="codex")
    await opened.app.store.records.put(CONVERSATION, begun)
    await tab.until("document.querySelector('#results').innerText.includes('Just begun')")
    await opened.app.store.records.delete(CONVERSATION, BEGUN)

    # Elsewhere / leads to the box.
    await opened.visit("/sessions")
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
    await opened.app.store.timeline.append(UUID, [user("Still there?"), assistant("Sure.")])
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

    await lose_the_store_and_find_it_again(opened, monkeypatch)
    await delete_a_session(opened)

    # No request left the machine.
    own = f"http://127.0.0.1:{opened.access.port}/"
    assert [one for one in tab.requested if not one.startswith((own, "about:", "data:"))] == []


@pytest.mark.long
async def test_a_user_looks_at_differences_the_map_and_the_graph(opened: Open) -> None:
    tab = opened.tab

    # An edit is two columns; in a narrow window, one.
    await tab.resize(1_200, 800)
    await opened.visit(f"/sessions/{UUID}")
    await tab.run("document.querySelector('.diff').closest('details').open = true")
    wide = "document.querySelector('.sides').getBoundingClientRect().width"
    narrow = "document.querySelector('.unified').getBoundingClientRect().width"
    left = "document.querySelector('.sides .del').getBoundingClientRect()"
    right = "document.querySelector('.sides .ins').getBoundingClientRect()"
    assert await tab.run(f"{left}.right <= {right}.left && {left}.top === {right}.top")
    assert await tab.run(f"{wide} > 0 && {narrow} === 0")
    await tab.resize(360, 740)
    assert await tab.run(f"{wide} === 0 && {narrow} > 0")

    # What it started is a branch of its tree, and code that changed since is named.
    assert await tab.run("document.querySelector('.tree li li a').innerText") == "Look for it"
    since = "document.querySelector('#turn-0 a.since').innerText"
    assert await tab.run(since) == "apply_discount (pricing.py): changed since"
    await tab.run("document.querySelector('#turn-0 a.since').click()")
    await tab.until("document.querySelector('h1')?.innerText === 'pricing.py'")

    # A rectangle of the map opens its file.
    await tab.resize(1_200, 800)
    await opened.visit("/map")
    await tab.run(
        "document.querySelector('.map a').dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    await tab.until("location.search === '?name=pricing.py'")

    # The graph is drawn, found in by name, walked through by arrows, and grows.
    await opened.visit(f"/graph?node=session:{UUID}")
    await tab.until("document.querySelectorAll('.node').length === 3")
    await tab.run("document.querySelector('#graph-find').focus()")
    await tab.type("discount")
    assert await tab.until("document.querySelectorAll('.node.off').length") == 2
    await tab.press("Enter")
    named = "document.activeElement.getAttribute('aria-label')"
    assert await tab.run(named) == "scope apply_discount"
    await tab.press("Enter")
    await tab.until("document.querySelectorAll('.node').length >= 5")
    listed = "document.querySelector('#graph-list').innerText"
    assert await tab.until(f"{listed}.includes('consumes')")
    before = await tab.run(named)
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        await tab.press(key)
    assert before != await tab.run(named) or await tab.run("document.activeElement.tagName") == "g"
    places = "[...document.querySelectorAll('.node')].map(n => n.getAttribute('transform')).join()"
    assert "NaN" not in await tab.run(places)

    # Level and file narrow a search as they are chosen.
    await opened.visit("/search?q=discount")
    await tab.run(
        "{const s = document.querySelector('select[name=level]'); s.value = 'L1';"
        "s.dispatchEvent(new Event('input', {bubbles: true}))}"
    )
    await tab.until("document.querySelectorAll('#results a.row').length === 1")

    # A project is forgotten after a question.
    await opened.visit("/store")
    await tab.run("document.querySelector('form[action$=\"/store/forget\"] button').click()")
    await tab.until("document.querySelector('h1')?.innerText === 'Forget a project'")
    assert len(await opened.app.sessions.find(None, everywhere=True)) == 2
    await tab.run("document.querySelector('button.danger').click()")
    await tab.until("location.pathname.endsWith('/store')")
    assert await opened.app.sessions.find(None, everywhere=True) == []


CUT = """[...document.querySelectorAll('pre')].filter(one => !one.closest('.row')
    && getComputedStyle(one).overflowY === 'hidden'
    && one.scrollHeight > one.clientHeight + 1).length"""
"""How many texts cannot be read to their end."""


AXE = """document.querySelectorAll('details').forEach(d => d.open = true);
axe.run({resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa',
    'wcag22aa', 'best-practice', 'experimental']})
    .then(found => found.violations.map(v => v.id + ': ' + v.nodes[0].html))"""
"""What axe finds in a page, by all of its rules for level AA, also the newest."""


async def add_axe(tab: Tab) -> str:
    """Run axe in every page from now on; return why that cannot be."""
    try:
        await tab.add_script(install_axe().read_text("utf-8"))
    except ClientsUnavailable as error:
        return f"no axe: {error}"
    return ""


async def test_axe_finds_no_fault_in_any_kind_of_page(opened: Open) -> None:
    if missing := await add_axe(opened.tab):
        pytest.skip(missing)
    await opened.tab.resize(1_280, 800)
    kinds = {path.partition("?")[0]: path for path in PAGES}  # the last of each kind
    kinds["/search"] = "/search?q=discount"
    faults = []
    for path in kinds.values():
        await opened.visit(path.format(project=opened.app.project.id))
        faults += [(path, fault) for fault in await opened.tab.run(AXE)]
    await opened.tab.open(f"http://127.0.0.1:{opened.access.port}/without-the-cookie")
    faults += [("refused", fault) for fault in await opened.tab.run(AXE)]
    assert not faults, "\n".join(map(str, faults))


@pytest.mark.long
async def test_every_page_fits_narrow_windows_and_large_text_and_axe_finds_no_fault(
    opened: Open,
) -> None:
    tab = opened.tab
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    grounds, faults = set(), []
    missing = await add_axe(tab)
    for scheme, width in (("light", 640), ("dark", 360), ("dark", 768)):  # 640: 1,280 at 200 %
        await tab.use_scheme(scheme)
        await tab.resize(width, 740)
        for path in PAGES:
            await opened.visit(path.format(project=opened.app.project.id))
            too_wide = await tab.run(wide)
            faults += [(scheme, path, f"{too_wide} too wide")] if too_wide > 0 else []
            headings = await tab.run("document.querySelectorAll('h1').length")
            faults += [] if headings == 1 else [(scheme, path, f"{headings} headings")]
            assert await tab.run(CUT) == 0, path
            found = [] if missing else await tab.run(AXE)
            faults += [(scheme, path, fault) for fault in found]
        grounds.add(await tab.run("getComputedStyle(document.documentElement).backgroundColor"))
    assert not faults, "\n".join(map(str, faults))
    assert len(grounds) == 2
    if missing:
        pytest.skip(missing)
