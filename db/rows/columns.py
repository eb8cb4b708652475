"""Column types that rows of several kinds share."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
"""What a JSON column holds."""
