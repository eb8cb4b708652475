# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import threading
import time

from printshop import Crew


def until(condition, timeout=10.0):
    """Wait until the condition holds; fail after the timeout."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.001)


def test_orders_handed_in_before_and_after():
    crew = Crew(2, lambda order: order * 2)
    crew.order(1, 2, 3)
    crew.order(4)
    outcomes = crew.send_home(10)
    assert sorted(o.order for o in outcomes if o.result == o.order * 2) == [1, 2, 3, 4]


def test_failing_order():
    crew = Crew(1, lambda order: 10 // order)
    crew.order(0, 5)
    outcomes = crew.send_home(10)
    assert [type(o.error) for o in outcomes] == [ZeroDivisionError, type(None)]


def test_all_workers_are_still_there_after_the_first_order():
    meeting = threading.Barrier(3)

    def work(order):
        if order == "meet":
            meeting.wait(3.0)
        return order

    crew = Crew(3, work)
    until(lambda: crew.mailbox.waiting == 3)
    crew.order("cards")
    until(lambda: crew.mailbox.wakeups >= 3)
    crew.order("meet", "meet", "meet")
    outcomes = crew.send_home(10)
    assert [o.error for o in outcomes] == [None] * 4
