# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from roads.network import Network
from roads.planner import cut_off, trip

ISLAND = """
coast: Port - Cape 30
pass: Port - Lake 20
dam: Lake - Cape 5
track: Cape - Hut 40
"""


def test_fastest_trip():
    assert trip(Network.parse(ISLAND), "Port", "Hut") == (65, ["pass", "dam", "track"])


def test_closed_road():
    network = Network.parse(ISLAND)
    network.close("dam")
    assert trip(network, "Port", "Hut") == (70, ["coast", "track"])


def test_there_and_back():
    network = Network.parse(ISLAND)
    assert trip(network, "Port", "Cape") == (25, ["pass", "dam"])
    assert trip(network, "Cape", "Port") == (25, ["dam", "pass"])


def test_cut_off():
    network = Network.parse(ISLAND)
    network.close("track")
    assert cut_off(network, "Port") == ["Hut"]
