# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from stock.room import Short, StockRoom


def make_room():
    room = StockRoom()
    room.deliver("jam", "J2", 5, best_before=40)
    room.deliver("jam", "J1", 3, best_before=20)
    room.deliver("jam", "J3", 4, best_before=60)
    return room


def test_first_to_expire():
    room = make_room()
    assert room.pick({"jam": 2}) == [("jam", "J1", 2)]
    assert room.report() == {"jam": 10}


def test_order_from_several_batches():
    assert make_room().pick({"jam": 10}) == [("jam", "J1", 3), ("jam", "J2", 5), ("jam", "J3", 2)]


def test_short():
    room = make_room()
    with pytest.raises(Short):
        room.pick({"jam": 2, "honey": 1})
    assert room.report() == {"jam": 12}


def test_clean():
    room = make_room()
    assert room.clean(day=41) == {"jam": 8}
    assert room.codes("jam") == ["J3"]
