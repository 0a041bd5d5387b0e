"""The sandbox, with real processes: what commands can reach even if everything else failed."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ragforge.app.features import doctor as doctor_module
from ragforge.app.features.doctor import check_sandbox, check_user
from ragforge.config.settings import Settings
from ragforge.errors import Declined
from ragforge.tools.command import approved as approved_module
from ragforge.tools.command import run as run_module
from ragforge.tools.command.approved import ApprovedCommands, ApprovedLimits
from ragforge.tools.command.background import BackgroundCommands
from ragforge.tools.command.command_tools import AgentCommandArguments, run_command
from ragforge.tools.command.run import CommandResult, CommandRunner
from ragforge.tools.command.sandbox import choose
from ragforge.tools.command.sandbox.choose import (
    REQUIRED,
    Mode,
    Sandbox,
    SandboxPolicy,
    allow_work,
    build_profile,
    find_sandbox,
)
from ragforge.tools.permission import PermissionRequest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
KEY = "canary-key-of-the-user"


def find_sandboxes() -> dict[str, Sandbox]:
    found: dict[str, Sandbox] = {}
    if bwrap := choose.find_bwrap(os.getcwd()):
        found["bubblewrap"] = Sandbox("bubblewrap", program=bwrap)
    if version := choose.find_landlock_version():
        filters = choose.can_filter_sockets()
        found["landlock"] = Sandbox("landlock", version=version, filters_sockets=filters)
    return found


FOUND = find_sandboxes()
LIMITS = (
    "; the sandbox does not protect .git/hooks and .git/config"
    if [*FOUND][:1] == ["landlock"]
    else ""
)
"""What the question says of the sandbox that is chosen here."""


@pytest.fixture(params=["bubblewrap", "landlock"])
def sandbox(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """Each sandbox that works here, in turn."""
    if request.param not in FOUND:
        pytest.skip(f"NOT TESTED HERE: {request.param} does not work on this machine")
    chosen = FOUND[request.param]
    for module in (approved_module, run_module):
        monkeypatch.setattr(module, "find_sandbox", lambda root, mode="auto": chosen)
    return chosen


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home, with a key, a toolchain and the project in it."""
    folder = tmp_path / "home" / "user"
    for name in (".ssh/id_ed25519", ".config/gh/hosts.yml", ".cargo/credentials.toml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(KEY)
    (folder / ".cargo" / "bin").mkdir()
    (folder / ".cargo" / "bin" / "tool").write_text("a tool")
    (folder / ".npm").mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def project(home: Path) -> Path:
    root = home / "project"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "a.txt").write_text("a\n")
    return root


async def work(
    project: Path, line: str, seconds: float = 60, network: bool = False
) -> CommandResult:
    return await ApprovedCommands(str(project)).run(line, str(project), seconds, network)


