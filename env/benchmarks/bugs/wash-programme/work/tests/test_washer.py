# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from washer import Washer


def test_whole_programme():
    washer = Washer()
    washer.select("wool")
    assert washer.start()
    washer.tick(33)
    assert washer.state == "done"
    assert washer.log == ["idle", "filling", "washing", "rinsing", "done"]


def test_pause_and_start():
    washer = Washer()
    washer.select("spin")
    washer.start()
    washer.tick(3)
    washer.pause()
    washer.tick(10)
    assert washer.start()
    assert (washer.state, washer.remaining()) == ("spinning", 5)


def test_forgotten_sock():
    washer = Washer()
    washer.select("cotton")
    washer.start()
    washer.tick(10)
    washer.pause()
    washer.open_door()
    washer.close_door()
    assert washer.start()
    assert washer.state == "washing"
    washer.tick(33)
    assert washer.state == "rinsing"
