# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A small spreadsheet."""
from .errors import Circular, SheetError
from .report import Room, rooms, total
from .sheet import Sheet

__all__ = ["Circular", "Room", "Sheet", "SheetError", "rooms", "total"]
