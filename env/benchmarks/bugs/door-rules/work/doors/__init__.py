# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Who may do what."""
from .decisions import Decision, Doors, UnknownPerson
from .log import Log
from .review import reach, unused

__all__ = ["Decision", "Doors", "Log", "UnknownPerson", "reach", "unused"]
