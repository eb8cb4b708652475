# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from trails.hike import plan, within
from trails.map import Trail, TrailMap
from trails.pace import Pace

VALLEY = """
Aue Ridge 2000 150 0
Aue Mill 2000 0 0
Ridge Tal 2000 0 175
Mill Meadow 2000 0 0
Meadow Tal 1333 0 0
"""


def test_over_the_ridge_or_by_the_mill():
    assert plan(TrailMap.from_text(VALLEY), ["Aue", "Tal"]) == (["Aue", "Mill", "Meadow", "Tal"], 80)


def test_stops():
    assert plan(TrailMap.from_text(VALLEY), ["Mill", "Aue", "Ridge"]).places == ["Mill", "Aue", "Ridge"]


def test_pace():
    assert Pace().minutes(Trail("a", "b", 4000, 300, 0)) == 90
    assert Pace(walk=5000).minutes(Trail("a", "b", 100)) == 2


def test_no_way():
    trails = TrailMap.from_text(VALLEY + "Isle Pier 100 0 0\n")
    assert plan(trails, ["Aue", "Isle"]) is None
    with pytest.raises(KeyError):
        plan(trails, ["Moon", "Aue"])


def test_within():
    assert within(TrailMap.from_text(VALLEY), "Aue", 45) == ["Mill", "Ridge"]
