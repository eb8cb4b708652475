# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random

import pytest

from telemetry.layouts import LAYOUTS
from telemetry.recording import decode, encode
from telemetry.summary import columns, lowest_cell

BATTERY = bytes.fromhex("0207" "04" "0102" "f6ffffff")
WEATHER = bytes.fromhex("0307" "18fc" "32" "cd8b0100")


def test_battery():
    assert decode(BATTERY) == [("battery", {"cells": 4, "mv": 513, "mah": -10})]


def test_weather():
    assert decode(WEATHER) == [("weather", {"temp": -10.0, "humidity": 50, "pressure": 101325})]


@pytest.mark.parametrize("kind, size", [(1, 8), (2, 7), (3, 7)])
def test_sizes(kind, size):
    assert LAYOUTS[kind].format.size == size


def test_round_trip():
    data = WEATHER + BATTERY + WEATHER
    assert encode(decode(data)) == data


def test_mixture():
    data = BATTERY + WEATHER + BATTERY
    assert columns(data, "battery") == {"cells": [4, 4], "mv": [513, 513], "mah": [-10, -10]}
    assert lowest_cell(data) == pytest.approx(0.12825)
    assert lowest_cell(WEATHER) is None


@pytest.mark.parametrize("temp, raw", [(0.29, 29), (0.57, 57), (-0.29, -29), (19.99, 1999), (-40.0, -4000), (1.15, 115)])
def test_temperatures_are_encoded_exactly(temp, raw):
    layout = LAYOUTS[3]
    payload = layout.encode({"temp": temp, "humidity": 7, "pressure": 99000})
    assert layout.format.unpack(payload) == (raw, 7, 99000)
    assert layout.decode(payload) == {"temp": temp, "humidity": 7, "pressure": 99000}


FIELDS = {
    1: [("lat", 4, True, 1e-6), ("lon", 4, True, 1e-6)],
    2: [("cells", 1, False, 1), ("mv", 2, False, 1), ("mah", 4, True, 1)],
    3: [("temp", 2, True, 0.01), ("humidity", 1, False, 1), ("pressure", 4, False, 1)],
}


@pytest.mark.parametrize("kind", FIELDS)
def test_all_numbers_a_field_can_hold(kind):
    chance = random.Random(kind)
    for turn in range(200):
        payload, expected = b"", {}
        for name, size, signed, factor in FIELDS[kind]:
            low, high = (-(256**size) // 2, 256**size // 2 - 1) if signed else (0, 256**size - 1)
            raw = chance.choice([low, high, 0, 1, high // 2 + 1, chance.randint(low, high)])
            payload += raw.to_bytes(size, "little", signed=signed)
            expected[name] = raw if factor == 1 else pytest.approx(raw * factor, abs=1e-9)
        packet = bytes([kind, len(payload)]) + payload
        (name, values), *more = decode(packet * (turn % 2 + 1))
        assert len(more) == turn % 2
        assert name == {1: "position", 2: "battery", 3: "weather"}[kind] and values == expected
        assert encode(decode(packet)) == packet
