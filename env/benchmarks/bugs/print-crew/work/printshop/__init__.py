# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A crew of worker threads fed from a mailbox."""
from __future__ import annotations

from .crew import Crew, Outcome
from .mailbox import Mailbox, MailboxClosed

__all__ = ["Crew", "Mailbox", "MailboxClosed", "Outcome"]
