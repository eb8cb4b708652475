# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from laps.race import Race
from laps.times import LapTime


def test_sum():
    assert sum([LapTime(5), LapTime(6), LapTime(7)]) == LapTime(18)
    assert sum([LapTime(5)]) == LapTime(5)
    assert sum([LapTime(1)], LapTime(2)) == LapTime(3)


@pytest.mark.parametrize("other", [1, "0", None, 2.5])
def test_other_things_cannot_be_added(other):
    with pytest.raises(TypeError):
        LapTime(5) + other
    with pytest.raises(TypeError):
        other + LapTime(5)


def test_average():
    race = Race(3)
    assert race.average_lap() is None
    for time in ("10", "11", "12.5"):
        race.record("a", time)
    race.record("b", "20")
    assert race.average_lap() == LapTime(13375)


def test_totals():
    race = Race(2)
    assert race.total("nobody") == LapTime(0)
    race.record("a", "10")
    assert str(race.total("a")) == "0:10.000"
    race.record("a", "1:10")
    race.record("b", "1:19.999")
    race.record("b", "0")
    assert [(place, name) for place, name, _ in race.result()] == [(1, "b"), (2, "a")]
