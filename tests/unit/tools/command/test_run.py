"""Run: programs without a shell, within limits."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from ragforge.errors import InputError
from ragforge.tools.command import environment, run
from ragforge.tools.command.command_tools import make_read_only_command_tool
from ragforge.tools.command.run import CommandLimits, CommandResult, CommandRunner

pytestmark = pytest.mark.skipif(os.name != "posix", reason="commands run only on POSIX")

WAITS_WITH_A_CHILD = """#!/bin/sh
echo started
sleep 60 &
wait
"""


async def ran(project: Path, line: str, **options: object) -> CommandResult:
    return await CommandRunner(project).run(line, **options)  # type: ignore[arg-type]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A trusted directory of the test, in which `hostname` waits with a child."""
    folder = tmp_path / "trusted"
    folder.mkdir()
    program = folder / "hostname"
    program.write_text(WAITS_WITH_A_CHILD)
    program.chmod(0o755)
    trusted = (str(folder), *environment.TRUSTED_DIRECTORIES)
    monkeypatch.setattr(environment, "TRUSTED_DIRECTORIES", trusted)
    return folder


def sleepers() -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process().children(recursive=True)
        if child.name() in ("sleep", "hostname") and child.status() != psutil.STATUS_ZOMBIE
    ]


@pytest.mark.parametrize(("awk", "options"), [("gawk-5.2", "--sandbox "), ("mawk", "")])
async def test_gnu_awk_runs_in_its_own_sandbox(
    awk: str, options: str, project: Path, stand_in: Path
) -> None:
    (stand_in / awk).write_text('#!/bin/sh\necho "$@"\n')
    (stand_in / awk).chmod(0o755)
    (stand_in / "awk").symlink_to(awk)
    assert (await ran(project, "awk 1 a.txt")).stdout == f"{options}-- 1 a.txt\n"


async def test_output_errors_and_exit_code_come_back(project: Path) -> None:
    result = await ran(project, "cat a.txt missing")
    assert result.stdout == "b\na\nb\n"
    assert result.stderr == "cat: missing: No such file or directory\n"
    assert result.exit_code == 1
    assert (result.timed_out, result.truncated, result.refused) == (False, False, None)
    assert result.duration_ms >= 0


async def test_pipes_and_joints_work_as_in_a_shell(project: Path) -> None:
    assert (await ran(project, "sort a.txt | uniq -c | sort -rn | head -1")).stdout.split() == [
        "2",
        "b",
    ]
    assert (await ran(project, "false && echo a || echo b; echo c")).stdout == "b\nc\n"
    assert (await ran(project, "true || echo a")).stdout == ""
    assert (await ran(project, "false; true")).exit_code == 0
    assert (await ran(project, "true | false")).exit_code == 1
    assert (await ran(project, "cat missing 2>/dev/null | wc -l")).stdout.strip() == "0"
    assert (await ran(project, "cat missing 2>&1 | wc -l")).stdout.strip() == "1"
    assert (await ran(project, "cat a.txt > /dev/null | wc -l")).stdout.strip() == "0"


async def test_a_refused_line_is_not_run_and_says_why(project: Path) -> None:
    result = await ran(project, "touch marker")
    assert result.refused == "the program 'touch' is not on the list"
    assert result.stderr == "Refused: the program 'touch' is not on the list."
    assert result.exit_code is None
    assert not (project / "marker").exists()


async def test_what_is_said_to_modify_files_is_refused(project: Path) -> None:
    assert "modify" in str((await ran(project, "ls", modifies_files=True)).refused)


async def test_commands_run_in_the_directory_they_are_given(project: Path) -> None:
    assert (await ran(project, "ls", cwd="src")).stdout == "app.py\n"
    assert (await ran(project, "cd src && pwd")).stdout == f"{project / 'src'}\n"
    assert "outside" in str((await ran(project, "ls", cwd="..")).refused)


async def test_a_writer_whose_reader_has_gone_ends(project: Path) -> None:
    start = time.monotonic()
    result = await ran(project, "seq 1 999999999 | head -n 1", timeout=60)
    assert result.stdout == "1\n"
    assert result.exit_code == 0
    assert time.monotonic() - start < 30


