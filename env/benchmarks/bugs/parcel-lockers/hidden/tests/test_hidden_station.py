# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from lockers.errors import Blocked, WrongCode
from lockers.station import Station
from lockers.locker import Locker


def station():
    result = Station({"A": 1})
    result.bring("p1", 1, "11", 1)
    return result


def tries(s, *codes):
    out = []
    for code in codes:
        try:
            out.append(s.fetch("A", code))
        except Blocked:
            out.append("blocked")
        except WrongCode as error:
            out.append(str(error))
    return out


def test_after_the_parcel_went_back():
    s = station()
    assert tries(s, "x", "y") == ["2 tries left", "1 tries left"]
    assert s.end_of_day(8) == ["p1"]
    s.bring("p2", 1, "22", 8)
    assert tries(s, "x", "y", "22") == ["2 tries left", "1 tries left", "p2"]


def test_blocked_locker_cleared():
    s = station()
    assert tries(s, "x", "y", "z", "11") == ["2 tries left", "1 tries left", "blocked", "blocked"]
    assert s.blocked() == ["A"]
    s.end_of_day(9)
    assert s.blocked() == [] and [p.number for p in s.returned] == ["p1"]
    s.bring("p2", 1, "22", 9)
    assert tries(s, "x", "22") == ["2 tries left", "p2"]


def test_many_customers():
    s = station()
    for n in range(2, 6):
        assert tries(s, "x", "y")[-1] == "1 tries left"
        assert tries(s, "%d%d" % (n - 1, n - 1)) == ["p%d" % (n - 1)]
        s.bring("p%d" % n, 1, "%d%d" % (n, n), n)


def test_block_stays_in_force_for_one_customer():
    s = station()
    assert tries(s, "x", "x", "x", "11", "11") == ["2 tries left", "1 tries left", "blocked", "blocked", "blocked"]
    s.unblock("A")
    assert tries(s, "x", "11") == ["2 tries left", "p1"]


def test_not_yet_old():
    s = station()
    assert s.end_of_day(7) == []
    with pytest.raises(KeyError):
        s.fetch("Q", "11")


def test_an_empty_locker_cannot_be_cleared():
    s = Station({"A": 1})
    with pytest.raises(ValueError):
        Locker("A", 1).clear()
    assert s.end_of_day(3) == []
    assert s.returned == []


@pytest.mark.parametrize("wrong", [1, 2])
def test_an_empty_locker_is_as_new(wrong):
    s = station()
    assert tries(s, *"xx"[:wrong])[-1] == "%d tries left" % (3 - wrong)
    assert tries(s, "11", "11", "x", "11") == ["p1", "2 tries left", "1 tries left", "blocked"]
    assert s.blocked() == ["A"]
    s = station()
    tries(s, *"xx"[:wrong])
    s.end_of_day(8)
    assert tries(s, "x", "11", "x") == ["2 tries left", "1 tries left", "blocked"]


def test_lockers_have_tries_of_their_own():
    s = Station({"A": 1, "B": 1})
    s.bring("p1", 1, "11", 1)
    s.bring("p2", 1, "22", 1)
    assert tries(s, "x", "y") == ["2 tries left", "1 tries left"]
    assert s.fetch("B", "22") == "p2"
    assert tries(s, "z", "11") == ["blocked", "blocked"]
    with pytest.raises(WrongCode, match="2 tries left"):
        s.fetch("B", "22")
