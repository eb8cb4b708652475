# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The planner for the trams."""
from .departures import departures
from .network import Network, UnknownStop
from .planner import Journey, Ride, plan
from .reader import BadTimetable, read

__all__ = ["BadTimetable", "Journey", "Network", "Ride", "UnknownStop", "departures", "plan", "read"]
