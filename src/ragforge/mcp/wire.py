"""Wire: messages of JSON-RPC as lines, and the errors that go back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

MessageId: TypeAlias = str | int
Content: TypeAlias = Mapping[str, Any]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022
MAX_LINE = 16 * 1024 * 1024


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
        raise WireError(PARSE_ERROR, "This is no JSON.") from error
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise WireError(INVALID_REQUEST, "This is no message of JSON-RPC 2.0.")
    return message


def get_id(message: Content) -> MessageId | None:
    """Return the id of a request; a notification has none. Raises WireError if it is no id."""
    if "id" not in message:
        return None
    given = message["id"]
    if not isinstance(given, str | int) or isinstance(given, bool):
        raise WireError(INVALID_REQUEST, "The id is neither a text nor an integer.")
    return given


def encode(message: Content) -> bytes:
    """Return a message as one line."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def make_answer(request: MessageId, result: Content) -> Content:
    return {"jsonrpc": "2.0", "id": request, "result": result}


def make_error(request: MessageId | None, error: WireError) -> Content:
    content: dict[str, Any] = {"code": error.code, "message": str(error)}
    if error.data is not None:
        content["data"] = error.data
    # Nobody could match an id of null, and today's revision has none.
    known = {} if request is None else {"id": request}
    return {"jsonrpc": "2.0", **known, "error": content}


def make_request(request: MessageId, method: str, params: Content) -> Content:
    return {"jsonrpc": "2.0", "id": request, "method": method, "params": params}


def make_notification(method: str, params: Content) -> Content:
    return {"jsonrpc": "2.0", "method": method, "params": params}
