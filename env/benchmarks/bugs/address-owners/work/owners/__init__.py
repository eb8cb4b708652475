# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Whose address it is."""
from .addresses import BadAddress, as_number, as_text
from .book import Book, Network
from .report import by_country, letters

__all__ = ["BadAddress", "Book", "Network", "as_number", "as_text", "by_country", "letters"]
