"""A WebSocket client (RFC 6455) for a debugger on this machine: text frames, no extensions."""

from __future__ import annotations

import base64
import os
import socket
import struct
import threading


class WebSocket:
    """One connection."""

    def __init__(self, host: str, port: int, path: str, patience_s: float) -> None:
        """Raises OSError, ValueError if the server does not agree."""
        self._socket = socket.create_connection((host, port), timeout=patience_s)
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            (
                "GET %s HTTP/1.1\r\nHost: %s:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n\r\n" % (path, host, port, key)
            ).encode()
        )
        self._stream = self._socket.makefile("rb")
        if b" 101 " not in self._stream.readline():
            raise ValueError("the debugger does not accept a connection")
        while self._stream.readline().strip():
            pass
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sending = threading.Lock()

    def send(self, text: str, kind: int = 1) -> None:
        """Send a text, masked as clients must."""
        data = text.encode() if kind == 1 else text.encode("latin-1")
        size = len(data)
        head = struct.pack("!B", 0x80 | kind)
        if size < 126:
            head += struct.pack("!B", 0x80 | size)
        elif size < 1 << 16:
            head += struct.pack("!BH", 0x80 | 126, size)
        else:
            head += struct.pack("!BQ", 0x80 | 127, size)
        mask = os.urandom(4)
        repeated = mask * (size // 4 + 1)
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(repeated[:size], "big")).to_bytes(size, "big")
        with self._sending:
            self._socket.sendall(head + mask + masked)

    def receive(self) -> str | None:
        """Return the next text; None at the end."""
        parts = []
        while True:
            # Node writes head and text apart, and waits up to 40 ms until the first is acknowledged.
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            head = self._stream.read(2)
            if len(head) < 2:
                return None
            kind, size = head[0] & 0x0F, head[1] & 0x7F
            if size == 126:
                (size,) = struct.unpack("!H", self._stream.read(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", self._stream.read(8))
            data = self._stream.read(size)
            if kind == 8:
                return None
            if kind == 9:
                self.send(data.decode("latin-1"), 10)
            elif kind in (0, 1):
                parts.append(data)
                if head[0] & 0x80:
                    return b"".join(parts).decode("utf-8", "replace")
