"""Forwards connections to a server elsewhere, so that a network namespace can reach it."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

Target = str | tuple[str, int]
"""The path of a Unix socket, or host and port."""


@contextmanager
def forwarded(host: str, target: Target) -> Iterator[int]:
    """A port on `host` that leads to `target`."""
    with socket.create_server((host, 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    incoming, _ = listener.accept()
                except OSError:
                    return
                outgoing = socket.socket(socket.AF_UNIX if isinstance(target, str) else socket.AF_INET)
                outgoing.connect(target)
                for pair in ((incoming, outgoing), (outgoing, incoming)):
                    threading.Thread(target=_copy, args=pair, daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield int(listener.getsockname()[1])
        listener.shutdown(socket.SHUT_RDWR)


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
