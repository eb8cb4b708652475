# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Read lines and run them."""
from __future__ import annotations

from importlib import import_module
from typing import Iterable, List

from console.registry import registry
from console.robot import Robot

for _module in ("driving", "asking"):
    import_module("console." + _module)


def run_line(robot: Robot, line: str) -> str:
    """Run one line and give its answer; mistakes are answered, not raised."""
    words = line.split()
    if not words:
        return ""
    entry = registry.find(words[0])
    if entry is None:
        return "unknown command: " + words[0]
    if len(words) - 1 != entry.arguments:
        return "%s takes %d arguments" % (words[0], entry.arguments)
    try:
        return entry.action(robot, *words[1:])
    except ValueError as error:
        return "error: %s" % error


def run(lines: Iterable[str]) -> List[str]:
    """Run lines on a new robot."""
    robot = Robot()
    return [run_line(robot, line) for line in lines]
