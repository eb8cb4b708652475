# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from yard import Layout, Signals, run_all
from yard.clock import waves


@pytest.mark.parametrize("name", sorted(Layout().routes))
def test_a_route_keeps_free_where_its_train_goes(name: str) -> None:
    layout = Layout()
    assert list(layout.routes[name].sections) == layout.path(layout.routes[name])


@pytest.mark.parametrize("other", ['W3-E4', 'W4-E4', 'W5-E4', 'W6-E1', 'W6-E3', 'W6-E4'])
def test_whoever_crosses_waits(other: str) -> None:
    for first, second in (("W2-E5", other), (other, "W2-E5")):
        signals = Signals()
        assert signals.request("one", first) and not signals.request("two", second, timeout=0.01)
        signals.leave("one", "D4")
        assert signals.request("two", second, timeout=0.01)


def test_routes_apart_do_not_wait() -> None:
    signals = Signals()
    assert signals.request("one", "W2-E5", timeout=0.01)
    for number, other in enumerate(['W1-E1', 'W1-E3']):
        signals = Signals()
        assert signals.request("one", "W2-E5") and signals.request(str(number), other, timeout=0.01)


def test_a_whole_day() -> None:
    signals = Signals()
    trains = [train for wave in waves() for train in run_all(signals, wave)]
    assert len(trains) == 210 and [train.failure for train in trains] == [None] * 210
    assert signals.standing() == {}


def test_ends_of_all_routes() -> None:
    layout = Layout()
    assert len(layout.routes) == 36
    for name, route in layout.routes.items():
        start, end = name.split("-")
        assert (route.sections[0], route.sections[-1]) == (f"A{start[1]}", f"H{end[1]}")
        assert len(route.sections) == 8
