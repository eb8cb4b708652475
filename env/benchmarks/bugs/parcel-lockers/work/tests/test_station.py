# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from lockers.errors import Blocked, NoRoom, WrongCode
from lockers.station import Station


def wrong(station, name, times):
    for _ in range(times):
        with pytest.raises(WrongCode):
            station.fetch(name, "0000")


def test_bring_and_fetch():
    station = Station({"A": 2, "B": 1})
    assert [station.bring("p1", 1, "11", 1), station.bring("p2", 1, "22", 1)] == ["B", "A"]
    assert station.fetch("A", "22") == "p2"
    with pytest.raises(NoRoom):
        station.bring("p3", 3, "33", 1)


def test_third_wrong_code_blocks():
    station = Station({"A": 1})
    station.bring("p1", 1, "11", 1)
    wrong(station, "A", 2)
    with pytest.raises(Blocked):
        station.fetch("A", "12")
    with pytest.raises(Blocked):
        station.fetch("A", "11")
    station.unblock("A")
    assert station.fetch("A", "11") == "p1"


def test_next_customer():
    station = Station({"A": 1})
    station.bring("p1", 1, "11", 1)
    wrong(station, "A", 2)
    station.fetch("A", "11")
    station.bring("p2", 1, "22", 2)
    wrong(station, "A", 1)
    assert station.fetch("A", "22") == "p2"
