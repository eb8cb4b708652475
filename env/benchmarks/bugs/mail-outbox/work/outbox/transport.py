# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Delivering."""
from __future__ import annotations

import asyncio
from typing import Dict, List

from .mail import Mail


class Refused(Exception):
    """The mail will never be accepted."""


class Busy(Exception):
    """The receiver is busy; the mail may be accepted later."""


class MemoryTransport:
    """Delivers into lists. Addresses can be told to refuse, or to be busy for a number of tries."""

    def __init__(self) -> None:
        self.delivered: List[Mail] = []
        self.refusing: List[str] = []
        self.busy: Dict[str, int] = {}

    async def deliver(self, mail: Mail) -> None:
        await asyncio.sleep(0)
        if mail.to in self.refusing:
            raise Refused(mail.to)
        if self.busy.get(mail.to, 0) > 0:
            self.busy[mail.to] -= 1
            raise Busy(mail.to)
        self.delivered.append(mail)
