"""Completion in a real bash, and the manual page as groff reads it."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from ragforge import load_settings, open_app
from ragforge.cli.main import COMMANDS
from tests.fakes.zygote import run_module

SHELL = shutil.which("bash")
needs_bash = pytest.mark.skipif(SHELL is None, reason="bash is not installed")


@pytest.fixture
def engine() -> str:
    return "sqlite"


@pytest.fixture
def environ(environ: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """The variables of a user whose `ragforge` is the one under test."""
    program = tmp_path / "bin" / "ragforge"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m ragforge "$@"\n')
    program.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    path = f"{program.parent}:{os.environ['PATH']}"
    folders = {
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_CONFIG_HOME": str(home / ".config"),
    }
    return environ | folders | {"PATH": path, "TERM": "dumb"}


async def run(
    environ: dict[str, str], project: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(run_module, "ragforge", *arguments, cwd=project, env=environ)


async def complete(environ: dict[str, str], project: Path, *words: str) -> list[str]:
    """Return what bash would offer for the last word, with the script that is installed."""
    place = Path(environ["HOME"], ".local/share/bash-completion/completions/ragforge")
    if not place.exists():
        done = await run(environ, project, "completion", "bash", "--install")
        assert done.returncode == 0, done.stderr
    line = (
        'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1));'
        '_ragforge_completion ragforge; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = await asyncio.to_thread(
        subprocess.run,
        [str(SHELL), "--norc", "-c", line, "bash", str(place), "ragforge", *words],
        cwd=project,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


@needs_bash
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("se",), "search servers sessions"),
        (("sessions", "un"), "unarchive unshare untag"),
        (("ask", "--mode", ""), "accept-edits ask auto plan"),
        (("ask", "--max"), "--max-turns"),
        (("config", "set", "llm.max_sp"), "llm.max_spend_usd"),
        (("completion", ""), "bash fish powershell zsh"),
    ],
)
async def test_bash_completes_commands_options_and_values(
    environ: dict[str, str], project: Path, words: tuple[str, ...], expected: str
) -> None:
    assert sorted(await complete(environ, project, *words)) == expected.split()


@needs_bash
async def test_bash_completes_the_sessions_of_the_project(
    environ: dict[str, str], project: Path
) -> None:
    missing = Path(environ["RAGFORGE_STORE"]).with_name("missing.db")
    without = environ | {"RAGFORGE_STORE": str(missing)}
    assert await complete(without, project, "sessions", "show", "") == []
    assert not missing.exists(), "a key press makes no store"
    async with open_app(load_settings(project, environ=environ).settings, project) as app:
        ids = {(await app.sessions.create()).uuid[:8] for _ in range(2)}
    assert set(await complete(environ, project, "ask", "--session", "")) == ids
    one = min(ids)
    assert await complete(environ, project, "sessions", "show", one[:7]) == [one]


@needs_bash
async def test_the_tab_key_completes_in_an_interactive_bash(
    environ: dict[str, str], project: Path
) -> None:
    def press_tab() -> None:
        shell = pexpect.spawn(
            str(SHELL),
            ["--norc", "--noprofile"],
            cwd=str(project),
            env={**environ, "PS1": "ready> ", "INPUTRC": os.devnull},  # type: ignore[arg-type]
            encoding="utf-8",
            timeout=120,
        )
        try:
            shell.expect_exact("ready> ")
            shell.sendline("source <(ragforge completion bash)")
            shell.expect_exact("ready> ")
            shell.send("ragforge check-c\t")
            shell.expect_exact("ragforge check-command ")
        finally:
            shell.close(force=True)

    await asyncio.to_thread(press_tab)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
async def test_the_script_of_every_shell_asks_the_program(
    environ: dict[str, str], project: Path, shell: str
) -> None:
    done = await run(environ, project, "completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert "_RAGFORGE_COMPLETE" in done.stdout


async def test_what_is_installed_changes_no_start_up_file(
    environ: dict[str, str], project: Path
) -> None:
    home = Path(environ["HOME"])
    (home / ".zshrc").write_text("# mine\n")
    told = [await run(environ, project, "completion", one, "--install") for one in ("zsh", "fish")]
    assert "fpath+=~/.zfunc" in told[0].stderr
    assert (home / ".zfunc" / "_ragforge").read_text().startswith("#compdef ragforge")
    assert (home / ".config/fish/completions/ragforge.fish").exists()
    assert (home / ".zshrc").read_text() == "# mine\n"
    refused = await run(environ, project, "completion", "powershell", "--install")
    assert refused.returncode == 1
    assert ">> $PROFILE" in refused.stderr


async def test_the_manual_page_describes_every_command(
    environ: dict[str, str], project: Path
) -> None:
    done = await run(environ, project, "man", "--install")
    assert done.returncode == 0, done.stderr
    page = Path(environ["HOME"], ".local/share/man/man1/ragforge.1")
    assert str(page) in done.stderr
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    shown = await asyncio.to_thread(
        subprocess.run,
        ["groff", "-man", "-Tascii", "-ww", str(page)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stderr == ""
    text = re.sub(r"\x1b\[[\d;]*m|.\x08", "", shown.stdout)
    for name in COMMANDS:
        assert f"\n   ragforge {name}" in text
    assert "sessions unshare" in text
    assert "--output-schema FILE|JSON" in text
    assert '  ragforge ask --json "Where is the lease renewed?" | jq -r .content' in text
