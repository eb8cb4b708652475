# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from collections import Counter

import pytest

from splits.buckets import bucket, within
from splits.experiment import Experiment
from splits.lab import Lab

USERS = ["u%d" % number for number in range(3000)]


@pytest.mark.parametrize("shares", [(50, 50), (50, 49, 1), (1, 99), (0, 100), (33, 33, 34), (100, 0), (10, 0, 90)])
def test_buckets_of_variants(shares):
    experiment = Experiment("x", tuple(("v%d" % n, share) for n, share in enumerate(shares)))
    counts = Counter(experiment.variant_of_bucket(number) for number in range(100))
    assert [counts["v%d" % n] for n in range(len(shares))] == list(shares)


@pytest.mark.parametrize("traffic", [0, 1, 30, 99, 100])
def test_traffic(traffic):
    experiment = Experiment("t", (("a", 100),), traffic=traffic)
    expected = [bucket(user, "t/traffic") < traffic for user in USERS]
    assert [experiment.takes_part(user) for user in USERS] == expected
    assert [experiment.variant(user) is not None for user in USERS] == expected


def test_within():
    assert [n for n in range(10) if within(n, 3, 4)] == [3, 4, 5, 6]
    assert not within(3, 3, 0)


def test_bucket_outside():
    with pytest.raises(ValueError):
        Experiment("x", (("a", 100),)).variant_of_bucket(100)


def test_forced_and_excluded():
    experiment = Experiment("x", (("a", 100),), 0, {"f": "z"}, frozenset({"f", "e"}))
    assert [experiment.variant(user) for user in ("f", "e", "g")] == ["z", None, None]


def test_layers():
    lab = Lab()
    lab.add("one", Experiment("p", (("a", 100),), traffic=40))
    lab.add("one", Experiment("q", (("b", 100),)))
    counts = lab.count(USERS)
    assert counts["p"]["a"] + counts["q"]["b"] == len(USERS)
