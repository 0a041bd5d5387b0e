"""Pages: what a user sees of sessions, searches, contexts, code and the store."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import httpx2
import pytest

from ragforge.domain.schema import CONVERSATION
from tests.fakes.jobs import fail_job

pytest.importorskip("jinja2", reason="the extra web is not installed")

from ragforge.app import App
from ragforge.app.features.sessions import Sessions
from ragforge.domain.conversations import Message
from ragforge.domain.instants import now
from ragforge.domain.receipts import Layout, Receipt, ReceiptItem, RequestPart
from ragforge.domain.work import NewJob
from ragforge.errors import StoreUnavailable
from ragforge.web.access import Access
from ragforge.web.context_pages import draw_bar
from ragforge.web.language import choose_language, load_texts
from ragforge.web.site import build_site
from tests.fakes.builders import assistant, at, conversation, tool_call, tool_result, user
from tests.fakes.projects import ToyEmbedder
from tests.fakes.reading import being_read_elsewhere
from tests.unit.web.conftest import Page

UUID = "9719cf4e-0000-4000-8000-000000000003"


async def store_session(page: Page, messages: Sequence[Message] = (), **fields: object) -> str:
    """Store a session and return its id."""
    made = conversation(**{"uuid": UUID, **fields})  # type: ignore[arg-type]
    await page.app.store.records.put(CONVERSATION, made)
    if messages:
        await page.app.store.timeline.append(made.uuid, list(messages))
    return made.uuid


def cut_text(page: str) -> str:
    """Return a page without its tags, its blanks as one each."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


async def test_sessions_of_all_agents_are_grouped_by_repository(page: Page) -> None:
    await store_session(page, title="Fix the cart", agent="claude-code", project_id="shop")
    await store_session(
        page, uuid="b" * 36, title="In a worktree", cwd="/work/shop-2", project_id="shop"
    )
    await store_session(page, uuid="c" * 36, title="Elsewhere", cwd="/work/blog")

    shown = await page.read("/sessions")

    assert shown.count('<section class="project"') == 2
    for text in ("Fix the cart", "claude-code", "In a worktree", "Elsewhere", "blog"):
        assert text in shown


async def test_sessions_are_paged_and_filtered(page: Page) -> None:
    for number in range(52):
        await store_session(
            page,
            uuid=f"session-{number:03}",
            title=f"Number {number}.",
            created_at=at(number),
            agent="codex" if number == 3 else "ragforge",
        )

    first, second = await page.read("/sessions"), await page.read("/sessions?offset=50")
    codex = await page.read("/sessions?agent=codex")

    assert "Number 51." in first
    assert "Number 1." not in first
    assert "offset=50" in first
    assert "Number 1." in second
    assert "Older" not in second
    assert "Number 3." in codex
    assert "Number 4." not in codex


async def test_a_session_is_shown_turn_by_turn_with_its_tools_folded(page: Page) -> None:
    call = tool_call("run_command", arguments={"command": "pytest -q"}, result=tool_result("3 ok"))
    edit = tool_call("edit_file", arguments={"old_text": "a = 1", "new_text": "a = 2"})
    await store_session(
        page,
        [
            user("Why does **login** loop?"),
            assistant("Let me look.", call, edit, reasoning="I suspect the cookie."),
            assistant("It was the cookie:\n\n```python\ndef f(): pass\n```", token_count=1234),
        ],
        title="Login",
    )

    shown = await page.read(f"/sessions/{UUID}")

    assert "<strong>login</strong>" in shown
    assert '<span class="name">run_command</span><span class="line">pytest -q</span>' in shown
    assert "3 ok" in shown
    assert '<span class="line del">-a = 1</span>' in shown
    assert '<span class="line ins">+a = 2</span>' in shown
    assert "I suspect the cookie." in shown
    assert '<span class="k">def</span>' in shown
    assert "1,234 tokens" in shown
    assert "<details open" not in shown


async def test_a_long_session_is_sent_in_pieces(page: Page) -> None:
    said = [m for n in range(45) for m in (user(f"Question {n}."), assistant(f"Answer {n}."))]
    await store_session(page, said)

    first = await page.read(f"/sessions/{UUID}")
    more = await page.read(f"/sessions/{UUID}?from=20", **{"X-Part": "1"})
    last = await page.read(f"/sessions/{UUID}?from=40", **{"X-Part": "1"})

    assert "Question 19." in first
    assert "Question 20." not in first
    assert f"/sessions/{UUID}?from=20" in first
    assert "<html" not in more
    assert more.count('<div class="stretch">') == 1  # drawn together, when they are seen
    assert "Question 39." in more
    assert "Question 44." in last
    assert "data-more" not in last


