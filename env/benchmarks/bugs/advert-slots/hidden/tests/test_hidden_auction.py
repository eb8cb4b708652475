# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random

from adverts.auction import run_auction
from adverts.model import Advert
from adverts.pricing import price_to_beat
from adverts.ranking import best_of_each, rank


def ad(name, owner, bid, quality=5):
    return Advert(name, owner, bid, quality)


def prices(*args):
    return [(p.place, p.advert.name, p.price) for p in run_auction(*args)]


def test_second_adverts_of_owners_ahead_do_not_count_either():
    adverts = [ad("a1", "A", 100), ad("b1", "B", 80), ad("a2", "A", 70), ad("c1", "C", 30)]
    assert prices(adverts, 3) == [(1, "a1", 81), (2, "b1", 31), (3, "c1", 1)]


def test_many_of_one_owner():
    adverts = [ad("a%d" % n, "A", 50 + n) for n in range(5)]
    assert prices(adverts, 4, 10) == [(1, "a4", 10)]


def test_those_left_without_a_place_count():
    adverts = [ad("a", "A", 50), ad("b", "B", 40), ad("b2", "B", 39), ad("c", "C", 10)]
    assert prices(adverts, 1) == [(1, "a", 41)]
    assert prices(adverts, 2) == [(1, "a", 41), (2, "b", 11)]


def test_quality():
    adverts = [ad("a", "A", 30, 10), ad("b", "B", 100, 2), ad("a2", "A", 50, 5)]
    assert prices(adverts, 2) == [(1, "a", 21), (2, "b", 1)]


def test_equal_scores():
    assert prices([ad("y", "Y", 20), ad("x", "X", 20)], 2) == [(1, "x", 20), (2, "y", 1)]


def test_parts():
    ranked = rank([ad("p", "P", 5), ad("q", "Q", 9), ad("r", "P", 7), ad("s", "S", 1)], 2)
    assert [a.name for a in ranked] == ["q", "r", "p"]
    assert [a.name for a in best_of_each(ranked)] == ["q", "r"]
    assert price_to_beat(ranked[0], [], 3) == 3


def test_an_advert_below_the_reserve_is_as_good_as_not_entered():
    adverts = [ad("a", "X", 20, 10), ad("b", "X", 35, 5), ad("c", "Y", 31, 5)]
    assert prices(adverts, 2, 30) == [(1, "b", 32), (2, "c", 30)]
    assert prices([ad("a", "X", 29, 10), ad("c", "Y", 31, 5)], 2, 30) == [(1, "c", 30)]


def by_hand(adverts, places, reserve):
    best = {}
    for advert in sorted(adverts, key=lambda a: (a.score, [-ord(c) for c in a.name])):
        if advert.bid >= reserve:
            best[advert.owner] = advert
    order = sorted(best.values(), key=lambda a: (-a.score, a.name))
    rows = []
    for index, advert in enumerate(order[:places]):
        price = reserve
        if index + 1 < len(order):
            while price < advert.bid and price * advert.quality <= order[index + 1].score:
                price += 1
        rows.append((index + 1, advert.name, price))
    return rows


def test_many_auctions():
    chance = random.Random(4)
    for _ in range(300):
        names = chance.sample("abcdefghij", chance.randint(0, 8))
        adverts = [ad(name, chance.choice("XYZW"), chance.randint(1, 40), chance.randint(1, 10)) for name in names]
        places, reserve = chance.randint(0, 4), chance.randint(1, 25)
        kept = list(adverts)
        assert prices(iter(adverts), places, reserve) == by_hand(adverts, places, reserve)
        assert prices(adverts, places, reserve) == by_hand(adverts, places, reserve)
        assert adverts == kept
