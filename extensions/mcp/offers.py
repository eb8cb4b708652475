"""What a server offered: read from an episode's record, and compared with a later offer."""

from __future__ import annotations

from collections.abc import Sequence

from stackrank.env.state import Spoken
from stackrank.env.tools.servers import Offer, ToolServer
from stackrank.extensions.mcp import messages


def recorded_offer(name: str, server: ToolServer, spoken: Sequence[Spoken]) -> Offer:
    """Return what a server offered when an episode began. `spoken`: the lines of the reset, of all servers.

    Raises ValueError if the lines contain no offer.
    """
    methods: dict[int, str] = {}
    version = ""
    tools: list[messages.Message] = []
    for spoken_line in spoken:
        message = messages.read(spoken_line["line"].encode()) if spoken_line["server"] == name else None
        if message is None:
            continue
        number = message.get("id")
        # Whoever asks chooses the id: ours are numbers, but an answer has that of the server's request, which may be
        # anything, also one of ours.
        if spoken_line["sent"]:
            if "method" in message and number is not None:
                methods[number] = message["method"]
        elif "method" not in message and "result" in message and isinstance(number, int):
            method = methods.get(number)
            if method == "initialize":
                version = messages.version_of(message["result"])
            elif method == "tools/list":
                tools += messages.tools_of(message["result"])[0]
    selected = tuple(tool for tool in tools if server.tools is None or tool["name"] in server.tools)
    if not selected:
        raise ValueError(f"the record does not contain the tools of the MCP server {name}")
    return Offer(name, server, version, selected)


def describe_difference(expected: Offer, offer: Offer) -> str:
    """Say in words how a later offer of the same server differs; empty if it does not."""
    old = {tool["name"]: tool for tool in expected.tools}
    new = {tool["name"]: tool for tool in offer.tools}
    differences = [f"{name} is missing" for name in old if name not in new]
    differences += [f"{name} is new" for name in new if name not in old]
    differences += [f"{name} is described differently" for name in new if name in old and new[name] != old[name]]
    if not differences and expected.version != offer.version:
        differences = [f"its version is {offer.version} instead of {expected.version}"]
    return ", ".join(differences[:5]) + (", ..." if len(differences) > 5 else "")
