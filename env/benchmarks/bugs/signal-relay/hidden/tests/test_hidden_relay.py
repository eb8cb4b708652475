# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from signals.hub import Hub
from signals.relay import Relay
import pytest


def hubs():
    a, b, seen = Hub("a"), Hub("b"), []
    b.on("x", lambda *values, **named: seen.append((values, named)))
    return a, b, Relay(a, b), seen


def test_any_number_of_values():
    a, _, relay, seen = hubs()
    relay.carry("x")
    a.send("x")
    a.send("x", 1)
    a.send("x", 1, 2, c=3)
    a.send("x", (1, 2))
    assert seen == [((), {}), ((1,), {}), ((1, 2), {"c": 3}), (((1, 2),), {})]


def test_rest():
    a, b, relay, seen = hubs()
    relay.carry_rest()
    a.send("x", 5, 6)
    a.send("y", 1)
    assert seen == [((5, 6), {})] and b.unhandled == ["y"] and relay.carried == 2


def test_chain_of_relays():
    a, b, relay, _ = hubs()
    c, seen = Hub("c"), []
    Relay(b, c).carry("z", "end")
    relay.carry("x", "z")
    c.on("end", lambda p, q: seen.append(p + q))
    a.send("x", 2, 3)
    assert seen == [5]


def test_renamed_later():
    a, b, relay, seen = hubs()
    relay.carry("x", "other")
    relay.carry("x", "x")
    a.send("x", 1)
    assert seen == [((1,), {})] and relay.carried == 1


def test_off():
    hub, seen = Hub("a"), []
    hub.on("x", seen.append)
    hub.off("x", seen.append)
    assert hub.send("x", 1) == 0 and seen == []


def test_many_values():
    a, _, relay, seen = hubs()
    relay.carry("x")
    a.send("x", 1, 2, 3)
    a.send("x", *"signal", side="left")
    assert seen == [((1, 2, 3), {}), (("s", "i", "g", "n", "a", "l"), {"side": "left"})]


def test_carried_and_the_rest():
    a, b, relay, seen = hubs()
    relay.carry("x")
    relay.carry_rest()
    a.send("x", 1, 2, k=3)
    a.send("y", 4)
    assert seen == [((1, 2), {"k": 3})]
    assert b.unhandled == ["y"] and a.unhandled == []
    assert relay.carried == 2


def test_values_are_handed_on_as_they_are():
    a, b, relay, _ = hubs()
    got, values = [], ([1], {"k": 2}, None, ())
    b.on("z", lambda *each: got.append(each))
    relay.carry("q", "z")
    assert a.send("q", *values) == 1
    assert all(one is other for one, other in zip(got[0], values)) and len(got[0]) == 4
    a.on("q", lambda *each: got.append("here"))
    assert a.send("q") == 2
    assert got[1:] == [(), "here"]


def test_faults_of_handlers_go_on_to_the_sender():
    a, b, relay, _ = hubs()

    def handler(one, two):
        raise KeyError(one + two)

    b.on("bad", handler)
    relay.carry("bad")
    with pytest.raises(KeyError):
        a.send("bad", 1, 2)
    with pytest.raises(ValueError):
        b.off("bad", print)
    assert relay.carried == 1


VALUES = [(), (1,), (1, 2), ((3, 4),), ((),), ([1, 2],), ({"a": 1},), ("word",), (None,), ((1,), (2,)), (((5,),),), (b"", "", 0), ([],)]
NAMES = [{}, {"side": "left"}, {"values": (1, 2), "named": {}}, {"name": None, "a": ()}]


def over(way, values, named):
    """What arrives of a signal that travels one of the ways, and how many were carried."""
    yard, tower, house, seen = Hub("yard"), Hub("tower"), Hub("house"), []
    relays = [Relay(yard, tower), Relay(tower, house)]
    if way == "rest":
        relays[0].carry_rest()
        relays[1].carry_rest()
    elif way == "renamed":
        relays[0].carry("x", "y")
        relays[1].carry("y", "x")
    elif way == "mixed":
        relays[0].carry_rest()
        relays[1].carry("x")
    else:
        relays[0].carry("x")
        relays[1].carry_rest()
    house.on("x", lambda *got, **more: seen.append((got, more)))
    house.on("*", lambda *got, **more: seen.append("lost"))
    assert yard.send("x", *values, **named) == 1
    return seen, [relay.carried for relay in relays]


@pytest.mark.parametrize("way", ["rest", "renamed", "mixed", "plain"])
def test_all_values_by_every_way(way):
    for values in VALUES:
        for named in NAMES:
            assert over(way, values, named) == ([(values, named)], [1, 1])


def test_the_rest_under_another_name():
    yard, tower, seen = Hub("yard"), Hub("tower"), []
    relay = Relay(yard, tower)
    tower.on("*", lambda *got, **more: seen.append((got, more)))
    relay.carry("x", "y")
    relay.carry_rest()
    for values in VALUES:
        yard.send("x", *values)
        yard.send("z", *values, k=1)
        assert seen[-2:] == [(("y", *values), {}), (("z", *values), {"k": 1})]
    assert relay.carried == 2 * len(VALUES) and tower.unhandled == []
