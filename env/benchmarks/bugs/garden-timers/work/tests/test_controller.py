# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from garden.controller import Controller
from garden.tap import DAY, Tap


def opened(garden):
    return [(minute, name) for minute, name, what in garden.log if what == "open"]


def test_two_days():
    garden = Controller()
    garden.add(Tap("rose", 360, 10))
    garden.run_until(2 * DAY)
    assert garden.log == [(360, "rose", "open"), (370, "rose", "close"), (1800, "rose", "open"), (1810, "rose", "close")]


def test_move():
    garden = Controller()
    garden.add(Tap("rose", 360, 10))
    garden.move("rose", 500)
    garden.run_until(DAY)
    assert opened(garden) == [(500, "rose")]


def test_off_changed_and_on():
    garden = Controller()
    garden.add(Tap("rose", 360, 10))
    garden.run_until(100)
    garden.switch_off("rose")
    garden.move("rose", 500)
    garden.switch_on("rose")
    garden.run_until(2 * DAY)
    assert opened(garden) == [(500, "rose"), (500 + DAY, "rose")]


def test_off():
    garden = Controller()
    garden.add(Tap("rose", 360, 10))
    garden.run_until(365)
    garden.switch_off("rose")
    garden.run_until(2 * DAY)
    assert garden.log == [(360, "rose", "open"), (365, "rose", "close")]


def test_name_taken():
    garden = Controller()
    garden.add(Tap("rose", 1, 1))
    with pytest.raises(ValueError):
        garden.add(Tap("rose", 2, 1))
