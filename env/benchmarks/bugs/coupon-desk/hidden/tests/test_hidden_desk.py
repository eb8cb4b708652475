# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from coupons.desk import Desk
from coupons.model import Basket, Coupon
from coupons.pricing import to_pay
from coupons.rules import alone_stays_alone

PLAIN = Coupon("PLAIN", cents=50)
MORE = Coupon("MORE", percent=20)
LONE = Coupon("LONE", cents=70, flags=frozenset({"alone"}))
LONE2 = Coupon("LONE2", percent=5, flags=frozenset({"alone", "again"}))
JAM = Coupon("JAM", percent=50, articles=frozenset({"jam"}), minimum=500)


def basket(*lines):
    result = Basket()
    for line in lines or [("jam", 250, 1), ("bread", 400, 2)]:
        result.add(*line)
    return result


def offers(*codes):
    b, desk = basket(), Desk([PLAIN, MORE, LONE, LONE2, JAM])
    return [desk.offer(b, code) for code in codes], to_pay(b)


def test_nothing_joins_a_lone_coupon():
    assert offers("LONE", "PLAIN", "MORE") == ([None, "not with other offers", "not with other offers"], 980)


def test_two_lone_coupons():
    assert offers("LONE2", "LONE") == ([None, "not with other offers"], 998)


def test_stackable_but_alone():
    assert offers("LONE2", "LONE2") == ([None, "not with other offers"], 998)


def test_third_coupon():
    assert offers("PLAIN", "MORE", "LONE") == ([None, None, "not with other offers"], 790)


def test_lone_coupon_alone():
    assert offers("lone ") == ([None], 980)


def test_other_reasons_first():
    assert offers("LONE", "JAM", "LONE", "NONE")[0] == [None, "minimum not reached", "used already", "unknown code"]


def test_a_coupon_that_is_alone_keeps_all_others_out():
    alone = Coupon("ALONE", cents=100, flags=frozenset({"alone"}))
    basket = Basket([], [alone, Coupon("ONE", percent=5), Coupon("TWO", percent=5)])
    assert alone_stays_alone(basket, Coupon("THREE", percent=5)) == "not with other offers"
