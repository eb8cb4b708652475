# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Hubs pass signals to handlers."""
from __future__ import annotations

from typing import Any, Callable, Dict, List

Handler = Callable[..., None]


class Hub:
    """Handlers by signal; `*` takes those that nobody else handles."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._handlers: Dict[str, List[Handler]] = {}
        self.unhandled: List[str] = []

    def on(self, signal: str, handler: Handler) -> None:
        """Call the handler with the values of each such signal."""
        self._handlers.setdefault(signal, []).append(handler)

    def off(self, signal: str, handler: Handler) -> None:
        """Undo one `on`; ValueError if there was none."""
        handlers = self._handlers.get(signal, [])
        handlers.remove(handler)

    def send(self, signal: str, *values: Any, **named: Any) -> int:
        """Send a signal with its values to all handlers; the number of handlers called."""
        handlers = list(self._handlers.get(signal, ()))
        if not handlers:
            return self._send_rest(signal, *values, **named)
        for handler in handlers:
            handler(*values, **named)
        return len(handlers)

    def _send_rest(self, signal: str, *values: Any, **named: Any) -> int:
        rest = list(self._handlers.get("*", ()))
        for handler in rest:
            handler(signal, *values, **named)
        if not rest:
            self.unhandled.append(signal)
        return len(rest)
