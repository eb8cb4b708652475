# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The client."""
from __future__ import annotations

from typing import Any, Callable

from .wire import Request, pack, unpack


class Client:
    """Calls methods of the server: `client.deposit("ann", 5)`."""

    def __init__(self, send: Callable[[bytes], bytes]) -> None:
        self._send = send

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method.startswith("_"):
            raise AttributeError(method)

        def call(*arguments: Any) -> Any:
            answer = unpack(self._send(pack(Request(method, arguments))))
            if answer.error is not None:
                raise answer.error
            return answer.result

        return call
