# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""An emulator for an eight-bit processor, with its assembler."""
from .assembler import AssemblyError, assemble
from .listing import listing
from .machine import Machine, Stuck

__all__ = ["AssemblyError", "Machine", "Stuck", "assemble", "listing"]
