# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random

import pytest

from versions.picker import newest, update
from versions.ranges import Range
from versions.version import Version

ORDER = """
0.9.9 1.0.0-1 1.0.0-2 1.0.0-2.x 1.0.0-11 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.1.1 1.0.0-alpha.beta 1.0.0-beta
1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc 1.0.0-rc.1 1.0.0-rc1 1.0.0 1.0.1-a.b.c 1.0.1 1.1.0 2.0.0-0 2.0.0
""".split()


@pytest.mark.parametrize("seed", range(4))
def test_order(seed):
    mixed = ORDER[:]
    random.Random(seed).shuffle(mixed)
    assert [str(v) for v in sorted(map(Version, mixed))] == ORDER
    assert newest(mixed, pre=True) == ORDER[::-1]


@pytest.mark.parametrize("low, high", [("1.4.0-alpha.3", "1.4.0-beta"), ("1.0.0-1.1.1", "1.0.0-2"), ("1.0.0-x", "1.0.0-x.0")])
def test_pairs(low, high):
    assert Version(low) < Version(high) and Version(high) > Version(low) and Version(low) != Version(high)


def test_updates():
    assert update("1.0.0-alpha.1", ORDER, "<1.0.0") == "1.0.0-rc1"
    assert update("1.0.0-rc1", ["1.0.0-rc.9", "1.0.0-beta.9"]) is None
    assert update("1.0.0", ORDER) == "2.0.0"
    assert update("2.0.0", ORDER) is None


def test_ranges():
    assert Range("~1.0.0-beta").allows(Version("1.0.0-beta.2"))
    assert not Range("~1.0.0-beta").allows(Version("1.0.0-alpha.7"))
    assert not Range("^1.0.0").allows(Version("2.0.0-0"))
    assert Range("").allows(Version("9.9.9-x"))


def test_same_version_once():
    assert newest(["1.0.0-rc.1", " 1.0.0-rc.1"], pre=True) == ["1.0.0-rc.1"]
    assert Version("1.0.0-rc.1") == Version("1.0.0-rc.1")


def test_third_parts_count():
    assert newest(["1.0.0-a.b.2", "1.0.0-a.b.10", "1.0.0-a.b.1"], pre=True) == ["1.0.0-a.b.10", "1.0.0-a.b.2", "1.0.0-a.b.1"]
    assert update("1.0.0-a.b.2", ["1.0.0-a.b.1"]) is None
    assert update("1.0.0-a.b.2", ["1.0.0-a.b.3"]) == "1.0.0-a.b.3"