async def test_much_output_is_cut_and_does_not_block(project: Path) -> None:
    limits = CommandLimits(stdout_bytes=10_000)
    result = await CommandRunner(project, limits).run("seq 1 999999999")
    assert len(result.stdout) == 10_000
    assert result.truncated
    assert not result.timed_out
    exact = await CommandRunner(project, CommandLimits(stdout_bytes=6)).run("cat a.txt")
    assert (exact.stdout, exact.truncated) == ("b\na\nb\n", False)


async def test_many_errors_are_cut_and_do_not_block(project: Path) -> None:
    limits = CommandLimits(stderr_bytes=1000)
    names = " ".join(f"missing-{number}" for number in range(500))
    result = await CommandRunner(project, limits).run(f"cat {names}")
    assert len(result.stderr) == 1000
    assert result.truncated


async def test_a_middle_program_may_pass_on_much(project: Path) -> None:
    result = await ran(project, "seq 1 300000 | cat | wc -l")
    assert result.stdout.strip() == "300000"


async def test_the_deadline_ends_a_program_and_its_children(project: Path, stand_in: Path) -> None:
    start = time.monotonic()
    result = await ran(project, "hostname; echo never", timeout=1)
    assert result.timed_out
    assert result.exit_code is None
    assert result.stdout == "started\n"
    assert time.monotonic() - start < 20
    assert sleepers() == []


async def test_cancelling_ends_a_program_and_its_children(project: Path, stand_in: Path) -> None:
    task = asyncio.create_task(CommandRunner(project).run("hostname | cat", timeout=60))
    for _ in range(200):
        await asyncio.sleep(0.05)
        if any(process.name() == "sleep" for process in sleepers()):
            break
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sleepers() == []


async def test_nothing_is_left_open_after_many_runs(project: Path) -> None:
    await ran(project, "cat a.txt | wc -l")
    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    for _ in range(5):
        await ran(project, "cat a.txt | sort | wc -l; ls missing")
        await CommandRunner(project, CommandLimits(stdout_bytes=10)).run("seq 1 99999")
    after = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    assert after <= before


@pytest.mark.skipif(sys.platform != "linux", reason="memory limits are set only on Linux")
async def test_a_script_that_doubles_its_memory_is_stopped(project: Path) -> None:
    limits = CommandLimits(memory_bytes=100_000_000)
    line = "seq 1 60 | awk '{s = s \"0123456789\" s} END {print length(s)}'"
    result = await CommandRunner(project, limits).run(line, timeout=60)
    assert result.exit_code not in (0, None)
    assert not result.timed_out


async def test_bytes_that_are_not_text_are_replaced(project: Path) -> None:
    (project / "raw.bin").write_bytes(b"a\xff\xfeb\n")
    assert (await ran(project, "cat raw.bin")).stdout == "a\ufffd\ufffdb\n"


async def test_a_program_that_is_not_installed_is_reported(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "find_program", lambda name, root, in_path=False: None)
    result = await ran(project, "tree || tree")
    assert result.exit_code == 127
    assert "tree: is not installed on this machine" in result.stderr


async def test_a_directory_that_cannot_be_read_is_reported(project: Path) -> None:
    (project / "closed").mkdir(mode=0o000)
    result = await ran(project, "ls closed")
    assert result.refused is None
    assert os.geteuid() == 0 or result.exit_code != 0


