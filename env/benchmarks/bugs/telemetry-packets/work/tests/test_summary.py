# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from telemetry.recording import RecordingError, decode
from telemetry.summary import columns, lowest_cell

POSITION = bytes.fromhex("0108" "40420f00" "80841eff")
BATTERY = bytes.fromhex("0207" "03" "e02e" "10270000")


def test_position():
    assert decode(POSITION) == [("position", {"lat": 1.0, "lon": -14.777216})]


def test_lowest_cell():
    assert lowest_cell(POSITION + BATTERY) == 4.0


def test_cut_off():
    with pytest.raises(RecordingError):
        decode(POSITION[:-1])


def test_unknown_type():
    assert columns(b"\x09\x01x" + POSITION, "position") == {"lat": [1.0], "lon": [-14.777216]}
