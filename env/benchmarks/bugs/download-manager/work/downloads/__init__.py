# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A download manager that tries several mirrors."""
from __future__ import annotations

from .errors import DownloadFailed, Interrupted, TransferError, Unavailable
from .manager import DownloadManager
from .transport import Transport

__all__ = ["DownloadFailed", "DownloadManager", "Interrupted", "TransferError", "Transport", "Unavailable"]
