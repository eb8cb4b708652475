"""What pages of the guide assume in the reader's folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.repository import git, write

_CART = """\
def total(prices, discount=0):
    \"\"\"Return the sum of prices in cents, less a discount in percent.\"\"\"
    return sum(prices) * (100 {sign} discount) // 100


def cheapest(prices):
    \"\"\"Return the lowest price.\"\"\"
    return min(prices)
"""
_TESTS = """\
from cart import cheapest, total


def test_total():
    assert total([]) == 0


def test_cheapest():
    assert cheapest([300, 200]) == 200
"""
_DISCOUNT = """

def test_discount():
    assert total([1000, 500], 10) == 1350
"""


def make_shop(folder: Path) -> None:
    """Make the repository `shop` of `own-bugs.md`, whose last commit mends the totals and adds a test."""
    shop = folder / "shop"
    write(
        shop,
        {
            "cart.py": _CART.format(sign="+"),
            "tests/test_cart.py": _TESTS,
            "pytest.ini": "[pytest]\npythonpath = .\n",
        },
    )
    git(shop, "init", "-q")
    git(shop, "add", ".")
    git(shop, "commit", "-q", "-m", "Add a cart")
    write(shop, {"cart.py": _CART.format(sign="-"), "tests/test_cart.py": _TESTS + _DISCOUNT})
    git(shop, "commit", "-q", "-a", "-m", "Subtract discounts in percent")


def write_nightly(folder: Path) -> None:
    """Write the specification that `nightly.md` schedules."""
    write(
        folder,
        {"nightly.yaml": "name: nightly\nbenchmark: bugs\nlimit: 1\nentrants:\n  - {agent: oracle, tools: rewrite}\n"},
    )


MATERIAL: dict[str, Callable[[Path], None]] = {"own-bugs.md": make_shop, "nightly.md": write_nightly}
