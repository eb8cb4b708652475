"""Listening on a port, with a one-sentence error if that fails."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Collection

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
        reason = os.strerror(error.errno) if error.errno else error
        raise UsageError(f"cannot listen on {shown(host)}:{port} ({reason}): choose another --port or --host") from None


def shown(host: str) -> str:
    """Format a host for a URL: IPv6 addresses are put in brackets."""
    return f"[{host}]" if ":" in host else host


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_known_host(header: str, names: Collection[str]) -> bool:
    """Whether a request's Host header is an address, localhost, or one of `names`.

    The owner of a web page can point a name to this machine, and a browser then lets the page read what a server here
    answers. The Host header has that name, which is none of these.
    """
    host, _, port = header.rpartition(":")
    name = (host if host and (port.isdecimal() or not port) else header).strip("[]").rstrip(".").lower()
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost" or name in {known.lower() for known in names}
    return True
