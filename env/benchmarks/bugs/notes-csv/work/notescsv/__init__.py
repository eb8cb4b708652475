# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A reader and writer for CSV text."""
from __future__ import annotations

from .lines import physical_lines
from .reader import CsvError, read_rows, read_table
from .writer import write_table

__all__ = ["CsvError", "physical_lines", "read_rows", "read_table", "write_table"]
