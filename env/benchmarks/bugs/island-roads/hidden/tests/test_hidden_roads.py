# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random

from roads.network import Network
from roads.planner import critical_roads, cut_off, trip, within

ISLAND = """
a: P - Q 4
b: Q - R 4
c: P - R 9
d: R - S 1
e: T - U 2
"""


def test_same_trip_again():
    network = Network.parse(ISLAND)
    assert [trip(network, "P", "S") for _ in range(3)] == [(9, ["a", "b", "d"])] * 3


def test_mixed_questions():
    network = Network.parse(ISLAND)
    assert within(network, "P", 8) == ["P", "Q", "R"]
    assert cut_off(network, "P") == ["T", "U"]
    assert trip(network, "S", "Q") == (5, ["d", "b"])
    assert within(network, "T", 99) == ["T", "U"]
    assert within(network, "U", 1) == ["U"]


def test_critical_roads():
    network = Network.parse(ISLAND)
    assert critical_roads(network, "P") == ["d"]
    assert critical_roads(network, "T") == ["e"]
    network.close("c")
    assert critical_roads(network, "P") == ["a", "b", "d"]


def test_closing_and_opening_between_trips():
    network = Network.parse(ISLAND)
    assert trip(network, "P", "S") == (9, ["a", "b", "d"])
    network.close("b")
    assert trip(network, "P", "S") == (10, ["c", "d"])
    assert trip(network, "P", "S") == (10, ["c", "d"])
    network.open("b")
    assert trip(network, "P", "S") == (9, ["a", "b", "d"])
    network.close("d")
    assert trip(network, "P", "S") is None


def test_leaving_can_be_read_again():
    network = Network.parse(ISLAND)
    for _ in range(2):
        assert [road.end for road in network.leaving("R")] == ["Q", "P", "S"]
    network.add("f", "R", "T", 7)
    assert [road.name for road in network.leaving("R")] == ["b", "c", "d", "f"]
    assert list(network.leaving("nowhere")) == []


def test_standing_still():
    network = Network.parse(ISLAND)
    assert trip(network, "P", "P") == (0, [])
    assert trip(network, "P", "U") is None


def test_roads_asked_for_twice_at_the_same_time():
    network = Network.parse("one: A - B 1\ntwo: A - C 2\nthree: A - D 3\n")
    first, second = network.leaving("A"), network.leaving("A")
    assert [road.name for road in second] == ["one", "two", "three"]
    assert [road.name for road in first] == ["one", "two", "three"]


def test_closed_roads_do_not_leave_a_place():
    network = Network.parse(ISLAND)
    network.close("b")
    for _ in range(2):
        assert [road.name for road in network.leaving("R")] == ["c", "d"]
        assert [road.name for road in network.leaving("Q")] == ["a"]
    assert critical_roads(network, "P") == ["a", "c", "d"]
    assert critical_roads(network, "P") == ["a", "c", "d"]
    assert [road.name for road in network.leaving("R")] == ["c", "d"]
    assert trip(network, "P", "S") == (10, ["c", "d"])
    network.open("b")
    assert [road.name for road in network.leaving("R")] == ["b", "c", "d"]


def test_questions_leave_the_network_as_it_was():
    network = Network.parse("coast: Port - Cape 30\npass: Port - Lake 20\ndam: Lake - Cape 5\nferry: Port - Isle 9")
    network.close("ferry")
    for _ in range(3):
        assert critical_roads(network, "Port") == []
        assert cut_off(network, "Port") == ["Isle"]
        assert within(network, "Port", 25) == ["Port", "Lake", "Cape"]
        assert trip(network, "Port", "Isle") is None
        assert [road.name for road in network.leaving("Port")] == ["coast", "pass"]
        assert list(network.leaving("Isle")) == []
    network.close("dam")
    assert critical_roads(network, "Port") == ["coast", "pass"]


def brute(roads, start):
    """Times from a place over open roads, by trying all roads again and again."""
    times = {start: 0}
    for _ in range(len(roads) + 1):
        for _, one, other, minutes in roads:
            for a, b in ((one, other), (other, one)):
                if a in times:
                    times[b] = min(times.get(b, times[a] + minutes), times[a] + minutes)
    return times


def test_any_network_like_trying_all_roads():
    chance = random.Random(9)
    for _ in range(60):
        network, roads, closed = Network(), [], set()
        for number in range(chance.randint(1, 9)):
            road = (f"r{number}", *chance.sample("ABCDE", 2), chance.choice([1, 2, 2, 5, 20]))
            roads.append(road)
            network.add(*road)
        places = sorted({place for road in roads for place in road[1:3]})
        assert network.places() == places
        for _ in range(6):
            name = chance.choice(roads)[0]
            if name in closed:
                closed.discard(name)
                network.open(name)
            elif chance.random() < 0.5:
                closed.add(name)
                network.close(name)
            now = [road for road in roads if road[0] not in closed]
            start, goal, minutes = chance.choice(places), chance.choice(places), chance.randint(0, 9)
            times = brute(now, start)
            for _ in range(2):
                leaving = [(r[0], r[1] if r[2] == start else r[2]) for r in now if start in r[1:3]]
                assert [(road.name, road.end) for road in network.leaving(start)] == leaving
                found = trip(network, start, goal)
                assert (found and found[0]) == times.get(goal)
                if found:
                    at = start
                    for name in found[1]:
                        one, other = next(road[1:3] for road in now if road[0] == name)
                        assert at in (one, other)
                        at = other if at == one else one
                    assert at == goal
                    assert sum(road[3] for road in now for name in found[1] if road[0] == name) == found[0]
                near = sorted((time, place) for place, time in times.items() if time <= minutes)
                assert within(network, start, minutes) == [place for _, place in near]
                assert cut_off(network, start) == [place for place in places if place not in times]
                needed = [r[0] for r in now if len(brute([x for x in now if x != r], start)) < len(times)]
                assert critical_roads(network, start) == sorted(needed)


def test_two_roads_between_the_same_places():
    network = Network.parse("long: A - B 50\nshort: A - B 5\nmiddle: B - A 20\n")
    assert [road.name for road in network.leaving("A")] == ["long", "short", "middle"]
    assert [road.name for road in network.leaving("B")] == ["long", "short", "middle"]
    assert critical_roads(network, "A") == []
    for minutes, name in ((5, "short"), (20, "middle"), (50, "long")):
        assert trip(network, "A", "B") == (minutes, [name])
        assert trip(network, "B", "A") == (minutes, [name])
        network.close(name)
    assert trip(network, "A", "B") is None
