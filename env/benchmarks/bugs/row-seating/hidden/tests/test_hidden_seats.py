# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random
from itertools import product

from seats.booking import best_block, book, cancel
from seats.hall import Hall, Row
from seats.rating import strands


def test_strands_on_either_side():
    row = Row("......")
    assert [strands(row, start, 3) for start in range(4)] == [False, True, True, False]
    row = Row("x.....x")
    assert [strands(row, start, 2) for start in (1, 2, 3, 4)] == [False, True, True, False]
    assert strands(Row("....."), 1, 3)
    assert not strands(Row("....."), 0, 5)


def test_goes_to_the_next_row_rather_than_strand():
    hall = Hall({"A": "x....x", "B": "xx...x"})
    assert book(hall, "ada", 3) == "B-3"


def test_strands_if_it_must():
    hall = Hall({"A": "xxxxxxx", "B": "xx....x"})
    assert book(hall, "ada", 3) == "B-3"
    assert book(hall, "bob", 1) == "B-6"


def test_single_on_the_left_only():
    hall = Hall({"A": "xx......"})
    assert book(hall, "ada", 3) == "A-3"


def test_cancel_and_book_again():
    hall = Hall({"A": "........"})
    assert book(hall, "ada", 4) == "A-3"
    assert cancel(hall, "ada") == 4
    assert cancel(hall, "ada") == 0
    assert best_block(hall, 8) == ("A", 0)
    assert best_block(hall, 7) == ("A", 0)


def test_sequence_of_parties():
    hall = Hall({"A": "......"})
    assert [book(hall, name, 2) for name in ("a", "b", "c", "d")] == ["A-3", "A-1", "A-5", None]
    assert str(hall) == "A bbaacc"


def single(plan, seat):
    """Whether the seat is free and none beside it is."""
    around = "x" + plan + "x"
    return around[seat : seat + 3] == "x.x"


def test_all_small_rows():
    for length in range(1, 8):
        for marks in product(".x", repeat=length):
            plan, row = "".join(marks), Row("".join(marks))
            for size in range(1, length + 1):
                free = [start for start in range(length - size + 1) if plan[start : start + size] == "." * size]
                assert list(row.blocks(size)) == free
                bad = {}
                for start in free:
                    after = plan[:start] + "x" * size + plan[start + size :]
                    bad[start] = any(0 <= s < length and single(after, s) for s in (start - 1, start + size))
                    assert bool(strands(row, start, size)) is bad[start]
                best = min(free, key=lambda start: (bad[start], abs(2 * start + size - length), start), default=None)
                assert best_block(Hall({"A": plan}), size) == (None if best is None else ("A", best))
                assert str(row) == plan


def test_halls_of_any_rows():
    chance = random.Random(5)
    for _ in range(300):
        plans = {name: "".join(chance.choice("..x") for _ in range(chance.randint(1, 8))) for name in "DBCA"[: chance.randint(1, 4)]}
        size, rated = chance.randint(1, 4), []
        for order, (name, plan) in enumerate(plans.items()):
            for start in range(len(plan) - size + 1):
                if plan[start : start + size] == "." * size:
                    after = plan[:start] + "x" * size + plan[start + size :]
                    bad = any(0 <= s < len(plan) and single(after, s) for s in (start - 1, start + size))
                    rated.append((bad, order, abs(2 * start + size - len(plan)), start, name))
        hall = Hall(plans)
        assert best_block(hall, size) == ((min(rated)[4], min(rated)[3]) if rated else None)
        assert book(hall, "guest", size) == (f"{min(rated)[4]}-{min(rated)[3] + 1}" if rated else None)
        assert cancel(hall, "guest") == (size if rated else 0)
        assert str(hall) == "\n".join(f"{name} {plan}" for name, plan in plans.items())
