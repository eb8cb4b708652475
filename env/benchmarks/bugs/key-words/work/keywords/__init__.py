# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Keys as words that can be said over the telephone."""
from .codec import BadWords, decode, encode
from .slip import Slip, read_slip, write_slip
from .spelling import closest

__all__ = ["BadWords", "Slip", "closest", "decode", "encode", "read_slip", "write_slip"]
