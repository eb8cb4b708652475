# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import threading

import pytest

from yard import BadLayout, Layout, Signals, Train, run_all


class Stop:
    """Holds a train in one section."""

    def __init__(self, section: str) -> None:
        self.section = section
        self.reached, self.go = threading.Event(), threading.Event()

    def __call__(self, section: str) -> None:
        if section == self.section:
            self.reached.set()
            assert self.go.wait(20)


def meet(first: str, second: str, section: str) -> tuple:
    """The first train is held in a section, then the second one asks for its route."""
    signals, stop = Signals(), Stop(section)
    one = Train(signals, "one", first, stop).start()
    assert stop.reached.wait(20)
    granted = signals.request("two", second, timeout=0.05)
    stop.go.set()
    assert one.join(20)
    return granted, one.failure


def test_nose_to_nose() -> None:
    assert meet("W2-E5", "W3-E4", "B2") == (False, None)


def test_trains_that_are_in_each_others_way() -> None:
    assert meet("W2-E5", "W1-E4", "A2") == (False, None)
    assert meet("W1-E1", "W2-E1", "B1") == (False, None)


def test_trains_that_are_not() -> None:
    assert meet("W2-E5", "W1-E1", "A2") == (True, None)


def test_one_after_the_other() -> None:
    signals = Signals()
    for train in run_all(signals, [("a", "W1-E2"), ("b", "W1-E2"), ("c", "W2-E1")]):
        assert train.failure is None
    assert signals.standing() == {} and signals.waiting == []
    with pytest.raises(BadLayout):
        Layout("W1-E1\n    bridge A1")