async def test_an_approved_command_writes_in_the_project_and_nowhere_else(
    sandbox: Sandbox, project: Path, home: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    places = [outside / "x", home / ".bashrc", home / ".npm" / "x", Path("/usr/ragforge-made")]
    places += [Path("/etc/ragforge-made"), home / ".ssh" / "authorized_keys"]
    tries = "; ".join(f"echo x > {place}" for place in places)

    result = await work(project, f"mkdir sub && echo x > sub/made && rm a.txt; {tries}; true")

    assert (project / "sub" / "made").read_text() == "x\n"
    assert not (project / "a.txt").exists()
    assert [place for place in places if place.exists()] == []
    assert result.exit_code == 0


async def test_an_approved_command_cannot_read_the_users_home_but_for_toolchains(
    sandbox: Sandbox, project: Path, home: Path
) -> None:
    line = "cat ~/.ssh/id_ed25519 ~/.config/gh/hosts.yml; ls ~/.ssh; cat ~/.cargo/bin/tool"

    result = await work(project, line)

    assert result.stdout == "a tool"
    assert KEY not in result.stderr


async def test_a_command_runs_however_many_files_are_next_to_the_users_home(
    sandbox: Sandbox, project: Path, home: Path
) -> None:
    for number in range(3_000):
        (home.parent / f"another-user-{number}").touch()

    result = await work(project, "cat ~/.ssh/id_ed25519; cat ../../another-user-2999 && echo read")

    assert result.stdout == "read\n", result


async def test_credentials_among_the_toolchains_are_hidden_by_bubblewrap(
    sandbox: Sandbox, project: Path
) -> None:
    if sandbox.kind != "bubblewrap":
        pytest.skip("Landlock cannot hide a file in a directory that it shows")
    assert KEY not in (await work(project, "cat ~/.cargo/credentials.toml")).stdout


@pytest.fixture
def stranger() -> Iterator[int]:
    """The number of another process of this user, which has a key in its environment."""
    pipe = subprocess.PIPE
    with subprocess.Popen(["cat"], env={"API_KEY": KEY}, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()  # it runs
        yield process.pid


async def test_a_command_cannot_read_the_environment_of_other_processes(
    sandbox: Sandbox, project: Path, stranger: int
) -> None:
    assert KEY in Path(f"/proc/{stranger}/environ").read_text()

    result = await work(project, f"cat /proc/{stranger}/environ; cat /proc/$PPID/environ")

    assert KEY not in result.stdout


async def test_a_command_has_no_capabilities_even_as_root(sandbox: Sandbox, project: Path) -> None:
    line = "grep CapEff /proc/self/status"

    result = await work(project, f"{line}; sh -c '{line}'")

    assert set(result.stdout.split()) == {"CapEff:", "0" * 16}, result


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
async def test_root_works_on_files_of_another_user_and_still_reads_no_environment(
    sandbox: Sandbox, project: Path, stranger: int
) -> None:
    if sandbox.kind != "landlock":
        pytest.skip("bubblewrap does not know other users")
    for path in (project, *project.rglob("*")):
        os.chown(path, 65534, 65534)

    result = await work(project, f"echo b >> a.txt; cat a.txt; cat /proc/{stranger}/environ")
    looked = await CommandRunner(project).run("cat a.txt")

    assert result.stdout == looked.stdout == "a\nb\n", result


CONNECT = (
    "{python} -I -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5); print(1)'"
)


@pytest.mark.parametrize("network", [False, True])
async def test_an_approved_command_has_network_only_if_that_was_approved(
    sandbox: Sandbox, project: Path, network: bool
) -> None:
    if not sandbox.closes_network:
        pytest.skip("NOT TESTED HERE: this version of Landlock cannot close the network")
    with socket.create_server(("127.0.0.1", 0)) as server:
        line = CONNECT.format(python=sys.executable, port=server.getsockname()[1])
        result = await work(project, line, network=network)

    assert (result.stdout == "1\n") is network, result
    assert (result.exit_code == 0) is network


REACH = """
import socket, sys

def send(kind, address, family=socket.AF_UNIX):
    try:
        with socket.socket(family, kind) as one:
            one.connect(address)
            one.send(b"x")
    except OSError as error:
        print(error)

port, *paths = sys.argv[1:]
send(socket.SOCK_DGRAM, ("127.0.0.1", int(port)), socket.AF_INET)
for path in paths:
    send(socket.SOCK_STREAM, path)
    send(socket.SOCK_DGRAM, path + "-packets")
send(socket.SOCK_STREAM, chr(0) + "ragforge" + port)
"""


def open_socket(stack: ExitStack, kind: socket.SocketKind, address: str) -> socket.socket:
    """Listen at a path, or at an abstract name, without ever waiting."""
    one = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
    one.bind(address)
    if kind == socket.SOCK_STREAM:
        one.listen()
    one.setblocking(False)
    return one


@pytest.mark.parametrize("network", [False, True])
async def test_a_command_does_not_reach_services_of_this_machine(
    sandbox: Sandbox, project: Path, network: bool
) -> None:
    """D-Bus, Docker or a terminal's server would run whatever they are asked to, outside."""
    if not sandbox.closes_network:
        pytest.skip("NOT TESTED HERE: sockets cannot be filtered on this machine")
    (project / "reach.py").write_text(REACH)
    with ExitStack() as stack:
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        udp.setblocking(False)
        port = udp.getsockname()[1]
        listening, packets = [], []
        places = [place for place in ("/tmp", "/var/tmp", "/run") if os.access(place, os.W_OK)]
        folders = [stack.enter_context(TemporaryDirectory(dir=place)) for place in places]
        paths = [os.path.join(folder, "service") for folder in folders]
        for path in paths:
            listening.append(open_socket(stack, socket.SOCK_STREAM, path))
            packets.append(open_socket(stack, socket.SOCK_DGRAM, f"{path}-packets"))
        if sandbox.kind == "landlock" or not network:  # bubblewrap shares these with the network
            listening.append(open_socket(stack, socket.SOCK_STREAM, f"\0ragforge{port}"))

        line = f"{sys.executable} reach.py {port} {' '.join(paths)}"
        result = await work(project, line, network=network)

        for one in listening:
            with pytest.raises(BlockingIOError):
                one.accept()
        for one in packets if network else [udp, *packets]:
            with pytest.raises(BlockingIOError):
                one.recv(1)
        if network:
            assert udp.recv(1) == b"x", result


async def test_what_programs_need_of_sockets_works(sandbox: Sandbox, project: Path) -> None:
    """asyncio and programs that start others use pairs; those need no address."""
    program = (
        "import asyncio, socket; asyncio.run(asyncio.sleep(0)); "
        "a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1).decode(), end='')"
    )

    result = await work(project, f'{sys.executable} -c "{program}"')

    assert result.stdout == "x", result


async def test_downloads_can_be_kept_where_the_network_is_allowed(
    sandbox: Sandbox, project: Path, home: Path
) -> None:
    await work(project, "echo x > ~/.npm/kept; echo x > ~/.cargo/kept", network=True)

    assert (home / ".npm" / "kept").exists()
    assert not (home / ".cargo" / "kept").exists()


async def test_temporary_files_are_private_and_removed(
    sandbox: Sandbox, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    line = 'echo secret > "$TMPDIR/x" && cat "$TMPDIR/x" && ls "$TMPDIR" && cat "$(mktemp)"'

    first = await work(project, line)
    second = await work(project, 'ls "$TMPDIR"')

    assert first.stdout.startswith("secret\n"), first
    assert first.exit_code == 0
    assert "x" not in second.stdout.split()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("ragforge-")] == []


@pytest.mark.parametrize(
    ("line", "code"), [("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143), ("false", 1)]
)
async def test_exit_codes_and_signals_come_back(
    sandbox: Sandbox, project: Path, line: str, code: int
) -> None:
    assert (await work(project, line)).exit_code == code


async def test_at_the_end_of_its_time_a_command_is_killed_with_all_it_started(
    sandbox: Sandbox, project: Path
) -> None:
    line = "(trap '' TERM; while true; do date +%N > beat; sleep 0.05; done) & sleep 300"

    result = await work(project, line, seconds=1.5)

    assert result.timed_out
    before = (project / "beat").read_text()
    await asyncio.sleep(0.5)
    assert (project / "beat").read_text() == before


HOOK = "printf '#!/bin/sh\\necho x\\n'"
CHANGES = {
    ".git/hooks/pre-commit": f"mkdir -p .git/hooks; {HOOK} > .git/hooks/pre-commit",
    ".git/config": "git config core.fsmonitor x || echo x >> .git/config",
    ".git/config.worktree": "echo '[core]' > .git/config.worktree",
    ".git/commondir": "echo ../evil > .git/commondir",
    ".git/modules/lib/a/config": "echo x >> .git/modules/lib/a/config",
    ".git/modules/lib/a/hooks/post-merge": f"{HOOK} > .git/modules/lib/a/hooks/post-merge",
    "lib/a/.git": "echo 'gitdir: ../../evil' > lib/a/.git",
    "scripts/hooks/pre-push": f"{HOOK} > scripts/hooks/pre-push",
    "scripts/more.gitconfig": "echo x > scripts/more.gitconfig",
}


@pytest.fixture
def with_submodule(project: Path) -> Path:
    """The project with a submodule, hooks in a separate folder and an included configuration."""
    module = project / ".git" / "modules" / "lib" / "a"
    (module / "hooks").mkdir(parents=True)
    (module / "HEAD").write_text("ref: refs/heads/main\n")
    (module / "config").write_text("[core]\n\tworktree = ../../../../lib/a\n")
    (project / "lib" / "a").mkdir(parents=True)
    (project / "lib" / "a" / ".git").write_text("gitdir: ../../.git/modules/lib/a\n")
    (project / "scripts" / "hooks").mkdir(parents=True)
    (project / "scripts" / "more.gitconfig").write_text("[user]\n")
    with (project / ".git" / "config").open("a") as file:
        file.write("[core]\n\thooksPath = scripts/hooks\n[include]\n\tpath = ")
        file.write("../scripts/more.gitconfig\n")
    return project


async def test_a_change_of_what_git_runs_is_refused_or_reported(
    sandbox: Sandbox, with_submodule: Path
) -> None:
    for name, line in CHANGES.items():
        path = with_submodule / name
        before = path.read_bytes() if path.exists() else None
        heard: list[str] = []

        result = await ApprovedCommands(str(with_submodule)).run(
            line, str(with_submodule), 60, on_output=heard.append
        )

        after = path.read_bytes() if path.exists() else None
        if sandbox.kind == "bubblewrap" and before is not None and name.startswith(".git/"):
            assert after == before, f"{name} is protected"
        assert (f"changed {name}" in result.stderr) is (after != before), (name, result)
        assert (f"changed {name}" in "".join(heard)) is (after != before)


async def test_the_repository_cannot_be_exchanged_unnoticed(
    sandbox: Sandbox, project: Path
) -> None:
    line = "mv .git old && cp -r old .git && git -c core.hooksPath= config core.fsmonitor x"
    before = (project / ".git" / "config").read_text()

    result = await work(project, line)

    is_changed = (project / ".git" / "config").read_text() != before
    assert is_changed is (sandbox.kind == "landlock"), result
    assert ("changed .git/config" in result.stderr) is is_changed


async def test_what_git_runs_is_watched_from_a_linked_work_tree_too(
    sandbox: Sandbox, project: Path
) -> None:
    side = project.parent / "side"
    who = "git -c user.name=A -c user.email=a@example.invalid"
    for line in (f"{who} commit -q --allow-empty -m one", f"git worktree add -q {side}"):
        subprocess.run(["sh", "-c", line], cwd=project, check=True)
    before = (project / ".git" / "config").read_text()

    result = await work(side, f"cd {project}/.git && echo x >> config")
    pointed = await work(side, "echo 'gitdir: evil' > .git")

    is_changed = (project / ".git" / "config").read_text() != before
    assert is_changed is (sandbox.kind == "landlock"), result
    assert ("project/.git/config" in result.stderr) is is_changed, result
    is_moved = (side / ".git").read_text() == "gitdir: evil\n"
    assert is_moved is (sandbox.kind == "landlock")
    assert ("changed .git" in pointed.stderr) is is_moved


async def test_a_command_in_the_background_reports_it_too(sandbox: Sandbox, project: Path) -> None:
    commands = BackgroundCommands()

    async def permit(request: PermissionRequest) -> None:
        pass

    given = {"command": "echo x > .git/commondir; echo done", "background": True}
    arguments = AgentCommandArguments.model_validate(given)
    approved = ApprovedCommands(str(project))
    await run_command(CommandRunner(project), approved, permit, arguments, commands)
    [command] = commands.all()
    async with asyncio.timeout(60):
        while command.is_running:
            command.grew.clear()
            await command.grew.wait()

    assert "changed .git/commondir" in command.output.text()


async def test_commands_that_leave_it_alone_are_not_reported(
    sandbox: Sandbox, with_submodule: Path
) -> None:
    who = "git -c user.name=A -c user.email=a@example.invalid -c core.hooksPath=/dev/null"
    line = f"git add a.txt && {who} commit -qm one && git branch side && git gc -q && git status"

    result = await work(with_submodule, line)

    assert result.exit_code == 0, result
    assert "RagForge" not in result.stderr


async def test_hooks_and_configuration_of_git_cannot_be_written(
    sandbox: Sandbox, project: Path
) -> None:
    if sandbox.kind != "bubblewrap":
        pytest.skip("Landlock cannot protect a part of a directory that may be written")
    line = "echo x > .git/hooks/pre-commit; git config core.fsmonitor x; echo x >> .git/config"
    before = (project / ".git" / "config").read_text()

    await work(project, f"{line}; rm -rf .git/hooks; mv .git/hooks .git/h; git add -A")

    assert not (project / ".git" / "hooks" / "pre-commit").exists()
    assert (project / ".git" / "config").read_text() == before
    assert (project / ".git" / "index").exists(), "git itself works"


async def test_a_commit_in_a_linked_work_tree_works(sandbox: Sandbox, project: Path) -> None:
    who = "git -c user.name=A -c user.email=a@example.invalid"
    side = project.parent / "side"
    for line in (f"{who} commit -q --allow-empty -m one", f"git worktree add -q {side}"):
        subprocess.run(["sh", "-c", line], cwd=project, check=True)

    result = await work(side, f"echo b > b.txt && git add b.txt && {who} commit -qm two && git log")

    assert "two" in result.stdout, result


async def test_a_read_only_command_runs_in_it(sandbox: Sandbox, project: Path, home: Path) -> None:
    (project / "way-out").symlink_to(home / ".ssh")
    runner = CommandRunner(project)

    result = await runner.run("cat a.txt | wc -l; git status --short; rg a")

    assert result.stdout.split() == ["1", "??", "a.txt", "??", "way-out", "a.txt:a"], result
    assert (await runner.run("cat missing")).exit_code == 1
    assert (await runner.run("false")).exit_code == 1


def test_a_sandbox_that_cannot_be_made_runs_nothing(project: Path) -> None:
    if "landlock" not in FOUND:
        pytest.skip("NOT TESTED HERE: landlock does not work on this machine")
    words = choose.build_landlock_prefix(SandboxPolicy(str(project)), "/nowhere/program")
    done = subprocess.run([*words, "program"], capture_output=True, timeout=60, check=False)
    assert done.returncode == 127


async def test_where_a_sandbox_is_required_and_none_works_nothing_runs(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (approved_module, run_module):
        monkeypatch.setattr(module, "find_sandbox", lambda root, mode="auto": None)

    done = await ApprovedCommands(str(project), "required").run("touch made", str(project))
    looked = await CommandRunner(project, sandbox="required").run("cat a.txt")

    assert (done.refused, looked.refused) == (REQUIRED, REQUIRED)
    assert not (project / "made").exists()


def test_there_is_no_sandbox_if_it_is_switched_off(project: Path) -> None:
    assert find_sandbox(str(project), "off") is None
    assert "`off`" in ApprovedCommands(str(project), "off").describe_sandbox()


async def test_approved_commands_see_only_variables_on_the_list(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "AZURE_CLIENT_SECRET", "MISTRAL_API_KEY"]
    hidden += ["OPENAI_API_KEY", "DATABASE_URL", "SSH_AUTH_SOCK", "MY_OWN_NAME", "GOPROXY"]
    for name in hidden:
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("LC_NUMERIC", "C")
    monkeypatch.setenv("https_proxy", f"http://user:{KEY}@proxy.invalid:3128")

    plain = await ApprovedCommands(str(project)).run("env", str(project))
    named = await ApprovedCommands(str(project), environment=("MY_OWN_NAME",)).run(
        "env", str(project)
    )

    assert KEY not in plain.stdout
    assert "LC_NUMERIC=C" in plain.stdout
    assert "https_proxy=http://proxy.invalid:3128" in plain.stdout
    assert [line for line in named.stdout.splitlines() if KEY in line] == [f"MY_OWN_NAME={KEY}"]


def test_the_profile_of_macos_allows_writing_only_in_the_project(
    project: Path, home: Path, tmp_path: Path
) -> None:
    policy = allow_work(str(project), str(project), str(tmp_path), False, {})
    lines = build_profile(policy).splitlines()

    written = [line for line in lines if line.startswith("(allow") and "file-write*" in line]
    assert written[-2:] == [
        f'(allow file-read* file-write* (subpath "{place}"))' for place in (project, tmp_path)
    ]
    assert lines.index(f'(deny file-read* (subpath "{home}"))') < lines.index(written[-1])
    assert lines[-1] == "(deny network*)"
    assert f'(deny file-write* (subpath "{project}/.git/hooks"))' in lines
    assert '(deny sysctl-read (sysctl-name "kern.procargs2"))' in lines
    assert f'(deny file-write-unlink (literal "{project}/.git"))' in lines


async def test_output_is_bounded_in_the_sandbox(sandbox: Sandbox, project: Path) -> None:
    commands = ApprovedCommands(str(project), limits=ApprovedLimits(output_bytes=100))
    result = await commands.run("seq 1 100000", str(project))
    assert result.truncated
    assert result.stdout.endswith("100000\n")


@pytest.mark.parametrize(
    ("mode", "network", "shown"),
    [
        ("auto", True, f"(with network{LIMITS}) $ touch x"),
        ("off", False, "(no sandbox: tools.sandbox is `off`) $ touch x"),
    ],
)
async def test_the_question_says_what_a_command_may_reach(
    project: Path, mode: Mode, network: bool, shown: str
) -> None:
    if mode == "auto" and not FOUND:
        pytest.skip("NOT TESTED HERE: no sandbox works on this machine")
    asked: list[PermissionRequest] = []

    async def permit(request: PermissionRequest) -> None:
        asked.append(request)
        raise Declined("no")

    commands = ApprovedCommands(str(project), mode)
    given = AgentCommandArguments.model_validate({"command": "touch x", "network": network})
    with pytest.raises(Declined):
        await run_command(CommandRunner(project), commands, permit, given, BackgroundCommands())

    assert [request.preview for request in asked] == [shown]
    assert asked[0].network is network
    assert bool(asked[0].always) is not network


@pytest.mark.parametrize(("user", "warnings"), [(0, 1), (1000, 0)])
def test_doctor_warns_of_root(monkeypatch: pytest.MonkeyPatch, user: int, warnings: int) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)

    assert [check.status for check in check_user()] == ["warn"] * warnings


@pytest.mark.parametrize(
    ("sandbox", "limits"),
    [
        (Sandbox("bubblewrap"), []),
        (Sandbox("landlock", version=6, filters_sockets=True), ["does not protect .git"]),
        (Sandbox("landlock", version=4), ["does not close UDP and unix", "does not protect .git"]),
        (Sandbox("landlock", version=3), ["does not close the network", "does not protect .git"]),
        (Sandbox("seatbelt"), ["does not close services of this machine"]),
    ],
)
def test_the_question_and_doctor_say_what_a_sandbox_does_not_stop(
    project: Path, monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox, limits: list[str]
) -> None:
    for module in (approved_module, doctor_module):
        monkeypatch.setattr(module, "find_sandbox", lambda root, mode="auto": sandbox)

    asked = ApprovedCommands(str(project)).describe_sandbox()
    found = check_sandbox(Settings(), project)

    assert bool(asked) is bool(limits)
    for limit in limits:
        assert limit in asked
        assert limit in found.detail


def test_doctor_names_the_sandbox_or_says_that_there_is_none(project: Path) -> None:
    settings = Settings.model_validate({"tools": {"sandbox": "off"}})

    off, found = check_sandbox(settings, project), check_sandbox(Settings(), project)

    assert (off.status, off.detail) == ("warn", "no sandbox: tools.sandbox is `off`")
    assert found.status == ("ok" if FOUND else "warn")
