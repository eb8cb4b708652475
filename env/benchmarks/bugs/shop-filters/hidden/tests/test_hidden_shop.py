# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from itertools import permutations

import pytest

from shop import Shop
from shop.articles import Article
from shop.filters import narrow

LAMPS = [Article(f"Lamp {c}{w}{p}", p, {"colour": c, "watts": w}) for c in ("red", "blue") for w in (5, 10) for p in (20, 40)]


@pytest.mark.parametrize("order", list(permutations(["colour:red", "watts>5", "price<30"])))
def test_three_conditions_in_any_order(order):
    assert Shop(LAMPS).find("lamp " + " ".join(order)) == ["Lamp red1020"]


def test_range_of_prices():
    shop = Shop([Article(str(price), price) for price in range(10)])
    assert shop.find("price>3 price<6") == ["4", "5"]
    assert shop.find("price<6 price>3", limit=1) == ["4"]
    assert shop.count("price<3 price>6") == 0


def test_nothing_is_looked_at_before_it_is_asked_for():
    seen = []

    def stock():
        for article in LAMPS:
            seen.append(article.name)
            yield article

    found = narrow(stock(), [lambda a: a.price > 20, lambda a: a.property("colour") == "red"])
    assert seen == []
    assert next(found).name == "Lamp red540"
    assert len(seen) == 2


def test_each_article_is_tested_in_order_until_it_fails():
    calls = []

    def test(name, answer):
        def run(article):
            calls.append(name)
            return answer
        return run

    assert list(narrow(LAMPS[:1], [test("a", True), test("b", False), test("c", True)])) == []
    assert calls == ["a", "b"]


def test_tests_from_a_generator():
    assert [a.name for a in narrow(LAMPS, ((lambda a, w=w: a.details["watts"] != w) for w in (5, 7)))] == [
        "Lamp red1020", "Lamp red1040", "Lamp blue1020", "Lamp blue1040"]


def test_no_conditions():
    assert Shop(LAMPS).count("lamp") == 8
    assert Shop(LAMPS).count("chair") == 0
