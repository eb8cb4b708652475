# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import threading

import pytest

from auction import BidTooLow, Hall, LotClosed
from auction.clearing import CreditLines


class SlowFor:
    """Clears everyone at once except one bidder, who waits until told."""

    def __init__(self, slow):
        self.slow, self.asked, self.go = slow, threading.Event(), threading.Event()

    def __call__(self, bidder, amount):
        if bidder == self.slow:
            self.asked.set()
            assert self.go.wait(10)


def in_thread(work):
    outcome = []

    def run():
        try:
            outcome.append(work())
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, outcome


def test_bids_one_after_the_other():
    hall = Hall(CreditLines({"ann": 500, "bob": 200}))
    hall.offer("vase", 100)
    hall.bid("vase", "ann", 100)
    hall.bid("vase", "bob", 150)
    with pytest.raises(BidTooLow):
        hall.bid("vase", "ann", 155)
    assert hall.history("vase") == [("ann", 100), ("bob", 150)]
    assert hall.hammer("vase").bidder == "bob"


def test_overtaken_bid():
    clear = SlowFor("ann")
    hall = Hall(clear)
    hall.offer("vase", 100)
    thread, outcome = in_thread(lambda: hall.bid("vase", "ann", 120))
    assert clear.asked.wait(10)
    hall.bid("vase", "bob", 300)
    clear.go.set()
    thread.join(10)
    assert hall.hammer("vase").bidder == "bob"
    assert isinstance(outcome[0], BidTooLow)


def test_closed_lot():
    hall = Hall(lambda bidder, amount: None)
    hall.offer("vase", 100)
    hall.hammer("vase")
    with pytest.raises(LotClosed):
        hall.bid("vase", "ann", 100)
