# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A yard: trains ask for routes and get them when nobody is in the way."""
from .layout import BadLayout, Layout, Route
from .signals import Collision, Signals
from .trains import Train, run_all

__all__ = ["BadLayout", "Collision", "Layout", "Route", "Signals", "Train", "run_all"]
