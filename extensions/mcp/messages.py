"""MCP's messages as lines of JSON, checked by the types of the package `mcp`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from stackrank.debug_events import KEY, read_events
from stackrank.env.tools.servers import ToolAnswer
from stackrank.errors import NotReady
from stackrank.storable import read_json

if TYPE_CHECKING:
    import mcp_types

MISSING = "MCP servers need a package that is not installed: run pip install 'stackrank[mcp]'"
Message = dict[str, Any]


def installed() -> bool:
    """Whether the package `mcp` is installed, in a version that has its types in a separate package."""
    return find_spec("mcp_types") is not None


def types() -> Any:
    """Return the types of MCP's messages, imported when they are needed. Raises NotReady."""
    if not installed():
        raise NotReady(MISSING)
    import mcp_types

    return mcp_types


def line(message: Mapping[str, Any]) -> bytes:
    """Encode a message as it is sent. Half of a surrogate pair becomes an escape."""
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode("ascii") + b"\n"


def read(data: bytes) -> Message | None:
    """Decode a line as a message; None if it is not a message of JSON-RPC."""
    try:
        message = read_json(data)
    except ValueError:
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    return message if {"method", "result", "error"} & message.keys() else None


def client_info() -> Message:
    """Return the parameters of the request `initialize`."""
    from mcp_types.version import LATEST_HANDSHAKE_VERSION

    client = {"name": "stackrank", "version": "1"}
    return {"protocolVersion": LATEST_HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": client}


def version_of(result: Any) -> str:
    """Return the server's name and version from its answer to `initialize`. Raises ValueError."""
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    answer: mcp_types.InitializeResult = _checked("InitializeResult", result)
    if answer.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        raise ValueError(f"it speaks MCP version {answer.protocol_version[:40]!r}, which stackrank does not know")
    return f"{answer.server_info.name} {answer.server_info.version}"


def tools_of(result: Any) -> tuple[list[Message], str | None]:
    """Return the tools in an answer to `tools/list`, unchanged, and the cursor of the next page. Raises ValueError."""
    answer: mcp_types.ListToolsResult = _checked("ListToolsResult", result)
    for tool in answer.tools:
        properties = tool.input_schema.get("properties", {})
        required = tool.input_schema.get("required", [])
        if tool.input_schema.get("type", "object") != "object" or not (
            isinstance(properties, dict)
            and all(isinstance(schema, dict | bool) for schema in properties.values())
            and isinstance(required, list)
            and all(isinstance(name, str) for name in required)
        ):
            raise ValueError(f"the schema of its tool {tool.name!r} does not describe an object")
    return result["tools"], answer.next_cursor


def answer_of(result: Any) -> ToolAnswer:
    """Return what an answer to `tools/call` says. Raises ValueError."""
    answer: mcp_types.CallToolResult = _checked("CallToolResult", result)
    parts = [_text(block) for block in answer.content]
    if not parts and answer.structured_content is not None:
        parts = [json.dumps(answer.structured_content, ensure_ascii=False)]
    content = answer.structured_content
    events = read_events(content[KEY]) if isinstance(content, dict) and KEY in content else None
    return ToolAnswer("\n".join(parts), not answer.is_error, events)


def _text(block: Any) -> str:
    if block.type == "text":
        return str(block.text)
    if block.type in ("image", "audio"):
        return f"[{block.type} ({block.mime_type}), not shown]"
    if block.type == "resource_link":
        return f"[{block.name}: {block.uri}]"
    text = getattr(block.resource, "text", None)
    return f"[{block.resource.uri}, not shown]" if text is None else str(text)


def _checked(kind: str, result: Any) -> Any:
    from pydantic import ValidationError

    try:
        return getattr(types(), kind).model_validate(result)
    except (ValidationError, RecursionError) as error:
        problem = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "nested too deep"}
        field = ".".join(map(str, problem["loc"]))
        raise ValueError(f"its answer is not valid MCP ({field + ': ' if field else ''}{problem['msg']})") from None
