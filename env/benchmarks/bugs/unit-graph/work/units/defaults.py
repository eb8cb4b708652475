# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The usual units."""
from __future__ import annotations

from fractions import Fraction

from .converter import Converter


def standard() -> Converter:
    """A converter for lengths, weights and temperatures."""
    converter = Converter()
    converter.define("m", "cm", 100)
    converter.define("km", "m", 1000)
    converter.define("inch", "cm", "2.54")
    converter.define("foot", "inch", 12)
    converter.define("mile", "foot", 5280)
    converter.define("kg", "g", 1000)
    converter.define("pound", "g", "453.59237")
    converter.define("C", "K", 1, "273.15")
    converter.define("C", "F", Fraction(9, 5), 32)
    return converter
