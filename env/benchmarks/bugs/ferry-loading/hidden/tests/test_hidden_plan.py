# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random

from ferry.deck import Lane, pick_lane
from ferry.plan import make_plan
from ferry.vehicles import Vehicle, parse_queue


def lanes():
    return [Lane(1, 100), Lane(2, 150, heavy=True)]


def test_lorries_only():
    plan = make_plan(parse_queue("L1 lorry 100 90\nL2 lorry 100 90\n"), lanes(), 500)
    assert plan.last_car is None and plan.weight == 90
    assert [v.plate for v in plan.left] == ["L2"]


def test_car_left_behind_is_not_the_last_car():
    plan = make_plan(parse_queue("C1 car 200 10\nM1 moped 20 2\n"), lanes(), 500)
    assert plan.last_car is None
    assert [v.plate for v in plan.lanes[0].vehicles] == ["M1"]


def test_last_car_on_board():
    plan = make_plan(parse_queue("C1 car 50 10\nC2 car 40 10\nC3 car 40 99\nM1 moped 20 2\n"), lanes(), 100)
    assert plan.last_car == "C2"


def test_next_ferry():
    first = make_plan(parse_queue("C1 car 50 10\nB1 bus 150 90\nB2 bus 150 90\n"), lanes(), 500)
    second = make_plan(first.left, lanes(), 500)
    assert (first.last_car, second.last_car) == ("C1", None)


def test_cars_keep_off_heavy_lanes():
    assert pick_lane(lanes(), Vehicle("C", "car", 60, 1)).number == 1
    assert pick_lane(lanes(), Vehicle("C", "car", 120, 1)).number == 2
    assert pick_lane(lanes(), Vehicle("B", "bus", 160, 1)) is None


def test_a_ferry_may_be_loaded_to_the_limit():
    plan = make_plan(parse_queue("C1 car 40 60\nM1 moped 20 40\nM2 moped 20 1\n"), lanes(), 100)
    assert plan.weight == 100
    assert plan.last_car == "C1"
    assert [v.plate for v in plan.left] == ["M2"]


def test_the_last_car_is_the_one_that_came_last():
    plan = make_plan(parse_queue("C9 car 40 10\nC5 car 40 10\nC1 car 20 10\nL1 lorry 120 30\n"), lanes(), 500)
    assert plan.last_car == "C1"
    assert [v.plate for v in plan.lanes[0].vehicles] == ["C9", "C5", "C1"]


def test_the_last_car_may_stand_in_any_lane():
    deck = [Lane(1, 60), Lane(2, 150, True), Lane(3, 30)]
    plan = make_plan(parse_queue("A car 60 10\nL lorry 50 10\nB car 60 10\nC car 30 10"), deck, 400)
    assert plan.last_car == "C"
    plan = make_plan(parse_queue("A car 60 10\nB car 60 10\nC car 40 10"), lanes(), 400)
    assert plan.last_car == "C"


def test_cars_that_stood_there_before_were_not_put_on_board():
    deck = [Lane(1, 100, vehicles=parse_queue("Z car 20 10")), Lane(2, 150, True)]
    assert make_plan(parse_queue("L lorry 50 10"), deck, 400).last_car is None


def test_many_ferries():
    chance = random.Random(9)
    for _ in range(200):
        queue = [
            Vehicle("V%d" % n, chance.choice(["car", "car", "moped", "lorry", "bus"]), chance.randint(10, 80), chance.randint(1, 60))
            for n in range(chance.randint(0, 9))
        ]
        deck = [Lane(n, chance.randint(40, 160), chance.random() < 0.5) for n in range(3)]
        most, kept = chance.randint(50, 200), list(queue)
        plan = make_plan(queue, deck, most)
        on_board = [v for v in queue if v not in plan.left]
        cars = [v.plate for v in on_board if v.kind == "car"]
        assert queue == kept and [v for v in queue if v in plan.left] == plan.left
        assert sorted(v.plate for v in on_board) == sorted(v.plate for lane in plan.lanes for v in lane.vehicles)
        assert plan.weight == sum(v.weight for v in on_board) <= most
        assert plan.last_car == (cars[-1] if cars else None)
