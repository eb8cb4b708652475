# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from ferry.deck import Lane
from ferry.plan import make_plan, show
from ferry.vehicles import parse_queue


def lanes():
    return [Lane(1, 100), Lane(2, 150, heavy=True)]


def test_ordinary_day():
    plan = make_plan(parse_queue("A1 car 45 15\nB2 lorry 120 200\nC3 car 40 12\nD4 car 45 14\n"), lanes(), 400)
    assert show(plan) == ["lane 1: A1 C3", "lane 2: B2", "weight 22.7 t", "last car C3", "waits: D4"]


def test_nothing_to_load():
    assert show(make_plan([], lanes(), 400)) == ["lane 1: -", "lane 2: -", "weight 0.0 t", "last car none"]


def test_too_heavy():
    plan = make_plan(parse_queue("A1 car 45 15\nB2 bus 120 200\n"), lanes(), 100)
    assert [v.plate for v in plan.left] == ["B2"]
