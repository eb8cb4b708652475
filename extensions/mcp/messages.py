"""MCP's messages as lines of JSON, checked by the types of the package `mcp`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from stackrank.errors import NotReady

if TYPE_CHECKING:
    import mcp_types

MISSING = "MCP servers need a package that is not there: pip install 'stackrank[mcp]'"
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
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("jsonrpc") != "2.0" or not {"method", "result", "error"} & found.keys():
        return None
    return found


def hello() -> Message:
    """Return what the request `initialize` says about us."""
    from mcp_types.version import LATEST_HANDSHAKE_VERSION

    about = {"name": "stackrank", "version": "1"}
    return {"protocolVersion": LATEST_HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": about}


def version_of(result: Any) -> str:
    """Return the server's name and version from its answer to `initialize`. Raises ValueError."""
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    said: mcp_types.InitializeResult = _checked("InitializeResult", result)
    if said.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        raise ValueError(f"it speaks the protocol version {said.protocol_version[:40]!r}, which is unknown here")
    return f"{said.server_info.name} {said.server_info.version}"


def tools_of(result: Any) -> tuple[list[Message], str | None]:
    """Return the tools in an answer to `tools/list`, unchanged, and the cursor of the next page. Raises ValueError."""
    said: mcp_types.ListToolsResult = _checked("ListToolsResult", result)
    for tool in said.tools:
        properties = tool.input_schema.get("properties", {})
        required = tool.input_schema.get("required", [])
        if tool.input_schema.get("type", "object") != "object" or not (
            isinstance(properties, dict)
            and all(isinstance(each, dict | bool) for each in properties.values())
            and isinstance(required, list)
            and all(isinstance(each, str) for each in required)
        ):
            raise ValueError(f"the schema of its tool {tool.name!r} describes no object")
    return result["tools"], said.next_cursor


def text_of(result: Any) -> tuple[str, bool]:
    """Return the text of an answer to `tools/call`, and whether the tool succeeded. Raises ValueError."""
    said: mcp_types.CallToolResult = _checked("CallToolResult", result)
    parts = [_text(each) for each in said.content]
    if not parts and said.structured_content is not None:
        parts = [json.dumps(said.structured_content, ensure_ascii=False)]
    return "\n".join(parts), not said.is_error


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
        first = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "nested too deep"}
        where = ".".join(map(str, first["loc"]))
        raise ValueError(
            f"its answer is not what MCP asks for ({where + ': ' if where else ''}{first['msg']})"
        ) from None
