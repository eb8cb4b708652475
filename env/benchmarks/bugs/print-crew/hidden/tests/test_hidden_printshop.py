# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import threading
import time

import pytest

from printshop import Crew, Mailbox, MailboxClosed


def until(condition, timeout=10.0):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.001)


def takers(box, count):
    """Threads that each take one item; what they got is appended to the list returned."""
    got, guard = [], threading.Lock()

    def take():
        try:
            item = box.take()
        except Exception as error:
            item = type(error).__name__
        with guard:
            got.append(item)

    threads = [threading.Thread(target=take, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    until(lambda: box.waiting == count)
    return got, threads


def finish(threads):
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def test_items_one_by_one_for_threads_that_wait():
    box = Mailbox()
    got, threads = takers(box, 2)
    box.put("a")
    until(lambda: box.wakeups >= 2)
    box.put("b")
    finish(threads)
    assert sorted(got) == ["a", "b"]


def test_two_items_for_four_threads_that_wait():
    box = Mailbox()
    got, threads = takers(box, 4)
    box.put_all(["a", "b"])
    until(lambda: box.wakeups >= 4)
    box.put_all(["c", "d"])
    finish(threads)
    assert sorted(got) == ["a", "b", "c", "d"]


def test_an_empty_batch_wakes_nobody_for_good():
    box = Mailbox()
    got, threads = takers(box, 2)
    box.put_all([])
    box.put_all(["a", "b"])
    finish(threads)
    assert sorted(got) == ["a", "b"]
    got, threads = takers(box, 1)
    before = box.wakeups
    box.put_all([])
    until(lambda: box.wakeups > before)
    box.put("c")
    finish(threads)
    assert got == ["c"]


def test_closing_wakes_everyone():
    box = Mailbox()
    got, threads = takers(box, 3)
    box.close()
    finish(threads)
    assert got == ["MailboxClosed"] * 3


def test_items_left_can_be_taken_after_closing():
    box = Mailbox()
    box.put_all("ab")
    box.close()
    assert len(box) == 2
    assert (box.take(), box.take()) == ("a", "b")
    with pytest.raises(MailboxClosed):
        box.take()
    with pytest.raises(MailboxClosed):
        box.put("c")


def test_crew_ends_and_keeps_the_outcomes():
    crew = Crew(3, str.upper)
    crew.order("x", 5, "y")
    outcomes = crew.send_home(10)
    assert sorted(o.result for o in outcomes if o.error is None) == ["X", "Y"]
    assert [o.order for o in outcomes if isinstance(o.error, TypeError)] == [5]
    assert not any(thread.is_alive() for thread in crew._threads)


def test_who_finds_nothing_again_and_again_waits_on():
    box = Mailbox()
    got, threads = takers(box, 5)
    for number in (1, 2, 3, 4):
        box.put(number)
        until(lambda: len(got) == number and box.waiting == 5 - number)
    assert got == [1, 2, 3, 4]
    box.put(5)
    finish(threads)
    assert got == [1, 2, 3, 4, 5]
