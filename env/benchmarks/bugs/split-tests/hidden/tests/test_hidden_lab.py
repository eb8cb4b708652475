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


def test_shares_of_users():
    experiment = Experiment("price", (("a", 50), ("b", 49), ("c", 1)), traffic=60)
    for user in USERS:
        number = bucket(user, "price")
        expected = "a" if number < 50 else "b" if number < 99 else "c"
        assert experiment.variant(user) == (expected if bucket(user, "price/traffic") < 60 else None)
    assert (bucket("u1", "x"), bucket("u2", "x"), bucket("u1", "y")) == (21, 68, 96)


def test_earlier_experiments_take_their_users_first():
    lab = Lab()
    lab.add("one", Experiment("p", (("a", 0), ("b", 100)), traffic=50))
    lab.add("one", Experiment("q", (("c", 100),), traffic=50))
    lab.add("two", Experiment("r", (("d", 100),), traffic=0, forced={"u7": "d"}))
    for user in USERS[:500]:
        expected = {}
        if bucket(user, "p/traffic") < 50:
            expected["p"] = "b"
        elif bucket(user, "q/traffic") < 50:
            expected["q"] = "c"
        if user == "u7":
            expected["r"] = "d"
        assert lab.variants(user) == expected
    assert lab.count(USERS[:500])["r"] == {"d": 1}
    with pytest.raises(ValueError):
        Experiment("x", (("a", 50), ("b", 49)))
