# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

from stations import Network, Station


def town(*places, bikes=1):
    return Network([Station(name, place, bikes) for name, place in zip("abcdefghijklmnop", places)])


def test_village():
    network = town((0, 0), (5, 5), (9, 1))
    assert network.nearest((8, 2), 2) == ["c", "b"]
    assert network.around((5, 4), 2) == ["b"]


def test_city():
    chance = random.Random(8)
    stations = [Station(f"s{n}", (chance.randint(0, 90), chance.randint(0, 9)), n % 3) for n in range(60)]
    network = Network(stations)
    for _ in range(60):
        x, y = chance.randint(0, 90), chance.randint(-9, 18)
        ordered = sorted((s for s in stations if s.bikes >= 2), key=lambda s: ((s.place[0] - x) ** 2 + (s.place[1] - y) ** 2, s.name))
        assert network.nearest((x, y), 1, bikes=2) == [ordered[0].name]
        assert network.nearest((x, y), 3, bikes=2) == [s.name for s in ordered[:3]]


def test_bikes():
    network = Network([Station("a", (0, 0), 0), Station("b", (1, 0), 2), Station("c", (2, 0), 5)])
    assert network.one((0, 0)) == "b"
    assert network.nearest((0, 0), 5, bikes=3) == ["c"]


def test_no_station():
    assert Network([]).one((0, 0)) is None
