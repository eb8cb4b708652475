# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random

import pytest

from garden.controller import Controller
from garden.queue import DueQueue
from garden.tap import DAY, Tap


def drain(queue):
    out = []
    while len(queue):
        out.append(queue.pop())
    assert queue.next_minute() is None
    return out


def test_removed_and_put_again():
    queue = DueQueue()
    queue.put("a", 5)
    queue.remove("a")
    queue.put("a", 9)
    assert queue.next_minute() == 9 and drain(queue) == [(9, "a")]


def test_put_twice_removed_put_twice():
    queue = DueQueue()
    for minute in (5, 7):
        queue.put("a", minute)
    queue.remove("a")
    assert queue.next_minute() is None and "a" not in queue
    for minute in (20, 10):
        queue.put("a", minute)
    assert drain(queue) == [(10, "a")]
    with pytest.raises(KeyError):
        queue.remove("a")


def test_popped_and_put_again_with_a_stale_entry():
    queue = DueQueue()
    queue.put("a", 30)
    queue.put("a", 3)
    assert queue.pop() == (3, "a")
    queue.put("a", 50)
    assert drain(queue) == [(50, "a")]


@pytest.mark.parametrize("seed", range(8))
def test_like_a_dictionary(seed):
    rng = random.Random(seed)
    queue, known = DueQueue(), {}
    for _ in range(300):
        name, action = rng.choice("abc"), rng.randrange(4)
        if action < 2:
            known[name] = rng.randrange(50)
            queue.put(name, known[name])
        elif action == 2 and name in known:
            del known[name]
            queue.remove(name)
        elif action == 3 and known:
            minute, first = min((minute, name) for name, minute in known.items())
            assert queue.pop() == (minute, first)
            del known[first]
        assert len(queue) == len(known)
        assert queue.next_minute() == min(known.values(), default=None)


def test_off_and_on_twice_the_same_day():
    garden = Controller()
    garden.add(Tap("a", 600, 5))
    garden.add(Tap("b", 600, 5, days=2))
    for minute in (100, 200):
        garden.run_until(minute)
        for name in "ab":
            garden.switch_off(name)
            garden.switch_on(name)
    garden.run_until(2 * DAY)
    assert [(m, n) for m, n, what in garden.log if what == "open"] == [(600, "a"), (600, "b"), (600 + DAY, "a")]


def test_off_while_open_and_on_again():
    garden = Controller()
    garden.add(Tap("a", 600, 60))
    garden.run_until(610)
    garden.switch_off("a")
    garden.move("a", 630)
    garden.switch_on("a")
    garden.run_until(DAY)
    assert garden.log == [(600, "a", "open"), (610, "a", "close"), (630, "a", "open"), (690, "a", "close")]
