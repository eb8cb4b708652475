# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from pages.cache import TagCache
from pages.shop import Shop


def make_shop():
    shop = Shop()
    for product, price in (("pen", 2), ("ink", 5), ("map", 9)):
        shop.set_price(product, price)
    shop.arrange("window", ["pen", "ink"])
    return shop


def test_page_is_kept():
    shop = make_shop()
    assert shop.page("window") == shop.page("window") == "WINDOW\npen: 2\nink: 5"
    assert shop.rendered == 1


def test_price_change():
    shop = make_shop()
    shop.set_price("ink", 6)
    assert shop.page("window") == "WINDOW\npen: 2\nink: 6"
    assert shop.rendered == 2


def test_products_no_longer_shown():
    shop = make_shop()
    shop.arrange("window", ["map"])
    shop.set_price("pen", 3)
    assert shop.page("window") == "WINDOW\nmap: 9"
    assert shop.rendered == 2


def test_least_recently_used_goes():
    cache = TagCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("a")
    cache.put("c", 3)
    assert "a" in cache and "b" not in cache
