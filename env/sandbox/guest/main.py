"""The resident program of a sandbox: puts the three parts of the guest together.

Tests come before debugging tools, so that no tool can answer a request for a verdict.
"""

from __future__ import annotations

from typing import Optional, Tuple

from .core.service import serve
from .debugging.requests import DebuggingRequests
from .testing.requests import TestingRequests


def main(zip_fd: int, warm: Optional[Tuple[int, int]] = None) -> None:
    """Run the resident program; see `serve`. Does not return."""
    serve(zip_fd, warm, (TestingRequests, DebuggingRequests))
