"""The pages Usage, Today and Notes and rules."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from ragforge.domain.chat import UsageRecord
from ragforge.domain.schema import CONVERSATION, MESSAGE, USAGE

pytest.importorskip("jinja2", reason="the extra web is not installed")

from ragforge.domain.instants import now
from tests.fakes.builders import assistant, conversation, reference, tool_call, user
from tests.unit.web.conftest import Page, commit

TALK = "9719cf4e-0000-4000-8000-000000000021"
OTHER = "9719cf4e-0000-4000-8000-000000000022"
FRENCH = {"Accept-Language": "fr"}


async def store_session(page: Page, uuid: str, folder: str = "", **more: object) -> str:
    """Store a session with one turn of now; return the id of its question."""
    here = {"project_id": page.app.project.id} if not folder else {}
    one = conversation(folder or str(page.app.cwd), uuid=uuid, **here, **more)
    await page.app.store.records.put(CONVERSATION, one)
    asked = user("Where do we round?", timestamp=now())
    said = assistant("At the end.", timestamp=now())
    await page.app.store.timeline.append(uuid, [asked, said])
    return asked.uuid


async def store_usage(page: Page) -> None:
    """Store requests of two agents in two projects, today and two months ago."""
    await store_session(page, TALK, agent="claude-code")
    await store_session(page, OTHER, "/work/blog", agent="codex")
    today = UsageRecord(TALK, "claude-sonnet-4-5", 20_000, 500, 15_000, usd=1.25)
    blog = UsageRecord(OTHER, "model-x", 4_000, 100)
    old = UsageRecord(TALK, "gpt-5", 900_000, 9, usd=7.5, created_at=now() - timedelta(days=60))
    await page.app.store.records.put(USAGE, today, blog, old)


def read_rows(html: str, heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading."""
    section = html.partition(f'id="{heading}"')[2].partition("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", section.partition("<tbody>")[2], re.DOTALL)
    return [
        [re.sub("<.*?>", "", cell).strip() for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)]
        for row in rows
    ]


async def test_usage_is_shown_by_agent_model_and_project_in_a_period(page: Page) -> None:
    await store_usage(page)

    month, models = await page.read("/usage"), await page.read("/usage?by=model&days=90")
    here = await page.read(f"/usage?by=project&project={page.app.project.id}")

    assert read_rows(month, "in-groups") == [
        ["claude-code", "1", "20,000", "75%", "500", "$1.25"],
        ["codex", "1", "4,000", "0%", "100", "–"],
    ]
    assert "Requests without a known price: 1" in month
    assert read_rows(month, "in-time")[0][1:] == ["24,600", "$1.25"]
    assert [row[0] for row in read_rows(models, "in-groups")] == [
        *("gpt-5", "claude-sonnet-4-5", "model-x"),
    ]
    assert [row[0] for row in read_rows(here, "in-groups")] == ["shop"]


async def test_the_plots_are_described_and_need_no_script(page: Page) -> None:
    await store_usage(page)
    shown = await page.read("/usage?days=365")
    plots = re.findall(r"<svg.*?</svg>", shown, re.DOTALL)
    assert len(plots) == 2
    for plot in plots:
        [named] = re.findall(r'role="img" aria-labelledby="(.+?)"', plot)
        assert all(f'id="{name}"' in plot for name in named.split())
        assert "<script" not in plot
        assert "style=" not in plot
    assert "Week of" in plots[0]


async def test_the_busiest_files_of_the_period_are_listed(page: Page) -> None:
    commit(page.app.project_path, "total = 1\n")
    await page.app.code.ingest()
    await store_usage(page)
    asked = await store_session(page, TALK.replace("21", "23"))
    touched = reference("whole", "shop.py", "shop.py", "hash", "edited")
    await page.app.store.timeline.link(MESSAGE, asked, [touched])
    shown = await page.read("/usage")
    assert read_rows(shown, "busiest")[0][:2] == ["shop.py", "1"]


