"""Maintenance pages: notes, forgetting, embeddings, and searches of one level or file."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ragforge.domain.schema import CONVERSATION, MESSAGE, NOTE

pytest.importorskip("jinja2", reason="the extra web is not installed")

from ragforge.domain.instants import now
from tests.fakes.builders import assistant, conversation, note, reference, summary, user
from tests.unit.web.conftest import Page, commit

UUID = "9719cf4e-0000-4000-8000-000000000015"
OTHER = "9719cf4e-0000-4000-8000-000000000016"


async def store_session(page: Page, uuid: str = UUID, said: str = "the cart") -> str:
    """Store a session of this project; return the id of its first message."""
    place = {"project_id": page.app.project.id, "uuid": uuid}
    asked = user(f"What of {said}?")
    await page.app.store.records.put(CONVERSATION, conversation(str(page.app.cwd), **place))
    await page.app.store.timeline.append(uuid, [asked, assistant("So.")])
    return asked.uuid


async def test_notes_are_listed_found_and_forgotten(page: Page) -> None:
    kept = await page.app.notes.remember("We deploy **on Fridays**.", tags=["deploy"])
    await page.app.notes.remember("Prices are decimals.")

    shown, found = await page.read("/notes"), await page.read("/notes?q=prices")
    refused = await page.post(f"/notes/{kept.uuid}/forget", {})
    done = await page.post(f"/notes/{kept.uuid}/forget", {"token": page.access.form_token})

    assert "<strong>on Fridays</strong>" in shown
    assert "#deploy" in shown
    assert "Prices are decimals." in found
    assert "Fridays" not in found
    assert (refused.status_code, done.status_code) == (403, 303)
    assert [one.text for one in await page.app.notes.find()] == ["Prices are decimals."]


async def test_a_correction_leads_to_the_note_that_it_corrects(page: Page) -> None:
    old = await page.app.notes.remember("We deploy on Fridays.")
    await page.app.notes.remember("We deploy on Mondays.", supersedes=old.uuid)

    shown = await page.read("/notes")

    assert shown.count(f'href="#note-{old.uuid}"') == 1
    assert shown.count("superseded") == 1
    assert "by a newer note" in shown


async def test_rules_and_what_clearly_contradicts_them_are_marked(page: Page) -> None:
    old = await page.app.notes.remember("Always run the tests with -x.", rule=True)
    new = await page.app.notes.remember("Never run the tests with -x.")

    shown = await page.read("/notes")

    assert shown.count('<span class="badge">rule</span>') == 2
    assert shown.count(f'href="#note-{new.uuid}"') == 2  # of the rules, and of the older note
    assert shown.count(f'href="#note-{old.uuid}"') == 1


async def test_a_project_is_forgotten_after_a_question_and_nothing_else(page: Page) -> None:
    await store_session(page)
    await page.app.notes.remember("We deploy on Fridays.")
    await page.app.store.records.put(CONVERSATION, conversation("/work/blog", uuid=OTHER))
    await page.app.store.records.put(NOTE, note("Of the blog.", "/work/blog"))
    project = page.app.project.id

    asked = await page.read(f"/store/forget?project={project}")
    refused = await page.post("/store/forget", {"project": project})
    before = len(await page.app.sessions.find(None, everywhere=True))
    form = {"project": project, "token": page.access.form_token}
    done = await page.post("/store/forget", form)

    assert "1 session</strong>, <strong>1 note</strong>" in asked
    assert (refused.status_code, before, done.status_code) == (403, 2, 303)
    assert [one.uuid for one in await page.app.sessions.find(None, everywhere=True)] == [OTHER]
    assert [one.text for one in await page.app.notes.find(everywhere=True)] == ["Of the blog."]
    assert (await page.get(f"/store/forget?project={project}")).status_code == 404


async def test_what_other_authors_said_in_a_project_is_not_forgotten(page: Page) -> None:
    place = {"project_id": page.app.project.id}
    theirs = conversation(str(page.app.cwd), uuid=OTHER, author="bob@host", **place)
    await page.app.store.records.put(CONVERSATION, theirs)
    await page.app.store.records.put(
        NOTE, note("Bob's.", str(page.app.cwd), author="bob@host", **place)
    )
    await store_session(page)

    gone = await page.app.memory.forget_project(page.app.project.ids)

    assert (gone.sessions, gone.notes) == (1, 0)
    assert [one.uuid for one in await page.app.sessions.find(None, everywhere=True)] == [OTHER]


async def test_what_is_known_of_the_code_is_forgotten_and_its_files_stay(page: Page) -> None:
    file = page.app.project_path / "pay.py"
    file.write_text("def pay(): ...\n")
    await page.app.code.ingest()

    shown = await page.read("/store")
    refused = await page.post("/store/forget-code", {})
    done = await page.post("/store/forget-code", {"token": page.access.form_token})

    assert "Forget the index of this code" in shown
    assert "Only words are searched." in shown
    assert (refused.status_code, done.status_code) == (403, 303)
    assert not await page.app.code.is_ingested()
    assert file.exists()


async def test_a_search_is_narrowed_to_a_level(page: Page) -> None:
    await store_session(page)
    await page.app.store.timeline.save_summary(
        summary(UUID, 0, 0, conversation_summary="The cart, L1.")
    )
    await page.app.notes.remember("The cart is a list.")

    async def find(level: str) -> set[str]:
        found = (await page.get(f"/api/search?q=cart&level={level}")).json()["memory"]
        return {one["type"] for one in found}

    assert await find("") == {"turn", "summary", "note"}
    assert await find("turns") == {"turn"}
    assert await find("L1") == {"summary"}
    assert await find("L2") == set()
    assert await find("notes") == {"note"}
    assert await find("nonsense") == {"turn", "summary", "note"}


async def test_a_search_is_narrowed_to_what_touched_a_file(page: Page) -> None:
    asked = await store_session(page)
    await store_session(page, OTHER)
    touched = reference("x", "pay.py", "pay", "h", "read")
    await page.app.store.timeline.link(MESSAGE, asked, [touched])

    found = await page.read("/search?q=cart&file=pay.py")

    assert UUID in found
    assert OTHER not in found
    assert 'value="pay.py"' in found
    assert OTHER in await page.read("/search?q=cart")


async def test_a_file_that_may_be_several_is_said_to_be(page: Page) -> None:
    for folder in ("a", "b"):
        (page.app.project_path / folder).mkdir()
        (page.app.project_path / folder / "pay.py").write_text("def pay(): ...\n")
    await page.app.code.ingest()

    assert "matches several files: a/pay.py, b/pay.py" in await page.read(
        "/search?q=cart&file=pay.py"
    )


async def test_the_commits_since_are_shown_with_the_sessions_that_touched_some_code(
    page: Page,
) -> None:
    commit(page.app.project_path, "def pay(): ...\n")
    await page.app.code.ingest()
    [pay] = [one for one in await page.app.code.outline("shop.py") if one.name == "pay"]
    place = {"project_id": page.app.project.id, "uuid": UUID}
    asked = user("How?", timestamp=now() - timedelta(days=5))
    then = now() - timedelta(days=4)
    made = conversation(str(page.app.cwd), created_at=then, updated_at=then, **place)
    await page.app.store.records.put(CONVERSATION, made)
    await page.app.store.timeline.append(UUID, [asked, assistant("So.", timestamp=then)])
    touched = reference(pay.uuid, "shop.py", "pay", "h", "read")
    await page.app.store.timeline.link(MESSAGE, asked.uuid, [touched])

    shown = (await page.read("/code?name=pay")).partition("Sessions and commits")[2]

    # One timeline: what was committed after the session comes before it.
    assert shown.index("</code> Pay") < shown.index(f"/sessions/{UUID}?from=0#turn-0")
    assert "Ann" in shown
