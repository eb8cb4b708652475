# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from washer import Washer


def running(minutes, programme="cotton"):
    washer = Washer()
    washer.select(programme)
    washer.start()
    washer.tick(minutes)
    return washer


@pytest.mark.parametrize("first", ["pause", "open_door", "dry"])
@pytest.mark.parametrize("second", ["pause", "open_door", "dry"])
@pytest.mark.parametrize("minutes, phase", [(1, "filling"), (20, "washing"), (60, "spinning")])
def test_two_reasons_to_pause(first, second, minutes, phase):
    washer = running(minutes)
    for name in (first, second):
        if name == "dry":
            washer.set_water(False)
        else:
            getattr(washer, name)()
    assert washer.state == "paused"
    washer.close_door()
    washer.set_water(True)
    assert washer.start()
    assert washer.state == phase
    assert washer.remaining() == 63 - minutes


def test_start_waits_for_door_and_water():
    washer = running(5)
    washer.open_door()
    washer.set_water(False)
    assert not washer.start()
    washer.close_door()
    assert not washer.start()
    washer.set_water(True)
    assert washer.start()
    assert washer.log[-2:] == ["paused", "washing"]


def test_start_twice_starts_once():
    washer = running(5)
    washer.pause()
    assert washer.start()
    assert not washer.start()
    assert washer.state == "washing"


def test_door_while_idle_or_done():
    washer = Washer()
    washer.open_door()
    washer.close_door()
    assert washer.state == "idle"
    washer = running(8, "spin")
    washer.open_door()
    assert washer.state == "done"
    washer.close_door()
    assert not washer.start()


def test_reset_while_paused():
    washer = running(5)
    washer.pause()
    washer.pause()
    washer.reset()
    assert not washer.start()
    washer.select("spin")
    assert washer.start() and washer.state == "spinning"


def test_a_second_pause_is_none():
    washer = Washer()
    washer.select("cotton")
    washer.start()
    washer.tick(10)
    washer.pause()
    washer.open_door()
    washer.pause()
    washer.close_door()
    assert washer.start()
    assert washer.log == ["idle", "filling", "washing", "paused", "washing"]
