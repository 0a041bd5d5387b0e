"""The extension for VS Code, built from its sources and used in code-server with Chromium."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from scripts.chromium import ChromiumUnavailable, ensure_chromium
from scripts.mcp_clients import ClientsUnavailable, install_packages
from tests.fakes.browser import PATIENCE, Tab, open_tab
from tests.fakes.remembered_shop import ANSWERED, ASKED, RememberedShop, remember_shop

pytestmark = [pytest.mark.browser, pytest.mark.long]

ROOT = Path(__file__).parent.parent.parent
EXTENSION = ROOT / "editors" / "vscode"
TOOLS = ROOT / ".cache" / "vscode"
PLACE = "RAGFORGE_TEST_CODE_SERVER"
"""The command of a code-server that is not in PATH."""
QUIET = (
    "--auth=none",
    "--disable-telemetry",
    "--disable-update-check",
    "--disable-workspace-trust",
)
IS_PALETTE = "document.activeElement.closest('.quick-input-widget') !== null"
COMMAND = str(Path(sys.executable).with_name("ragforge"))


@pytest.fixture
def server() -> list[str]:
    """The command of code-server; skipped where there is none."""
    found = shlex.split(os.environ.get(PLACE, "")) or [shutil.which("code-server") or ""]
    if not found[0]:
        pytest.skip(f"no VS Code: install code-server, or name its command in {PLACE}")
    return found


@pytest.fixture
def chromium() -> str:
    try:
        return ensure_chromium()
    except ChromiumUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def extension(tmp_path: Path) -> Path:
    """The extension as users install it; skipped where its tools cannot be had."""
    told = json.loads((EXTENSION / "package.json").read_text())
    try:
        tools = install_packages(TOOLS, told["devDependencies"]) / "node_modules"
    except ClientsUnavailable as error:
        pytest.skip(f"no compiler for the extension: {error}")
    folder = tmp_path / "extension"
    shutil.copytree(EXTENSION, folder, ignore=shutil.ignore_patterns("node_modules", "out"))
    (folder / "node_modules").symlink_to(tools)
    subprocess.run(["npm", "run", "--silent", "package"], cwd=folder, check=True)
    [packed] = folder.glob("*.vsix")
    return packed


@asynccontextmanager
async def editor(
    server: list[str], environ: Mapping[str, str], folder: Path, extension: Path
) -> AsyncIterator[str]:
    """Run code-server with the extension; yield its address."""
    user = folder / "User"
    user.mkdir(parents=True)
    settings = {"ragforge.command": COMMAND, "workbench.startupEditor": "none"}
    (user / "settings.json").write_text(json.dumps(settings))
    command = [*server, "--user-data-dir", str(folder), "--extensions-dir", str(folder / "all")]
    environ = {**os.environ, **environ}
    subprocess.run([*command, "--install-extension", str(extension)], env=environ, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    process = await asyncio.create_subprocess_exec(
        *command,
        f"--bind-addr={place}",
        *QUIET,
        env=environ,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        async for line in process.stdout:
            if b"HTTP server listening" in line:
                break
        yield place
    finally:
        os.killpg(process.pid, 9)
        await process.wait()


async def shows(tab: Tab, text: str) -> None:
    """Wait until the page shows a text; an editor writes blanks that do not break."""
    await tab.until(f"document.body.innerText.replaceAll('\\u00a0', ' ').includes({text!r})")


async def run_command(tab: Tab, name: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await tab.run(IS_PALETTE):  # the first keys come before the workbench is ready
            await tab.press("F1")
            await asyncio.sleep(0.5)
    await tab.type(name)
    await shows(tab, f": {name}")
    await tab.press("Enter")


async def test_a_file_shows_its_sessions_and_a_name_why_it_is_so_and_memory_is_searched(
    server: list[str], chromium: str, extension: Path, tmp_path: Path
) -> None:
    shop: RememberedShop = await remember_shop(tmp_path)
    file = shop.root / "src" / "login.py"
    async with (
        editor(server, shop.environ, tmp_path / "editor", extension) as place,
        open_tab(chromium, tmp_path / "profile") as tab,
    ):
        opened = json.dumps([["openFile", f"vscode-remote://{place}{file}"]])
        await tab.resize(1_280, 900)
        await tab.open(f"http://{place}/?folder={shop.root}&payload={quote(opened)}")
        await tab.until("document.querySelector('.monaco-editor .view-line') !== null")
        await shows(tab, "SESSIONS ABOUT THIS FILE")  # the extension is known
        await run_command(tab, "Why Is It So?")
        await shows(tab, "The password check")

        await run_command(tab, "Focus on Sessions about this file View")
        await shows(tab, "codex, 20")  # whose session it is, in the side view

        await run_command(tab, "Search Memory")
        await shows(tab, "Press 'Enter' to confirm")
        await tab.type("why are hashes compared")
        await tab.press("Enter")
        await shows(tab, ASKED)
        await tab.press("Enter")
        await shows(tab, f"session {shop.session[:8]}")
        await shows(tab, ANSWERED)
