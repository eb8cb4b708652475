# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The errors of the download manager."""
from __future__ import annotations


class TransferError(Exception):
    """One attempt to get one address failed."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url}: {reason}")
        self.url = url
        self.reason = reason


class Interrupted(TransferError):
    """The transfer broke off; another attempt at the same mirror may succeed."""


class Unavailable(TransferError):
    """The mirror cannot serve the file; asking it again is useless."""


class DownloadFailed(Exception):
    """No mirror could serve the file; `attempts` holds the failed attempts in order."""

    def __init__(self, name: str, attempts: list[TransferError]) -> None:
        super().__init__(f"{name}: {len(attempts)} attempts failed")
        self.name = name
        self.attempts = attempts
