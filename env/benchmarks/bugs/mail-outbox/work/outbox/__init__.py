# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""An outbox that delivers mails in the background."""
from __future__ import annotations

from .mail import Mail
from .outbox import Outbox

__all__ = ["Mail", "Outbox"]
