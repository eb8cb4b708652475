# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from laps.race import Race
from laps.times import LapTime


def race():
    result = Race(2)
    for runner, time in [("ann", "61.5"), ("bob", "1:00"), ("ann", "59.25"), ("bob", "1:00.750"), ("cy", "58"), ("bob", "5")]:
        result.record(runner, time)
    return result


def test_adding():
    assert LapTime.parse("59.9") + LapTime.parse("1:00.2") == LapTime(120100)
    with pytest.raises(TypeError):
        LapTime(5) + 5


def test_best():
    assert str(race().best("bob")) == "1:00.000"
    assert race().best("dan") is None


def test_result():
    time = LapTime.parse("2:00.750")
    assert race().result() == [(1, "ann", time), (1, "bob", time)]
