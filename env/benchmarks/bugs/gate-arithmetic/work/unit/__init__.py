# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""An arithmetic unit, gate by gate."""
from .alu import OPERATIONS, Answer, Unit
from .circuit import BadCircuit, Circuit

__all__ = ["OPERATIONS", "Answer", "BadCircuit", "Circuit", "Unit"]
