"""Auto mode: what commands must not do that no one was asked about. Effects are measured."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from ragforge.agent.rules import parse_rule
from ragforge.domain.modes import MODES, next_mode
from ragforge.domain.turns import Answer
from ragforge.errors import InputError
from ragforge.permissions import Approve, PermissionRequest, Verdict
from ragforge.tools.command import approved as approved_module
from ragforge.tools.command.approved import ApprovedCommands
from ragforge.tools.command.sandbox import choose
from ragforge.tools.command.sandbox.choose import Sandbox, explain_no_auto
from ragforge.tools.command.started import may_lose_work
from tests.fakes.talking import call, talking
from tests.fakes.trust import move_home
from tests.fakes.wires import Says

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
KEY = "canary-key-of-the-user"


def find_sandboxes() -> dict[str, Sandbox]:
    found: dict[str, Sandbox] = {}
    if bwrap := choose.find_bwrap(os.getcwd()):
        found["bubblewrap"] = Sandbox("bubblewrap", program=bwrap)
    version = choose.find_landlock_version()
    if version and choose.can_filter_sockets():
        found["landlock"] = Sandbox("landlock", version=version, filters_sockets=True)
    return found


FOUND = find_sandboxes()


@pytest.fixture(params=["bubblewrap", "landlock"])
def sandbox(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """Each sandbox that works here, in turn."""
    if request.param not in FOUND:
        pytest.skip(f"NOT TESTED HERE: {request.param} does not work on this machine")
    chosen = FOUND[request.param]
    for module in (approved_module, choose):
        monkeypatch.setattr(module, "find_sandbox", lambda root, mode="auto": chosen)
    return chosen


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = move_home(tmp_path / "home", monkeypatch)
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id_ed25519").write_text(KEY)
    return home


@pytest.fixture
def project(home: Path) -> Path:
    """A repository with a commit, a change that is not committed, and a file git does not know."""
    root = home / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.txt").write_text("committed\n")
    git = ("git", "-C", str(root), "-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "First")):
        subprocess.run([*git, *words], check=True)
    (root / "src" / "a.txt").write_text("changed\n")
    (root / "src" / "new.txt").write_text("new\n")
    return root


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    (home / "user.yaml").touch()
    return {
        **os.environ,
        "OPENAI_API_KEY": "sk-none",
        "RAGFORGE_STORE": str(home / "store.db"),
        "RAGFORGE_CONFIG": str(home / "user.yaml"),
        "RAGFORGE_AGENT__STATE_DIR": str(home / "state"),
        "RAGFORGE_AGENT__CONTEXT__PLAN_BY": "rules",
        "RAGFORGE_BRAIN__INGEST_AUTOMATICALLY": "false",
    }


def digest(folder: Path) -> dict[str, str]:
    """Return what is in a folder."""
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


async def run(
    environ: dict[str, str],
    project: Path,
    *lines: str,
    approve: Approve | None = None,
    deny: Sequence[str] = (),
    **more: object,
) -> Answer:
    """Let a model call run_command for each line in auto mode; without `approve` no one answers."""
    calls = tuple(
        call("run_command", f"call-{at}", command=line, **more) for at, line in enumerate(lines)
    )
    async with talking(environ, project, [Says(calls=calls), Says("Done.")]) as (agent, _):
        for rule in deny:
            agent.app.rules.add(parse_rule("deny", rule))
        conversation = await agent.create_conversation()
        return await conversation.send_message("Do it", approve=approve, mode="auto")


async def test_edits_and_commands_in_the_project_need_no_answer(
    sandbox: Sandbox, environ: dict[str, str], project: Path
) -> None:
    answer = await run(environ, project, "echo made > src/made.txt", "rm src/new.txt && make -v")

    assert (project / "src" / "made.txt").read_text() == "made\n"
    assert not (project / "src" / "new.txt").exists()
    assert answer.tool_calls[0].success


DESTROYERS = (
    "rm -rf .git",
    "mv .git away",
    "find .git -delete",
    "echo 'echo owned' > .git/hooks/pre-commit",
    "printf '[core]\\n\\tfsmonitor = evil\\n' >> .git/config",
    "ln -sf /tmp/evil .git/hooks/post-checkout",
    "git reset -q --hard",
    "git checkout -q -- .",
    "git stash -u",
    "git branch -D main master",
    "git update-ref -d HEAD",
    "git config core.hooksPath src",
    "git commit -qam Second",
    "git reflog expire --expire=now --all; git gc -q --prune=now",
)


async def test_nothing_that_git_keeps_is_changed_even_from_a_script(
    sandbox: Sandbox, environ: dict[str, str], project: Path
) -> None:
    script = project / "src" / "destroy.sh"
    script.write_text("\n".join(f"({line}) 2>&1" for line in DESTROYERS))
    before = digest(project / ".git")

    await run(environ, project, "sh src/destroy.sh", *DESTROYERS)

    assert digest(project / ".git") == before
    assert (project / "src" / "a.txt").read_text() == "changed\n"


async def test_a_git_folder_at_another_place_in_the_project_is_protected_too(
    sandbox: Sandbox, environ: dict[str, str], project: Path
) -> None:
    (project / ".git").rename(project / "meta")
    (project / ".git").write_text("gitdir: meta\n")
    before = digest(project / "meta")

    lines = ("rm -rf meta", "echo x > meta/hooks/pre-commit", "echo 'gitdir: src' > .git; rm .git")
    await run(environ, project, *lines, "echo made > src/made.txt")

    assert digest(project / "meta") == before
    assert (project / "src" / "made.txt").exists()
    assert (project / ".git").read_text() == "gitdir: meta\n"


async def test_where_git_is_a_link_every_command_is_asked_about(
    sandbox: Sandbox, environ: dict[str, str], project: Path
) -> None:
    (project / ".git").rename(project / "meta")
    (project / ".git").symlink_to("meta")
    await run(environ, project, "echo made > src/made.txt")
    assert not (project / "src" / "made.txt").exists()


LOSING = (
    "git clean -fdq",
    "git clean -fdq .; true",
    "true && git -C . clean -fdq",
    "/usr/bin/git clean -fdq",
    "env X=1 git clean -fdq",
    "sh -c 'git clean -fdq'",
    "g=git; $g clean -fdq",
    "`echo git` clean -fdq",
    "$(which git) clean -fdq",
    "find . -maxdepth 0 -exec git clean -fdq ;",
    "git rm -qf src/a.txt",
    "git mv src/new.txt src/other.txt",
    "git -c alias.x='clean -fdq' x",
    "echo y | xargs git clean -fdq",
    "git --no-pager clean -fdq",
    "/usr/lib/git-core/git-clean -fdq",
)


async def test_git_does_not_remove_work_that_is_not_committed(
    sandbox: Sandbox, environ: dict[str, str], project: Path
) -> None:
    before = digest(project)
    await run(environ, project, *LOSING)
    assert digest(project) == before


@pytest.mark.parametrize("line", LOSING)
def test_lines_that_run_git_for_more_than_reading_are_found(line: str) -> None:
    assert may_lose_work(line)


@pytest.mark.parametrize(
    "line",
    ["make test", "git status && pytest -q", "git --no-pager log -3 | head", "echo git clean"],
)
def test_other_lines_are_not(line: str) -> None:
    assert not may_lose_work(line)


async def test_nothing_outside_the_project_is_written_or_read_from_the_home(
    sandbox: Sandbox, environ: dict[str, str], home: Path, project: Path
) -> None:
    outside = home.parent / "outside"
    outside.mkdir()
    (project / "link").symlink_to(outside)
    places = [outside / "x", home / ".bashrc", home / ".ssh" / "authorized_keys", Path("/etc/made")]
    lines = [f"echo x > {place}" for place in places]

    answer = await run(
        environ,
        project,
        *lines,
        "echo x > link/x",
        "echo x > src/../../x",
        f"cat {home}/.ssh/id_ed25519 > src/key.txt",
    )

    assert [place for place in (*places, home / "x") if place.exists()] == []
    assert (project / "src" / "key.txt").read_text() == ""
    assert KEY not in str(answer.tool_calls)


async def test_no_connection_is_made_and_the_network_is_asked_for(
    sandbox: Sandbox, environ: dict[str, str], project: Path
) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(0)
        port = server.getsockname()[1]
        line = f"python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}))\""
        await run(environ, project, line)
        await run(environ, project, line, network=True)
        with pytest.raises(BlockingIOError):
            server.accept()


async def test_where_the_user_can_be_asked_they_are_asked_about_what_is_left(
    sandbox: Sandbox, environ: dict[str, str], project: Path
) -> None:
    asked: list[str] = []

    async def answer(request: PermissionRequest) -> Verdict:
        asked.append(request.subject)
        return Verdict("once" if "add" in request.subject else "deny")

    lines = ("git add src/new.txt", "git clean -fdq", "echo fine > src/fine.txt")
    await run(environ, project, *lines, approve=answer)

    assert asked == ["git add src/new.txt", "git clean -fdq"]
    staged = subprocess.run(
        ["git", "-C", str(project), "diff", "--cached", "--name-only"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert staged.stdout == "src/new.txt\n"  # with a yes, in the ordinary sandbox
    assert (project / "src" / "fine.txt").exists()


async def test_rules_that_deny_count_in_auto_mode(
    sandbox: Sandbox, environ: dict[str, str], project: Path
) -> None:
    write = call("write_file", "w", path="src/a.txt", content="x")
    calls = (write, call("run_command", "r", command="touch src/made.txt"))
    async with talking(environ, project, [Says(calls=calls), Says("Done.")]) as (agent, _):
        for rule in ("edit_file(src/**)", "run_command(touch *)"):
            agent.app.rules.add(parse_rule("deny", rule))
        conversation = await agent.create_conversation()
        await conversation.send_message("Do it", mode="auto")

    assert (project / "src" / "a.txt").read_text() == "changed\n"
    assert not (project / "src" / "made.txt").exists()


async def test_pages_and_files_outside_are_not_allowed_by_the_mode(
    sandbox: Sandbox, environ: dict[str, str], home: Path, project: Path
) -> None:
    calls = (
        call("write_file", "a", path="../outside.txt", content="x"),
        call("write_file", "b", path=".git/hooks/pre-commit", content="x"),
        call("fetch_url", "c", url="http://127.0.0.1:9/secret"),
    )
    async with talking(environ, project, [Says(calls=calls), Says("Done.")]) as (agent, _):
        conversation = await agent.create_conversation()
        answer = await conversation.send_message("Do it", mode="auto")

    assert [one.success for one in answer.tool_calls] == [False, False, False]
    assert not (home / "outside.txt").exists()
    assert not (project / ".git" / "hooks" / "pre-commit").exists()
    assert "No one can approve this" in str(answer.tool_calls[2].result)


async def test_without_a_sandbox_auto_mode_says_what_to_install(
    environ: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choose, "find_sandbox", lambda root, mode="auto": None)
    with pytest.raises(InputError, match="Auto mode needs a sandbox") as caught:
        await run(environ, project, "touch src/made.txt")
    assert "Install bubblewrap" in str(caught.value)
    assert not (project / "src" / "made.txt").exists()


async def test_a_confined_command_does_not_run_if_its_sandbox_is_gone(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approved_module, "find_sandbox", lambda root, mode="auto": None)
    commands = ApprovedCommands(str(project))
    result = await commands.run("touch src/made.txt", str(project), confined=True)
    assert result.refused
    assert not (project / "src" / "made.txt").exists()


@pytest.mark.parametrize(
    ("sandbox", "mode", "why"),
    [
        (None, "off", "tools.sandbox is off"),
        (None, "auto", "bubblewrap does not work here"),
        (Sandbox("landlock", version=3), "auto", "does not close the network"),
        (Sandbox("seatbelt"), "auto", "does not close services of this machine"),
        (Sandbox("bubblewrap"), "auto", ""),
        (Sandbox("landlock", version=7, filters_sockets=True), "auto", ""),
    ],
    ids=str,
)
def test_only_a_sandbox_that_closes_the_network_is_enough(
    monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox | None, mode: choose.Mode, why: str
) -> None:
    monkeypatch.setattr(choose, "find_sandbox", lambda root, mode="auto": sandbox)
    monkeypatch.setattr(choose.platform, "system", lambda: "Linux")
    found = explain_no_auto("/project", mode)
    assert why in found
    assert bool(found) is bool(why)


def test_shift_tab_comes_to_auto_only_where_it_can_be_used() -> None:
    assert [next_mode(mode, True) for mode in MODES] == ["plan", "accept-edits", "auto", "ask"]
    assert next_mode("accept-edits", False) == "ask"
    assert next_mode("auto", False) == "ask"
