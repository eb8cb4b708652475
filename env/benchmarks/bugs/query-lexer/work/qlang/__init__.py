# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A small query language: tokens, a parser, and errors that show where."""
from __future__ import annotations

from .errors import QueryError
from .parser import parse
from .lexer import tokens

__all__ = ["QueryError", "parse", "tokens"]