async def test_a_session_is_exported_as_the_command_does(page: Page) -> None:
    await store_session(page, [user("Hello?"), assistant("Hi.")])

    response = await page.get(f"/sessions/{UUID}/export")

    assert response.content == await page.app.sessions.export_bytes(UUID)
    assert "attachment" in response.headers["content-disposition"]


async def test_a_search_finds_memory_and_code_and_marks_the_words(page: Page) -> None:
    said = [user("Where is the discount computed?"), assistant("In pricing.py, by apply_discount.")]
    await store_session(page, said, title="Prices", agent="codex")
    (page.app.project_path / "pricing.py").write_text("def apply_discount(price):\n    return 1\n")
    await page.app.code.ingest()

    shown = await page.read("/search?q=discount")
    part = await page.read("/search?q=discount", **{"X-Part": "1"})

    assert "<mark>discount</mark>" in shown
    assert f"/sessions/{UUID}?from=0#turn-0" in shown
    assert "apply_discount" in shown
    assert "pricing.py:1" in shown
    assert "<html" not in part
    assert "<mark>discount</mark>" in part


async def test_a_search_is_filtered_by_project_agent_and_day(page: Page) -> None:
    said = [user("Where is the discount computed?", timestamp=at(0)), assistant("Here.")]
    await store_session(page, said, title="Prices", agent="codex", project_id="shop")

    for query in ("agent=codex", "project=shop", "since=2026-01-05", "until=2026-01-05"):
        assert UUID in await page.read(f"/search?q=discount&{query}"), query
    for query in ("agent=ragforge", "project=blog", "since=2026-01-07", "until=2026-01-03"):
        assert UUID not in await page.read(f"/search?q=discount&{query}"), query


async def test_nothing_is_ingested_while_the_user_types(page: Page) -> None:
    (page.app.project_path / "pricing.py").write_text("def apply_discount(price): ...\n")

    assert "not indexed yet" in await page.read("/search?q=discount")
    assert not await page.app.code.is_ingested()


