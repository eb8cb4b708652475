# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from console import driving
from console.registry import Registry, registry
from console.robot import Robot
from console.shell import run


def test_help():
    assert run(["HELP"]) == [
        "dock: send the robot home\ngo N: drive N fields ahead\nhelp: list the commands\n"
        "turn N: turn N quarters clockwise\nwhere: tell the place"
    ]


def test_names():
    assert registry.names() == ["dock", "go", "help", "turn", "where"]


def test_dock_turns_north_and_takes_no_arguments():
    assert run(["turn 3", "go 1", "Dock", "go 1", "dock now"]) == [
        "heading W", "at -1,0", "home from -1,0", "at 0,1", "dock takes 0 arguments",
    ]


def test_functions_stay_functions():
    robot = Robot((4, 5), 2)
    assert driving.dock(robot) == "home from 4,5"
    assert driving.turn(robot, "-1") == "heading W"


def test_decorator():
    own = Registry()

    @own.command("Stop".lower(), 2)
    def halt(a, b):
        return a + b

    @own.command()
    def beep():
        """beep

        Makes a noise.
        """

    assert own.names() == ["beep", "stop"]
    assert own.find("stop").action is halt and own.find("stop").arguments == 2
    assert own.find("BEEP").help == "beep" and own.find("stop").help == ""
