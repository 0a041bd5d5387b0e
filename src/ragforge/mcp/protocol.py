"""Protocol: the messages, the revision of each request, and its answer.

Requests of 2026-07-28 carry their revision and are independent. Older ones follow an `initialize`,
which sets the revision for the process. Both may be mixed on one connection.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol, TypeAlias

from ragforge.records import dataclass

MODERN = ("2026-07-28",)
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_PREFIX = "io.modelcontextprotocol/"
_LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
_CACHED = (*_LISTS, "resources/read", "server/discover")
_FRESH_MS = 3_600_000  # lists only change with the program
_STATUS_MS = 5_000

MessageId: TypeAlias = str | int
Content: TypeAlias = Mapping[str, Any]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022
MAX_LINE = 16 * 1024 * 1024


class InputRequired(Exception):
    """A client of the current revision must answer a question and send its request again."""

    def __init__(self, key: str, method: str, params: Content) -> None:
        super().__init__(key)
        self.question = {key: {"method": method, "params": params}}


class Channel(Protocol):
    """The connection to the client while one of its requests is running."""

    def report(self, doing: str) -> None:
        """Report progress, if the client asked for it."""

    async def request(self, method: str, params: Content) -> Content:
        """Return the client's answer. Raises WireError if it gives none."""


@dataclass(frozen=True, slots=True)
class Client:
    """The client of a request, and its capabilities."""

    version: str
    channel: Channel
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, Any] = field(default_factory=dict)  # to what it was asked before

    @property
    def is_modern(self) -> bool:
        return self.version in MODERN

    @property
    def can_ask_its_user(self) -> bool:
        modes = self.capabilities.get("elicitation")
        return isinstance(modes, dict) and (not modes or "form" in modes)

    async def ask(self, key: str, method: str, params: Content) -> Content:
        """Return the client's answer to a question of the server's.

        Older revisions send it over the connection. Today's gives it as the result, and the
        client calls again with the answer under the same key.
        Raises InputRequired, or WireError if the client gives none.
        """
        if not self.is_modern:
            return await self.channel.request(method, params)
        answer = self.answers.get(key)
        if not isinstance(answer, dict):
            raise InputRequired(key, method, params)
        return answer


class Catalog(Protocol):
    """What the server offers."""

    instructions: str
    lists: Mapping[str, Content]  # method → its result

    async def call_tool(self, params: Content, client: Client) -> Content:
        """Return the result of a tool. Raises WireError if there is no such tool."""

    async def get_prompt(self, params: Content, client: Client) -> Content: ...

    async def read_resource(self, params: Content, client: Client) -> Content: ...

    def forget_roots(self) -> None:
        """Ask for the client's folders again: they changed."""


class Dispatcher:
    """Answers requests, each in the revision that it speaks."""

    def __init__(self, catalog: Catalog, name: str, version: str) -> None:
        self._catalog = catalog
        self._info = {"name": name, "version": version}
        self._legacy: tuple[str, Mapping[str, Any]] | None = None  # what `initialize` settled

    def notice(self, method: str) -> None:
        """Handle a notification that belongs to no request."""
        if method == "notifications/roots/list_changed":
            self._catalog.forget_roots()

    async def answer(self, method: str, params: Content, channel: Channel) -> Content:
        """Return the result of a request. Raises WireError."""
        if method == "initialize":
            return self._initialize(params)
        client = self._find_client(method, params, channel)
        try:
            result = await self._find_result(method, params, client)
        except InputRequired as missing:
            # The earlier answers come with the next request: requests are independent.
            state = json.dumps(client.answers)
            result = {"inputRequests": missing.question, "requestState": state}
            return self._finish(method, {"resultType": "input_required", **result})
        return self._finish(method, result) if client.is_modern else result

    def _initialize(self, params: Content) -> Content:
        wanted = params.get("protocolVersion")
        version = wanted if wanted in LEGACY else LEGACY[0]
        self._legacy = str(version), _get_object(params, "capabilities")
        return {
            "protocolVersion": version,
            "capabilities": _CAPABILITIES,
            "serverInfo": self._info,
            "instructions": self._catalog.instructions,
        }

    def _find_client(self, method: str, params: Content, channel: Channel) -> Client:
        """Return the client. Raises WireError if its revision is missing or not supported."""
        meta = _get_object(params, "_meta")
        version = meta.get(f"{_PREFIX}protocolVersion")
        if version is None:
            if self._legacy is not None:
                return Client(self._legacy[0], channel, self._legacy[1])
            if method == "ping":
                return Client(LEGACY[0], channel)
            raise WireError(
                INVALID_PARAMS,
                f"_meta has no {_PREFIX}protocolVersion, and there was no initialize before.",
            )
        if version not in MODERN:
            data = {"supported": [*MODERN, *LEGACY], "requested": version}
            raise WireError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
        capabilities = meta.get(f"{_PREFIX}clientCapabilities")
        if not isinstance(capabilities, dict):
            raise WireError(INVALID_PARAMS, f"_meta has no {_PREFIX}clientCapabilities.")
        answers = _read_state(params.get("requestState"))
        answers |= _get_object(params, "inputResponses")
        return Client(version, channel, capabilities, answers)

    async def _find_result(self, method: str, params: Content, client: Client) -> Content:
        catalog = self._catalog
        match method:
            case "server/discover":
                return {
                    "supportedVersions": [*MODERN, *LEGACY],
                    "capabilities": _CAPABILITIES,
                    "instructions": catalog.instructions,
                }
            case _ if method in catalog.lists:
                return catalog.lists[method]
            case "tools/call":
                return await catalog.call_tool(params, client)
            case "prompts/get":
                return await catalog.get_prompt(params, client)
            case "resources/read":
                return await catalog.read_resource(params, client)
            case "ping" if not client.is_modern:
                return {}
        raise WireError(UNKNOWN_METHOD, f"There is no method {method[:80]!r}.")

    def _finish(self, method: str, result: Content) -> Content:
        """Return the result with the fields that the revision of 2026-07-28 requires."""
        meta = {f"{_PREFIX}serverInfo": self._info}
        finished = {"resultType": "complete", **result, "_meta": meta}
        if method in _CACHED and "inputRequests" not in result:
            is_status = method == "resources/read"
            finished["ttlMs"] = _STATUS_MS if is_status else _FRESH_MS
            finished["cacheScope"] = "private" if is_status else "public"
        return finished


_CAPABILITIES: Content = {"tools": {}, "prompts": {}, "resources": {}}


def _get_object(params: Content, name: str) -> Mapping[str, Any]:
    found = params.get(name)
    return found if isinstance(found, dict) else {}


def _read_state(state: object) -> dict[str, Any]:
    """Return the earlier answers of a client; an invalid state has none."""
    try:
        found = json.loads(state) if isinstance(state, str) else {}
    except ValueError:
        found = {}
    return found if isinstance(found, dict) else {}


class WireError(Exception):
    """A request that is answered with an error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def parse_message(line: bytes) -> Content:
    """Return the message on a line. Raises WireError."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise WireError(PARSE_ERROR, "The message is not valid JSON.") from error
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise WireError(INVALID_REQUEST, "The message is not JSON-RPC 2.0.")
    return message


def get_id(message: Content) -> MessageId | None:
    """Return the id of a request; a notification has none. Raises WireError if it is invalid."""
    if "id" not in message:
        return None
    given = message["id"]
    if not isinstance(given, str | int) or isinstance(given, bool):
        raise WireError(INVALID_REQUEST, "The id is neither a string nor an integer.")
    return given


def encode(message: Content) -> bytes:
    """Return a message as one line."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"