async def test_programs_see_nothing_of_our_environment(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("LD_PRELOAD_NOT", "x")
    seen = environment.build_variables("/nowhere")
    assert set(seen) == {
        "PATH",
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "TMPDIR",
        "LC_ALL",
        "TERM",
        "PAGER",
    }
    assert all(os.path.isabs(part) for part in seen["PATH"].split(":"))


async def test_a_program_of_the_project_is_never_run(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ls", "git", "rg"):
        (project / name).write_text(f"#!/bin/sh\ntouch {project}/marker\n")
        (project / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{project}:.:{os.environ['PATH']}")
    monkeypatch.chdir(project)
    result = await ran(project, "ls; rg main")
    assert "app.py" in result.stdout
    assert not (project / "marker").exists()
    trusted = (str(project), *environment.TRUSTED_DIRECTORIES)
    monkeypatch.setattr(environment, "TRUSTED_DIRECTORIES", trusted)
    await ran(project, "ls; git log; rg main")
    assert not (project / "marker").exists()


async def test_ripgrep_is_there_without_being_installed(project: Path) -> None:
    result = await ran(project, "rg -n 'def main'")
    assert result.stdout == "src/app.py:1:def main():\n"


async def test_ripgrep_ignores_a_configuration(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "rc").write_text("--pre=./evil.sh\n")
    (project / "evil.sh").write_text(f"#!/bin/sh\ntouch {project}/marker\n")
    (project / "evil.sh").chmod(0o755)
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(project / "rc"))
    await ran(project, "rg main")
    assert not (project / "marker").exists()


async def test_the_tool_returns_results_and_reasons_as_data(project: Path) -> None:
    tool = make_read_only_command_tool(CommandRunner(project))
    assert tool.spec.name == "run_command"
    assert set(tool.spec.parameters["properties"]) == {
        "command",
        "cwd",
        "timeout",
        "modifies_files",
    }
    done = await tool.run({"command": "echo hi"})
    assert set(done) == {
        "stdout",
        "stderr",
        "exit_code",
        "duration_ms",
        "timed_out",
        "truncated",
    }
    assert done["stdout"] == "hi\n"
    assert "not on the list" in (await tool.run({"command": "rm x"}))["refused"]
    for wrong, named in (({}, "command"), ({"command": "ls", "timeout": -1}, "timeout")):
        with pytest.raises(InputError, match=named):
            await tool.run(wrong)


async def test_every_allowed_kind_of_line_can_really_run(project: Path) -> None:
    """Run a few of each family: what the decider makes of options must suit the programs."""
    for line, expected in {
        "ls -1": "README.md",
        "head -n1 a.txt": "b",
        "tail -n +3 a.txt": "b",
        "wc -l a.txt": "3 a.txt",
        "grep -rn --include=*.py main .": "./src/app.py:1:def main():",
        "grep -c b a.txt": "2",
        "egrep -n 'a|x' a.txt": "2:a",
        "find . -name '*.py' -type f": "./src/app.py",
        r"find . \( -name a.txt -o -name b.txt \) ! -name a.txt": "./b.txt",
        "sed -n '1,2p' a.txt": "b\na",
        "sed -E 's/(b)/<\\1>/g; 2d' a.txt": "<b>\n<b>",
        "awk '{n[$1]++} END {for (k in n) if (n[k] > 1) print k}' a.txt": "b",
        "awk -F. 'NR==1 {print $1, NF}' README.md": "# Readme 1",
        "cut -c1 README.md": "#",
        "tr a-z A-Z": "",
        "sort -u a.txt": "a\nb",
        "uniq -c b.txt": "1 b",
        "comm -12 b.txt b.txt": "b",
        "diff -q a.txt b.txt": "Files a.txt and b.txt differ",
        "diff -r src src": "",
        "cmp a.txt a.txt": "",
        "nl -ba b.txt": "1\tb",
        "tac a.txt": "b\na\nb",
        "od -An -c b.txt": "b  \\n",
        "md5sum b.txt": "3b5d5c3712955042212316173ccf37be  b.txt",
        "stat -c %s b.txt": "2",
        "du -a b.txt": "b.txt",
        "basename src/app.py .py": "app",
        "dirname src/app.py": "src",
        "realpath src": str(project / "src"),
        "test -f a.txt && echo yes": "yes",
        "which sh": "/usr/bin/sh",
        "date -u -d @0 +%Y": "1970",
        "seq -s, 3": "1,2,3",
        "printf '%s-' a b": "a-b-",
        "echo *.txt": "a.txt b.txt",
        "paste -d, a.txt b.txt": "b,b",
        "python3 --version": "Python 3",
    }.items():
        result = await ran(project, line)
        if "is not installed" in result.stderr:
            continue
        assert result.refused is None, line
        assert expected in result.stdout.strip() or expected == result.stdout.strip(), (
            line,
            result,
        )
