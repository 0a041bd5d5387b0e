"""Today: what was done since a moment, by whom, what is open and what was decided."""

from __future__ import annotations

import json
import subprocess
from datetime import timedelta
from pathlib import Path

from ragforge.app import App, open_app
from ragforge.config import load_settings
from ragforge.domain.instants import now
from ragforge.domain.schema import CONVERSATION, MESSAGE
from tests.fakes.builders import assistant, conversation, reference, tool_call, user
from tests.fakes.zygote import run_module

GIT = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org"]


def commit(folder: Path, subject: str) -> None:
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", subject]):
        subprocess.run([*GIT, *words], cwd=folder, check=True)


async def work(app: App) -> None:
    """Two sessions of today, one of which has no answer, and one of last week."""
    here = {"project_id": app.project.id, "author": app.identity.author}
    put, append = app.store.records.put, app.store.timeline.append
    for name, agent in (("done", "claude-code"), ("open", "ragforge"), ("old", "codex")):
        one = conversation(str(app.cwd), uuid=f"{name}-session", title=name, agent=agent, **here)
        await put(CONVERSATION, one)
    asked = user("Why do we round twice?", timestamp=now())
    await append("done-session", [asked, assistant("In `pay`, once at the end.", timestamp=now())])
    edited = reference("whole", "pay.py", "pay.py", "hash", "edited")
    read = reference("other", "cart.py", "cart.py", "hash", "read")
    await app.store.timeline.link(MESSAGE, asked.uuid, [edited, read])
    cut = assistant("", tool_call(result=None), timestamp=now())
    await append("open-session", [user("And the tests?", timestamp=now()), cut])
    then = now() - timedelta(days=7)
    await append("old-session", [user("An old question", timestamp=then)])


async def test_what_happened_today_is_told_without_a_model(
    environ: dict[str, str], project: Path
) -> None:
    (project / "pay.py").write_text("total = 1\n")
    subprocess.run(["rm", "-rf", str(project / ".git")], check=True)
    commit(project, "Pay once")
    (project / "pay.py").write_text("total = 2\n")
    (project / "new.py").write_text("")
    settings = load_settings(project, {"llm.model": "none"}, environ).settings
    async with open_app(settings, project, work=False) as app:
        await work(app)
        await app.notes.remember("We round at the end.", rule=True)
        await app.notes.remember("Deploy on Fridays.")

        report = await app.today.report()

        done = {one.conversation.title: one for one in report.sessions}
        assert sorted(done) == ["done", "open"]
        assert done["done"].questions == ("Why do we round twice?",)
        assert (done["done"].answer, done["done"].edited) == (
            "In `pay`, once at the end.",
            ("pay.py",),
        )
        assert [one.conversation.title for one in report.open_sessions] == ["open"]
        assert [one.subject for one in report.commits] == ["Pay once"]
        assert [one.text for one in report.decisions] == [
            "Deploy on Fridays.",
            "We round at the end.",
        ]
        assert list(report.uncommitted) == ["pay.py"]
        week = await app.today.report(now() - timedelta(days=8))
        assert "old" in {one.conversation.title for one in week.sessions}
        later = await app.today.report(now() + timedelta(days=1))
        assert later.is_empty

    shown = run_module("ragforge", "today", cwd=project, env=environ)
    assert shown.returncode == 0, shown.stderr
    text = shown.stdout
    assert text.index("Done") < text.index("Commits") < text.index("Decided") < text.index("Open")
    assert "claude-code, done, 1 question" in text
    assert "    Edited: pay.py" in text
    assert "Not answered: " in text
    assert "Not committed: pay.py" in text
    told = run_module("ragforge", "today", "--json", cwd=project, env=environ)
    report_json = json.loads(told.stdout)
    assert {one["title"]: one["is_open"] for one in report_json["sessions"]} == {
        "done": False,
        "open": True,
    }
    assert report_json["uncommitted"] == ["pay.py"]


def test_a_day_without_work_says_so(environ: dict[str, str], project: Path) -> None:
    variables = environ | {"RAGFORGE_LLM__MODEL": "none"}
    shown = run_module("ragforge", "today", "--since", "2d", cwd=project, env=variables)
    assert (shown.returncode, shown.stdout) == (0, "")
    assert "Nothing happened since " in shown.stderr
    assert "Try --all." in shown.stderr
