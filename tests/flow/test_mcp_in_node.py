"""The server for other agents, with the TypeScript SDK and the inspector as its clients."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts.mcp_clients import ClientsUnavailable, install_clients
from tests.fakes.remembered_shop import RememberedShop, remember_shop

pytestmark = pytest.mark.long  # it installs the clients from a registry

SCRIPT = Path(__file__).parent / "mcp_client.mjs"


@pytest.fixture(scope="module")
def packages() -> Path:
    try:
        return install_clients()
    except ClientsUnavailable as error:
        pytest.skip(f"no MCP client: {error}")


@pytest.fixture
async def shop(tmp_path: Path) -> RememberedShop:
    return await remember_shop(tmp_path)


def list_calls(shop: RememberedShop) -> dict[str, dict[str, str]]:
    return {
        "recall": {"query": "why are hashes compared"},
        "search_code": {"query": "where are passwords checked"},
        "context": {"task": "change check_password"},
        "open": {"id": shop.turn},
        "related": {"name": "check_password"},
        "sessions": {},
        "remember": {"text": "It uses a digest."},
        "forget": {"id": shop.note},
    }


def run(shop: RememberedShop, *command: str, code: int = 0) -> Any:
    done = subprocess.run(
        command,
        cwd=shop.root,
        env={**os.environ, **shop.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr + done.stdout
    return json.loads(done.stdout)


@pytest.mark.parametrize("era", ["modern", "legacy", "sdk-1"])
def test_the_typescript_sdk_lists_and_calls_every_tool(
    shop: RememberedShop, packages: Path, era: str
) -> None:
    calls = list_calls(shop)
    server = [sys.executable, "-m", "ragforge", "mcp"]
    found = run(shop, "node", str(SCRIPT), str(packages), era, json.dumps(calls), *server)
    assert found["tools"] == list(calls)
    for name, result in found["results"].items():
        assert not result.get("isError"), (name, result)
        assert result["structuredContent"]["project"] == str(shop.root)
    assert found["results"]["forget"]["structuredContent"]["result"]["id"] == shop.note
    assert "clear text" in json.dumps(found["prompt"])
    assert found["status"]["contents"][0]["uri"] == "ragforge://status"


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_the_inspector_lists_and_calls_every_tool(
    shop: RememberedShop, packages: Path, era: str
) -> None:
    inspector = str(packages / "node_modules" / ".bin" / "mcp-inspector")
    options = ["--cli", sys.executable, "-m", "ragforge", "mcp", "--protocol-era", era]
    environ = {**shop.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    variables = [word for pair in environ.items() for word in ("-e", "=".join(pair))]
    calls = list_calls(shop)
    listed = run(shop, inspector, *options, *variables, "--method", "tools/list")
    assert [tool["name"] for tool in listed["tools"]] == list(calls)
    if era == "legacy":  # each call starts Node and a server: the SDKs make all of them
        calls = {"recall": calls["recall"]}
    for name, given in calls.items():
        pairs = [f"{key}={value}" for key, value in given.items()]
        arguments = ["--tool-arg", *pairs] if pairs else []
        call = ["--method", "tools/call", "--tool-name", name, *arguments]
        # No user is there to be asked; 5 is its code for a tool's error.
        code = 5 if name == "forget" else 0
        result = run(shop, inspector, *options, *variables, *call, code=code)
        text = result["content"][0]["text"]
        if name == "forget":
            assert "ragforge memory forget-note" in text
        else:
            assert result["structuredContent"]["project"] == str(shop.root), text
