"""Listening on a port, with a one-sentence error if that fails."""

from __future__ import annotations

import socket

from stackrank.errors import UsageError


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 means any free port. Raises UsageError."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError):
        raise UsageError(f"--host {host} is not a name or address of this machine: choose another one") from None
    try:
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        host_and_port = f"{shown(host)}:{port}"
        raise UsageError(
            f"cannot listen on {host_and_port} ({error.strerror}): choose another --port or --host"
        ) from None


def shown(host: str) -> str:
    """Format a host for a URL: IPv6 addresses are put in brackets."""
    return f"[{host}]" if ":" in host else host
