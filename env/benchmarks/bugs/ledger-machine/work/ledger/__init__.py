# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The ledger: a program on a tape, and the machine that runs it."""
from .machine import Fault, Machine
from .slip import Slip, run

__all__ = ["Fault", "Machine", "Slip", "run"]
