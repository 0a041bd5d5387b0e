"""Rewind, diff and commit: conversation and files are rewound together or separately."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ragforge.errors import InputError
from tests.fakes.talking import call, talking
from tests.fakes.wires import Says

CODE = b"def lease_seconds():\r\n    return 60\r\n"


@pytest.fixture
def project(project: Path) -> Path:
    (project / ".git").rmdir()
    (project / "leases.py").write_bytes(CODE)
    (project / "other.txt").write_text("other\n")
    for words in (
        ["init", "-q"],
        ["config", "user.name", "Ann"],
        ["config", "user.email", "ann@example.org"],
        ["config", "commit.gpgsign", "false"],
        ["add", "."],
        ["commit", "-qm", "Begin"],
    ):
        git(project, *words)
    return project


def git(project: Path, *words: str) -> str:
    ran = subprocess.run(["git", *words], cwd=project, check=True, capture_output=True, text=True)
    return ran.stdout


def change(old: str, new: str) -> Says:
    return Says(calls=(call("edit_file", path="leases.py", old_text=old, new_text=new),))


SCRIPT = [
    change("60", "70"),
    Says("Seventy."),
    change("70", "80"),
    Says("Eighty."),
    Says("Seen."),
]


async def test_talk_and_files_go_back_together_and_nothing_is_lost(
    environ: dict[str, str], project: Path
) -> None:
    file = project / "leases.py"
    async with talking(environ, project, SCRIPT) as (agent, server):
        conversation = await agent.create_conversation()
        await conversation.send_message("Make it seventy", mode="accept-edits")
        await conversation.send_message("Make it eighty", mode="accept-edits")
        edits = await agent.app.edits(conversation.id)
        turns = await edits.list_turns()
        done = await edits.rewind(1)
        assert done.session is not None
        assert file.read_bytes() == CODE.replace(b"60", b"70")
        branch = await agent.load_conversation(done.session.uuid)
        await branch.send_message("What is it now?")
        asked = server.asked_in_turns[-1].text
        [left] = await (await agent.app.edits(branch.id)).list_changes()
        further = await (await agent.app.edits(branch.id)).rewind(0)
        assert file.read_bytes() == CODE
        before = await conversation.get_history()
        await branch.undo()
        await conversation.undo()
        assert file.read_bytes() == CODE.replace(b"60", b"80")

    assert [(one.turn.user.content, one.files) for one in turns] == [
        ("Make it seventy", ("leases.py",)),
        ("Make it eighty", ("leases.py",)),
    ]
    assert done.question == "Make it eighty"
    assert "Seventy." in asked
    assert "Eighty." not in asked
    assert left.change.before == CODE
    assert further.session is None
    assert [one.content for one in before if one.role == "user"] == [
        "Make it seventy",
        "Make it eighty",
    ]


async def test_only_the_files_are_rewound_and_the_model_learns_of_it(
    environ: dict[str, str], project: Path
) -> None:
    file = project / "leases.py"
    async with talking(environ, project, SCRIPT) as (agent, server):
        conversation = await agent.create_conversation()
        await conversation.send_message("Make it seventy", mode="accept-edits")
        await conversation.send_message("Make it eighty", mode="accept-edits")
        done = await (await agent.app.edits(conversation.id)).rewind(0, talk=False)
        await conversation.send_message("What is it now?")
        asked = server.asked_in_turns[-1].text
        with pytest.raises(InputError, match="has no turn 9"):
            await (await agent.app.edits(conversation.id)).rewind(9)

    assert file.read_bytes() == CODE
    assert done.session is not None
    assert done.session.uuid == conversation.id
    assert "The user took back the edits of leases.py." in asked
    assert "Eighty." in asked


async def test_only_the_talk_is_rewound_and_files_of_others_are_never_overwritten(
    environ: dict[str, str], project: Path
) -> None:
    file = project / "leases.py"
    async with talking(environ, project, SCRIPT) as (agent, server):
        conversation = await agent.create_conversation()
        await conversation.send_message("Make it seventy", mode="accept-edits")
        await conversation.send_message("Make it eighty", mode="accept-edits")
        file.write_bytes(b"theirs\n")
        edits = await agent.app.edits(conversation.id)
        with pytest.raises(InputError, match=r"Another program has changed 'leases\.py'"):
            await edits.rewind(1)
        assert len(await agent.list_conversations()) == 1
        done = await edits.rewind(1, files=False)
        assert done.session is not None
        branch = await agent.load_conversation(done.session.uuid)
        await branch.send_message("What is it now?")
        asked = server.asked_in_turns[-1].text

    assert file.read_bytes() == b"theirs\n"
    assert "Eighty." not in asked
    assert "kept the edits of leases.py." in asked


async def test_a_commit_has_a_drafted_message_and_only_the_files_of_the_session(
    environ: dict[str, str], project: Path
) -> None:
    script = [
        change("60", "70"),
        Says(calls=(call("write_file", path="notes/new.txt", content="new\n"),)),
        Says("Seventy."),
        Says("Let a lease last seventy seconds"),
        Says("Seen."),
    ]
    async with talking(environ, project, script) as (agent, server):
        conversation = await agent.create_conversation()
        with pytest.raises(InputError, match="nothing to commit"):
            await agent.app.draft_commit(conversation.id)
        await conversation.send_message("Make it seventy", mode="accept-edits")
        (project / "other.txt").write_text("staged by the user\n")
        git(project, "add", "other.txt")
        plain = await agent.app.with_model("none").draft_commit(conversation.id)
        draft = await agent.app.draft_commit(conversation.id)
        drafting = server.asked_in_turns[-1].text
        said = await agent.app.commit(conversation.id, draft)
        await conversation.send_message("What now?")
        asked = server.asked_in_turns[-1].text

    assert draft.files == ("leases.py", "notes/new.txt")
    assert draft.message == "Let a lease last seventy seconds"
    assert "return 70" in drafting
    assert "+new" in drafting
    assert "Begin" in drafting
    assert "Let a lease last" in said
    assert git(project, "show", "--name-only", "--format=%s").split("\n")[:4] == [
        "Let a lease last seventy seconds",
        "",
        "leases.py",
        "notes/new.txt",
    ]
    assert git(project, "diff", "--cached", "--name-only") == "other.txt\n"
    assert "The user committed leases.py, notes/new.txt: Let a lease last" in asked
    assert plain.message == "Change leases.py, new.txt"
