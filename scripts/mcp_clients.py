"""The official MCP clients and reference servers for Node, installed into .cache by npm.

Nothing of them is committed.

python -m scripts.mcp_clients
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from scripts.neo4j_server import hold_lock

FOLDER = Path(__file__).parent.parent / ".cache" / "mcp-clients"
PACKAGES = {
    "@modelcontextprotocol/client": "2.4.0",  # today's TypeScript SDK
    "@modelcontextprotocol/sdk": "1.32.2",  # the one before, with initialize alone
    "@modelcontextprotocol/inspector": "2.12.0",
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "@modelcontextprotocol/server-memory": "2026.8.31",
}
INSTALL_SECONDS = 300


class ClientsUnavailable(Exception):
    """Node or the packages cannot be had here."""


def install_clients() -> Path:
    """Return the folder that holds the packages, with node in reach. Raises ClientsUnavailable."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise ClientsUnavailable(f"{program} is not installed")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with hold_lock(FOLDER / "lock"):  # two in one folder would spoil each other's work
        _install()
    return FOLDER


def _install() -> None:
    wanted = json.dumps({"private": True, "type": "module", "dependencies": PACKAGES})
    done = FOLDER / "installed.json"
    if done.is_file() and done.read_text() == wanted:
        return
    (FOLDER / "package.json").write_text(wanted)
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0"]
    try:
        subprocess.run(
            ["npm", "install", "--loglevel=error", *options],
            cwd=FOLDER,
            check=True,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
        )
    except subprocess.SubprocessError as error:
        raise ClientsUnavailable(f"npm cannot install them: {error}") from error
    done.write_text(wanted)


if __name__ == "__main__":
    print(install_clients())
