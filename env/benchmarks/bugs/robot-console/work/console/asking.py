# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Commands that only ask."""
from __future__ import annotations

from console.registry import command, registry
from console.robot import Robot


@command("help")
def show_help(robot: Robot) -> str:
    """help: list the commands"""
    entries = [registry.find(name) for name in registry.names()]
    return "\n".join(entry.help for entry in entries if entry is not None)


@command("where")
def where(robot: Robot) -> str:
    """where: tell the place"""
    return "at %d,%d after %d steps" % (robot.place + (len(robot.trail),))
