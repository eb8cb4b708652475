# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio
from itertools import permutations

import pytest

from depots import Depot, NotEnough, Transfers
from depots.gates import gates


def play(scene, count=4):
    async def main():
        depots = [Depot(number, "abcdef"[number], {"box": 20}) for number in range(count)]
        transfers = Transfers(reversed(depots))
        tasks = [asyncio.ensure_future(one) for one in scene(transfers)]
        for _ in range(300):
            await asyncio.sleep(0)
        stuck = [task for task in tasks if not task.done()]
        for task in stuck:
            task.cancel()
        await asyncio.sleep(0)
        results = [None if task in stuck else task.exception() or task.result() for task in tasks]
        return len(stuck), [depot.count("box") for depot in depots], results, [depot.gate.locked() for depot in depots]

    return asyncio.run(main())


@pytest.mark.parametrize("pairs", [["ba", "ab"], ["ab", "bc", "ca"], ["cb", "ba", "ac"], ["ab", "bc", "cd", "da"], ["dc", "cb", "ba", "ad"]])
def test_rings(pairs):
    stuck, counts, _, locked = play(lambda t: [t.move(*pair, "box", 1) for pair in pairs])
    assert stuck == 0
    assert sum(counts) == 80 and not any(locked)


def test_everybody_to_everybody():
    pairs = [a + b for a, b in permutations("abcd", 2)] * 2
    stuck, counts, _, _ = play(lambda t: [t.move(*pair, "box", 1) for pair in pairs])
    assert (stuck, counts) == (0, [20, 20, 20, 20])


def test_collecting_and_census():
    def scene(t):
        yield t.collect("a", [("c", 2), ("b", 3)], "box")
        yield t.collect("b", [("a", 1), ("c", 1), ("a", 1)], "box")
        yield t.census("cba")
        yield t.census("bcd")
        yield t.move("d", "a", "box", 5)

    stuck, counts, results, _ = play(scene)
    assert stuck == 0
    assert counts == [28, 20, 17, 15]
    assert results[2] == 60 or results[2] == 65


def test_failures_open_the_gates_again():
    def scene(t):
        yield t.move("b", "a", "box", 99)
        yield t.move("a", "b", "box", 1)
        yield t.collect("a", [("b", 1), ("c", 50)], "box")

    stuck, counts, results, locked = play(scene)
    assert stuck == 0 and counts == [19, 21, 20, 20]
    assert isinstance(results[0], NotEnough) and isinstance(results[2], ValueError)
    assert not any(locked)


def test_depots_apart_do_not_wait():
    async def main():
        depots = [Depot(number, "abcd"[number], {"box": 5}) for number in range(4)]
        transfers = Transfers(depots)
        async with gates(depots[:2]):
            task = asyncio.ensure_future(transfers.move("c", "d", "box", 2))
            for _ in range(20):
                await asyncio.sleep(0)
            return task.done()

    assert asyncio.run(main())


def test_gates_of_one_depot_twice():
    async def main():
        depot = Depot(1, "a", {})
        async with gates([depot, depot]):
            assert depot.gate.locked()
        return depot.gate.locked()

    assert not asyncio.run(main())


@pytest.mark.parametrize("held", [0, 1])
def test_depots_apart_do_not_wait_for_those_who_wait(held):
    async def main():
        depots = [Depot(number, "abcd"[number], {"box": 5}) for number in range(4)]
        transfers = Transfers(depots)
        async with depots[held].gate:
            waiting = [transfers.move("a", "b", "box", 1), transfers.move("b", "a", "box", 2)]
            tasks = [asyncio.ensure_future(one) for one in waiting]
            for _ in range(20):
                await asyncio.sleep(0)
            apart = [transfers.move("c", "d", "box", 2), transfers.census("dc"), transfers.collect("c", [("d", 3)], "box")]
            tasks += [asyncio.ensure_future(one) for one in apart]
            for _ in range(60):
                await asyncio.sleep(0)
            done = [task.done() for task in tasks]
        await asyncio.gather(*tasks)
        return done, [depot.count("box") for depot in depots]

    assert asyncio.run(asyncio.wait_for(main(), 10)) == ([False, False, True, True, True], [6, 4, 6, 4])
