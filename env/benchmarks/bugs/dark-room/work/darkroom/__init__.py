# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Weighs out what baths take."""
from .baths import Bath, bath, from_moles, moles
from .formula import BadFormula, parse
from .weights import UnknownElement, mole, share

__all__ = ["BadFormula", "Bath", "UnknownElement", "bath", "from_moles", "mole", "moles", "parse", "share"]
