# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from signals.hub import Hub
from signals.relay import Relay


def test_one_hub():
    hub, seen = Hub("yard"), []
    hub.on("speed", lambda train, kmh: seen.append((train, kmh)))
    assert hub.send("speed", 7, kmh=40) == 1
    assert seen == [(7, 40)]


def test_over_a_relay():
    yard, tower, seen = Hub("yard"), Hub("tower"), []
    relay = Relay(yard, tower)
    relay.carry("switch", "yard.switch")
    tower.on("yard.switch", lambda number, side: seen.append((number, side)))
    yard.send("switch", 4, "left")
    assert seen == [(4, "left")] and relay.carried == 1


def test_nobody_cares():
    hub = Hub("yard")
    assert hub.send("whistle") == 0 and hub.unhandled == ["whistle"]
