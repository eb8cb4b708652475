# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from stations import Network, Station
from stations.queries import nearest
from stations.tree import build
from stations.best import Best


def expected(stations, place, count, bikes):
    found = sorted(
        (s for s in stations if s.bikes >= bikes),
        key=lambda s: ((s.place[0] - place[0]) ** 2 + (s.place[1] - place[1]) ** 2, s.name),
    )
    return [s.name for s in found[:count]]


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("width, height", [(50, 50), (200, 3), (3, 200), (8, 8)])
def test_like_a_plain_search(count, width, height):
    chance = random.Random(width * 7 + count)
    for _ in range(6):
        stations = [
            Station(f"s{n:02}", (chance.randint(0, width), chance.randint(0, height)), chance.randint(0, 3))
            for n in range(40)
        ]
        network = Network(stations)
        for _ in range(8):
            place = (chance.randint(-5, width + 5), chance.randint(-5, height + 5))
            bikes = chance.randint(0, 3)
            assert network.nearest(place, count, bikes) == expected(stations, place, count, bikes)


def test_equally_far_stations_by_name():
    stations = [Station("d", (1, 0)), Station("b", (-1, 0)), Station("c", (0, 1)), Station("a", (0, -1))]
    assert Network(stations).nearest((0, 0), 2) == ["a", "b"]
    assert Network([Station("z", (0, 0)), Station("y", (2, 0))]).one((1, 0)) == "y"


def test_around_the_edge():
    network = Network([Station("a", (3, 4)), Station("b", (-5, 0)), Station("c", (5, 1))])
    assert network.around((0, 0), 5) == ["a", "b"]


def test_far_parts_are_left_out():
    stations = [Station(f"s{n}", (n % 32, n // 32)) for n in range(1024)]
    root, offers = build(stations), []

    class Best:
        limit = float("inf")

        def offer(self, distance, station):
            offers.append(station)
            self.limit = min(self.limit, distance)

    nearest(root, (10.2, 20.1), Best(), 0)
    assert len(offers) < 200


def test_the_best_and_their_limit():
    best = Best(2)
    assert best.limit == float("inf")
    best.offer(9.0, Station("far", (3, 0)))
    assert best.limit == float("inf")
    best.offer(1.0, Station("near", (1, 0)))
    assert best.limit == 9.0
    best.offer(4.0, Station("mid", (2, 0)))
    assert best.limit == 4.0
    assert [station.name for station in best.stations()] == ["near", "mid"]


def city():
    return Network([Station(f"s{n:02}", (n * 7 % 53, n * 11 % 47), n % 4) for n in range(60)])


def test_nearest_in_a_large_city():
    assert city().nearest((18, 45), 5, 2) == ["s55", "s34", "s03", "s42", "s46"]
    assert city().nearest((21, 42), 5, 2)[3] == "s03"


def test_more_in_a_large_city():
    assert city().nearest((24, 39), 5, 2)[-1] == "s55"
    assert city().nearest((24, 45), 5, 2) == ["s34", "s42", "s55", "s03", "s50"]


@pytest.mark.parametrize("count", [0, 1, 3, 4, 9])
def test_any_number_of_stations(count):
    stations = [Station("b", (1, 0), 2), Station("a", (4, 1), 0), Station("c", (0, 7), 5), Station("d", (1, 1), 1)]
    assert Network(stations).nearest((0, 0), count) == ["b", "d", "a", "c"][:count]
    assert Network(stations).nearest((0, 0), count, 2) == ["b", "c"][:count]
    assert Network([]).nearest((0, 0), count) == []


def test_the_list_of_those_around_is_complete():
    chance = random.Random(4)
    for _ in range(40):
        stations = [Station(f"s{n:02}", (chance.randint(0, 9), chance.randint(0, 9))) for n in range(25)]
        place, radius = (chance.randint(0, 9), chance.randint(0, 9)), chance.randint(0, 6)
        inside = [s.name for s in stations if (s.place[0] - place[0]) ** 2 + (s.place[1] - place[1]) ** 2 <= radius**2]
        assert Network(stations).around(place, radius) == inside