async def test_a_search_says_how_far_the_first_reading_is(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, code = page.app.project_path, page.app.code
    (folder / "pricing.py").write_text("def apply_discount(price): ...\n")
    (folder / "cart.py").write_text("def total(items): ...\n")

    async with being_read_elsewhere(code, monkeypatch):
        english = await page.read("/search?q=discount")
        french = await page.read("/search?q=discount", **{"Accept-Language": "fr"})
        answer = (await page.get("/api/search?q=discount")).json()

    assert "apply_discount" in english
    assert "Indexing the code: 0 of 2 files." in english
    assert "Lecture du code en cours : 0 fichiers sur 2." in french
    assert answer["reading"] == {"done": 0, "total": 2}

    await code.ingest()
    assert "Indexing the code" not in await page.read("/search?q=discount")
    assert (await page.get("/api/search?q=discount")).json()["reading"] is None


async def test_the_receipt_of_an_answer_is_a_bar_of_its_parts(page: Page) -> None:
    items = (
        ReceiptItem("code", "cart.py:1-9", "named in the question", 300, 0.9),
        ReceiptItem("past_turns", "turn 3", "similar", 200),
    )
    receipt = Receipt(1_000, 500, items)
    await store_session(page, [user("Why?"), assistant("So.", receipt=receipt.to_json())])

    shown = await page.read(f"/sessions/{UUID}/receipt?turn=0")

    assert '<rect class="s1" x="0.0" y="0" width="300.0"' in shown
    assert 'x="300.0" y="0" width="200.0"' in shown
    assert "named in the question" in shown
    assert (await page.get(f"/sessions/{UUID}/receipt?turn=7")).status_code == 404


async def test_every_part_of_a_receipt_opens_what_it_represents(page: Page) -> None:
    items = (
        ReceiptItem("code", "cart.py:1-9 add", "found", 10),
        ReceiptItem("past_turns", "turn 23 of session 9719cf4e, Ann, 2026-01-05", "found", 10),
        ReceiptItem("summaries", "L1 of turns 4-9, session 9719cf4e", "found", 10),
        ReceiptItem("notes", "note 1f3a", "found", 10),
        ReceiptItem("recent_turns", "something else", "new", 10),
    )
    receipt = Receipt(1_000, 50, items).to_json()
    await store_session(page, [user("Why?"), assistant("So.", receipt=receipt)])

    shown = await page.read(f"/sessions/{UUID}/receipt?turn=0")

    for address in (
        "/code?name=cart.py%3A1-9+add",
        "/sessions/9719cf4e?from=20#turn-23",
        "/sessions/9719cf4e?from=0#turn-4",
        "/notes",
    ):
        assert f'href="{page.access.base}{address}"' in shown, address
    assert '<td class="source">something else</td>' in shown


async def test_a_receipt_shows_the_request_as_a_bar_of_its_parts(page: Page) -> None:
    sizes = {"system prompt": 600, "mode": 0, "question": 200}
    parts = tuple(RequestPart(*part) for part in sizes.items())
    receipt = Receipt(1_000, 0, layout=Layout(parts, 0, 0, same_chars=500)).to_json()
    await store_session(page, [user("Why?"), assistant("So.", receipt=receipt)])

    shown = await page.read(f"/sessions/{UUID}/receipt?turn=0")

    assert '<rect class="s0" x="0.0" y="0" width="750.0"' in shown
    assert '<rect class="s2" x="750.0" y="0" width="250.0"' in shown
    assert "800 characters, the first 500 as in the request before" in cut_text(shown)
    assert "mode:" not in shown


async def test_a_long_summary_of_a_session_is_folded_and_shown_without_marks(page: Page) -> None:
    await store_session(page, [user("Why?"), assistant("So.")], summary="**Rounding** " * 50)

    shown = await page.read(f"/sessions/{UUID}")

    assert '<details class="about"><summary>Rounding Rounding' in shown
    assert "**" not in shown


async def test_the_first_page_is_the_search_with_the_latest_sessions(page: Page) -> None:
    await store_session(page, [user("Why?"), assistant("So.")], title="Login")

    first = await page.get("/")
    shown = await page.read("/search")
    found = await page.read("/search?q=login", **{"X-Part": "1"})

    assert first.headers["location"] == f"{page.access.base}/search"
    assert "Latest sessions" in shown
    assert f"/sessions/{UUID}" in shown
    assert "Latest sessions" not in found


async def test_while_the_user_types_words_are_searched_and_no_model_is_asked(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def embed_query(self: ToyEmbedder, text: str) -> None:
        asked.append(text)

    monkeypatch.setattr(ToyEmbedder, "embed_query", embed_query)
    (app.project_path / "cart.py").write_text("def cart(): ...\n")
    await app.code.ingest()
    toy = ToyEmbedder()
    recall, brain = replace(app.recall, embedder=toy), replace(app.brain, embedder=toy)
    access = Access(8421)
    site = build_site(replace(app, recall=recall, brain=brain), access)
    transport = httpx2.ASGITransport(app=site)
    async with httpx2.AsyncClient(transport=transport) as client:
        await client.get(access.address)
        address = f"{access.root}/search?q=cart"
        typed = await client.get(address, headers={"X-Part": "1", "X-Words": "1"})
        assert asked == []
        await client.get(address)

    assert "cart.py:1" in typed.text
    assert set(asked) == {"cart"}


async def test_a_turn_shows_what_it_cost_where_that_is_known(page: Page) -> None:
    said = [user("Why?"), assistant("A.", usd=0.01), assistant("B.", usd=0.0025)]
    await store_session(page, [*said, user("And?"), assistant("So.")])

    shown = await page.read(f"/sessions/{UUID}")

    assert shown.count("$") == 1
    assert "$0.0125" in shown


async def test_what_a_tool_gave_is_shown_in_a_hit_without_escapes(page: Page) -> None:
    gave = tool_result({"diff": '@@\n+name = "okapi"\n'})
    await store_session(page, [user("Go."), assistant("", tool_call("edit", result=gave))])

    shown = cut_text(await page.read("/search?q=okapi"))

    assert "name = &#34; okapi &#34;" in shown
    assert "\\n" not in shown


async def test_the_model_of_a_turn_is_named_once(page: Page) -> None:
    said = [user("Why?"), assistant("A.", model="m-1"), assistant("B.", model="m-1")]
    await store_session(page, said)

    assert (await page.read(f"/sessions/{UUID}")).count("m-1") == 1


async def test_a_file_is_shown_with_what_it_imports_and_what_imports_it(page: Page) -> None:
    folder = page.app.project_path
    (folder / "pay.py").write_text("import json\n\n\ndef pay(): ...\n")
    (folder / "shop.py").write_text("from pay import pay\n\n\ndef sell():\n    pay()\n")
    await page.app.code.ingest()

    pay, shop = await page.read("/code?name=pay.py"), await page.read("/code?name=shop.py")

    assert "imported by 1 shop.py" in cut_text(pay)
    assert "imports 1 pay.py" in cut_text(shop)
    assert "libraries 1 json" in cut_text(pay)
    assert "function 4" in cut_text(pay)


async def test_how_long_ago_it_was_is_said_in_the_language_of_the_browser(page: Page) -> None:
    await store_session(page, title="Login", created_at=now() - timedelta(days=3))

    assert "il y a 3 jours" in await page.read("/sessions", **{"Accept-Language": "fr"})
    assert "3 days ago" in await page.read("/sessions")


def test_a_bar_is_never_wider_than_its_frame() -> None:
    items = (ReceiptItem("code", "a", "b", 4_000), ReceiptItem("notes", "a", "b", 4_000))
    parts = draw_bar(Receipt(1_000, 8_000, items))

    assert parts[-1].x + parts[-1].width == pytest.approx(1_000)


async def test_the_playground_shows_the_context_within_its_budget(page: Page) -> None:
    said = [user("Where is the discount computed?"), assistant("In pricing. " * 200)]
    await store_session(page, said, cwd=str(page.app.cwd), project_id=page.app.project.id)

    wide = await page.read("/context?q=discount&budget=20000", **{"X-Part": "1"})
    narrow = await page.read("/context?q=discount&budget=600", **{"X-Part": "1"})

    assert "of 20,000 characters" in cut_text(wide)
    assert "of 600 characters" in cut_text(narrow)
    assert (await page.app.sessions.load(UUID)).turn_count == 1  # nothing is stored


async def test_a_function_is_shown_with_its_callers_and_the_sessions_that_touched_it(
    page: Page,
) -> None:
    source = "def pay(cart):\n    return cart\n\n\ndef check_out(cart):\n    return pay(cart)\n"
    (page.app.project_path / "shop.py").write_text(source)
    await page.app.code.ingest()

    shown, file = await page.read("/code?name=pay"), await page.read("/code?name=shop.py")

    text = cut_text(shown)
    assert "used by 1 check_out shop.py:5" in text
    assert "No session touched it." in text
    assert "name=shop.py%3A5" in file
    assert "No code has this name." in await page.read("/code?name=nothing_at_all")


async def test_the_store_page_shows_jobs_and_queues_failed_ones_again(page: Page) -> None:
    jobs = page.app.store.jobs
    holder = page.app.worker.holder
    await jobs.enqueue([NewJob("a", "settle_turn", "x")])
    await jobs.claim(holder, timedelta(minutes=1))
    await fail_job(page.app.store, "a", holder, "It broke <b>.")

    shown = await page.read("/store")
    done = await page.post("/store/retry", {"token": page.access.form_token})

    assert "It broke &lt;b&gt;." in shown
    assert "Retry failed jobs" in shown
    assert done.status_code == 303
    assert (await jobs.count()).by_status["dead"] == 0


async def test_the_api_says_the_same_as_the_commands(page: Page) -> None:
    await store_session(page, [user("Where is it?"), assistant("Here.")], title="T")

    listed = (await page.get("/api/sessions")).json()
    one = (await page.get(f"/api/sessions/{UUID}")).json()
    found = (await page.get("/api/search?q=where")).json()
    context = (await page.get("/api/context?q=where&budget=900")).json()

    assert listed["sessions"][0]["conversation_id"] == UUID
    assert one["turns"][0]["question"] == "Where is it?"
    assert found["query"] == "where"
    assert context["receipt"]["max_chars"] == 900
    assert (await page.get("/api/store")).json()["counts"]["conversation"] == 1
    assert (await page.get("/api/jobs")).json()["jobs"] == []
    assert (await page.get("/api/code?name=x")).json()["code"] is None
    assert (await page.get("/api/context")).status_code == 400
    assert "error" in (await page.get("/api/sessions/none-such")).json()


async def test_a_page_that_is_not_there_says_so_and_leads_back(page: Page) -> None:
    response = await page.get("/no/such/page")

    assert response.status_code == 404
    assert "This page does not exist." in response.text
    assert f"{page.access.base}/sessions" in response.text


async def test_a_store_that_goes_away_and_comes_back_costs_nothing_but_a_reload(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:

        async def fail(*_: object, **__: object) -> None:
            raise StoreUnavailable("The server does not answer.")

        patch.setattr(Sessions, "find", fail)
        gone = await page.get("/sessions")

    assert gone.status_code == 503
    assert "Try again in a moment." in gone.text
    assert "No sessions yet." in await page.read("/sessions")


async def test_a_browser_that_prefers_french_reads_french(page: Page) -> None:
    shown = await page.read("/sessions", **{"Accept-Language": "fr-CA,fr;q=0.9,en;q=0.5"})

    assert '<html lang="fr"' in shown
    assert "Pas encore de session." in shown


@pytest.mark.parametrize(
    ("header", "language"),
    [("", "en"), ("de,fr;q=0.4", "fr"), ("en,fr", "en"), ("fr;q=x", "en"), ("fr;q=0.1,en", "en")],
)
def test_the_language_is_the_one_that_the_browser_prefers(header: str, language: str) -> None:
    assert choose_language(header) == language


async def test_every_text_of_the_templates_has_its_french() -> None:
    from ragforge.web.site import ASSETS

    texts = {
        text
        for file in (ASSETS.parent / "templates").glob("*.html")
        for text in re.findall(r't\("([^"]+)"\)', file.read_text("utf-8"))
    }
    assert texts
    assert texts - load_texts("fr").keys() == set()
