"""The official MCP clients and reference servers for Node, installed into .cache by npm.

Nothing of them is committed.

python -m scripts.mcp_clients
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from scripts.neo4j_server import hold_lock

FOLDER = Path(__file__).parent.parent / ".cache" / "mcp-clients"
PACKAGES = {
    "@modelcontextprotocol/client": "2.4.0",  # today's TypeScript SDK
    "@modelcontextprotocol/sdk": "1.32.2",  # the one before, with only initialize
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
    return install_packages(FOLDER, PACKAGES)


def install_packages(folder: Path, packages: Mapping[str, str]) -> Path:
    """Install packages for Node into a folder, and return it. Raises ClientsUnavailable."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise ClientsUnavailable(f"{program} is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    with hold_lock(folder / "lock"):  # two in one folder would spoil each other's work
        _install(folder, packages)
    return folder


def _install(folder: Path, packages: Mapping[str, str]) -> None:
    wanted = json.dumps({"private": True, "type": "module", "dependencies": dict(packages)})
    done = folder / "installed.json"
    if done.is_file() and done.read_text() == wanted:
        return
    (folder / "package.json").write_text(wanted)
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0"]
    try:
        subprocess.run(
            ["npm", "install", "--loglevel=error", *options],
            cwd=folder,
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
