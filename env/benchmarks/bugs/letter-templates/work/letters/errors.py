# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What can be wrong with a letter."""
from __future__ import annotations


class MissingField(KeyError):
    """A letter asks for a field that is not there."""


class UnknownFilter(KeyError):
    """A letter asks for a filter that does not exist."""
