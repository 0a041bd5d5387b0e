"""Projects: the time line of one, and the map of its files."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest

from ragforge.domain.schema import CONVERSATION, MESSAGE, SUMMARY

pytest.importorskip("jinja2", reason="the extra web is not installed")

from ragforge.app.features.overview import MappedFile
from ragforge.domain.instants import now
from ragforge.domain.work import NewJob
from ragforge.web.project_pages import (
    HEIGHT,
    WIDTH,
    Box,
    divide,
    draw_tiles,
    label_file,
    label_folder,
    rate_file,
)
from tests.fakes.builders import assistant, at, conversation, reference, summary, user
from tests.unit.web.conftest import Page, commit

UUID = "9719cf4e-0000-4000-8000-000000000012"


async def test_a_timeline_has_sessions_summaries_commits_and_jobs_of_its_project(
    page: Page,
) -> None:
    store, folder = page.app.store, page.app.project_path
    commit(folder, "def pay(): ...\n")
    own = {"project_id": page.app.project.id, "updated_at": now()}
    await store.records.put(CONVERSATION, conversation(str(folder), uuid=UUID, title="Pay", **own))
    await store.timeline.append(UUID, [user("How?"), assistant("So.")])
    await store.timeline.save_summary(summary(UUID, 0, 0, conversation_summary="How one pays."))
    await store.records.put(CONVERSATION, conversation("/work/blog", uuid="b" * 36, title="Other"))
    await store.jobs.enqueue([NewJob("a", "settle_turn", "x"), NewJob("b", "ingest:other", "y")])

    shown = await page.read("/timeline")
    other = await page.read("/timeline?project=/work/blog")

    for text in ("Pay", "How one pays.", "1 summary", "#turn-0", "Ann", "finish a turn"):
        assert text in shown, text
    assert "Other" not in shown.partition("</form>")[2]
    assert "ingest" not in shown
    assert "Other" in other
    assert "finish a turn" not in other


async def test_another_project_has_its_commits_too_where_its_folder_is_there(
    page: Page, tmp_path: Path
) -> None:
    blog = tmp_path / "blog"
    blog.mkdir()
    commit(blog, "def post(): ...\n", "Post")
    then = now() - timedelta(days=1)
    made = conversation(str(blog), uuid=UUID, title="Posts", created_at=then, updated_at=then)
    await page.app.store.records.put(CONVERSATION, made)
    gone = conversation("/work/gone", uuid="b" * 36, title="Gone")
    await page.app.store.records.put(CONVERSATION, gone)

    shown = await page.read(f"/timeline?project={quote(str(blog), safe='')}")

    assert shown.index("Posts") < shown.index("</code> Post")
    assert "Gone" in await page.read("/timeline?project=/work/gone")


async def test_summaries_are_shown_with_their_session_however_late_they_were_made(
    page: Page,
) -> None:
    own = {"project_id": page.app.project.id, "updated_at": at(0)}
    store = page.app.store
    await store.records.put(CONVERSATION, conversation(str(page.app.cwd), uuid=UUID, **own))
    said = [user("How?", timestamp=at(0)), assistant("So.", timestamp=at(0))]
    await store.timeline.append(UUID, said)
    await store.timeline.save_summary(summary(UUID, 0, 0, created_at=now()))

    period = await page.app.overview.read_period(page.app.project.ids, 50)

    assert [(one.kind, len(one.summaries)) for one in period.events] == [("session", 1)]


async def test_a_project_without_sessions_can_be_chosen_too(page: Page) -> None:
    shown = await page.read("/timeline")

    assert f'<option value="{page.app.project.id}" translate="no" selected>shop</option>' in shown
    assert "Nothing happened here yet." in shown


async def test_a_timeline_goes_back_a_stretch_at_a_time(page: Page) -> None:
    for number in range(60):
        made = conversation("/work/blog", uuid=f"session-{number:03}", title=f"Number {number}.")
        await page.app.store.records.put(CONVERSATION, replace(made, updated_at=at(number)))

    first = await page.app.overview.read_period(["/work/blog"], 50)
    assert first.before is not None
    second = await page.app.overview.read_period(["/work/blog"], 50, first.before)
    shown = await page.read("/timeline?project=/work/blog")

    assert [event.when for event in first.events] == [at(n) for n in range(59, 9, -1)]
    assert [event.when for event in second.events] == [at(n) for n in range(9, -1, -1)]
    assert second.before is None
    assert "Earlier" in shown


async def test_a_map_shows_files_by_size_and_what_was_talked_about(page: Page) -> None:
    store, folder = page.app.store, page.app.project_path
    (folder / "pay.py").write_text("def pay():\n    return 1\n")
    os.utime(folder / "pay.py", (at(60).timestamp(),) * 2)
    (folder / "lib").mkdir()
    (folder / "lib" / "<b>.py").write_text("def long():\n    return 1\n" * 20)
    assert "not indexed yet" in await page.read("/map")
    await page.app.code.ingest()
    asked = user("How do we pay?", timestamp=at(0))
    own = {"project_id": page.app.project.id, "uuid": UUID}
    await store.records.put(CONVERSATION, conversation(str(folder), **own))
    await store.timeline.append(UUID, [asked, assistant("So.")])
    await store.timeline.link(MESSAGE, asked.uuid, [reference("x", "pay.py", "pay", "h", "read")])

    [pay] = [one for one in await page.app.overview.map_files() if one.path == "pay.py"]
    shown, stale = await page.read("/map"), await page.read("/map?by=stale")

    assert (pay.touches, pay.last, pay.is_stale) == (1, at(0), True)
    assert "/code?name=pay.py" in shown
    assert "&lt;b&gt;.py" in shown
    assert '<rect class="w1"' in shown
    assert '<rect class="w4"' in stale


async def test_a_file_was_discussed_when_its_turns_happened_not_when_they_were_summarised(
    page: Page,
) -> None:
    store, folder = page.app.store, page.app.project_path
    (folder / "pay.py").write_text("def pay(): ...\n")
    await page.app.code.ingest()
    asked = user("How do we pay?", timestamp=at(0))
    own = {"project_id": page.app.project.id, "uuid": UUID}
    await store.records.put(CONVERSATION, conversation(str(folder), **own))
    await store.timeline.append(UUID, [asked, assistant("So.", timestamp=at(0))])
    read = reference("x", "pay.py", "pay", "h", "read")
    await store.timeline.link(MESSAGE, asked.uuid, [read])
    made = summary(UUID, 0, 0, created_at=now())
    await store.timeline.save_summary(made)
    await store.timeline.link(SUMMARY, made.uuid, [read], [])

    [pay] = await page.app.overview.map_files()

    assert (pay.touches, pay.last) == (1, at(0))


def test_tiles_fill_the_picture_and_do_not_overlap() -> None:
    picture = draw_tiles([("a.py", 600), ("lib/b.py", 200), ("lib/c.py", 200), ("lib/d/e.py", 0)])
    tiles = picture.files

    assert {tile.path for tile in tiles} == {"a.py", "lib/b.py", "lib/c.py", "lib/d/e.py"}
    for one in tiles:
        assert one.box.x + one.box.width <= WIDTH + 0.2
        assert one.box.y + one.box.height <= HEIGHT + 0.2
        for other in tiles:
            assert one is other or not overlap(one.box, other.box)
    sizes = {tile.path: area(tile.box) for tile in tiles}
    assert sizes["a.py"] == pytest.approx(0.6 * WIDTH * HEIGHT, rel=0.02)
    assert sizes["lib/b.py"] == pytest.approx(0.2 * WIDTH * HEIGHT, rel=0.05)
    assert [tile.path for tile in picture.folders] == ["lib/"]
    assert draw_tiles([]) == ([], [])


def test_names_in_the_map_are_cut_to_the_room_that_they_have() -> None:
    assert label_file("lib/pricing.py", Box(0, 0, 100, 20)) == "pricing.py"
    assert label_file("lib/pricing.py", Box(0, 0, 60, 20)) == "pricin…"
    assert label_file("lib/pricing.py", Box(0, 0, 30, 20)) == ""
    assert label_file("lib/pricing.py", Box(0, 0, 100, 9)) == ""
    assert label_folder("cmd/entire/cli/", Box(0, 0, 90, 60)) == "…entire/cli/"


def test_parts_are_nearly_square() -> None:
    parts = divide([6, 6, 4, 3, 2, 2, 1], Box(0, 0, 600, 400))

    assert sum(map(area, parts)) == pytest.approx(240_000)
    assert max(max(p.width / p.height, p.height / p.width) for p in parts) < 4


def test_the_colours_of_a_map_say_how_often_how_lately_and_what_is_stale() -> None:
    never = MappedFile("a", 1)
    once = MappedFile("a", 1, 1, now() - timedelta(days=300))
    much = MappedFile("a", 1, 40, now(), is_stale=True)

    assert [rate_file(never, by) for by in ("often", "lately", "stale")] == [0, 0, 0]
    assert [rate_file(once, by) for by in ("often", "lately", "stale")] == [1, 0, 1]
    assert [rate_file(much, by) for by in ("often", "lately", "stale")] == [4, 4, 4]


def area(box: Box) -> float:
    return box.width * box.height


def overlap(one: Box, other: Box) -> bool:
    """Tell whether two rectangles share more than an edge."""
    wide = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    high = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return wide > 0.2 and high > 0.2
