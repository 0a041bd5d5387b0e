"""Changes: differences side by side, and what became of code since a turn."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import quote

import pytest

from ragforge.domain.schema import CONVERSATION, MESSAGE

pytest.importorskip("jinja2", reason="the extra web is not installed")

from ragforge.domain.instants import now
from ragforge.web.render import Row, Side, pair_lines
from tests.fakes.builders import assistant, conversation, reference, tool_call, tool_result, user
from tests.unit.web.conftest import Page, commit

UUID = "9719cf4e-0000-4000-8000-000000000011"
BEFORE = "def pay(cart):\n    return sum(cart)\n"
AFTER = "def pay(cart):\n    return round(sum(cart), 2)\n"


def test_removed_lines_are_next_to_added_ones_with_their_numbers() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -7,3 +7,4 @@ def f():\n same\n-old\n+new\n+more\n end\n"

    assert pair_lines(diff) == [
        Row(None, None, "@@ -7,3 +7,4 @@ def f():"),
        Row(Side("same", 7, "same"), Side("same", 7, "same")),
        Row(Side("del", 8, "old"), Side("ins", 8, "new")),
        Row(None, Side("ins", 9, "more")),
        Row(Side("same", 9, "end"), Side("same", 10, "end")),
    ]


def test_a_line_that_looks_like_a_heading_is_one_only_outside_of_hunks() -> None:
    rows = pair_lines("@@ -1 +1 @@\n--- a comment\n+++ another\n\\ No newline at end of file")

    assert rows[1:] == [Row(Side("del", 1, "-- a comment"), Side("ins", 1, "++ another"))]
    assert pair_lines("") == []


def test_an_edit_without_a_place_has_no_numbers() -> None:
    assert pair_lines("@@\n-a\n+b") == [Row(Side("del", 0, "a"), Side("ins", 0, "b"))]


async def test_an_edit_is_shown_side_by_side_and_as_one_column_for_narrow_windows(
    page: Page,
) -> None:
    diff = "@@ -8,1 +8,1 @@\n-a = <b>\n+a = 2\n"
    edit = tool_call("edit_file", result=tool_result({"diff": diff}))
    await page.app.store.records.put(CONVERSATION, conversation(uuid=UUID))
    await page.app.store.timeline.append(UUID, [user("Mend it."), assistant("Done.", edit)])

    shown = await page.read(f"/sessions/{UUID}")

    sides = '<td class="at">8</td><td class="del">a = &lt;b&gt;</td><td class="at">8</td>'
    assert f'{sides}<td class="ins">a = 2</td>' in shown
    assert '<pre class="unified"' in shown
    assert '<span class="line ins">+a = 2</span>' in shown


async def test_an_edit_of_another_agent_has_the_numbers_of_its_lines(page: Page) -> None:
    diff = "@@ -15,1 +15,1 @@\n-a = 1\n+a = 2"
    result = tool_result(
        {"output": "Done.\nAll of it.", "changes": [{"file": "a.py", "diff": diff}]}
    )
    given = {"file_path": "/work/a.py", "old_string": "a = 1", "new_string": "a = 2"}
    await page.app.store.records.put(CONVERSATION, conversation(uuid=UUID))
    said = [user("Go."), assistant("", tool_call("Edit", arguments=given, result=result))]
    await page.app.store.timeline.append(UUID, said)

    shown = await page.read(f"/sessions/{UUID}")

    assert '<td class="at">15</td><td class="del">a = 1</td>' in shown
    assert "+1 −1" in shown
    assert "output:\nDone.\nAll of it." in shown


async def test_code_that_changed_since_a_turn_opens_the_difference_between_then_and_now(
    page: Page,
) -> None:
    folder = page.app.project_path
    commit(folder, BEFORE)
    then = now() - timedelta(days=1)
    await page.app.code.ingest()
    [scope] = [one for one in await page.app.code.outline("shop.py") if one.name == "pay"]
    asked = user("How do we pay?", timestamp=then)
    project = {"project_id": page.app.project.id, "uuid": UUID}
    await page.app.store.records.put(CONVERSATION, conversation(str(folder), **project))
    await page.app.store.timeline.append(UUID, [asked, assistant("So.", timestamp=then)])
    touched = reference(scope.uuid, "shop.py", "pay", "the hash of the day", "read")
    await page.app.store.timeline.link(MESSAGE, asked.uuid, [touched])
    (folder / "shop.py").write_text(AFTER)
    address = f"/code/changes?file=shop.py&amp;since={quote(then.isoformat(), safe='')}"

    shown, found = await page.read(f"/sessions/{UUID}"), await page.read("/search?q=pay")
    about = await page.read("/code?name=pay")
    opened = await page.read(address.replace("&amp;", "&"))

    for text in (shown, found, about):
        assert address in text
    assert "pay (shop.py): changed since" in shown
    assert '<td class="del">    return sum(cart)</td>' in opened
    assert '<td class="ins">    return round(sum(cart), 2)</td>' in opened


async def test_what_git_does_not_know_is_said(page: Page) -> None:
    commit(page.app.project_path, BEFORE)
    soon = quote((now() + timedelta(days=1)).isoformat(), safe="")

    none = await page.read("/code/changes?file=shop.py&since=2001-01-01T00:00:00%2B00:00")
    same = await page.read(f"/code/changes?file=shop.py&since={soon}")
    outside = await page.read(f"/code/changes?file=../../etc/passwd&since={soon}")

    assert "no commit of this project that old" in none
    assert "has not changed since the last commit" in same
    assert "root:" not in outside
    for query in ("file=shop.py", "file=shop.py&since=soon", f"since={soon}"):
        assert (await page.get(f"/code/changes?{query}")).status_code == 404
