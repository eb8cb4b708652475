# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

import pytest

from depots import Depot, NotEnough, Transfers


def run(scene):
    """Run a scene with three depots and give the coroutines it returns time to end; returns what did not end."""
    async def main():
        depots = [Depot(1, "north", {"nail": 10}), Depot(2, "south", {"nail": 10}), Depot(3, "west", {"nail": 10})]
        transfers = Transfers(depots)
        tasks = [asyncio.ensure_future(one) for one in scene(transfers)]
        for _ in range(100):
            await asyncio.sleep(0)
        stuck = [task for task in tasks if not task.done()]
        for task in stuck:
            task.cancel()
        for task in tasks:
            if task not in stuck:
                task.result()
        return len(stuck), [depot.count("nail") for depot in depots]

    return asyncio.run(main())


def test_one_way():
    assert run(lambda t: [t.move("north", "south", "nail", 3), t.move("north", "west", "nail", 1)]) == (0, [6, 13, 11])


def test_not_enough():
    with pytest.raises(NotEnough):
        run(lambda t: [t.move("north", "south", "nail", 30)])


def test_within_one_depot():
    assert run(lambda t: [t.move("north", "north", "nail", 3)]) == (0, [10, 10, 10])


def test_trucks_go_both_ways():
    def scene(t):
        yield t.move("west", "north", "nail", 2)
        yield t.move("north", "south", "nail", 3)
        yield t.move("south", "west", "nail", 1)

    assert run(scene) == (0, [9, 12, 9])
