# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Commands that move the robot."""
from __future__ import annotations

from console.registry import command
from console.robot import Robot


@command("go", arguments=1)
def drive(robot: Robot, steps: str) -> str:
    """go N: drive N fields ahead"""
    robot.forward(int(steps))
    return "at %d,%d" % robot.place


@command(arguments=1)
def turn(robot: Robot, quarters: str) -> str:
    """turn N: turn N quarters clockwise"""
    robot.turn(int(quarters))
    return "heading " + "NESW"[robot.heading]


@command
def dock(robot: Robot) -> str:
    """dock: send the robot home"""
    place = robot.place
    robot.home()
    return "home from %d,%d" % place
