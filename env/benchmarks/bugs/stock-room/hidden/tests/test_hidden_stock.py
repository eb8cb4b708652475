# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random
from types import MappingProxyType

import pytest

from stock.batches import Batch, Bin
from stock.room import Short, StockRoom


def room_of(*counts):
    room = StockRoom()
    for n, count in enumerate(counts):
        room.deliver("nut", "N%d" % n, count, best_before=10 * n)
    return room


def test_everything():
    room = room_of(1, 2, 3, 4, 5)
    assert room.pick({"nut": 15}) == [("nut", "N%d" % n, n + 1) for n in range(5)]
    assert room.report() == {}
    assert room.codes("nut") == []


def test_used_up_batches_are_gone():
    room = room_of(2, 2, 2, 2)
    room.pick({"nut": 4})
    assert room.codes("nut") == ["N2", "N3"]
    room.pick({"nut": 3})
    assert room.codes("nut") == ["N3"]
    assert room.report() == {"nut": 1}


def test_parts_of_a_bin():
    bin_ = Bin()
    for code in "abcd":
        bin_.put(Batch(code, 1, 7))
    assert [(part.code, part.left) for part in bin_.take(3)] == [("a", 1), ("b", 1), ("c", 1)]
    assert bin_.take(0) == []
    assert bin_.codes() == ["d"]


def test_short_by_how_much():
    room = room_of(2, 3, 4)
    with pytest.raises(Short) as caught:
        room.pick({"nut": 11})
    assert caught.value.missing == 2
    assert room.report() == {"nut": 9}
    assert room.codes("nut") == ["N0", "N1", "N2"]


def test_refused_order_takes_nothing():
    room = room_of(2, 3)
    room.deliver("fig", "F", 1, best_before=5)
    with pytest.raises(Short, match="short of fig: 1 missing"):
        room.pick({"nut": 4, "fig": 2})
    assert room.report() == {"nut": 5, "fig": 1}
    assert room.pick({"nut": 4, "fig": 1}) == [("nut", "N0", 2), ("nut", "N1", 2), ("fig", "F", 1)]


def test_exactly_one_batch():
    room = room_of(2, 3)
    assert room.pick({"nut": 2}) == [("nut", "N0", 2)]
    assert room.codes("nut") == ["N1"]


def test_empty_delivery_and_order():
    room = StockRoom()
    room.deliver("nut", "N", 0, best_before=1)
    assert room.report() == {} and room.codes("nut") == []
    assert room.pick({}) == []


def test_of_equal_dates_the_earlier_delivery_goes_first():
    room = StockRoom()
    for code, count, day in (("Z", 3, 5), ("M", 2, 4), ("A", 4, 5), ("B", 1, 4)):
        room.deliver("jam", code, count, day)
    assert room.codes("jam") == ["M", "B", "Z", "A"]
    assert room.pick({"jam": 5}) == [("jam", "M", 2), ("jam", "B", 1), ("jam", "Z", 2)]
    assert room.pick({"jam": 2}) == [("jam", "Z", 1), ("jam", "A", 1)]


def test_like_single_pieces():
    chance = random.Random(3)
    for _ in range(150):
        room, pieces = StockRoom(), []
        for number in range(12):
            if chance.random() < 0.5:
                code, count, day = chance.choice("ABCDEF") + str(number), chance.randint(0, 4), chance.randint(1, 4)
                room.deliver("nut", code, count, day)
                pieces = sorted(pieces + [(day, number, code)] * count)
            elif chance.random() < 0.2:
                day = chance.randint(1, 4)
                gone = [piece for piece in pieces if piece[0] < day]
                assert room.clean(day) == ({"nut": len(gone)} if gone else {})
                pieces = pieces[len(gone) :]
            else:
                wanted = chance.randint(0, 6)
                if wanted > len(pieces):
                    with pytest.raises(Short) as caught:
                        room.pick({"nut": wanted})
                    assert caught.value.missing == wanted - len(pieces)
                else:
                    codes = [code for _, _, code in pieces[:wanted]]
                    assert room.pick({"nut": wanted}) == [("nut", code, codes.count(code)) for code in dict.fromkeys(codes)]
                    pieces = pieces[wanted:]
            assert room.codes("nut") == list(dict.fromkeys(code for _, _, code in pieces))
            assert room.report().get("nut", 0) == len(pieces)


def test_a_bin_like_single_pieces():
    chance = random.Random(12)
    for _ in range(200):
        bin_, pieces = Bin(), []
        for number in range(10):
            action = chance.random()
            if action < 0.4:
                count, day = chance.randint(0, 3), chance.randint(1, 3)
                code = chance.choice("AB")
                bin_.put(Batch(code, count, day))
                pieces = sorted(pieces + [(day, number, code)] * count)
            elif action < 0.5:
                day = chance.randint(1, 4)
                gone = [piece for piece in pieces if piece[0] < day]
                assert [(b.code, b.left, b.best_before) for b in bin_.discard_expired(day)] == parts_of(gone)
                pieces = pieces[len(gone) :]
            else:
                count = chance.randint(0, 8)
                assert [(b.code, b.left, b.best_before) for b in bin_.take(count)] == parts_of(pieces[:count])
                pieces = pieces[count:]
            assert bin_.available == len(pieces)
            assert bin_.codes() == [code for code, _, _ in parts_of(pieces)]


def parts_of(pieces):
    """Pieces that came in one delivery together: (code, pieces, day)."""
    return [(code, pieces.count((day, number, code)), day) for day, number, code in dict.fromkeys(pieces)]


def test_more_than_there_is_in_a_bin():
    bin_ = Bin()
    assert bin_.take(5) == [] and bin_.take(0) == []
    bin_.put(Batch("a", 2, 1))
    bin_.put(Batch("b", 1, 1))
    assert [(part.code, part.left) for part in bin_.take(5)] == [("a", 2), ("b", 1)]
    assert bin_.codes() == [] and bin_.available == 0 and bin_.take(1) == []


def test_orders_and_parts_stay_as_they_are():
    room, order = room_of(2, 2, 2), {"nut": 5, "none": 0}
    room.deliver("fig", "F", 4, best_before=5)
    assert room.pick(order) == [("nut", "N0", 2), ("nut", "N1", 2), ("nut", "N2", 1)]
    assert order == {"nut": 5, "none": 0}
    assert room.pick(MappingProxyType({"fig": 3, "nut": 1})) == [("fig", "F", 3), ("nut", "N2", 1)]
    bin_ = Bin()
    bin_.put(Batch("a", 3, 1))
    taken = bin_.take(2)
    bin_.take(1)
    assert [(part.code, part.left, part.best_before) for part in taken] == [("a", 2, 1)]
