"""The graph around one thing: a scope, a file, a session, and the neighbours of each."""

from __future__ import annotations

from typing import Any

import pytest

from ragforge.domain.schema import CONVERSATION, MESSAGE

pytest.importorskip("jinja2", reason="the extra web is not installed")

from ragforge.app.features import graph as graph_module
from tests.fakes.builders import assistant, conversation, reference, user
from tests.unit.web.conftest import Page

UUID = "9719cf4e-0000-4000-8000-000000000013"
CHILD = "9719cf4e-0000-4000-8000-000000000014"
PAY = "import os\n\n\ndef pay(cart):\n    return cart\n"
CHECK_OUT = "\n\ndef check_out(cart):\n    return pay(cart)\n"


@pytest.fixture
async def shop(page: Page) -> Page:
    """A project whose function `pay` a session read; the session started another."""
    folder, talks = page.app.project_path, page.app.store.timeline
    (folder / "shop.py").write_text(PAY + CHECK_OUT)
    (folder / "main.py").write_text("from shop import pay\n\npay([])\n")
    await page.app.code.ingest()
    own = {"project_id": page.app.project.id}
    await page.app.store.records.put(
        CONVERSATION, conversation(str(folder), uuid=UUID, title="Pay <b>", **own)
    )
    await page.app.store.records.put(
        CONVERSATION, conversation(str(folder), uuid=CHILD, title="Child", parent_id=UUID, **own)
    )
    asked = user("How do we pay?")
    await talks.append(UUID, [asked, assistant("So.")])
    [pay] = [one for one in await page.app.code.outline("shop.py") if one.name == "pay"]
    await talks.link(MESSAGE, asked.uuid, [reference(pay.uuid, "shop.py", "pay", "h", "read")])
    return page


def name_edges(graph: dict[str, Any]) -> set[tuple[str, str, str]]:
    """Return the edges of a graph, with labels as their ends."""
    labels = {one["id"]: one["label"] for one in graph["nodes"]}
    return {(labels[e["source"]], e["kind"], labels[e["target"]]) for e in graph["edges"]}


async def test_around_a_function_are_its_callers_its_file_and_the_sessions_that_touched_it(
    shop: Page,
) -> None:
    found = (await shop.get("/api/graph?node=place:shop.py:4")).json()

    edges = name_edges(found)
    assert found["nodes"][0]["label"] == "pay"
    assert ("check_out", "consumes", "pay") in edges
    assert ("pay", "in", "shop.py") in edges
    assert ("Pay <b>", "read", "pay") in edges


async def test_a_function_that_is_all_of_its_file_is_meant_rather_than_the_file(shop: Page) -> None:
    (shop.app.project_path / "one.py").write_text("def alone():\n    return 1\n")
    await shop.app.code.ingest()

    found = (await shop.get("/api/graph?node=place:one.py:1")).json()

    assert found["nodes"][0]["label"] == "alone"


async def test_around_a_file_are_what_is_in_it_who_imports_it_and_its_sessions(shop: Page) -> None:
    found = (await shop.get("/api/graph?node=file:shop.py")).json()

    edges = name_edges(found)
    assert ("pay", "in", "shop.py") in edges
    assert ("main.py", "imports", "shop.py") in edges
    assert ("Pay <b>", "read", "shop.py") in edges


async def test_around_a_session_are_what_it_touched_and_the_sessions_it_started(
    shop: Page,
) -> None:
    found = (await shop.get(f"/api/graph?node=session:{UUID}")).json()

    kinds = {(edge["kind"], edge["target"].partition(":")[0]) for edge in found["edges"]}
    assert kinds == {("started", "session"), ("read", "scope")}


async def test_the_page_lists_the_same_for_those_who_see_no_picture(shop: Page) -> None:
    shown = await shop.read(f"/graph?node=session:{UUID}")

    assert "Pay &lt;b&gt;" in shown
    assert f"/sessions/{CHILD}" in shown
    assert "assets/graph.js" in shown
    assert "graph.js" not in await shop.read("/sessions")
    assert f"/graph?node=session%3A{UUID}" in await shop.read(f"/sessions/{UUID}")
    assert "/graph?node=place%3Ashop.py%3A4" in await shop.read("/code?name=pay")


async def test_never_more_than_can_be_read(shop: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_module, "NEIGHBOURS", 2)

    found = (await shop.get("/api/graph?node=file:shop.py")).json()

    assert len(found["nodes"]) == 3
    assert found["left_out"] > 0


@pytest.mark.parametrize(
    "node",
    ["", "x", "file:../../etc/passwd", "scope:x", "place:shop.py", "place:shop.py:99", "session:x"],
)
async def test_what_is_not_there_is_not_found(shop: Page, node: str) -> None:
    assert (await shop.get(f"/graph?node={node}")).status_code == 404
    assert "error" in (await shop.get(f"/api/graph?node={node}")).json()


async def test_a_session_shows_those_that_it_started_and_its_branches_as_a_tree(
    shop: Page,
) -> None:
    app = shop.app
    session = await app.sessions.load(UUID)
    branch = await app.sessions.branch(session, "0", "Another way")

    shown = await shop.read(f"/sessions/{UUID}")
    child, twig = await shop.read(f"/sessions/{CHILD}"), await shop.read(f"/sessions/{branch.uuid}")

    assert f"/sessions/{CHILD}" in shown
    assert f"/sessions/{branch.uuid}" in shown
    assert "started by" in child
    assert "branch of" in twig
    assert f"/sessions/{UUID}" in twig
