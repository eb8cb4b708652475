# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from sessions import SessionStore


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def test_use_keeps_alive():
    clock = Clock()
    store = SessionStore(clock, idle=10)
    store.open("k", "ann")
    for _ in range(5):
        clock.now += 9
        assert store.get("k").user == "ann"
    clock.now += 11
    with pytest.raises(KeyError):
        store.get("k")
    assert store.users() == []


def test_clean_up():
    clock = Clock()
    store = SessionStore(clock, idle=10)
    store.open("a", "ann")
    store.open("b", "bob")
    clock.now += 8
    store.open("c", "ann")
    clock.now += 8
    assert store.clean_up() == ["a", "b"]
    assert store.users() == ["ann"]


def test_nothing_to_clean_up():
    assert SessionStore(Clock()).clean_up() == []


def test_log_out():
    store = SessionStore(Clock())
    for key in "xyz":
        store.open(key, "ann")
    assert store.log_out("ann") == 3
    assert len(store) == 0
