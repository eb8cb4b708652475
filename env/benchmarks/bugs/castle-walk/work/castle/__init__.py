# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A castle to get lost in."""
from .game import Game
from .guide import NoWay, way
from .world import BadWorld, Room, World

__all__ = ["BadWorld", "Game", "NoWay", "Room", "World", "way"]
