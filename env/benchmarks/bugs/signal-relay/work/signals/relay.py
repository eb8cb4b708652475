# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Relays carry signals from one hub to another."""
from __future__ import annotations

from typing import Any, Dict, Optional

from signals.hub import Hub


class Relay:
    """Passes the signals it is told to on to another hub, under the same or another name."""

    def __init__(self, source: Hub, target: Hub) -> None:
        self._source, self._target = source, target
        self._names: Dict[str, str] = {}
        self.carried = 0

    def carry(self, signal: str, name: Optional[str] = None) -> None:
        """Carry a signal, as `name` if given. Carrying it once more only changes the name."""
        if signal not in self._names:
            self._source.on(signal, self._forwarder(signal))
        self._names[signal] = name or signal

    def carry_rest(self) -> None:
        """Carry all signals that have no handler at the source."""
        self._source.on("*", self._forward)

    def _forwarder(self, signal: str) -> Any:
        def forward(*values: Any, **named: Any) -> None:
            self._forward(signal, values, **named)

        return forward

    def _forward(self, signal: str, *values: Any, **named: Any) -> None:
        self.carried += 1
        self._target.send(self._names.get(signal, signal), *values, **named)
