# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
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
