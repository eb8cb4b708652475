# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Sensor readings kept as JSON lines."""
from __future__ import annotations

from .files import append, load, load_folder
from .reading import BadReading, Reading
from .summary import summary

__all__ = ["BadReading", "Reading", "append", "load", "load_folder", "summary"]
