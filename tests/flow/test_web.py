"""The page over every engine: each page shows what the store holds."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from ragforge.app import App, open_app
from ragforge.config import load_settings
from ragforge.domain.schema import CONVERSATION, MESSAGE
from tests.fakes.builders import assistant, conversation, reference, summary, tool_call, user

pytest.importorskip("jinja2", reason="the extra web is not installed")

from ragforge.web.access import Access
from ragforge.web.site import build_site

UUID = "9719cf4e-0000-4000-8000-000000000007"
CHILD = "9719cf4e-0000-4000-8000-000000000008"
HOST = "http://127.0.0.1:8421"


async def _add_traces(app: App, message_id: str, here: str) -> None:
    """Store what the session touched, one that it started, a summary and a note."""
    place = {"project_id": app.project.id}
    await app.store.records.put(
        CONVERSATION, conversation(here, uuid=CHILD, title="Look", parent_id=UUID, **place)
    )
    [scope] = [one for one in await app.code.outline("pricing.py") if one.name == "apply_discount"]
    touched = reference(scope.uuid, "pricing.py", "apply_discount", "old", "edited")
    await app.store.timeline.link(MESSAGE, message_id, [touched])
    await app.store.timeline.save_summary(summary(UUID, 0, 3, conversation_summary="About prices."))
    await app.notes.remember("Round once.")


@pytest.mark.both_engines
async def test_every_page_shows_what_the_store_holds(
    environ: dict[str, str], project: Path
) -> None:
    (project / "pricing.py").write_text("def apply_discount(price):\n    return price\n")
    settings = load_settings(project, {"llm.model": "none"}, environ).settings
    access = Access(8421)
    async with open_app(settings, project, work=False) as app:
        await app.code.ingest()
        store = app.store.timeline
        await app.store.records.put(
            CONVERSATION,
            conversation(str(project), uuid=UUID, title="Prices", project_id=app.project.id),
        )
        said = [user("Where is the discount?"), assistant("In apply_discount.", tool_call())]
        said += [m for n in range(30) for m in (user(f"Question {n}."), assistant("Yes."))]
        await store.append(UUID, said)
        await _add_traces(app, said[0].uuid, str(project))
        transport = httpx2.ASGITransport(app=build_site(app, access))
        async with httpx2.AsyncClient(transport=transport, base_url=HOST) as client:
            await client.get(access.address)

            async def read(path: str) -> str:
                response = await client.get(access.base + path)
                assert response.status_code == 200, (path, response.text)
                return response.text

            assert "Prices" in await read("/sessions")
            assert "Prices" in await read(f"/sessions?project={app.project.id}&agent=ragforge")
            assert "Prices" not in await read("/sessions?agent=codex")
            assert "grep_files" in await read(f"/sessions/{UUID}")
            assert "Question 29." in await read(f"/sessions/{UUID}?from=20")
            found = await read("/search?q=discount")
            assert f"/sessions/{UUID}?from=0#turn-0" in found
            assert "pricing.py:1" in found
            assert "pricing.py" in await read("/context?q=apply_discount")
            assert "apply_discount" in await read("/code?name=pricing.py")
            assert "return" in await read("/code?name=apply_discount")
            assert "Is everything in order?" in await read("/store")
            child = f"/sessions/{CHILD}"
            assert child in await read(f"/sessions/{UUID}")
            assert f"/sessions/{UUID}" in await read(child)
            assert "changed since" in await read(f"/sessions/{UUID}")
            assert "About prices." in await read("/timeline")
            assert "pricing.py" in await read("/map")
            assert "Round once." in await read("/notes")
            assert "apply_discount" in await read(f"/graph?node=session:{UUID}")
            assert "Prices" in await read("/graph?node=file:pricing.py")
            assert "Prices" in await read("/graph?node=place:pricing.py:1")
            assert UUID in await read("/search?q=discount&file=pricing.py&level=turns")
            assert "2 sessions</strong>" in await read(f"/store/forget?project={app.project.id}")
            graph = f"graph?node=session:{UUID}"
            for path in (
                "sessions",
                f"sessions/{UUID}",
                "search?q=discount",
                "store",
                "jobs",
                graph,
            ):
                assert (await read(f"/api/{path}")).startswith("{")
            form = {"project": app.project.id, "token": access.form_token}
            await client.post(f"{access.base}/store/forget", data=form)
            assert "No sessions yet." in await read("/sessions")
            assert "No notes yet." in await read("/notes")
