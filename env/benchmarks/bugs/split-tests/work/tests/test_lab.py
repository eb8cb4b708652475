# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from splits.experiment import Experiment
from splits.lab import Lab

USERS = ["user%d" % number for number in range(2000)]


def test_small_share():
    lab = Lab()
    lab.add("page", Experiment("button", (("red", 50), ("blue", 49), ("green", 1))))
    counts = lab.count(USERS)["button"]
    assert sum(counts.values()) == 2000
    assert counts.get("green", 0) > 0


def test_same_every_time():
    experiment = Experiment("font", (("a", 50), ("b", 50)), forced={"eve": "b"})
    assert experiment.variant("eve") == "b"
    assert [experiment.variant(u) for u in USERS[:50]] == [experiment.variant(u) for u in USERS[:50]]


def test_shares():
    with pytest.raises(ValueError):
        Experiment("bad", (("a", 50),))
