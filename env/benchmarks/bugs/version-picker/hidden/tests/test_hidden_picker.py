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


def before(one, other):
    """Whether a version comes before the other, by the rules as they are written down."""
    (numbers, _, tail), (others, _, other_tail) = one.partition("-"), other.partition("-")
    if numbers != others:
        return [int(n) for n in numbers.split(".")] < [int(n) for n in others.split(".")]
    if not tail or not other_tail:
        return bool(tail) and not other_tail
    parts, other_parts = tail.split("."), other_tail.split(".")
    for a, b in zip(parts, other_parts):
        if a != b:
            if a.isdigit() and b.isdigit():
                return int(a) < int(b)
            return a < b if a.isdigit() == b.isdigit() else a.isdigit()
    return len(parts) < len(other_parts)


def test_all_pairs_of_many_tails():
    chance = random.Random(13)
    parts = ["0", "1", "2", "10", "a", "A", "ab", "alpha", "alpha-x", "a-", "-", "--", "-1", "1-2", "x1", "1x", "beta", "Z"]
    texts = ["1.0.0", "1.0.1", "0.9.10", "1.10.0", "1.0.0-a.b.c.d.e.f", "1.0.0-a.b.c.d.e.g"]
    texts += ["1.0.%d-%s" % (chance.randint(0, 1), ".".join(chance.choice(parts) for _ in range(chance.randint(1, 4)))) for _ in range(100)]
    texts += ["1.0.0-" + part for part in parts] + ["1.0.0-a." + part for part in parts]
    texts = list(dict.fromkeys(texts))
    versions = {text: Version(text) for text in texts}
    for one in texts:
        for other in texts:
            low, high = versions[one], versions[other]
            assert (low < high) is before(one, other), (one, other)
            assert (low > high) is before(other, one), (one, other)
            assert (low == high) is (one == other)
            assert (low <= high) is not before(other, one)
    chance.shuffle(texts)
    order = newest(texts, pre=True)
    assert sorted(order) == sorted(texts)
    assert all(before(later, earlier) for earlier, later in zip(order, order[1:]))
    for have in texts[:20]:
        above = [text for text in order if before(have, text) and ("-" in have or "-" not in text)]
        assert update(have, iter(texts)) == (above[0] if above else None)
