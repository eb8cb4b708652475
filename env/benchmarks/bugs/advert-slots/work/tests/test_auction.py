# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from adverts.auction import income, run_auction
from adverts.model import Advert

BREAD = Advert("bread", "bakery", 100)
CAKE = Advert("cake", "bakery", 95)
TEA = Advert("tea", "teashop", 40)
ICE = Advert("ice", "icebar", 20, quality=8)


def prices(*args):
    return [(p.advert.name, p.price) for p in run_auction(*args)]


def test_one_advert_each():
    assert prices([TEA, BREAD, ICE], 2) == [("bread", 41), ("tea", 33)]


def test_two_of_the_bakery():
    assert prices([BREAD, CAKE, TEA], 2) == [("bread", 41), ("tea", 1)]


def test_reserve():
    assert prices([TEA, ICE], 3, 30) == [("tea", 30)]


def test_income():
    assert income(run_auction([TEA, BREAD], 1), {"bread": 3, "tea": 9}) == 123
