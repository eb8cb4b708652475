# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import itertools
import random

import pytest

from trails.hike import plan, within
from trails.map import Trail, TrailMap
from trails.pace import Pace
from trails.planner import costs_from, way_back


def random_map(seed, places=7, trails=13):
    rng = random.Random(seed)
    names = "ABCDEFG"[:places]
    found = TrailMap()
    for _ in range(trails):
        start, end = rng.sample(names, 2)
        found.add(Trail(start, end, rng.randrange(1, 40) * 500))
    for name in names[1:]:
        found.add(Trail(names[0], name, 40000))
    return names, found


def cheapest(names, trails, start):
    cost = {name: 10**9 for name in names}
    cost[start] = 0
    for _, name in itertools.product(names, names):
        for trail in trails.trails_from(name):
            cost[trail.end] = min(cost[trail.end], cost[name] + trail.length)
    return cost


@pytest.mark.parametrize("seed", range(8))
def test_least_cost(seed):
    names, trails = random_map(seed)
    for start in names:
        best = costs_from(trails, start, lambda trail: trail.length)
        assert {name: best[name][0] for name in names} == cheapest(names, trails, start)
        for end in names:
            way = way_back(best, end)
            assert sum(trail.length for trail in way) == best[end][0]
            assert all(one.end == other.start for one, other in zip(way, way[1:]))


def test_parallel_trails():
    trails = TrailMap.from_text("a b 900 0 0\na b 300 0 0\nb c 100 0 0\n")
    assert costs_from(trails, "a", lambda t: t.length)["c"][0] == 400


def test_long_detour():
    text = "s t 9000 0 0\n" + "".join("%s %s 1000 0 0\n" % pair for pair in zip("sabcd", "abcdt"))
    hike = plan(TrailMap.from_text(text), ["s", "t"])
    assert hike.places == list("sabcdt") and hike.minutes == 75


def test_up_and_down_differ():
    trails = TrailMap.from_text("low high 100 300 0\n")
    assert plan(trails, ["low", "high"]).minutes > plan(trails, ["high", "low"]).minutes


def test_within_counts_the_quickest_way():
    trails = TrailMap.from_text("s x 8000 0 0\ns y 2000 0 0\ny x 2000 0 0\nx z 1000 0 0\n")
    assert within(trails, "s", 75) == ["y", "x", "z"]
    assert plan(trails, ["s"]).minutes == 0


def test_trails_that_cost_nothing():
    trails = TrailMap.from_text("s x 0 0 0\nx y 0 0 0\ny z 500 0 0\n")
    best = costs_from(trails, "s", lambda trail: trail.length)
    assert best["s"] == (0, None)
    assert {name: cost for name, (cost, _) in best.items()} == {"s": 0, "x": 0, "y": 0, "z": 500}
    assert [trail.end for trail in way_back(best, "z")] == ["x", "y", "z"]


def test_a_minute_less_is_quicker():
    trails = TrailMap.from_text("A B 2000\nA C 1000\nC B 933\nB D 2000\n")
    assert plan(trails, ["A", "D"]) == (["A", "C", "B", "D"], 59)
    assert plan(trails, ["D", "A"]) == (["D", "B", "C", "A"], 59)
