"""When an agent opens a file it hears, once, what was decided about it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ragforge.app.hook.call import HookCall, name_file_id
from ragforge.app.hook.file_memory import MAX_CHARS, find_file_memory, find_for_files, names_file
from ragforge.app.hook.hook_settings import HookConfig
from ragforge.app.hook.session import HookAnswer, ReceivedEntries
from ragforge.domain.code import TouchKind
from ragforge.domain.schema import CONVERSATION, MESSAGE, NOTE
from ragforge.ports.store import Store
from tests.fakes.builders import (
    assistant,
    conversation,
    note,
    reference,
    tool_call,
    tool_result,
    user,
)

FILE = "src/auth/login.py"


async def remember_edit(
    store: Store, session: str, asked: str, day: int = 1, how: TouchKind = "edited"
) -> None:
    """Store a turn that touched the file."""
    uuid = f"{session}-{day}"
    made = conversation(uuid=uuid, project_id="p", agent="codex", agent_session=session)
    await store.records.put(CONVERSATION, made)
    when = datetime(2026, 11, day, tzinfo=UTC)
    await store.timeline.append(uuid, [user(asked, uuid=f"m-{uuid}", timestamp=when)])
    touched = reference(f"scope-{uuid}", FILE, "login", how=how)
    await store.timeline.link(MESSAGE, f"m-{uuid}", [touched])


async def test_the_turns_of_other_sessions_that_edited_a_file_are_named_with_their_days(
    store: Store,
) -> None:
    await remember_edit(store, "one", "Fix the login loop", 3)
    await remember_edit(store, "two", "Rename\nthe cookie", 5)
    await remember_edit(store, "own", "What I did myself", 6)
    await remember_edit(store, "reader", "Only read it", 7, "read")

    said = (await find_file_memory(store, FILE, ["p"], "own")).text

    assert said.splitlines() == [
        FILE,
        "edited in 2 turns of 2 sessions:",
        "2026-11-05, codex, session two-5: Rename the cookie",
        "2026-11-03, codex, session one-3: Fix the login loop",
    ]


async def test_edits_are_known_before_the_code_of_the_project_was_read(store: Store) -> None:
    """Links to code need it. What the calls of a turn changed is stored with the turn."""
    for uuid, day, file in (("one", 3, FILE), ("two", 5, FILE), ("three", 6, "src/cart.py")):
        made = conversation("/shop", uuid=uuid, project_id="p", agent="claude-code")
        await store.records.put(CONVERSATION, made)
        when = datetime(2026, 11, day, tzinfo=UTC)
        changed = {"changes": [{"file": f"/shop/{file}", "diff": "-a\n+b"}]}
        edit = tool_call("Edit", result=tool_result(changed))
        said = [user(f"Fix {uuid}", timestamp=when), assistant("Done.", edit, timestamp=when)]
        await store.timeline.append(uuid, said)

    said_of_it = (await find_file_memory(store, FILE, ["p"])).text

    assert said_of_it.splitlines() == [
        FILE,
        "edited in 2 turns of 2 sessions:",
        "2026-11-05, claude-code, session two: Fix two",
        "2026-11-03, claude-code, session one: Fix one",
    ]


async def test_a_turn_that_is_linked_and_has_the_edit_is_counted_once(store: Store) -> None:
    await store.records.put(CONVERSATION, conversation("/shop", uuid="one", project_id="p"))
    changed = {"changes": [{"file": f"/shop/{FILE}", "diff": "-a\n+b"}]}
    asked = user("Fix it", uuid="m")
    edit = tool_call("Edit", result=tool_result(changed))
    await store.timeline.append("one", [asked, assistant("Done.", edit)])
    await store.timeline.link(MESSAGE, "m", [reference("scope", FILE, "login", how="edited")])

    assert "edited in 1 turn of 1 session:" in (await find_file_memory(store, FILE, ["p"])).text


async def test_a_note_that_names_the_file_comes_first_and_is_not_repeated(store: Store) -> None:
    told = "login.py: the cookie is set on the parent domain."
    await store.records.put(NOTE, note(told, uuid="n", project_id="p"))
    await store.records.put(NOTE, note("About src/other/login.py", uuid="o", project_id="p"))

    entry = await find_file_memory(store, FILE, ["p"])

    assert told in entry.text
    assert "other" not in entry.text
    assert entry.ids == ("n",)
    assert (await find_file_memory(store, FILE, ["p"], "", lambda one: one == "n")).text == ""


async def test_it_is_short_however_much_there_is(store: Store) -> None:
    for number in range(1, 9):
        await store.records.put(NOTE, note(f"{FILE} {number} {'long ' * 99}", project_id="p"))
        await remember_edit(store, f"s{number}", "What " * 99, number)

    said = (await find_file_memory(store, FILE, ["p"])).text

    assert len(said) <= MAX_CHARS
    assert said.count("\n") >= 2


async def test_nothing_is_said_of_a_file_about_which_there_is_nothing(store: Store) -> None:
    await remember_edit(store, "one", "Fix the login loop")

    assert (await find_file_memory(store, "src/auth/logout.py", ["p"])).text == ""
    assert (await find_file_memory(store, FILE, ["another project"])).text == ""


@pytest.mark.parametrize(
    ("text", "file", "named"),
    [
        ("see src/auth/login.py:12", FILE, True),
        ("see auth/login.py", FILE, True),
        ("see ./src/auth/login.py.", FILE, True),
        ("see login.py", FILE, True),
        ("see `login.py`, twice", FILE, True),
        ("see /home/ann/shop/src/auth/login.py", FILE, True),
        ("see my_login.py", FILE, False),
        ("see login.pyc or login.py.bak", FILE, False),
        ("see web/login.py", FILE, False),
        ("see /login.py", FILE, False),
        ("the login", FILE, False),
        ("see index.ts", "src/web/index.ts", False),
        ("see web/index.ts", "src/web/index.ts", True),
        ("see README.md", "README.md", True),
    ],
)
def test_a_text_names_a_file_by_its_path_the_end_of_it_or_a_telling_name(
    text: str, file: str, named: bool
) -> None:
    assert names_file(text, file) is named


async def ask(store: Store, root: Path, *files: str, exclude: str = "") -> list[str]:
    """Return what a session hears of files, and which are noted."""
    call = HookCall("codex", "PostToolUse", "now", cwd=str(root), files=files)
    settings = HookConfig("", None, str(root / "state"), exclude, 4_000, 4_000)
    answer = HookAnswer()
    answer.received = ReceivedEntries(root / "state", "codex", "now")
    heard = []
    async for entry in find_for_files(call, settings, store, ["p"], answer):
        answer.note_given(entry.ids)
        heard += [entry.text] if entry.text else []
    return heard


async def test_a_session_hears_of_a_file_once(store: Store, tmp_path: Path) -> None:
    await remember_edit(store, "one", "Fix the login loop")

    assert len(await ask(store, tmp_path, FILE)) == 1
    assert await ask(store, tmp_path, FILE) == []


async def test_nothing_is_said_of_files_outside_the_project_or_in_excluded_folders(
    store: Store, tmp_path: Path
) -> None:
    await remember_edit(store, "one", "Fix the login loop")

    assert await ask(store, tmp_path, f"../{FILE}", "/etc/passwd") == []
    assert await ask(store, tmp_path, FILE, exclude=str(tmp_path / "src")) == []
    seen = ReceivedEntries(tmp_path / "state", "codex", "now")
    assert seen.was_given(name_file_id("/etc/passwd"))