async def test_a_store_without_usage_says_how_to_get_some(page: Page) -> None:
    assert "ragforge import" in await page.read("/usage?days=x&by=y")


async def test_numbers_and_words_of_usage_are_french_for_french_readers(page: Page) -> None:
    await store_usage(page)
    shown = await page.read("/usage", **FRENCH)
    assert "Jetons par jour" in shown
    assert read_rows(shown, "in-groups")[0][1:] == [
        *("1", "20\u202f000", "75 %", "500", "1,25\u00a0$"),
    ]


async def test_today_shows_what_was_done_is_open_and_was_decided(page: Page) -> None:
    asked = await store_session(page, TALK, title="Rounding", agent="claude-code")
    touched = reference("whole", "shop.py", "shop.py", "hash", "edited")
    await page.app.store.timeline.link(MESSAGE, asked, [touched])
    await page.app.store.records.put(
        CONVERSATION, conversation("/work/blog", uuid=OTHER, title="Blog", agent="codex")
    )
    cut = [user("And now?", timestamp=now()), assistant("", tool_call(result=None))]
    await page.app.store.timeline.append(OTHER, [replace(one, timestamp=now()) for one in cut])
    commit(page.app.project_path, "total = 1\n")
    (page.app.project_path / "shop.py").write_text("total = 2\n")
    await page.app.notes.remember("We round at the **end**.")

    shown, here = await page.read("/today"), await page.read("/today?project=here")
    older = await page.read("/today?since=2026-01-01&project=here")
    french = await page.read("/today", **FRENCH)

    for text in ("Rounding", "claude-code", "At the end.", "not committed", "not answered"):
        assert text in shown, text
    assert "We round at the <strong>end</strong>." in shown
    assert f"/sessions/{OTHER}" in shown
    assert f"/sessions/{OTHER}" not in here
    assert "Pay" not in here
    assert "Pay" in older
    assert "sans réponse" in french
    assert "Nothing happened here yet." in await page.read("/today?since=2090-01-01")


async def test_a_correction_is_decided_by_a_button(page: Page) -> None:
    older = await page.app.notes.remember("The port is 8080.")
    newer = await page.app.notes.remember("The port of the service is 9090.")
    [asked] = await page.app.notes.find_corrections()
    shown = await page.read("/notes")
    assert "Does the newer note replace the older one?" in shown
    assert f'name="id" value="{asked.id}"' in shown

    answer = {"id": asked.id, "answer": "yes"}
    token = {"token": page.access.form_token}
    assert (await page.post("/notes/review", answer)).status_code == 403
    assert (await page.post("/notes/review", {**answer, **token, "answer": "x"})).status_code == 400
    assert (await page.post("/notes/review", {**answer, **token, "id": "x"})).status_code == 404
    done = await page.post("/notes/review", {**answer, **token})

    assert done.status_code == 303
    assert await page.app.notes.find_corrections() == []
    [linked] = await page.app.notes.find_corrections(linked=True)
    assert (linked.newer.id, linked.older.id) == (newer.uuid, older.uuid)
    assert "Does the newer note" not in await page.read("/notes")


async def test_a_no_keeps_both_notes(page: Page) -> None:
    await page.app.notes.remember("The port is 8080.")
    await page.app.notes.remember("The port of the service is 9090.")
    [asked] = await page.app.notes.find_corrections()
    form = {"id": asked.id, "answer": "no", "token": page.access.form_token}
    assert (await page.post("/notes/review", form)).status_code == 303
    assert await page.app.notes.find_corrections() == []
    assert len(await page.app.notes.find()) == 2


async def test_rules_are_listed_above_the_notes(page: Page) -> None:
    await page.app.notes.remember("Never push on Fridays.", rule=True)
    await page.app.notes.remember("The host is db1.")
    shown = await page.read("/notes")
    rules = shown.partition('id="rules"')[2].partition("</section>")[0]
    assert "Never push on Fridays." in rules
    assert "The host is db1." not in rules
    assert 'id="rules"' not in await page.read("/notes?q=host")
