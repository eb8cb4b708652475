"""Edited tests."""

FILES = {
    "tests/test_cart.py": r"""
def test_total(): pass
def test_average(): pass
""",
}
