# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Turns a small Markdown dialect into HTML."""
from __future__ import annotations

from .blocks import render
from .inline import render_inline

__all__ = ["render", "render_inline"]
