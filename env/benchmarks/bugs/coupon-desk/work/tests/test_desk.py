# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from coupons.desk import Desk
from coupons.model import Basket, Coupon
from coupons.pricing import to_pay

CLUB = Coupon("CLUB", percent=10)
SOLO = Coupon("SOLO", cents=500, flags=frozenset({"alone"}))
TEA = Coupon("TEA", cents=100, articles=frozenset({"tea"}), flags=frozenset({"again"}))


def basket():
    result = Basket()
    result.add("tea", 300, 2)
    result.add("cup", 1400)
    return result


def test_two_offers():
    b, desk = basket(), Desk([CLUB, SOLO, TEA])
    assert desk.offer(b, "club") is None
    assert desk.offer(b, "TEA") is None
    assert to_pay(b) == 1700


def test_not_with_other_offers():
    b, desk = basket(), Desk([CLUB, SOLO, TEA])
    assert desk.offer(b, "CLUB") is None
    assert desk.offer(b, "SOLO") == "not with other offers"
    assert to_pay(b) == 1800


def test_used_once():
    b, desk = basket(), Desk([CLUB])
    desk.offer(b, "CLUB")
    assert desk.offer(b, "CLUB") == "used already"


def test_best_pair():
    assert Desk([CLUB, SOLO, TEA]).best_pair(basket(), ["CLUB", "TEA", "SOLO"]) == ["SOLO"]
