"""Protocol: which revision a request speaks, and what is answered to it.

Requests of 2026-07-28 carry their revision and stand for themselves. Older ones follow an
`initialize`, which settles the revision for the process. Both may be mixed on one connection.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ragforge.mcp.wire import (
    INVALID_PARAMS,
    UNKNOWN_METHOD,
    UNSUPPORTED_VERSION,
    Content,
    WireError,
)

MODERN = ("2026-07-28",)
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_PREFIX = "io.modelcontextprotocol/"
_LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
_CACHED = (*_LISTS, "resources/read", "server/discover")
_FRESH_MS = 3_600_000  # lists only change with the program
_STATUS_MS = 5_000


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks, and what it can do, as far as it said so."""

    version: str
    name: str = ""
    capabilities: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_modern(self) -> bool:
        return self.version in MODERN


Report = Callable[[int, int | None, str], Awaitable[None]]
"""Says how far a request is: done, of how many, and what is being done."""


class Catalog(Protocol):
    """What the server offers."""

    instructions: str

    def list_tools(self) -> Sequence[Content]: ...

    def list_prompts(self) -> Sequence[Content]: ...

    def list_resources(self) -> Sequence[Content]: ...

    async def call_tool(self, params: Content, client: Client, report: Report) -> Content:
        """Return the result of a tool. Raises WireError for a tool or arguments that are none."""

    async def get_prompt(self, params: Content, client: Client) -> Content: ...

    async def read_resource(self, params: Content, client: Client) -> Content: ...


class Dispatcher:
    """Answers requests, each in the revision that it speaks."""

    def __init__(self, catalog: Catalog, name: str, version: str) -> None:
        self._catalog = catalog
        self._info = {"name": name, "version": version}
        self._legacy: Client | None = None  # who sent `initialize`

    async def answer(self, method: str, params: Content, report: Report) -> Content:
        """Return the result of a request. Raises WireError."""
        if method == "initialize":
            return self._initialize(params)
        client = self._find_client(method, params)
        result = await self._find_result(method, params, client, report)
        return self._finish(method, result) if client.is_modern else result

    def _initialize(self, params: Content) -> Content:
        asked = params.get("protocolVersion")
        version = asked if asked in LEGACY else LEGACY[0]
        self._legacy = Client(str(version), *_read_client(params.get("clientInfo"), params))
        return {
            "protocolVersion": version,
            "capabilities": _CAPABILITIES,
            "serverInfo": self._info,
            "instructions": self._catalog.instructions,
        }

    def _find_client(self, method: str, params: Content) -> Client:
        """Return who asks. Raises WireError if that is missing, or of a revision to come."""
        meta = params.get("_meta")
        version = meta.get(f"{_PREFIX}protocolVersion") if isinstance(meta, dict) else None
        if version is None:
            if self._legacy is not None or method == "ping":
                return self._legacy or Client(LEGACY[0])
            raise WireError(
                INVALID_PARAMS,
                f"_meta has no {_PREFIX}protocolVersion, and there was no initialize before.",
            )
        if version not in MODERN:
            supported = [*MODERN, *LEGACY]
            data = {"supported": supported, "requested": version}
            raise WireError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
        capabilities = meta.get(f"{_PREFIX}clientCapabilities") if isinstance(meta, dict) else None
        if not isinstance(capabilities, dict):
            raise WireError(INVALID_PARAMS, f"_meta has no {_PREFIX}clientCapabilities.")
        info = meta.get(f"{_PREFIX}clientInfo") if isinstance(meta, dict) else None
        return Client(version, *_read_client(info, {"capabilities": capabilities}))

    async def _find_result(
        self, method: str, params: Content, client: Client, report: Report
    ) -> Content:
        catalog = self._catalog
        match method:
            case "server/discover":
                return {
                    "supportedVersions": [*MODERN, *LEGACY],
                    "capabilities": _CAPABILITIES,
                    "instructions": catalog.instructions,
                }
            case "tools/list":
                return {"tools": list(catalog.list_tools())}
            case "prompts/list":
                return {"prompts": list(catalog.list_prompts())}
            case "resources/list":
                return {"resources": list(catalog.list_resources())}
            case "resources/templates/list":
                return {"resourceTemplates": []}
            case "tools/call":
                return await catalog.call_tool(params, client, report)
            case "prompts/get":
                return await catalog.get_prompt(params, client)
            case "resources/read":
                return await catalog.read_resource(params, client)
            case "ping" if not client.is_modern:
                return {}
        raise WireError(UNKNOWN_METHOD, f"There is no method {method[:80]!r}.")

    def _finish(self, method: str, result: Content) -> Content:
        """Return the result with what the revision of 2026-07-28 wants in each."""
        meta = {f"{_PREFIX}serverInfo": self._info}
        finished = {"resultType": "complete", **result, "_meta": meta}
        if method in _CACHED:
            is_status = method == "resources/read"
            finished["ttlMs"] = _STATUS_MS if is_status else _FRESH_MS
            finished["cacheScope"] = "private" if is_status else "public"
        return finished


_CAPABILITIES: Content = {"tools": {}, "prompts": {}, "resources": {}}


def _read_client(info: object, params: Content) -> tuple[str, Mapping[str, Any]]:
    name = info.get("name") if isinstance(info, dict) else ""
    capabilities = params.get("capabilities")
    return str(name or ""), capabilities if isinstance(capabilities, dict) else {}
