"""Pytest.ini deselects."""

FILES = {
    "pytest.ini": r"""
[pytest]
addopts = --deselect tests/test_cart.py
""",
}
