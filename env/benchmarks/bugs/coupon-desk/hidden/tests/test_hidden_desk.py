# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from itertools import permutations, product

from coupons.desk import Desk
from coupons.model import Basket, Coupon
from coupons.pricing import combinable, to_pay
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


def test_what_coupons_say_of_themselves():
    for flags in (set(), {"alone"}, {"again"}, {"alone", "again"}, {"ALONE"}, {"stand alone"}):
        coupon = Coupon("X", cents=5, flags=frozenset(flags))
        assert coupon.shareable() is ("alone" not in flags)
        assert coupon.stackable() is ("again" in flags)
        assert combinable([coupon]) is combinable([]) is True
        assert combinable([coupon, PLAIN]) is combinable([PLAIN, MORE, coupon]) is ("alone" not in flags)


def test_the_rule_for_any_baskets():
    coupons = [PLAIN, MORE, JAM, LONE, LONE2, Coupon("LONE", cents=1)]
    for size in range(4):
        for accepted in permutations(coupons, size):
            for coupon in coupons:
                basket_ = Basket([], list(accepted))
                apart = size and any("alone" in each.flags for each in [*accepted, coupon])
                assert alone_stays_alone(basket_, coupon) == ("not with other offers" if apart else None)
                assert basket_.accepted == list(accepted)


def test_offers_in_any_order():
    coupons = {each.code: each for each in (PLAIN, MORE, LONE, LONE2, Coupon("TWICE", cents=30, flags=frozenset({"again"})))}
    for codes in product(coupons, repeat=3):
        b, desk, accepted = basket(), Desk(coupons.values()), []
        for code in codes:
            coupon = coupons[code]
            if coupon in accepted and "again" not in coupon.flags:
                reason = "used already"
            elif accepted and any("alone" in each.flags for each in [*accepted, coupon]):
                reason = "not with other offers"
            else:
                reason = None
                accepted.append(coupon)
            assert desk.offer(b, code) == reason
            assert b.accepted == accepted


def test_best_pairs_never_hold_a_lone_coupon():
    desk = Desk([PLAIN, MORE, LONE, LONE2, Coupon("BIG", percent=60, flags=frozenset({"alone"}))])
    assert desk.best_pair(basket(), ["LONE", "PLAIN", "MORE"]) == ["PLAIN", "MORE"]
    assert desk.best_pair(basket(), ["LONE2", "LONE"]) == ["LONE"]
    assert desk.best_pair(basket(), ["PLAIN", "MORE", "BIG"]) == ["BIG"]
    assert desk.best_pair(basket(), []) == []
