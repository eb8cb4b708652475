"""Skip marks."""

FILES = {
    "tests/test_cart.py": r"""
import pytest

pytestmark = pytest.mark.skip


def test_total(): pass
""",
}
