# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A little language: its words, its sentences, and what they mean."""
from .interpreter import run
from .lexer import LexError, Token, words
from .parser import ParseError, parse

__all__ = ["LexError", "ParseError", "Token", "parse", "run", "words"]
